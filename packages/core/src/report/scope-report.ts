import type { ErrorCategory } from '../classify/taxonomy.ts';
import type { FreshnessKind } from '../freshness/freshness.ts';
import type { Reason } from '../reasons.ts';
import type { Degradation } from '../routing/capability.ts';
import type { ScopePlan } from '../scope-plan.ts';
import { entriesOf, type RejectedReport, type ToolReport } from './tool-report.ts';

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
  readonly degraded: readonly FallbackReport[];
}

/** An alternative to another tool. */
export interface FallbackReport {
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

/** An entry of work that was not done as asked (W2). */
export type LeftOut =
  /** Calls that were not made. */
  | ({ readonly kind: 'rejected'; readonly tool: string; readonly category: ErrorCategory | null } & RejectedReport)
  /** A task that has to wait. */
  | ({ readonly kind: 'deferred' } & DeferredReport)
  /** A task in which an alternative does the work of another tool. */
  | ({ readonly kind: 'degraded'; readonly task: string } & FallbackReport)
  /** Results that may not be current. */
  | { readonly kind: 'label'; readonly tool: string; readonly label: FreshnessKind; readonly times: number };

/** A plan in a report: without results (Q2), functions and finished tasks. */
export const reportScope = ({ decision, achievable, deferred }: ScopePlan, done: readonly string[]): ScopeReport => ({
  decision,
  achievable: achievable
    .filter(({ task }) => !done.includes(task))
    .map(({ task, degraded }) => ({
      task,
      degraded: degraded.map(({ tool, route: { tool: alternative, degradation, note = null } }) => ({
        tool,
        alternative,
        degradation,
        note,
      })),
    })),
  deferred: deferred
    .filter(({ task }) => !done.includes(task))
    .map(({ task, blockers }) => ({
      task,
      blockers: blockers.map(({ tool, reason, route, unblock }) => ({
        tool,
        reason,
        fallback: route.kind === 'manual' ? route.fallback : null,
        unblock,
      })),
    })),
});

/** W2: nothing is dropped silently. Tasks come first, because people wait for them. */
export const leftOutOf = (tools: readonly ToolReport[], scope: ScopeReport | null): readonly LeftOut[] => [
  ...(scope?.deferred ?? []).map((one) => ({ kind: 'deferred' as const, ...one })),
  ...(scope?.achievable ?? []).flatMap(({ task, degraded }) =>
    degraded.map((one) => ({ kind: 'degraded' as const, task, ...one })),
  ),
  ...tools
    .filter(({ rejected }) => rejected.skipped + rejected.paused > 0)
    .map(({ tool, category, rejected }) => ({ kind: 'rejected' as const, tool, category, ...rejected })),
  ...tools.flatMap(({ tool, labels }) =>
    entriesOf(labels).map(([label, times]) => ({ kind: 'label' as const, tool, label, times })),
  ),
];
