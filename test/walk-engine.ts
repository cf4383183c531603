import { METRIC, type MetricDefinition } from '@breakerbox/core';
import { describe, expect, test } from 'vitest';
import { dashboardPanels } from '../dashboards/src/queries.ts';
import { type Counts, engineCounts, seriesName } from './event-counts.ts';
import { dashboards, panelQueries } from './panels.ts';
import type { Series } from './prometheus.ts';
import { WAY_NAMES, WAYS, type Walk, type Way } from './walk.ts';
import { asked, inRun } from './walk-dashboards.ts';

const BUDGET = 'breakerbox-failure-budget';

interface Timeline {
  readonly dashboard: string;
  readonly title: string;
  readonly expr: string;
  /** The meaning of a value. */
  readonly texts: Readonly<Record<string, string>>;
}

/** How panels show the state of a circuit. */
const asText = (state: string): string => state.replace('_', '-');

/** The panels that draw the state of each tool's circuits. */
const timelines: readonly Timeline[] = dashboards.flatMap((dashboard) =>
  dashboardPanels(dashboard)
    .filter(({ type }) => type === 'state-timeline')
    .flatMap((panel) => {
      const { targets, fieldConfig, title } = JSON.parse(JSON.stringify(panel));
      const [mapping] = fieldConfig.defaults.mappings ?? [];
      const texts = Object.fromEntries(
        Object.entries(mapping?.options ?? {}).map(([value, option]) => [value, (option as { text: string }).text]),
      );
      // The others show alerts.
      if (!Object.values(texts).includes(asText('half_open'))) return [];
      return [{ dashboard: String(dashboard.uid), title, expr: targets[0].expr, texts }];
    }),
);

/** While some tools are unavailable, each timeline ends with the state that the engine reports. */
export const describeEngineInPanels = (walk: () => Walk): void => {
  describe.each(WAY_NAMES)('while tools are unavailable, metrics that came by %s', (way) => {
    test('have timelines', () => {
      expect(timelines.map(({ dashboard }) => dashboard)).toEqual(
        expect.arrayContaining(['breakerbox-fleet-overview', 'breakerbox-tool-detail']),
      );
    });

    test('the panel Budget left shows the engine’s remaining budget', async () => {
      const { prometheus, eventually, agents } = walk();
      const shows = panelQueries.find(({ dashboard, panel }) => dashboard === BUDGET && panel === 'Budget left');
      await eventually(async () => {
        for (const { box, session } of Object.values(agents)) {
          const variables = { ...asked(way).variables, agent: box.agent };
          const [shown] = await prometheus.instant(inRun(shows?.expr ?? '', { ...asked(way), variables }));
          const { remaining, limit } = session.view().budget;
          expect([box.agent, shown?.values[0]?.[1]]).toEqual([box.agent, expect.closeTo(remaining / limit, 9)]);
        }
      });
    });

    test.each(timelines.map((one) => [one.dashboard, one.title, one] as const))(
      '%s: the timeline %s ends with the engine’s states',
      async (_dashboard, _title, { expr, texts }) => {
        const { prometheus, eventually, agents } = walk();
        await eventually(async () => {
          for (const { box, session } of Object.values(agents)) {
            // One tool at a time, as on the dashboard of one tool.
            for (const { tool, state } of session.view().circuits) {
              const chosen = { ...asked(way).variables, agent: box.agent, tool };
              const ends = await prometheus.instant(inRun(expr, { ...asked(way), variables: chosen }));
              const texted = ends.map(({ values }) => texts[String(values[0]?.[1])]);
              expect([box.agent, tool, texted]).toEqual([box.agent, tool, [asText(state)]]);
            }
          }
        });
      },
    );
  });
};

/** A time that no longer applies. A scrape leaves it out, and what is pushed keeps it at 0. */
const isOver = (name: string, value: number): boolean => value === 0 && name.endsWith('_time_seconds');

/** Series without the labels that differ between the two ways, and without zeros. */
const countsIn = (series: readonly Series[], zeros = false): Counts =>
  Object.fromEntries(
    series.flatMap(({ metric, values }) => {
      const { __name__: name = '', job: _job, instance: _instance, ...labels } = metric;
      const kept = Object.entries(labels).filter(([label]) => !label.startsWith('otel_scope_'));
      // The other way added the seconds in another order.
      const value = Number((values[0]?.[1] ?? Number.NaN).toPrecision(9));
      return isOver(name, value) || (value === 0 && !zeros)
        ? []
        : [[seriesName(name, Object.fromEntries(kept)), value] as const];
    }),
  );

/** The metrics that count the engine's events. */
const COUNTED = [
  METRIC.decisions,
  METRIC.outcomes,
  METRIC.errors,
  METRIC.transitions,
  METRIC.routes,
  METRIC.freshness,
  METRIC.tasks,
  METRIC.tokensWasted,
  METRIC.tokensAvoided,
  METRIC.systemicEvents,
  METRIC.sessionsStarted,
  METRIC.budgetConsumed,
  METRIC.budgetExhaustions,
  METRIC.operatorActions,
  { prometheus: `${METRIC.duration.prometheus}_count` },
].map(({ prometheus }) => prometheus);

/** All series of a metric together. */
const totalOf = (counts: Counts, { prometheus }: Pick<MetricDefinition, 'prometheus'>): number =>
  Object.entries(counts).reduce((sum, [name, count]) => (name.startsWith(`${prometheus}{`) ? sum + count : sum), 0);

interface Figure {
  readonly dashboard: string;
  readonly panel: string;
  /** Its value according to the engine's own numbers. */
  engine(total: (metric: MetricDefinition) => number): number;
}

const CORRELATED = 'breakerbox-correlated-failures';
/** No live session could use any of it. */
const left: Figure['engine'] = () => 1;

/** Panels that show one number for all agents. */
const FIGURES: readonly Figure[] = [
  { dashboard: CORRELATED, panel: 'Systemic events in range', engine: (total) => total(METRIC.systemicEvents) },
  { dashboard: BUDGET, panel: 'Budget left', engine: left },
  { dashboard: BUDGET, panel: 'Charged', engine: (total) => total(METRIC.budgetConsumed) },
  { dashboard: BUDGET, panel: 'Ran out', engine: (total) => total(METRIC.budgetExhaustions) },
  { dashboard: BUDGET, panel: 'Tokens wasted', engine: (total) => total(METRIC.tokensWasted) },
  { dashboard: BUDGET, panel: 'Tokens avoided (est.)', engine: (total) => total(METRIC.tokensAvoided) },
];

/** All agents have stopped: the numbers of both ways equal the engine's own. */
export const describeNumbersAtRest = (walk: () => Walk): void => {
  describe('at rest', () => {
    test.each(WAY_NAMES)('metrics that came by %s equal the engine’s events', async (way) => {
      const { agents, prometheus, eventually } = walk();
      await Promise.all(Object.values(agents).map((agent) => agent.stop()));
      const counted = Object.assign({}, ...Object.values(agents).map(engineCounts));
      const selector = `{__name__=~"${COUNTED.join('|')}", job="${WAYS[way]}"}`;
      await eventually(async () => expect(countsIn(await prometheus.instant(selector))).toEqual(counted));
    });

    test('both ways have the same series with the same values', async () => {
      const { prometheus, eventually } = walk();
      const all = async (way: Way) =>
        countsIn(await prometheus.instant(`{__name__=~"breakerbox_.+|gen_ai_.+", job="${WAYS[way]}"}`), true);
      await eventually(async () => {
        const scraped = await all('scrape');
        expect(Object.keys(scraped).length).toBeGreaterThan(500);
        expect(await all('otlp')).toEqual(scraped);
      });
    });

    test.each(FIGURES.flatMap((one) => WAY_NAMES.map((way) => [one.dashboard, one.panel, way, one] as const)))(
      '%s: the panel %s shows for metrics that came by %s the engine’s numbers, agent by agent',
      async (_dashboard, _panel, way, { dashboard, panel, engine }) => {
        const { agents, prometheus } = walk();
        const shows = panelQueries.find((query) => query.dashboard === dashboard && query.panel === panel);
        for (const agent of Object.values(agents)) {
          const variables = { ...asked(way).variables, agent: agent.box.agent };
          const [shown] = await prometheus.instant(inRun(shows?.expr ?? '', { ...asked(way), variables }));
          expect([agent.box.agent, shown?.values[0]?.[1]]).toEqual([
            agent.box.agent,
            expect.closeTo(
              engine((metric) => totalOf(engineCounts(agent), metric)),
              9,
            ),
          ]);
        }
      },
    );

    test('no circuit, session, budget or event is left', async () => {
      const { prometheus, eventually } = walk();
      for (const { prometheus: gauge } of [
        METRIC.circuits,
        METRIC.sessions,
        METRIC.budgetLimit,
        METRIC.budgetRemaining,
        METRIC.systemicActive,
      ]) {
        await eventually(async () => {
          const [sum] = await prometheus.instant(`sum(${gauge})`);
          expect(sum?.values.map(([, value]) => value)).toEqual([0]);
        });
      }
    });
  });
};
