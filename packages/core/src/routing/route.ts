import type { FreshnessLabel } from '../freshness/freshness.ts';
import type { Reason } from '../reasons.ts';
import { type Alternative, type Capability, DEGRADATIONS, type Degradation } from './capability.ts';

/** The fallback of a call that is not made (R2). */
export type Route = AlternativeRoute | ManualRoute | StaleRoute | DeferRoute;

/** Another tool to call in place of this one. */
export interface AlternativeRoute {
  readonly kind: 'alternative';
  readonly tool: string;
  /** How to use the alternative for this purpose, in words; undefined if not configured. */
  readonly method: string | undefined;
  readonly degradation: Degradation;
  /** What the alternative loses, in words. */
  readonly note: string | undefined;
  /** Converts this tool's input into the alternative's input, so that the executor may call the alternative directly (R4). */
  readonly adapt: ((input: unknown) => unknown) | undefined;
}

/** Something that a person or the model may do without a tool. */
export interface ManualRoute {
  readonly kind: 'manual';
  readonly fallback: string;
}

/** The tool's own last good result for these arguments (F2). */
export interface StaleRoute {
  readonly kind: 'stale';
  readonly result: unknown;
  readonly label: FreshnessLabel;
}

/** No fallback: postpone the work. */
export interface DeferRoute {
  readonly kind: 'defer';
}

/**
 * R2: the usable alternative of least degradation (low, high, unknown last; among equals the first), otherwise the manual fallback,
 * otherwise `defer`. The tool's settings decide whether a last good result comes before them.
 */
export const routeOf = (
  { alternatives = [], fallback }: Capability,
  usable: (tool: string) => boolean,
): Exclude<Route, StaleRoute> => {
  const best = alternatives
    .filter(({ tool }) => usable(tool))
    .toSorted((one, other) => rank(one) - rank(other)) // Stable.
    .at(0);
  if (best !== undefined) {
    const { tool, method, degradation = 'unknown', note, adapt } = best;
    return { kind: 'alternative', tool, method, degradation, note, adapt };
  }
  return fallback === undefined ? { kind: 'defer' } : { kind: 'manual', fallback };
};

const rank = ({ degradation = 'unknown' }: Alternative): number => DEGRADATIONS.indexOf(degradation);

/** A task that can be done now. */
export interface AchievableTask {
  readonly task: string;
  /** Tools that are unavailable, with their alternatives; empty if all tools are available. */
  readonly degraded: readonly { readonly tool: string; readonly route: AlternativeRoute }[];
}

/** A task that has to wait. */
export interface DeferredTask {
  readonly task: string;
  readonly blockers: readonly TaskBlocker[];
}

/** A tool that blocks a task. */
export interface TaskBlocker {
  readonly tool: string;
  /** Why a call of it would be skipped or paused now. */
  readonly reason: Reason;
  /** Never an alternative: no alternative was usable. */
  readonly route: Exclude<Route, AlternativeRoute>;
  /** What would unblock it: the end of a sentence that begins 'it can go on once …'. */
  readonly unblock: string;
}

/** Which tasks can be done now, and which can't (W1). */
export interface ScopePlan {
  /** `proceed`: do all tasks. `reduce`: do the achievable ones. `pause`: none is achievable. */
  readonly decision: 'proceed' | 'reduce' | 'pause';
  readonly achievable: readonly AchievableTask[];
  readonly deferred: readonly DeferredTask[];
}
