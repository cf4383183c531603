import type { Route } from './capability/route.ts';
import type { FreshnessKind } from './freshness.ts';
import type { Reason } from './reasons.ts';
import type { Judged } from './settlement.ts';

/** The results of a tool's calls in one session, for reports (Q1, W2). Its size grows with reasons, not with calls. */
export interface ToolTally {
  /** Decisions by reason. */
  readonly decisions: Partial<Record<Reason, number>>;
  readonly succeeded: number;
  readonly failed: number;
  readonly ignored: number;
  /** Tokens of failed calls (O4). */
  readonly tokensWasted: number;
  /** The fallbacks of skipped and paused calls. */
  readonly routes: Partial<Record<Route['kind'], number>>;
  /** Alternatives that were named, with how often. */
  readonly alternatives: Partial<Record<string, number>>;
  /** Results that were not fresh. */
  readonly freshness: Partial<Record<FreshnessKind, number>>;
}

/**
 * The same while it is being counted. There is one for each tool of each session, so fields that most tools never need are created
 * on first use.
 */
export interface RunningTally {
  /** Calls that a closed circuit let through: nearly all. */
  closed: number;
  /** Decisions by other reasons. */
  decisions: ToolTally['decisions'] | undefined;
  succeeded: number;
  failed: number;
  ignored: number;
  tokensWasted: number;
  routes: ToolTally['routes'] | undefined;
  alternatives: ToolTally['alternatives'] | undefined;
  freshness: ToolTally['freshness'] | undefined;
}

/** The tally of a tool that was never called. */
export const createTally = (): RunningTally => ({
  closed: 0,
  decisions: undefined,
  succeeded: 0,
  failed: 0,
  ignored: 0,
  tokensWasted: 0,
  routes: undefined,
  alternatives: undefined,
  freshness: undefined,
});

/** A copy for a report, which no longer grows. */
export const readTally = ({ closed, ...tally }: RunningTally): ToolTally => ({
  ...tally,
  decisions: { ...(closed > 0 && { closed }), ...tally.decisions },
  routes: { ...tally.routes },
  alternatives: Object.assign(Object.create(null), tally.alternatives),
  freshness: { ...tally.freshness },
});

/** Counts a decision. Calls that a closed circuit lets through are counted elsewhere. */
export const tallyDecision = (tally: RunningTally, reason: Reason, route: Route | undefined): void => {
  tally.decisions = plusOne(tally.decisions, reason);
  if (route === undefined) return;
  tally.routes = plusOne(tally.routes, route.kind);
  if (route.kind === 'stale') tallyLabel(tally, route.label.kind);
  if (route.kind !== 'alternative') return;
  tally.alternatives ??= Object.create(null) as ToolTally['alternatives']; // Keyed by names that people choose, such as `__proto__`.
  tally.alternatives = plusOne(tally.alternatives, route.tool);
};

/** A call is over. */
export const tallyOutcome = (tally: RunningTally, { outcome, tokens = 0 }: Judged): void => {
  if (outcome === 'success') tally.succeeded += 1;
  else if (outcome === 'ignored') tally.ignored += 1;
  else {
    tally.failed += 1;
    tally.tokensWasted += tokens;
  }
};

/** Its result was not fresh. */
export const tallyLabel = (tally: RunningTally, kind: FreshnessKind): void => {
  tally.freshness = plusOne(tally.freshness, kind);
};

const plusOne = <Key extends string>(
  counts: Partial<Record<Key, number>> = {},
  key: Key,
): Partial<Record<Key, number>> => {
  counts[key] = (counts[key] ?? 0) + 1;
  return counts;
};
