import type { Degradation } from '../capability/map.ts';
import type { AchievableTask, DeferredTask, ScopePlan, TaskBlocker } from '../capability/scope.ts';
import type { Reason } from '../reasons.ts';

/** What can still be done, and what can't (W1). Finished tasks are in neither list. */
export interface ScopeReport {
  /** `proceed`: all tasks. `reduce`: the achievable ones. `pause`: none is achievable. */
  readonly decision: ScopePlan['decision'];
  readonly achievable: readonly AchievableReport[];
  readonly deferred: readonly DeferredReport[];
}

/** A task that can be done now, and the alternatives that it needs. */
export interface AchievableReport {
  readonly task: string;
  readonly degraded: readonly StandInReport[];
}

/** An alternative in place of another tool. */
export interface StandInReport {
  readonly tool: string;
  readonly alternative: string;
  readonly degradation: Degradation;
  /** What the alternative loses, in the words of the configuration; null if not configured. */
  readonly note: string | null;
}

/** A task that has to wait. */
export interface DeferredReport {
  readonly task: string;
  readonly blockers: readonly BlockerReport[];
}

/** A tool that blocks a task. */
export interface BlockerReport {
  readonly tool: string;
  readonly reason: Reason;
  /** What a person or the model may do, in the words of the configuration; null if not configured. */
  readonly fallback: string | null;
  /** What would unblock it; ends a sentence that begins 'it can go on once'. */
  readonly unblock: string;
}

/** A plan in a report: without results, functions and finished tasks. */
export const reportScope = (plan: ScopePlan, done: ReadonlySet<string>): ScopeReport => ({
  decision: plan.decision,
  achievable: plan.achievable.filter(({ task }) => !done.has(task)).map(achievable),
  deferred: plan.deferred.filter(({ task }) => !done.has(task)).map(deferred),
});

const achievable = ({ task, degraded }: AchievableTask): AchievableReport => ({
  task,
  degraded: degraded.map(({ tool, route }) => ({
    tool,
    alternative: route.tool,
    degradation: route.degradation,
    note: route.note ?? null,
  })),
});

const deferred = ({ task, blockers }: DeferredTask): DeferredReport => ({ task, blockers: blockers.map(blocker) });

/** Q2: a stale route holds a result, which is left out. */
const blocker = ({ tool, reason, route, unblock }: TaskBlocker): BlockerReport => ({
  tool,
  reason,
  fallback: route.kind === 'manual' ? route.fallback : null,
  unblock,
});
