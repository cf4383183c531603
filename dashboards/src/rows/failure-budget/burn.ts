import { burnNow, burnOver } from '../../budget.ts';
import { AGENT } from '../../circuit-state.ts';
import type { RuleSettings } from '../../limits.ts';
import { dashboardLinks, fromSeries, UID } from '../../links.ts';
import { ATTR, JOB, legend, METRIC } from '../../names.ts';
import { COLOUR } from '../../palette.ts';
import {
  bars,
  coloured,
  EVENT_POINTS,
  legendTableBeside,
  lines,
  type Row,
  thresholdLines,
  thresholds,
} from '../../panels.ts';
import { gained, highest, orZeroNamed, overall, rate, sumBy } from '../../promql.ts';

const { budgetConsumed, budgetExhaustions, budgetGranted } = METRIC;
const LINES = 10;
const size = { width: 12, height: 8 } as const;
const toOverview = dashboardLinks([fromSeries(UID.fleetOverview, 'Fleet overview of the agent', ...AGENT)]);

interface Burn {
  readonly title: string;
  readonly expr: string;
  /** Which alert, and what it looks at. */
  readonly alert: string;
  readonly limit: number;
  readonly colour: string;
}

/** One window of an alert that looks at two: it is due while both are above the line. */
const burn = ({ title, expr, alert, limit, colour }: Burn) =>
  lines(
    {
      ...size,
      title,
      description: `Failures charged over failures granted before each point, of the ${LINES} agents that were charged most; 100 % is all of it. ${alert}`,
      unit: 'percentunit',
    },
    { expr: highest(expr, LINES, AGENT, sumBy(AGENT, overall(budgetConsumed))), legend: legend(ATTR.agent, JOB) },
  )
    .thresholds(thresholds([limit, colour]))
    .thresholdsStyle(thresholdLines())
    .maxDataPoints(EVENT_POINTS)
    .axisSoftMax(1)
    .legend(legendTableBeside())
    .dataLinks(toOverview);

const SHORT =
  'Measured by the grants of the short window, or by the pace of grants in the long one, whichever is more.';

const fast = (limit: number) => {
  const alert =
    'BreakerboxBudgetBurnFast is due while the last hour and the last 5 minutes are above the line, and there is enough traffic.';
  const shared = { limit, colour: COLOUR.vermilion };
  return [
    burn({ ...shared, title: 'Fast burn: over the last hour', expr: burnOver(AGENT, '1h'), alert }),
    burn({
      ...shared,
      title: 'Fast burn: over the last 5 minutes',
      expr: burnNow(AGENT, { short: '5m', long: '1h' }),
      alert: `${alert} ${SHORT}`,
    }),
  ];
};

const slow = (limit: number) => {
  const alert =
    'BreakerboxBudgetBurnSlow is due while the last 6 hours and the last 30 minutes are above the line, and there is enough traffic.';
  const shared = { limit, colour: COLOUR.orange };
  return [
    burn({ ...shared, title: 'Slow burn: over the last 6 hours', expr: burnOver(AGENT, '6h'), alert }),
    burn({
      ...shared,
      title: 'Slow burn: over the last 30 minutes',
      expr: burnNow(AGENT, { short: '30m', long: '6h' }),
      alert: `${alert} ${SHORT}`,
    }),
  ];
};

const perMinute = (metric: typeof budgetGranted | typeof budgetConsumed): string =>
  `${sumBy([], rate(metric, '$__rate_interval'))} * 60`;

const granted = () =>
  coloured(
    lines(
      {
        ...size,
        title: 'Failures granted and charged per minute',
        description:
          'Each session is granted a number of failures per cycle, and each failed call is charged once. Charged close to granted means sessions that pause.',
        unit: 'none',
      },
      { expr: perMinute(budgetGranted), legend: 'granted' },
      { expr: perMinute(budgetConsumed), legend: 'charged' },
    ),
    { granted: COLOUR.green, charged: COLOUR.orange },
  ).maxDataPoints(EVENT_POINTS);

const exhaustions = () =>
  bars(
    {
      ...size,
      title: 'Sessions that ran out, by agent',
      description: `Times a session ran out of failure budget. Each one is drawn as long as the rate interval, of the ${LINES} agents with the most.`,
      unit: 'none',
    },
    {
      expr: orZeroNamed(
        highest(
          `${sumBy(AGENT, gained(budgetExhaustions, '$__rate_interval'))} > 0`,
          LINES,
          AGENT,
          sumBy(AGENT, overall(budgetExhaustions)),
        ),
        ATTR.agent,
        'none',
      ),
      legend: legend(ATTR.agent),
    },
  ).dataLinks(toOverview);

/** How fast failures are spent, against what wakes somebody. */
export const burnRow = ({ burnFastRatio, burnSlowRatio }: RuleSettings): Row => ({
  title: 'Burn',
  panels: [...fast(burnFastRatio), ...slow(burnSlowRatio), granted(), exhaustions()],
});
