import { type AttributeKey, METRIC } from './names.ts';
import { gained, series, share, sumBy, type Window } from './promql.ts';

const { budgetConsumed, budgetGranted } = METRIC;

/**
 * Failures charged, over failures granted, in the window. Where nothing was granted in it, as with sessions that have
 * been running for longer, what they ever were granted takes its place.
 */
export const budgetSpent = (by: readonly AttributeKey[], window: Window): string => {
  const granted = `(${sumBy(by, gained(budgetGranted, window))} > 0 or ${ever(by, window)})`;
  return share(sumBy(by, gained(budgetConsumed, window)), granted);
};

const ever = (by: readonly AttributeKey[], window: Window): string =>
  sumBy(by, `last_over_time(${series(budgetGranted)}[${window}])`);

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
export const burnNow = (by: readonly AttributeKey[], { short, long }: BurnWindows): string => {
  const charged = sumBy(by, gained(budgetConsumed, short));
  const own = sumBy(by, gained(budgetGranted, short));
  const pace = `${sumBy(by, gained(budgetGranted, long))} * ${1 / 12}`;
  return `${charged} / (((${own} >= ${pace}) > 0 or ${pace} > 0 or ${ever(by, short)}) > 0) or ${charged} * 0`;
};

/** What is left of it: 1 for nothing used, and never less than 0. */
export const budgetLeft = (by: readonly AttributeKey[], window: Window): string =>
  `1 - clamp_max((${budgetSpent(by, window)}), 1)`;
