import type { SessionState } from '@breakerbox/core';
import { budgetLeft } from '../../budget.ts';
import { dashboardLinks, fromSeries, UID } from '../../links.ts';
import { ATTR, METRIC, type MetricDefinition } from '../../names.ts';
import { CALM, COLOUR } from '../../palette.ts';
import { type Row, stat, thresholds } from '../../panels.ts';
import { gained, orZero, series, sumBy } from '../../promql.ts';

const { budgetConsumed, budgetExhaustions, budgetGranted, sessions, tokensAvoided, tokensWasted } = METRIC;
const height = 4;
const needsAction = thresholds([1, COLOUR.vermilion]);

const inRange = (metric: MetricDefinition): string => orZero(sumBy([], gained(metric, '$__range')));

const counted = (width: number, title: string, description: string, metric: MetricDefinition) =>
  stat({ width, height, title, description, unit: 'short' }, inRange(metric), thresholds());

const sessionsIn = (state: SessionState): string =>
  orZero(sumBy([], series(sessions, { [ATTR.sessionState]: [state] })));

const left = () =>
  stat(
    {
      width: 3,
      height,
      title: 'Budget left',
      description:
        'Of the failures that sessions were granted in the time range shown, the share that is not used. 0 % means that sessions pause as fast as they are granted more..',
      unit: 'percentunit',
    },
    budgetLeft([], '$__range'),
    // Less is worse: the colour has to be on the lowest step.
    thresholds([0, COLOUR.vermilion], [0.1, COLOUR.orange], [0.25, CALM]),
  ).decimals(0);

const onBudget = () =>
  stat(
    {
      width: 4,
      height,
      title: 'Paused on budget',
      description: 'Sessions that have used up their failure budget and call no tool. They wait for resume().',
      unit: 'none',
    },
    sessionsIn('paused_budget'),
    needsAction,
  );

const systemic = () =>
  stat(
    {
      width: 4,
      height,
      title: 'Paused as systemic',
      description:
        'Sessions that stopped because several tools failed as one event, which is charged once. They wait for confirmRecovered(), or for what is configured instead.',
      unit: 'none',
    },
    sessionsIn('paused_systemic'),
    needsAction,
  ).dataLinks(dashboardLinks([fromSeries(UID.correlatedFailures, 'Correlated failures')]));

/** What there was, what is left, and who waits. */
export const nowRow = (): Row => ({
  title: 'Now',
  panels: [
    left(),
    counted(
      2,
      'Granted',
      'Failures that sessions were allowed, in the time range shown: one grant for each session and each resume(), and what a systemic event gives back.',
      budgetGranted,
    ),
    counted(
      2,
      'Charged',
      'Failures charged to the budgets of sessions, in the time range shown. Skips, pauses and ignored outcomes cost nothing; a systemic event costs one.',
      budgetConsumed,
    ),
    counted(
      2,
      'Ran out',
      'Times a session ran out of failure budget, in the time range shown. Each one paused until somebody resumed or ended it.',
      budgetExhaustions,
    ),
    onBudget(),
    systemic(),
    counted(
      3,
      'Tokens wasted',
      'Tokens spent on calls that failed, in the time range shown. 0 where nobody says what calls cost.',
      tokensWasted,
    ),
    counted(
      4,
      'Tokens avoided (est.)',
      "An estimate, for the time range shown: each skipped call taken for what the tool's failed calls cost on average.",
      tokensAvoided,
    ),
  ],
});
