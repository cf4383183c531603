import type { Reason } from './reasons.ts';
import type { AlternativeRoute, Route } from './routing/route.ts';

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
