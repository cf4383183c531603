import { type Budget, type ChargeFacts, chargesOf, isCautious, remaining, tokensRemaining } from '../budget/budget.ts';
import type { SessionState } from '../budget/ledger.ts';
import type { SuspectedLayer } from '../budget/systemic.ts';
import { callsSince, type WindowBudget } from '../budget/window.ts';
import type { ErrorCategory } from '../classify/taxonomy.ts';
import type { Moment } from '../clock.ts';
import type { FreshnessKind } from '../freshness/freshness.ts';
import type { LimitView } from '../limits/limit-view.ts';
import type { CountedKind } from '../limits/limits.ts';
import type { Run } from '../limits/run.ts';
import { subAgentsOf } from '../limits/tree-view.ts';
import type { Reason, SystemicDecision } from '../reasons.ts';
import type { Degradation } from '../routing/capability.ts';
import type { ScopePlan } from '../routing/route.ts';
import {
  entriesOf,
  type GroupReport,
  millis,
  type ProbeReport,
  type RejectedReport,
  type ToolReport,
} from './tool-report.ts';

/**
 * The state of a session so far: plain JSON, with null for missing values. Contains names, categories, counts, times and words of
 * the configuration, but no arguments, results or secrets (Q2).
 */
export interface SessionReport {
  /** What is wrong, in one sentence. */
  readonly headline: string;
  readonly agent: string;
  /** The session's id. */
  readonly session: string;
  /** When the report was made, in Unix milliseconds. */
  readonly unixMs: number;
  readonly step: number;
  readonly state: SessionState;
  readonly tools: readonly ToolReport[];
  /** Groups of tools that share a circuit (C13). */
  readonly groups: readonly GroupReport[];
  readonly budget: BudgetReport;
  /** The limits that hold for the run (D2), its own first; left out in a session without limits and without children. */
  readonly limits?: readonly LimitReport[];
  /** The sub-agents of the session (D1); left out without any. */
  readonly children?: readonly ChildReport[];
  /** The circles in which the agent went (D5), the latest 50; left out without any. */
  readonly circles?: readonly CircleReport[];
  /** The event that is not over, which pauses the session or skips the tools that it affects (S2). */
  readonly systemic: SystemicReport | null;
  /** The last plan of `planScope`; null without a plan. */
  readonly plan: PlanReport | null;
  /** Names of tasks that the application reported as done. */
  readonly done: readonly string[];
  /** Everything that was not done as asked (W2). */
  readonly leftOut: readonly LeftOut[];
  /** What to do next, in order, one or two sentences each. Empty if there is nothing to do. */
  readonly next: readonly string[];
}

/** Failures of several tools that count as one event (S4). */
export interface SystemicReport {
  /** The category that all share; null if they differ. */
  readonly category: ErrorCategory | null;
  readonly layer: SuspectedLayer;
  /** What all of the tools depend on by `dependsOn`; null if they share nothing. */
  readonly dependency: string | null;
  /** The group of all of the tools (C13); null if they have no group in common. */
  readonly group: string | null;
  /** The calls that it rejects. `pause`: every call. `skip`: calls of the tools that the event affects. */
  readonly decision: SystemicDecision;
  /** The wait until the next probe of an affected tool (S5); null if no call probes for the event. */
  readonly nextProbe: ProbeReport | null;
  /** The tools, or `group:NAME`, first to last; `unixMs` is when each circuit opened, or when its tool first failed. */
  readonly tools: readonly { readonly tool: string; readonly category: ErrorCategory; readonly unixMs: number }[];
}

/** The failure budget, and the failures charged to it (B1). */
export interface BudgetReport {
  /**
   * The rule of the budget. `window`: a failure stops counting when it leaves the window. `strict`: failures count until
   * `session.resume()` (B6).
   */
  readonly rule: Budget['rule'];
  /** Number of allowed failures: within the window, or until the session is resumed. */
  readonly limit: number;
  /** The number of the cycle, from 1: `session.resume()` begins the next. */
  readonly cycle: number;
  readonly remaining: number;
  /** One more failure may be the last (B2). */
  readonly caution: boolean;
  /** Whether the budget has run out and the session has not been resumed. */
  readonly exhausted: boolean;
  /** How long a charge counts (B1): in steps once the session has any, otherwise in time and calls. Null for the rule `strict`. */
  readonly window: WindowReport | null;
  /** The token budget (B4); null without one. */
  readonly tokens: { readonly limit: number; readonly remaining: number } | null;
  /** The charges that count, first to last, provisional ones too: at most the last 200. */
  readonly charges: readonly ChargeReport[];
  /** The sum of earlier charges that still count; null if there are no such charges. */
  readonly earlier: { readonly failures: number; readonly tokens: number } | null;
}

/** A limit of the run, or of a run above it in the tree (D1). */
export interface LimitReport extends Omit<LimitView, 'currency' | 'level'> {
  /** The currency of a limit of money; null for others. */
  readonly currency: string | null;
  /** `advised` from 80 % on, `reached` at 100 %; null below. */
  readonly level: 'advised' | 'reached' | null;
}

/** Calls that were made again and again, with the same arguments and results (D5). */
export interface CircleReport {
  /** The tools of its calls, in order. One of them may be there twice. */
  readonly tools: readonly string[];
  /** Calls that were made in it. */
  readonly calls: number;
}

/** A sub-agent, and what it and its own sub-agents have used (D1). */
export interface ChildReport {
  /** The id of its session. */
  readonly session: string;
  /** Null without a name. */
  readonly name: string | null;
  readonly ended: boolean;
  readonly used: Readonly<Record<CountedKind, number>>;
  /** Its own limits. */
  readonly limits: readonly LimitReport[];
  /** Its own sub-agents: those that live, and the latest 50 that have ended. */
  readonly children: readonly ChildReport[];
}

/** Undefined without sub-agents. Those that live come first. */
export const reportChildren = (run: Run, ms: number, isObserved: boolean): readonly ChildReport[] | undefined => {
  const all = subAgentsOf(run);
  if (all.length === 0) return undefined;
  return all.map((child) => ({
    session: child.id,
    name: child.name ?? null,
    ended: child.ended,
    used: { ...child.used },
    limits: reportLimits(child.ownView(ms, child, isObserved)),
    children: reportChildren(child, ms, isObserved) ?? [],
  }));
};

export const reportLimits = (limits: readonly LimitView[]): readonly LimitReport[] =>
  limits.map(({ currency = null, level = null, ...one }) => ({ ...one, currency, level }));

/** How long a charge counts: in steps, or in milliseconds and calls, whichever end first. The others are null. */
export interface WindowReport {
  readonly steps: number | null;
  readonly ms: number | null;
  readonly calls: number | null;
}

/** One charge. */
export interface ChargeReport {
  /** The tool, or `group:NAME` for charges that the circuit of a group absorbed (C15). */
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly step: number;
  readonly agoMs: number;
  /** The cost of the failed call. 0 if unknown, and for the rule `window`, which counts tokens separately. */
  readonly tokens: number;
  /**
   * `provisional`: may be part of a systemic event, and does not pause the session yet. `systemic`: the one charge of such an event
   * (S3).
   */
  readonly standing: ChargeFacts['standing'];
  /** When it leaves the window; null for the rule `strict`, and while the session is paused, because charges stay then. */
  readonly leavesIn: WindowReport | null;
}

/** The report of a budget. `isPaused`: charges stay in the window. */
export const reportBudget = (budget: Budget, exhausted: boolean, isPaused: boolean, at: Moment): BudgetReport => {
  const { rule, limit, cycle, tokenLimit } = budget;
  const all = chargesOf(budget);
  const single = all.filter(({ count }) => count === 1);
  const folded = all.reduce((sum, { count }) => (count === 1 ? sum : sum + count), 0);
  const before = budget.rule === 'strict' ? budget.earlier : { failures: folded, tokens: 0 };
  const slides = budget.rule === 'window' && !isPaused ? budget : undefined;
  return {
    rule,
    limit,
    cycle,
    remaining: remaining(budget),
    caution: isCautious(budget),
    exhausted,
    window: budget.rule === 'window' ? windowOf(budget, at) : null,
    tokens: tokenLimit === undefined ? null : { limit: tokenLimit, remaining: tokensRemaining(budget) ?? 0 },
    charges: single
      .map(({ tool, category, at: when, tokens, standing }) => ({
        tool,
        category,
        step: when.step,
        agoMs: millis(at.ms - when.ms),
        tokens,
        standing,
        leavesIn: slides === undefined ? null : leavesIn(slides, when, at),
      }))
      .toSorted((a, b) => b.agoMs - a.agoMs),
    earlier: before.failures === 0 ? null : { failures: before.failures, tokens: before.tokens },
  };
};

/** B1: by steps once `step()` was called, else by time and calls. */
const windowOf = ({ windowSteps, windowMs, windowCalls }: WindowBudget, at: Moment): WindowReport =>
  at.step > 0 && !at.byCalls
    ? { steps: windowSteps, ms: null, calls: null }
    : { steps: null, ms: windowMs, calls: windowCalls };

const leavesIn = (budget: WindowBudget, from: Moment, at: Moment): WindowReport => {
  const { steps, ms, calls } = windowOf(budget, at);
  return {
    // On the first step that is more than the window away.
    steps: steps === null ? null : Math.max(0, steps + 1 - (at.step - from.step)),
    ms: ms === null ? null : millis(ms - (at.ms - from.ms)),
    calls: calls === null ? null : Math.max(0, calls + 1 - callsSince(from, at)),
  };
};

/** What can still be done, and what can't (W1). Finished tasks are in neither list. */
export interface PlanReport {
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
export const reportPlan = ({ decision, achievable, deferred }: ScopePlan, done: readonly string[]): PlanReport => ({
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
export const leftOutOf = (tools: readonly ToolReport[], plan: PlanReport | null): readonly LeftOut[] => [
  ...(plan?.deferred ?? []).map((one) => ({ kind: 'deferred' as const, ...one })),
  ...(plan?.achievable ?? []).flatMap(({ task, degraded }) =>
    degraded.map((one) => ({ kind: 'degraded' as const, task, ...one })),
  ),
  ...tools
    .filter(({ rejected }) => rejected.skipped + rejected.paused > 0)
    .map(({ tool, category, rejected }) => ({ kind: 'rejected' as const, tool, category, ...rejected })),
  ...tools.flatMap(({ tool, labels }) =>
    entriesOf(labels).map(([label, times]) => ({ kind: 'label' as const, tool, label, times })),
  ),
];
