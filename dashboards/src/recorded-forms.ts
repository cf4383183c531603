import { budgetLeft } from './budget.ts';
import { AGENT, AGENT_TOOL } from './circuit-state.ts';
import { ATTR, type GroupKey, label, METRIC, type MetricDefinition } from './names.ts';
import {
  failedShare,
  gained,
  highest,
  type Matchers,
  nativeQuantile,
  notRunShare,
  overall,
  quantile,
  rate,
  series,
  share,
  sumBy,
  type Window,
} from './promql.ts';
import { either, type RecordedKey, recorded } from './recorded.ts';

/*
 * Expressions that read recorded series while the variables show all that those sum up, and the series of the agents otherwise.
 */

const FAILED = { [ATTR.outcome]: ['failure'] } as const;
const JUDGED = { [ATTR.outcome]: ['success', 'failure'] } as const;
const NOT_RUN = { [ATTR.decision]: ['skip', 'pause'] } as const;

const GROWN = {
  started: METRIC.sessionsStarted,
  charged: METRIC.budgetConsumed,
  fellLow: METRIC.budgetLow,
  ranOut: METRIC.budgetExhaustions,
  systemicEvents: METRIC.systemicEvents,
  errors: METRIC.errors,
  tokensWasted: METRIC.tokensWasted,
  tokensAvoided: METRIC.tokensAvoided,
} as const;
export type Grown = keyof typeof GROWN;

/** How much a counter grew in the window. Recorded series have no value for what did not grow. */
export const grown = (by: readonly GroupKey[], key: Grown, window: Window, which?: Matchers): string =>
  either(
    'byAgent',
    sumBy(by, `sum_over_time(${recorded(key, which)}[${window}])`),
    sumBy(by, gained(GROWN[key], window, which)),
  );

const sumInRange = (by: readonly GroupKey[], key: RecordedKey, matchers?: Matchers): string =>
  sumBy(by, `sum_over_time(${recorded(key, matchers)}[$__range] @ end())`);

/** How much a counter grew in the whole range, for ranking: the same at each step. */
export const grewOverall = (by: readonly GroupKey[], key: Grown): string =>
  either('byAgent', sumInRange(by, key), sumBy(by, overall(GROWN[key])));

/** The agents with the most, and others with 0 if those are too few. */
const most = (limit: number, key: RecordedKey, matchers?: Matchers): string =>
  `topk(${limit}, ${sumInRange(AGENT, key, matchers)} or ${sumBy(AGENT, `${recorded('sessions')} @ end()`)} * 0)`;

/** The recorded series of these agents, which are the same at each step. Filtered first, because each step sums up what is left. */
const ofMembers = (ofRecorded: string, members: string): string =>
  sumBy(AGENT, `${ofRecorded} and on (${AGENT.map(label).join(', ')}) ${members}`);

/** A graph of the agents for which a counter grew most in the whole range. */
const ofMost = (key: Grown, limit: number, ofRecorded: string, ofSeries: string): string =>
  either(
    'byAgent',
    ofMembers(ofRecorded, most(limit, key)),
    highest(ofSeries, limit, AGENT, sumBy(AGENT, overall(GROWN[key]))),
  );

/** Events of a counter around each point of a graph, of the agents with the most. */
export const eventsOf = (key: Grown, limit: number): string =>
  `${ofMost(key, limit, `sum_over_time(${recorded(key)}[$__rate_interval])`, sumBy(AGENT, gained(GROWN[key], '$__rate_interval')))} > 0`;

/** Events of a counter in a minute around each point of a graph; of recorded series, including first values. */
export const perMinute = (key: Grown): string => {
  const minutes = `max(count_over_time(${recorded('sessionsByState')}[$__rate_interval]))`;
  return either(
    'byTool',
    `(sum(sum_over_time(${recorded(key)}[$__rate_interval])) or ${minutes} * 0) / clamp_min(${minutes}, 1)`,
    `${sumBy([], rate(GROWN[key], '$__rate_interval'))} * 60`,
  );
};

/** A share of the sessions that fell low, of the agents in which most fell. */
export const burnOf = (key: 'burn5m' | 'burn30m' | 'burn1h' | 'burn6h', limit: number, ofSeries: string): string =>
  ofMost('fellLow', limit, recorded(key), ofSeries);

/** The share of the budget that is left, of the agents that had the least. */
export const leastLeft = (limit: number): string => {
  const left = budgetLeft(AGENT);
  return either(
    'byAgent',
    ofMembers(
      recorded('budgetLeft'),
      `bottomk(${limit}, ${sumBy(AGENT, `min_over_time(${recorded('budgetLeft')}[$__range] @ end())`)})`,
    ),
    highest(left, limit, AGENT, `-min_over_time(${left}[$__range:$__interval] @ end())`),
  );
};

/**
 * A gauge of agents that is rarely above 0, of the agents with the most. Its recorded series have no value while it is 0, so the others
 * are drawn as 0.
 */
export const rarely = (
  key: 'paused' | 'systemicActive',
  limit: number,
  metric: MetricDefinition,
  matchers: Matchers = {},
): string => {
  const members = most(limit, key, matchers);
  const gauge = series(metric, matchers);
  return either(
    'byAgent',
    `${ofMembers(recorded(key, matchers), members)} or ${members} * 0`,
    highest(sumBy(AGENT, gauge), limit, AGENT, sumBy(AGENT, `avg_over_time(${gauge}[$__range] @ end())`)),
  );
};

/** Transitions of circuits in the window. */
export const transitions = (by: readonly GroupKey[], window: Window, which: Matchers = {}): string =>
  either(
    'byAgent',
    sumBy(by, `sum_over_time(${recorded('transitions', which)}[${window}])`),
    sumBy(by, gained(METRIC.transitions, window, which)),
  );

/** Failed calls by tool in the 5 minutes before each point. */
export const FAILED_OF_TOOLS = sumBy([ATTR.tool], recorded('outcomesOfTool5m', FAILED));

/** Skips and pauses around each point of a graph, by reason; of recorded series, in the 5 minutes before it. */
export const notRunByReason = (): string =>
  either(
    'byTool',
    `round(${sumBy([ATTR.reason], recorded('decisionsOfTool5m', NOT_RUN))})`,
    sumBy([ATTR.reason], gained(METRIC.decisions, '$__rate_interval', NOT_RUN)),
  );

/** A recorded rate in the 5 minutes before each point; over a longer window, its mean. */
const mean = (series: string, window: Window): string =>
  window === '$__rate_interval' || window === '5m' ? series : `avg_over_time(${series}[${window}])`;

/** Decisions per second. */
export const decisionRate = (by: readonly GroupKey[]): string =>
  either('byTool', sumBy(by, recorded('decisionsOfTool')), sumBy(by, rate(METRIC.decisions, '$__rate_interval')));

/** Skips and pauses per second. */
export const notRunRate = (by: readonly GroupKey[]): string =>
  either(
    'byTool',
    sumBy(by, recorded('decisionsOfTool', NOT_RUN)),
    sumBy(by, rate(METRIC.decisions, '$__rate_interval', NOT_RUN)),
  );

/** Outcomes per second. */
export const outcomeRate = (by: readonly GroupKey[]): string =>
  either('byTool', sumBy(by, recorded('outcomesOfTool')), sumBy(by, rate(METRIC.outcomes, '$__rate_interval')));

/** {@link failedShare} of recorded series, of tools of all agents together. */
const failedOfTools = (by: readonly GroupKey[], window: Window, at = ''): string => {
  const over = (which: typeof FAILED | typeof JUDGED): string =>
    sumBy(
      by,
      at === ''
        ? mean(recorded('outcomesOfTool', which), window)
        : `avg_over_time(${recorded('outcomesOfTool', which)}[${window}]${at})`,
    );
  return share(over(FAILED), over(JUDGED));
};

/** {@link failedShare} of tools, or of all that is selected. */
export const toolsFailed = (by: readonly GroupKey[], window: Window): string =>
  either('byTool', failedOfTools(by, window), failedShare(by, window));

/** The same over the whole range, with the same result at each step, for ranking. Not for a mixture of both kinds of series. */
export const failedOfToolsOverall = (by: readonly GroupKey[]): string => failedOfTools(by, '$__range', ' @ end()');

/** {@link notRunShare} of all that is selected. */
export const notRunOf = (window: Window): string => {
  const all = (which: typeof NOT_RUN | Record<string, never>): string =>
    sumBy([], mean(recorded('decisionsOfTool', which), window));
  return either('byTool', share(all(NOT_RUN), all({})), notRunShare([], window));
};

/** A quantile of the durations of all that is selected. */
export const durationQuantile = (q: number, window: Window): string =>
  either(
    'byTool',
    // No rule records native histograms of all agents: Prometheus reads them faster than buckets.
    `histogram_quantile(${q}, sum by (le) (${mean(recorded('bucketsOfTool'), window)})) >= 0 or ${nativeQuantile(q, METRIC.duration, [], window)}`,
    quantile(q, METRIC.duration, [], window),
  );

/** Increases of 5 minutes, over a longer window: each counts as often as it was recorded. */
const summed = (series: string, window: Window): string =>
  window === '5m' ? series : `sum_over_time(${series}[${window}])`;

/** {@link failedShare} of each tool of each agent. */
export const agentToolFailed = (window: Window): string => {
  const sum = (key: 'failures5m' | 'executions5m'): string => sumBy(AGENT_TOOL, summed(recorded(key), window));
  return either('byAgent', share(sum('failures5m'), sum('executions5m')), failedShare(AGENT_TOOL, window));
};

/** The p95 of each tool of each agent; of recorded series, the median of those of 15 minutes each. */
export const agentToolP95 = (window: Window): string =>
  either(
    'byAgent',
    sumBy(AGENT_TOOL, `quantile_over_time(0.5, ${recorded('p95')}[${window}])`),
    quantile(0.95, METRIC.duration, AGENT_TOOL, window),
  );

/** {@link notRunShare} of each tool of each agent. */
export const agentToolNotRun = (window: Window): string => {
  const sum = (which: typeof NOT_RUN | Record<string, never>): string =>
    sumBy(AGENT_TOOL, summed(recorded('decisions5m', which), window));
  const all = sum({});
  return either('byAgent', `${sum(NOT_RUN)} / (${all} > 0) or ${all} * 0`, notRunShare(AGENT_TOOL, window));
};
