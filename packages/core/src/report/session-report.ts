import type { SessionState } from '../budget/ledger.ts';
import type { SuspectedLayer } from '../budget/systemic.ts';
import type { ErrorCategory } from '../classify/taxonomy.ts';
import type { SystemicDecision } from '../reasons.ts';
import type { BudgetReport } from './budget-report.ts';
import type { LeftOut, ScopeReport } from './scope-report.ts';
import type { GroupReport, ProbeReport, ToolReport } from './tool-report.ts';

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
  /** The event that is not over, which pauses the session or skips the tools that it affects (S2, S4). */
  readonly systemic: SystemicReport | null;
  /** The last plan of `planScope`; null without a plan. */
  readonly scope: ScopeReport | null;
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
