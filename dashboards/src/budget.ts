import { AGENT } from './circuit-state.ts';
import { type GroupKey, label, METRIC, type MetricDefinition } from './names.ts';
import { gained, series, sumBy, type Window } from './promql.ts';

const { budgetConsumed, budgetGranted } = METRIC;

/**
 * Failures charged, over failures granted, in the window. Where nothing was granted in it, as with sessions that have
 * been running for longer, what they ever were granted takes its place.
 */
export const budgetSpent = (by: readonly GroupKey[], window: Window): string => {
  const granted = `${sumBy(by, gained(budgetGranted, window))} > 0 or ${ever(by, window)}`;
  return chargedOver(sumBy(by, gained(budgetConsumed, window)), granted);
};

/**
 * A share, 0 where nothing was ever granted, for nothing is charged there. Every agent exports both from the start; so nothing
 * need be asked twice, as `share()` would.
 */
const chargedOver = (charged: string, granted: string): string => `${charged} / clamp_min(${granted}, 0.01)`;

const ever = (by: readonly GroupKey[], window: Window): string =>
  sumBy(by, `last_over_time(${series(budgetGranted)}[${window}])`);

/**
 * What a counter grew by and was born with in the window, as the alerts count: not rounded, and without what the counters of an
 * agent bring along that reported nothing just before the window. For graphs it is several times as fast as `gained()`.
 */
const grown = (by: readonly GroupKey[], metric: MetricDefinition, window: Window): string => {
  const counter = series(metric);
  const known = `${sumBy(AGENT, `${series(METRIC.sessions)} offset ${window}`)}`;
  const born = `min_over_time(${counter}[${window}]) unless last_over_time(${counter}[1h] offset ${window}) and on (${AGENT.map(label).join(', ')}) ${known}`;
  // The label keeps what was born apart from what grew, or `or` would take one of the two.
  return sumBy(by, `increase(${counter}[${window}]) or label_replace(${born}, "born", "yes", "", "")`);
};

/** {@link budgetSpent} at each point of a graph, counted as the alerts on burn count. */
export const burnOver = (by: readonly GroupKey[], window: Window): string =>
  chargedOver(grown(by, budgetConsumed, window), `${grown(by, budgetGranted, window)} > 0 or ${ever(by, window)}`);

/** A short window, and the long one of twelve times its length that an alert looks at together with it. */
export interface BurnWindows {
  readonly short: Window;
  readonly long: Window;
}

/**
 * Failures charged over failures granted in the short window, as the alerts on burn have it: a short window often has charges
 * and no grant in it, or the other way about, so it is measured by its own grants or by the long window's pace, whichever is
 * more. Where nothing was granted in either, by what was ever granted.
 */
export const burnNow = (by: readonly GroupKey[], { short, long }: BurnWindows): string => {
  const own = grown(by, budgetGranted, short);
  const pace = `${grown(by, budgetGranted, long)} * ${1 / 12}`;
  const more = `max by (${by.map(label).join(', ')}) (label_replace(${own}, "of", "short", "", "") or ${pace})`;
  return chargedOver(grown(by, budgetConsumed, short), `${more} > 0 or ${ever(by, short)}`);
};

/** What is left of it: 1 for nothing used, and never less than 0. */
export const budgetLeft = (by: readonly GroupKey[], window: Window): string =>
  `1 - clamp_max((${budgetSpent(by, window)}), 1)`;
