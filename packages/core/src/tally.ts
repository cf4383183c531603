import type { Route } from './capability/route.ts';
import type { FreshnessKind, FreshnessLabel } from './freshness.ts';
import type { Reason } from './reasons.ts';
import type { Judged } from './settlement.ts';
import { OTHER_TOOL } from './telemetry/semconv.ts';

/** What became of a tool's calls in one session: what reports are made of (Q1, W2). Grows with reasons, not with calls. */
export interface ToolTally {
  /** Decisions by reason. */
  readonly decisions: Partial<Record<Reason, number>>;
  succeeded: number;
  failed: number;
  ignored: number;
  /** Tokens of failed calls (O4). */
  tokensWasted: number;
  /** Where held-up calls were sent. */
  readonly routes: Partial<Record<Route['kind'], number>>;
  /** Tools that stood in, with how often they were named. */
  readonly alternatives: Partial<Record<string, number>>;
  /** Results that were not fresh. */
  readonly freshness: Partial<Record<FreshnessKind, number>>;
}

/** Tallies by tool. */
export type Tallies = Map<string, ToolTally>;

/** Tools with a tally of their own; a model that makes up names can't fill the memory. */
const MOST_TALLIES = 200;

/** The tally of a tool; beyond the bound, that of all others together. */
export const tallyOf = (tallies: Tallies, tool: string): ToolTally => {
  const found = tallies.get(tool);
  if (found !== undefined) return found;
  const label = tallies.size < MOST_TALLIES ? tool : OTHER_TOOL;
  const made = tallies.get(label) ?? createTally();
  tallies.set(label, made);
  return made;
};

const createTally = (): ToolTally => ({
  decisions: {},
  succeeded: 0,
  failed: 0,
  ignored: 0,
  tokensWasted: 0,
  routes: {},
  alternatives: Object.create(null), // Keyed by names that people choose: `__proto__` is one.
  freshness: {},
});

/** A decision was taken. */
export const tallyDecision = (tally: ToolTally, reason: Reason, route: Route | undefined): void => {
  add(tally.decisions, reason);
  if (route === undefined) return;
  add(tally.routes, route.kind);
  if (route.kind === 'alternative') add(tally.alternatives, route.tool);
  if (route.kind === 'stale') add(tally.freshness, route.label.kind);
};

/** A call is over. */
export const tallyOutcome = (
  tally: ToolTally,
  { outcome, tokens = 0 }: Judged,
  freshness: FreshnessLabel | undefined,
): void => {
  if (outcome === 'success') tally.succeeded += 1;
  else if (outcome === 'ignored') tally.ignored += 1;
  else {
    tally.failed += 1;
    tally.tokensWasted += tokens;
  }
  if (freshness !== undefined) add(tally.freshness, freshness.kind);
};

const add = <Key extends string>(counts: Partial<Record<Key, number>>, key: Key): void => {
  counts[key] = (counts[key] ?? 0) + 1;
};
