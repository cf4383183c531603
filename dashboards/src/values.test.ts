import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runTool } from '../../stack/tools.ts';
import { finished } from './finish.ts';
import { fleetOverview } from './fleet-overview.ts';
import { METRIC } from './names.ts';
import { gained, sumBy } from './promql.ts';
import { dashboardQueries, substitute } from './queries.ts';

/** What the queries give, by Prometheus' own engine: promtool takes JSON for YAML. */
const folder = mkdtempSync(join(tmpdir(), 'breakerbox-dashboards-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Sample {
  readonly labels: string;
  readonly value: number;
}

interface Case {
  /** By selector; one sample a minute in promtool's notation, where `_` is a scrape that is missing. */
  readonly samples: Readonly<Record<string, string>>;
  readonly expr: string;
  /** Such as `2h10m`, counted from the first sample. */
  readonly at: string;
  readonly gives: readonly Sample[];
}

const proved = async ({ samples, expr, at, gives }: Case): Promise<void> => {
  const file = join(folder, 'case.test.yml');
  const test = {
    interval: '1m',
    input_series: Object.entries(samples).map(([series, values]) => ({ series, values })),
    promql_expr_test: [
      { expr: substitute(expr, { rateInterval: '10m', range: '10m' }), eval_time: at, exp_samples: gives },
    ],
  };
  writeFileSync(file, JSON.stringify({ evaluation_interval: '1m', tests: [test] }));
  const { code, output } = await runTool('promtool', ['test', 'rules', file]);
  expect(code, output).toBe(0);
};

const SOURCE = 'job="j", instance="i", gen_ai_agent_name="a"';

describe('the state of a circuit over time', () => {
  const expr = dashboardQueries(finished(fleetOverview())).find(({ panel }) => panel === 'Circuits over time')?.expr;
  const ALL = ['closed', 'open', 'half_open', 'forced_open', 'disabled', 'observe_only'] as const;
  type Counts = Partial<Record<(typeof ALL)[number], number>>;

  it.each<[string, Counts, number]>([
    ['closed', { closed: 2 }, 0],
    ['half-open', { closed: 1, half_open: 1 }, 1],
    ['open', { closed: 1, open: 1 }, 2],
    ['open, others half-open', { open: 2, half_open: 1 }, 3],
    ['open where somebody has forced it', { forced_open: 1 }, 2],
    ['by hand where it is switched off, not closed', { disabled: 2 }, 4],
    ['by hand where it is only observed, not closed', { closed: 1, observe_only: 1 }, 4],
    ['the worse one, where another is open', { disabled: 1, open: 1 }, 2],
    ['closed where a tool has no circuit', {}, 0],
  ])('is %s', async (_, counts, value) => {
    const samples = Object.fromEntries(
      ALL.map((state) => [
        `breakerbox_circuits{${SOURCE}, gen_ai_tool_name="t", breakerbox_state="${state}"}`,
        `${counts[state] ?? 0}x10`,
      ]),
    );
    const gives = [{ labels: '{gen_ai_agent_name="a", gen_ai_tool_name="t"}', value }];
    await proved({ samples, expr: expr ?? '', at: '10m', gives });
  });
});

describe('where held-up calls went', () => {
  const queries = dashboardQueries(finished(fleetOverview()));
  const exprOf = (title: string): string => queries.find(({ panel }) => panel === title)?.expr ?? '';
  const routes = (labels: string) =>
    `breakerbox_routes_total{${SOURCE}, gen_ai_tool_name="t", breakerbox_route=${labels}}`;
  const sessions = `breakerbox_sessions{${SOURCE}, breakerbox_session_state="active"}`;
  const perMinute = (per: number) => per / 60;
  // Seven alternatives a minute, four of them of low degradation; nothing was ever deferred.
  const samples = {
    [sessions]: '1x10',
    [routes('"alternative", breakerbox_degradation="low"')]: '0+4x10',
    [routes('"alternative", breakerbox_degradation="high"')]: '0+3x10',
    [routes('"defer"')]: '0x10',
    [routes('"stale"')]: '0+6x10',
  };

  it('is drawn by kind, whatever the degradation, and only for kinds that occurred', async () => {
    const gives = [
      { labels: '{breakerbox_route="alternative"}', value: perMinute(7) },
      { labels: '{breakerbox_route="stale"}', value: perMinute(6) },
    ];
    await proved({ samples, expr: exprOf('Where held-up calls went'), at: '10m', gives });
  });

  it('is drawn by degradation for alternatives alone', async () => {
    const gives = [
      { labels: '{breakerbox_degradation="low"}', value: perMinute(4) },
      { labels: '{breakerbox_degradation="high"}', value: perMinute(3) },
    ];
    await proved({ samples, expr: exprOf('Alternatives by degradation'), at: '10m', gives });
  });

  it.each(['Where held-up calls went', 'Alternatives by degradation'])(
    'says none where nothing was: %s',
    async (title) => {
      const label = title.startsWith('Where') ? 'breakerbox_route' : 'breakerbox_degradation';
      const gives = [{ labels: `{${label}="none"}`, value: 0 }];
      await proved({ samples: { [sessions]: '1x10' }, expr: exprOf(title), at: '10m', gives });
    },
  );
});

describe('what a counter gained', () => {
  const counter = `${METRIC.budgetGranted.prometheus}{${SOURCE}}`;
  const expr = sumBy([], gained(METRIC.budgetGranted, '$__range'));

  it.each<[string, string, string, number]>([
    ['what it was born with, too', '_x99 5x9', '1h45m', 5],
    ['only what is new of one that was there before', '5x104 7x5', '1h49m', 2],
    ['nothing, if it was back within the hour', '5x20 _x49 5x9', '1h19m', 0],
    // The limit that the comment and the README own up to.
    ['all that it ever counted, if it was away for longer', '5x20 _x79 5x9', '1h49m', 5],
  ])('is %s', async (_, values, at, value) => {
    await proved({ samples: { [counter]: values }, expr, at, gives: [{ labels: '{}', value }] });
  });
});
