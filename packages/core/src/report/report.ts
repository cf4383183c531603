import type { ScopePlan } from '../capability/scope.ts';
import type { ProbeWait } from '../circuit/schedule.ts';
import type { Moment } from '../clock.ts';
import type { Ledger, SessionState } from '../ledger.ts';
import type { ErrorCategory } from '../outcome/taxonomy.ts';
import type { SystemicDecision } from '../reasons.ts';
import type { SuspectedLayer, SystemicEvent } from '../systemic.ts';
import type { ToolTally } from '../tally.ts';
import type { CircuitView } from '../view.ts';
import { type BudgetReport, reportBudget } from './budget.ts';
import { type GroupReport, reportGroups } from './groups.ts';
import { type LeftOut, leftOutOf } from './left-out.ts';
import { headlineOf, type Known, nextOf } from './next.ts';
import { reportScope, type ScopeReport } from './scope.ts';
import { type ProbeReport, probeReport, reportTools, type ToolReport } from './tools.ts';

export type { BudgetReport, ChargeReport, WindowReport } from './budget.ts';

/**
 * The state of a session so far: plain JSON, with null for missing values. Contains names, categories, counts, times and words of
 * the configuration, but no arguments, results or secrets (Q2).
 *
 * @example
 * ```ts
 * const report = session.report();
 * if (report.state !== 'active') page(report.headline, formatReport(report));
 * ```
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
  /** Null if unknown. */
  readonly budget: BudgetReport | null;
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

/** The facts of a report. A partial report is better than no report: missing facts are reported as unknown (Q1). */
export interface ReportFacts {
  /** The session's id. */
  readonly id: string;
  readonly agent: string;
  readonly unixMs: number;
  readonly at: Moment;
  /** The circuits, also of groups, under `group:NAME`. */
  readonly circuits?: readonly CircuitView[] | undefined;
  readonly tallies?: ReadonlyMap<string, ToolTally> | undefined;
  /** The ledger that pauses the session. */
  readonly ledger?: Ledger | undefined;
  /** The systemic event that is not over. */
  readonly event?: SystemicEvent | undefined;
  /** The wait until the next probe for it (S5); undefined if no call probes for it. */
  readonly eventProbe?: ProbeWait | undefined;
  /** The decision of a systemic event in this box (S2). Default `pause`. */
  readonly systemicDecision?: SystemicDecision | undefined;
  readonly scope?: ScopePlan | undefined;
  readonly done?: readonly string[] | undefined;
}

/** The report of a session. Pure: the same facts give the same report. */
export const buildReport = (facts: ReportFacts): SessionReport => {
  const { id, agent, unixMs, at, ledger, circuits = [], tallies = new Map(), done = [] } = facts;
  const { systemicDecision = 'pause' } = facts;
  const tools = reportTools(circuits, tallies, systemicDecision);
  const scope = facts.scope === undefined ? null : reportScope(facts.scope, new Set(done));
  const state = stateOf(facts);
  const known: Known = {
    agent,
    session: id,
    unixMs,
    step: at.step,
    state,
    tools,
    groups: reportGroups(circuits, tools),
    budget: ledger === undefined ? null : reportBudget({ ...ledger, isPaused: state !== 'active', at }),
    systemic: reportSystemic(facts),
    scope,
    done: [...done],
    leftOut: leftOutOf(tools, scope),
  };
  return { headline: headlineOf(known), ...known, next: nextOf(known) };
};

const stateOf = ({ event, systemicDecision = 'pause', ledger }: ReportFacts): SessionState => {
  if (event !== undefined && systemicDecision === 'pause') return 'paused_systemic';
  return ledger?.exhausted === true ? 'paused_budget' : 'active';
};

const reportSystemic = ({ event, eventProbe, systemicDecision = 'pause' }: ReportFacts): SystemicReport | null => {
  if (event === undefined) return null;
  const { category, layer, dependency, group, openings } = event;
  return {
    category: category ?? null,
    layer,
    dependency: dependency ?? null,
    group: group ?? null,
    decision: systemicDecision,
    nextProbe: eventProbe === undefined ? null : probeReport(eventProbe),
    tools: openings.map((opening) => ({ tool: opening.tool, category: opening.category, unixMs: opening.unixMs })),
  };
};
