import { describe, expect, it } from 'vitest';
import { finished } from './finish.ts';
import { fleetOverview } from './fleet-overview.ts';
import { DEFAULT_SETTINGS } from './limits.ts';
import { COLOUR } from './palette.ts';
import { dashboardPanels } from './queries.ts';

interface PanelJson {
  readonly type: string;
  readonly title: string;
  readonly description: string;
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string; readonly mappings?: unknown } };
  readonly gridPos: { readonly x: number; readonly y: number; readonly h: number };
}

const built = finished(fleetOverview());
const panels = dashboardPanels(built) as unknown as readonly PanelJson[];

/**
 * Pixels of a window (1280 by 800), of Grafana's own bars, of the variables and links above the panels, which need three lines at this width,
 * and of a row of the grid with the gap below.
 */
const [WINDOW, BARS, CONTROLS, ROW] = [800, 80, 145, 38];

/** Pixels between rows of the grid, of the title of a panel, and of a line of a table. */
const [GAP, TITLE, LINE] = [8, 40, 36];

describe('the fleet overview', () => {
  it('shows on the first screen what is new, since when, and who is affected', () => {
    const first = ['Alerts', 'Tool health', 'Firing alerts', 'Circuits over time', 'Agents by state'];
    const seen = panels.filter(({ title, type }) => first.includes(title) || type === 'stat');
    const rows = Math.max(...seen.map(({ gridPos }) => gridPos.y + gridPos.h));
    expect(rows * ROW).toBeLessThanOrEqual(WINDOW - BARS - CONTROLS);
    const open = built.panels as unknown as readonly PanelJson[];
    expect(open.filter(({ type }) => type !== 'stat' && type !== 'row').length).toBeLessThanOrEqual(10);
    // No headings, except for the last line: a closed row, which is not queried until a person opens it.
    expect(open.filter(({ type }) => type === 'row').map(({ title }) => title)).toEqual(['Models: who answered']);
    expect(open.at(-1)).toMatchObject({ type: 'row', collapsed: true });
  });

  it('says above the table of alerts how many of them it shows without scrolling: 5 of 22', () => {
    const [count, table] = ['Alerts', 'Firing alerts'].map((title) => panels.find((panel) => panel.title === title));
    const [above, below] = [count?.gridPos, table?.gridPos];
    expect((above?.y ?? 0) + (above?.h ?? 0)).toBe(below?.y);
    expect(above?.x).toBeGreaterThanOrEqual(below?.x ?? 24);
    const seen = Math.floor(((below?.h ?? 0) * ROW - GAP - TITLE - LINE) / LINE);
    const { unit, mappings } = count?.fieldConfig?.defaults ?? {};
    expect(unit).toBe(`prefix:${seen} of `);
    // All are seen: only the number.
    const numbers = Object.fromEntries(
      Array.from({ length: seen + 1 }, (_, index) => [index, { text: `${index}`, index }]),
    );
    expect(mappings).toEqual([{ type: 'value', options: numbers }]);
  });

  it('is red only if a person should act', () => {
    const red = panels
      .filter((panel) => [COLOUR.vermilion, COLOUR.rust].some((colour) => JSON.stringify(panel).includes(colour)))
      .map(({ title }) => title);
    expect(red).toEqual([
      'Vanished',
      'Out of budget',
      'Paused: systemic',
      'Firing alerts',
      'Agents by state',
      'Decisions by kind',
      'Why calls were not made',
    ]);
  });

  it('gives lines named by data the first four colours of Grafana’s palette, because the fifth is a red', () => {
    const graphs = panels.filter(({ type }) => type === 'timeseries').map((panel) => JSON.stringify(panel));
    const limits = graphs.flatMap((panel) => [...panel.matchAll(/topk\((\d+)/g)].map(([, limit]) => Number(limit)));
    expect(limits).toEqual([4, 4, 4, 4]);
  });

  it('draws its thresholds at those of the alerts', () => {
    const own = {
      ...DEFAULT_SETTINGS,
      errorRatio: 0.4,
      absentLeastReported: '30m',
      absentFor: '10m',
      absentHabit: '3d',
    };
    const named = (title: string): string =>
      JSON.stringify(dashboardPanels(finished(fleetOverview(own))).find((panel) => panel.title === title));
    expect(named('Failure rate by tool')).toContain('"value":0.4');
    expect(named('Vanished')).toMatch(/at least 30 minutes.* nothing for 10m.* >= 30 unless.*\[10m\].*\[3d:10m\]/);
    expect(named('Agents by state')).toContain('>= 30 unless');
  });
});
