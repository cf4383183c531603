import { burnNow, burnOver } from '../../budget.ts';
import { AGENT } from '../../circuit-state.ts';
import type { RuleSettings } from '../../limits.ts';
import { dashboardLinks, fromSeries, UID } from '../../links.ts';
import { ATTR, JOB, legend } from '../../names.ts';
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
import { burnOf, eventsOf, leastLeft, perMinute } from '../../recorded-forms.ts';
import { orZeroNamed } from '../../zeros.ts';

const LINES = 10;
const size = { width: 12, height: 8 } as const;
const toOverview = dashboardLinks([fromSeries(UID.fleetOverview, 'Fleet overview of the agent', ...AGENT)]);

interface Burn {
  readonly title: string;
  readonly expr: string;
  /** The alert, and its windows. */
  readonly alert: string;
  readonly limit: number;
  readonly colour: string;
}

/** One of the two windows of an alert. The alert fires while both are above the line. */
const burn = ({ title, expr, alert, limit, colour }: Burn) =>
  lines(
    {
      ...size,
      title,
      description: `Share of the sessions that fell to at most one failure left in their budget, in the window before each point: the ${LINES} agents with the highest share. ${alert}`,
      unit: 'percentunit',
    },
    { expr, legend: legend(ATTR.agent, JOB) },
  )
    .thresholds(thresholds([limit, colour]))
    .thresholdsStyle(thresholdLines())
    .maxDataPoints(EVENT_POINTS)
    .noValue('No sessions')
    .legend(legendTableBeside())
    .dataLinks(toOverview);

const SHORT =
  'Divided by the sessions that started in the short window, or by the pace of the long one, whichever is more.';

const fast = (limit: number) => {
  const alert =
    'BreakerboxBudgetBurnFast fires while the last hour and the last 5 minutes are above the line, and enough sessions fell.';
  const shared = { limit, colour: COLOUR.vermilion };
  return [
    burn({
      ...shared,
      title: 'Fast burn: over the last hour',
      expr: burnOf('burn1h', LINES, burnOver(AGENT, '1h')),
      alert,
    }),
    burn({
      ...shared,
      title: 'Fast burn: over the last 5 minutes',
      expr: burnOf('burn5m', LINES, burnNow(AGENT, '1h')),
      alert: `${alert} ${SHORT}`,
    }),
  ];
};

const slow = (limit: number) => {
  const alert =
    'BreakerboxBudgetBurnSlow fires while the last 6 hours and the last 30 minutes are above the line, and enough sessions fell.';
  const shared = { limit, colour: COLOUR.orange };
  return [
    burn({
      ...shared,
      title: 'Slow burn: over the last 6 hours',
      expr: burnOf('burn6h', LINES, burnOver(AGENT, '6h')),
      alert,
    }),
    burn({
      ...shared,
      title: 'Slow burn: over the last 30 minutes',
      expr: burnOf('burn30m', LINES, burnNow(AGENT, '6h')),
      alert: `${alert} ${SHORT}`,
    }),
  ];
};

const left = () =>
  lines(
    {
      ...size,
      title: 'Budget left over time, by agent',
      description: `The share that is left of the failures that live sessions of an agent may have: the ${LINES} agents with the lowest value in the time range. It falls with each failure, and rises as charges leave the window of the last steps or minutes. While a session is paused, its share does not rise.`,
      unit: 'percentunit',
    },
    { expr: leastLeft(LINES), legend: legend(ATTR.agent, JOB) },
  )
    .max(1)
    .maxDataPoints(EVENT_POINTS)
    .legend(legendTableBeside())
    .dataLinks(toOverview);

const CHARGED = 'charged';

const charged = () =>
  coloured(
    lines(
      {
        ...size,
        title: 'Failures charged per minute',
        description:
          'Final charges to the budgets of sessions: one per failure, and one for a whole outage or systemic event. A failure that may be part of an event is charged when that is known.',
        unit: 'none',
      },
      { expr: perMinute('charged'), legend: CHARGED },
    ),
    { [CHARGED]: COLOUR.orange },
  ).maxDataPoints(EVENT_POINTS);

const events = (title: string, description: string, key: 'fellLow' | 'ranOut') =>
  bars(
    {
      ...size,
      title,
      description: `${description} Each is drawn for one rate interval; the ${LINES} agents with the most.`,
      unit: 'none',
    },
    {
      expr: orZeroNamed(eventsOf(key, LINES), ATTR.agent, 'none'),
      legend: legend(ATTR.agent),
    },
  ).dataLinks(toOverview);

const fellLow = () =>
  events(
    'Sessions that fell low, by agent',
    'Times a session fell to at most one failure left in its budget. The burn alerts count these.',
    'fellLow',
  );

const exhaustions = () =>
  events('Sessions that ran out, by agent', 'Times a session ran out of failure budget.', 'ranOut');

/** How fast failures use up the budget, compared with the limits of the alerts. */
export const burnRow = ({ burnFastRatio, burnSlowRatio }: RuleSettings): Row => ({
  title: 'Burn',
  panels: [...fast(burnFastRatio), ...slow(burnSlowRatio), left(), charged(), fellLow(), exhaustions()],
});
