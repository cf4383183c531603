import { type Decision, GROUP_PREFIX, type Outcome, type Reason, type ReportedState } from '@breakerbox/core';
import { grown } from './gained.ts';
import {
  ATTR,
  aggregated,
  BY_AGENT,
  BY_TOOL,
  ERROR,
  indented,
  joined,
  label,
  METRIC,
  type MetricDefinition,
  matching,
  TOOL,
} from './promql.ts';
import type { Ground, Recording, RecordKey } from './record.ts';
import { asSeconds } from './recording-correlation.ts';
import { WINDOW } from './settings.ts';

const { short } = WINDOW;
const PER_TOOL = `job, ${TOOL}`;
const BY_OPENING = `${BY_TOOL}, ${ERROR}`;

/** The decisions of each tool that have a series before they occur. */
const FROM_THE_START = [
  ['call', 'closed'],
  ['probe', 'probe_due'],
  ['skip', 'open'],
  ['pause', 'budget_exhausted'],
  ['pause', 'systemic'],
] as const satisfies readonly (readonly [Decision, Reason])[];

/** 1 for tools that have a circuit in one of these states. */
const anyIn = ({ series, read, recorded }: Ground, ...states: readonly ReportedState[]): string => {
  const which = { [ATTR.state]: states };
  const circuits = recorded
    ? `${read.now('notClosedByState')}${matching(which)}`
    : `${series(METRIC.circuits, which)} > 0`;
  return `${aggregated('sum', BY_TOOL, circuits)} ^ 0`;
};

/** See {@link grown}. No value without growth. */
const growth = (
  key: RecordKey,
  metric: MetricDefinition,
  by: string,
  comment = '',
  interval: '1m' | '2m' = '1m',
): Recording => ({
  key,
  comment,
  expr: ({ series }) => `${grown(series(metric), by, interval)} > 0`,
  every: interval,
});

/**
 * Series that no alert reads. With them, a dashboard of the whole fleet reads a few hundred series where it would read hundreds of
 * thousands.
 */
export const OVERVIEW: readonly Recording[] = [
  {
    key: 'worstState',
    comment:
      'The worst state among the circuits of a tool: 5 open and others half-open, 3 open, 2 half-open, 1 switched off or only observing. No value while all are closed. No alert reads this series and those below: dashboards do, while they show all instances.',
    expr: (ground) => {
      // The label keeps both, so that their sum is 5.
      const open = `label_replace(3 * ${anyIn(ground, 'open', 'forced_open')}, "worst", "open", "", "")`;
      const worst = aggregated('sum', BY_TOOL, joined('or', open, `2 * ${anyIn(ground, 'half_open')}`));
      return joined('or', worst, anyIn(ground, 'disabled', 'observe_only'));
    },
  },
  {
    key: 'budgetLeft',
    comment: 'The share that is left of the failures that live sessions may have; 1 without live sessions.',
    expr: ({ series }) => {
      const limit = aggregated('sum', BY_AGENT, series(METRIC.budgetLimit));
      return `${aggregated('sum', BY_AGENT, series(METRIC.budgetRemaining))} / (${limit} > 0)\nor ${limit} * 0 + 1`;
    },
    every: '1m',
  },
  {
    key: 'sessionsByState',
    comment: 'Live sessions of all agents together, by state.',
    expr: ({ series }) => aggregated('sum', `job, ${label(ATTR.sessionState)}`, series(METRIC.sessions)),
    every: '1m',
  },
  growth(
    'started',
    METRIC.sessionsStarted,
    BY_AGENT,
    'How much a counter grew since the last evaluation. So the sum of the values over a time range is the exact growth in it. A counter that is lower than before, or that was not seen in the hour before, has begun at 0. No value without growth, so most of these are few series. Sessions that were started, final charges to budgets, sessions that fell low, and sessions that ran out.',
  ),
  growth('charged', METRIC.budgetConsumed, BY_AGENT),
  growth('fellLow', METRIC.budgetLow, BY_AGENT),
  growth('ranOut', METRIC.budgetExhaustions, BY_AGENT),
  growth('systemicEvents', METRIC.systemicEvents, `${BY_AGENT}, ${ERROR}`, 'The same for systemic events.'),
  growth(
    'errors',
    METRIC.errors,
    `${BY_TOOL}, ${label(ATTR.outcome)}, ${ERROR}`,
    'The same for failed and ignored calls by error category, and for tokens.',
  ),
  growth('tokensWasted', METRIC.tokensWasted, BY_TOOL),
  growth('tokensAvoided', METRIC.tokensAvoided, BY_TOOL),
  {
    key: 'opened',
    comment:
      'Tools that opened since the last evaluation: the Unix time of the opening, for each error. A tool opened if the gauge shows a later time than in the hour before, or did not exist then. 0 is an opening that was taken back.',
    expr: ({ series }) => {
      const opened = series(METRIC.openedTime);
      const latest = aggregated('max', BY_OPENING, `max_over_time(${opened}[1m])`);
      const before = aggregated('max', BY_OPENING, `max_over_time(${opened}[1h] offset 1m)`);
      return `${latest} > 0\nunless ${before} >= ${latest}`;
    },
    every: '1m',
  },
  {
    key: 'paused',
    comment: 'Sessions that are paused, by state. No value without one.',
    expr: ({ series }) => {
      const paused = series(METRIC.sessions, { [ATTR.sessionState]: ['paused_budget', 'paused_systemic'] });
      return `${aggregated('sum', `${BY_AGENT}, ${label(ATTR.sessionState)}`, paused)} > 0`;
    },
    every: '1m',
  },
  {
    key: 'systemicActive',
    comment: 'Systemic events that are not over. No value without one.',
    expr: ({ series }) => `${aggregated('sum', BY_AGENT, series(METRIC.systemicActive))} > 0`,
    every: '1m',
  },
  growth(
    'transitions',
    METRIC.transitions,
    `${BY_TOOL}, ${label(ATTR.stateFrom)}, ${label(ATTR.stateTo)}`,
    'How much the transitions of circuits grew since the last evaluation. No value without a transition.',
    '2m',
  ),
  {
    key: 'circuitsOfTool',
    comment: 'Of all agents together: circuits by state.',
    expr: ({ series }) => aggregated('sum', `${PER_TOOL}, ${label(ATTR.state)}`, series(METRIC.circuits)),
    every: '2m',
  },
  {
    key: 'decisionsOfTool5m',
    comment:
      'Decisions in 5 minutes, by reason. The kinds that each tool reports from the start are 0 if they did not occur. A reason that is new counts from 0, because increase() ignores a first value.',
    expr: ({ series, read }) => {
      const by = `${PER_TOOL}, ${label(ATTR.decision)}, ${label(ATTR.reason)}`;
      const others = series(
        METRIC.decisions,
        {},
        `${label(ATTR.reason)}!~"${FROM_THE_START.map(([, reason]) => reason).join('|')}"`,
      );
      const born = `last_over_time(${others}[${short}])\nunless last_over_time(${others}[1h] offset ${short})`;
      return joined(
        'or',
        aggregated(
          'sum',
          by,
          joined('or', read.now('decisions5m'), `label_replace(\n${indented(`${born},\n"born", "yes", "", ""`)}\n)`),
        ),
        ...FROM_THE_START.map(([decision, reason]) => {
          const group = label(ATTR.group);
          const marked = `label_replace(${read.now('circuitsOfTool')}, "${group}", "yes", "${TOOL}", "${GROUP_PREFIX}.+")`;
          const tools = `sum by (${PER_TOOL}) (${marked} unless on (${group}) label_replace(vector(0), "${group}", "yes", "", "")) * 0`;
          return `label_replace(label_replace(${tools}, "${label(ATTR.decision)}", "${decision}", "", ""), "${label(ATTR.reason)}", "${reason}", "", "")`;
        }),
      );
    },
    every: '2m',
  },
  {
    key: 'decisionsOfTool',
    comment: 'The same per second.',
    expr: ({ read }) => `${read.now('decisionsOfTool5m')} / (${asSeconds(short)})`,
    every: '2m',
  },
  {
    key: 'outcomesOfTool5m',
    comment: 'Outcomes in 5 minutes, and per second. Executed calls are those that succeeded and those that failed.',
    expr: ({ series, read }) => {
      const of = (outcome: Outcome, calls: string): string =>
        `label_replace(\n${indented(`${calls},\n"${label(ATTR.outcome)}", "${outcome}", "", ""`)}\n)`;
      const executed = `sum by (${PER_TOOL}) (${read.now('executions5m')})`;
      const failed = `(sum by (${PER_TOOL}) (${read.now('failures5m')}) or ${executed} * 0)`;
      const ignored = `increase(${series(METRIC.outcomes, { [ATTR.outcome]: ['ignored'] })}[${short}])`;
      return joined(
        'or',
        of('success', `${executed} - ${failed}`),
        of('failure', failed),
        aggregated('sum', `${PER_TOOL}, ${label(ATTR.outcome)}`, ignored),
      );
    },
    every: '2m',
  },
  {
    key: 'outcomesOfTool',
    comment: '',
    expr: ({ read }) => `${read.now('outcomesOfTool5m')} / (${asSeconds(short)})`,
    every: '2m',
  },
  {
    key: 'bucketsOfTool',
    comment: 'The histogram of the durations of all agents together, per second.',
    expr: ({ series }) =>
      aggregated('sum', `${PER_TOOL}, le`, `rate(${series(METRIC.duration, {}, '', '_bucket')}[${short}])`),
    every: '4m',
  },
];
