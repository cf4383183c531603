import { isCautious, remaining, tokensRemaining } from '../budget.ts';
import type { ScopePlan } from '../capability/scope.ts';
import type { Moment } from '../clock.ts';
import { type Ledger, type SessionState, sessionState } from '../ledger.ts';
import type { ErrorCategory } from '../outcome/taxonomy.ts';
import type { SuspectedLayer, SystemicEvent } from '../systemic.ts';
import type { ToolTally } from '../tally.ts';
import type { CircuitView } from '../view.ts';
import { type LeftOut, leftOutOf } from './left-out.ts';
import { headlineOf, type Known, nextOf } from './next.ts';
import { reportScope, type ScopeReport } from './scope.ts';
import { reportTools, type ToolReport } from './tools.ts';
import { millis } from './values.ts';

/**
 * What became of a session so far: plain JSON, with null for what there isn't. Holds names, categories, counts and times, and
 * words of the configuration; no arguments, results or secrets (Q2).
 *
 * @example
 * ```ts
 * const report = session.report();
 * if (report.state !== 'active') page(report.headline, formatReport(report));
 * ```
 */
export interface SessionReport {
  /** What is the matter, in one sentence. */
  readonly headline: string;
  readonly agent: string;
  /** The session's id. */
  readonly session: string;
  /** When the report was made, in Unix milliseconds. */
  readonly unixMs: number;
  readonly step: number;
  readonly state: SessionState;
  readonly tools: readonly ToolReport[];
  /** Null where nothing is known of it. */
  readonly budget: BudgetReport | null;
  /** The event that the session is paused on (S4). */
  readonly systemic: SystemicReport | null;
  /** The last plan of `planScope`; null where there was none. */
  readonly scope: ScopeReport | null;
  /** Names of tasks that the application says are done. */
  readonly done: readonly string[];
  /** Everything that was not done as asked (W2). */
  readonly leftOut: readonly LeftOut[];
  /** What to do next, in order, one sentence or two each. Empty where nothing is to be done. */
  readonly next: readonly string[];
}

/** The failure budget, and the failures charged to it (B1). */
export interface BudgetReport {
  /** Failures that a cycle starts with. */
  readonly limit: number;
  /** Which cycle this is, from 1. */
  readonly cycle: number;
  readonly remaining: number;
  /** One more failure may be the last (B2). */
  readonly caution: boolean;
  /** It has run out, and nobody has resumed the session. */
  readonly exhausted: boolean;
  /** The token budget (B4); null where there is none. */
  readonly tokens: { readonly limit: number; readonly remaining: number } | null;
  /** The last 200 failures of this cycle, first to last, and those that are provisional. */
  readonly charges: readonly ChargeReport[];
  /** What was charged before those; null where nothing was. */
  readonly earlier: { readonly failures: number; readonly tokens: number } | null;
}

/** One failure on the bill. */
export interface ChargeReport {
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly step: number;
  readonly agoMs: number;
  /** What the failed call cost; 0 where nobody said. */
  readonly tokens: number;
  /** `provisional`: not charged yet, for it may be part of a systemic event. `systemic`: the one charge that such an event came to (S3). */
  readonly standing: 'charged' | 'provisional' | 'systemic';
}

/** Failures of several tools that are one event (S4). */
export interface SystemicReport {
  /** The category that all share; null where they differ. */
  readonly category: ErrorCategory | null;
  readonly layer: SuspectedLayer;
  /** What all of the tools stand on by `dependsOn`; null where they share nothing. */
  readonly dependency: string | null;
  /** First to last; `unixMs` is when each circuit opened. */
  readonly tools: readonly { readonly tool: string; readonly category: ErrorCategory; readonly unixMs: number }[];
}

/** What a report is made of. A partial report beats none: what is left out is reported as unknown (Q1). */
export interface ReportFacts {
  /** The session's id. */
  readonly id: string;
  readonly agent: string;
  readonly unixMs: number;
  readonly at: Moment;
  readonly circuits?: readonly CircuitView[] | undefined;
  readonly tallies?: ReadonlyMap<string, ToolTally> | undefined;
  /** The ledger that pauses the session. */
  readonly ledger?: Ledger | undefined;
  readonly scope?: ScopePlan | undefined;
  readonly done?: readonly string[] | undefined;
}

/** The report of a session. Pure: the same facts give the same report. */
export const buildReport = (facts: ReportFacts): SessionReport => {
  const { id, agent, unixMs, at, ledger, circuits = [], tallies = new Map(), done = [] } = facts;
  const tools = reportTools(circuits, tallies);
  const scope = facts.scope === undefined ? null : reportScope(facts.scope, new Set(done));
  const known: Known = {
    agent,
    session: id,
    unixMs,
    step: at.step,
    state: ledger === undefined ? 'active' : sessionState(ledger),
    tools,
    budget: ledger === undefined ? null : reportBudget(ledger, at),
    systemic: ledger?.event === undefined ? null : reportSystemic(ledger.event),
    scope,
    done: [...done],
    leftOut: leftOutOf(tools, scope),
  };
  return { headline: headlineOf(known), ...known, next: nextOf(known) };
};

const reportBudget = ({ budget, exhausted }: Ledger, at: Moment): BudgetReport => {
  const tokensLeft = tokensRemaining(budget);
  const { limit, cycle, tokenLimit, earlier } = budget;
  const report =
    (standing: ChargeReport['standing']) =>
    ({ tool, category, at: when, tokens, event }: (typeof budget.charges)[number]): ChargeReport => ({
      tool,
      category,
      step: when.step,
      agoMs: millis(at.ms - when.ms),
      tokens,
      standing: event ? 'systemic' : standing,
    });
  return {
    limit,
    cycle,
    remaining: remaining(budget),
    caution: isCautious(budget),
    exhausted,
    tokens: tokenLimit === undefined || tokensLeft === undefined ? null : { limit: tokenLimit, remaining: tokensLeft },
    charges: [...budget.charges.map(report('charged')), ...budget.provisional.map(report('provisional'))].toSorted(
      (a, b) => b.agoMs - a.agoMs,
    ),
    earlier: earlier.failures === 0 ? null : { failures: earlier.failures, tokens: earlier.tokens },
  };
};

const reportSystemic = ({ category, layer, dependency, openings }: SystemicEvent): SystemicReport => ({
  category: category ?? null,
  layer,
  dependency: dependency ?? null,
  tools: openings.map((opening) => ({ tool: opening.tool, category: opening.category, unixMs: opening.unixMs })),
});
