import { AGENT } from './circuit-state.ts';
import { type GroupKey, label, METRIC, type MetricDefinition } from './names.ts';
import { series, sumBy, type Window } from './promql.ts';

const { budgetLimit, budgetLow, budgetRemaining, sessions, sessionsStarted } = METRIC;

/** The share that is left of the failures that live sessions may have; 1 without live sessions. */
export const budgetLeft = (by: readonly GroupKey[]): string => {
  const limit = sumBy(by, series(budgetLimit));
  return `(${sumBy(by, series(budgetRemaining))} / (${limit} > 0) or ${limit} * 0 + 1)`;
};

/** The used share. */
export const budgetUsed = (by: readonly GroupKey[]): string => `1 - ${budgetLeft(by)}`;

/**
 * The increase of a counter in the window, including first values, as the alerts count it. It is not rounded, and leaves out the first
 * values of an agent that reported nothing just before the window. For graphs it is several times faster than `gained()`. The caller sums
 * the result.
 */
const grown = (metric: MetricDefinition, window: Window): string => {
  const counter = series(metric);
  const known = `${sumBy(AGENT, `${series(sessions)} offset ${window}`)}`;
  const born = `min_over_time(${counter}[${window}]) unless last_over_time(${counter}[1h] offset ${window}) and on (${AGENT.map(label).join(', ')}) ${known}`;
  // The label keeps first values apart from the increase; otherwise `or` would drop one of the two.
  return `increase(${counter}[${window}]) or label_replace(${born}, "born", "yes", "", "")`;
};

/** The windows of the burn alerts: a long one with its number of steps, and a short one of a twelfth of its length. */
const BURN_WINDOWS = {
  '1h': { steps: '1h:1m', short: '5m' },
  '6h': { steps: '6h:5m', short: '30m' },
} as const;
type LongWindow = keyof typeof BURN_WINDOWS;

/** The greater of two vectors. A label keeps them apart. */
const greater = (by: readonly GroupKey[], one: string, other: string): string =>
  `max by (${by.map(label).join(', ')}) (label_replace(${one}, "of", "one", "", "") or ${other})`;

/** Sessions that were live at some time in the window: those that were live when it began, and those that started in it. */
const lived = (by: readonly GroupKey[], long: LongWindow): string => {
  const before = `${series(sessions)} offset ${long}`;
  const most = `max_over_time(${sumBy(by, series(sessions))}[${BURN_WINDOWS[long].steps}])`;
  return greater(by, sumBy(by, `${grown(sessionsStarted, long)} or ${before}`), most);
};

/** A share from 0 to 1. It is limited, because a session may fall low, recover its full budget, and fall again. */
const shareThatFell = (by: readonly GroupKey[], window: Window, of: string): string =>
  `clamp_max(${sumBy(by, grown(budgetLow, window))} / clamp_min(${of}, 0.01), 1)`;

/** Share of the sessions that fell to at most one failure left in their budget, in the long window of a burn alert. */
export const burnOver = (by: readonly GroupKey[], long: LongWindow): string => shareThatFell(by, long, lived(by, long));

/**
 * The same in the short window, as in the alerts. Most sessions that are live in it fall at another time, so it divides by the sessions
 * that started in it, or by the pace of the long window, whichever is more.
 */
export const burnNow = (by: readonly GroupKey[], long: LongWindow): string => {
  const { short } = BURN_WINDOWS[long];
  const pace = `${lived(by, long)} * ${1 / 12}`;
  return shareThatFell(by, short, greater(by, sumBy(by, grown(sessionsStarted, short)), pace));
};
