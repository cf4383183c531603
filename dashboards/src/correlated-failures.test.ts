import { describe, expect, it } from 'vitest';
import { correlatedFailures } from './correlated-failures.ts';
import { finished } from './finish.ts';
import { DEFAULT_SETTINGS } from './limits.ts';
import { dashboardPanels } from './queries.ts';

interface PanelJson {
  readonly title: string;
  readonly interval?: string;
  readonly maxDataPoints?: number;
  readonly targets?: readonly { readonly expr: string }[];
  readonly transformations?: readonly {
    readonly id: string;
    readonly options: { readonly indexByName?: Readonly<Record<string, number>> };
  }[];
}

interface RowJson {
  readonly type: string;
  readonly collapsed?: boolean;
  readonly panels?: readonly PanelJson[];
}

const panelsOf = (settings = DEFAULT_SETTINGS) =>
  dashboardPanels(finished(correlatedFailures(settings))) as unknown as readonly PanelJson[];

describe('correlated failures', () => {
  const looking = panelsOf().filter(({ targets = [] }) =>
    targets.some(({ expr }) => expr.includes('[$__range:$__interval]')),
  );

  it('evaluates a range in steps that miss no event: no step is shorter than an event, and each looks back one more', () => {
    expect(looking.map(({ title }) => title)).toEqual([
      'Most tools of one agent in range',
      'Most agents with one tool in range',
      'Last openings in range',
      'Tools that opened together in range, by agent and error',
      'Agents with one tool in range, by tool and error',
    ]);
    for (const { interval } of looking) expect(interval).toBe('120s');
    const own = panelsOf({ ...DEFAULT_SETTINGS, correlatedWithin: '3m' });
    expect(own.find(({ title }) => title === 'Last openings in range')?.interval).toBe('180s');
  });

  it('evaluates no more points of a long range than of a short one', () => {
    for (const { maxDataPoints } of looking) expect(maxDataPoints).toBe(60);
  });

  it('G7: queries about shared circuits only when a person opens their row, the last one', () => {
    const top = (finished(correlatedFailures()) as unknown as { panels: readonly RowJson[] }).panels;
    const about = top.filter((panel) => JSON.stringify(panel).includes('breakerbox_fleet_'));
    expect(about).toEqual([top.at(-1)]);
    expect(about[0]).toMatchObject({ type: 'row', collapsed: true });
    expect(about[0]?.panels).toHaveLength(6);
  });

  it('has the columns of its two matrices in the same order', () => {
    const orders = panelsOf()
      .flatMap(({ transformations = [] }) => transformations)
      .filter(({ id }, index, all) => id === 'organize' && all[index - 1]?.id === 'groupingToMatrix')
      .map(({ options }) => Object.keys(options.indexByName ?? {}).filter((name) => !name.includes('\\')));
    expect(orders).toHaveLength(2);
    expect(orders[0]).toEqual(orders[1]);
    expect(orders[0]).toContain('network');
  });
});
