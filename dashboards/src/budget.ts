import { AGENT } from './circuit-state.ts';
import { type GroupKey, label, METRIC, type MetricDefinition } from './names.ts';
import { series, sumBy, type Window } from './promql.ts';

const { budgetLimit, budgetLow, budgetRemaining, sessions, sessionsStarted } = METRIC;

/** What is left of the failures that live sessions may have, as a share; 1 where there is no session that could use any. */
export const budgetLeft = (by: readonly GroupKey[]): string => {
  const limit = sumBy(by, series(budgetLimit));
  return `(${sumBy(by, series(budgetRemaining))} / (${limit} > 0) or ${limit} * 0 + 1)`;
};

/** The rest of it. */
export const budgetUsed = (by: readonly GroupKey[]): string => `1 - ${budgetLeft(by)}`;

/**
 * What a counter grew by and was born with in the window, as the alerts count: not rounded, and without what the counters of an
 * agent bring along that reported nothing just before the window. For graphs it is several times as fast as `gained()`. It is
 * to be summed.
 */
const grown = (metric: MetricDefinition, window: Window): string => {
  const counter = series(metric);
  const known = `${sumBy(AGENT, `${series(sessions)} offset ${window}`)}`;
  const born = `min_over_time(${counter}[${window}]) unless last_over_time(${counter}[1h] offset ${window}) and on (${AGENT.map(label).join(', ')}) ${known}`;
  // The label keeps what was born apart from what grew, or `or` would take one of the two.
  return `increase(${counter}[${window}]) or label_replace(${born}, "born", "yes", "", "")`;
};

/** The windows of the alerts on burn: a long one, in how many steps to look at it, and a short one of a twelfth of its length. */
const BURN_WINDOWS = {
  '1h': { steps: '1h:1m', short: '5m' },
  '6h': { steps: '6h:5m', short: '30m' },
} as const;
type LongWindow = keyof typeof BURN_WINDOWS;

/** The greater of two vectors; a label keeps them apart. */
const greater = (by: readonly GroupKey[], one: string, other: string): string =>
  `max by (${by.map(label).join(', ')}) (label_replace(${one}, "of", "one", "", "") or ${other})`;

/** Sessions that were live at some time in the window: those that were live when it began, and those that were started in it. */
const lived = (by: readonly GroupKey[], long: LongWindow): string => {
  const before = `${series(sessions)} offset ${long}`;
  const most = `max_over_time(${sumBy(by, series(sessions))}[${BURN_WINDOWS[long].steps}])`;
  return greater(by, sumBy(by, `${grown(sessionsStarted, long)} or ${before}`), most);
};

/** A share from 0 to 1: a session may fall low, have a full budget again, and fall once more. */
const shareThatFell = (by: readonly GroupKey[], window: Window, of: string): string =>
  `clamp_max(${sumBy(by, grown(budgetLow, window))} / clamp_min(${of}, 0.01), 1)`;

/** Share of the sessions that fell to one failure left in their budget or none, in the long window of an alert on burn. */
export const burnOver = (by: readonly GroupKey[], long: LongWindow): string => shareThatFell(by, long, lived(by, long));

/**
 * The same in the short window, as the alerts have it: most sessions that were live in it fall at another time, so it is
 * measured by the sessions that were started in it, or by the long window's pace, whichever is more.
 */
export const burnNow = (by: readonly GroupKey[], long: LongWindow): string => {
  const { short } = BURN_WINDOWS[long];
  const pace = `${lived(by, long)} * ${1 / 12}`;
  return shareThatFell(by, short, greater(by, sumBy(by, grown(sessionsStarted, short)), pace));
};
