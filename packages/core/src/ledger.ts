import { type Budget, isSpent, renew } from './budget/budget.ts';
import { chargeStrictly, matureStrictly, mergeIntoOne, suspendAlike } from './budget/strict.ts';
import {
  chargeFailure,
  markClosed,
  markSucceeded,
  mergeEvent,
  mergeGroup,
  mergeOpening,
  passTime,
} from './budget/window.ts';
import type { Moment } from './clock.ts';
import { type Correlation, latestOpening } from './correlation.ts';
import type { ErrorCategory } from './outcome/taxonomy.ts';
import type { Opening, SystemicEvent } from './systemic.ts';

/**
 * What one session pays: its failure budget, by either rule, and what a systemic event cost it. Pure: every function returns the
 * next ledger, the same one where nothing changed.
 */
export interface Ledger {
  readonly budget: Budget;
  /** The event whose charges were merged last (S3); undefined while there is none. */
  readonly event: SystemicEvent | undefined;
  /** That event has had its one charge. */
  readonly paid: boolean;
  /** The budget has run out, of failures (B1) or of tokens (B4). */
  readonly exhausted: boolean;
}

/** Whether two moments lie in one window of S1. */
export type Within = (from: Moment, to: Moment) => boolean;

/** What a session pays depends on what else has failed. */
export interface Around {
  readonly correlation: Correlation;
  /** Undefined: failures of several tools are never taken as one event. */
  readonly within: Within | undefined;
}

/** A failure to be charged. */
export interface Failure {
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly at: Moment;
  /** What the call cost; 0 where the executor did not say (B4). */
  readonly tokens: number;
  readonly hasCircuit: boolean;
  /** The call was a probe: free by the rule `window` (B3). */
  readonly isProbe: boolean;
  /** A systemic event that lasts has had its one charge: this failure is part of it (S3). */
  readonly isPartOfEvent: boolean;
  /** Rule `strict`: how many failures of this tool may be provisional. */
  readonly mayWait: number;
  /** The circuit of the tool's group, `group:NAME`. */
  readonly group: string | undefined;
}

/** What a session is reported as. */
export type SessionState = 'active' | 'paused_budget' | 'paused_systemic';

export const createLedger = (budget: Budget): Ledger => ({ budget, event: undefined, paid: false, exhausted: false });

const withBudget = (ledger: Ledger, budget: Budget): Ledger =>
  budget === ledger.budget ? ledger : { ...ledger, budget };

/** B1, B3, B4, S3: charges a failure. */
export const recordFailure = (ledger: Ledger, failure: Failure, { correlation, within }: Around): Ledger => {
  const { budget } = ledger;
  const { tool, category, at, hasCircuit, isProbe, isPartOfEvent, mayWait, group } = failure;
  const tokens = sane(failure.tokens);
  if (budget.rule === 'window') {
    const free = isProbe || isPartOfEvent;
    const mayBeShared = within !== undefined;
    return withBudget(ledger, chargeFailure(budget, { tool, category, at, tokens, hasCircuit, free, mayBeShared }));
  }
  if (isPartOfEvent) return ledger;
  return withBudget(
    ledger,
    chargeStrictly(budget, { tool, category, at, tokens, mayWait, group }, correlation.openings, within),
  );
};

/** B4: a cost that is no number would corrupt the sum, and the snapshot. */
const sane = (tokens: number): number => (Number.isFinite(tokens) ? Math.max(0, tokens) : 0);

/** B3: a circuit has opened. What its tool was charged since it last closed becomes one charge. */
export const recordOpening = (
  ledger: Ledger,
  opening: Opening,
  { correlation, within }: Around,
  isMember?: (tool: string) => boolean,
): Ledger => {
  const { budget } = ledger;
  if (budget.rule === 'window') return merged(ledger, mergeOpening(budget, opening));
  // Rule `strict`, S3: while the session is paused, nothing is taken back.
  if (within === undefined || ledger.exhausted || correlation.event !== undefined) return ledger;
  return withBudget(ledger, suspendAlike(budget, opening, within, isMember));
};

/** C15: a group has opened, and absorbs what its members were charged since their last success. */
export const recordGroupOpening = (
  ledger: Ledger,
  opening: Opening,
  isMember: (tool: string) => boolean,
  around: Around,
): Ledger => {
  const { budget } = ledger;
  if (budget.rule === 'strict') return recordOpening(ledger, opening, around, isMember);
  return merged(ledger, mergeGroup(budget, opening, isMember));
};

/** A circuit has closed: what its tool was charged before belongs to no later opening. */
export const recordClosing = (ledger: Ledger, tool: string): Ledger =>
  ledger.budget.rule === 'strict' ? ledger : withBudget(ledger, markClosed(ledger.budget, tool));

/** S3: a tool that works is part of no event. `group`: the circuit of its group, `group:NAME`. */
export const recordSuccess = (ledger: Ledger, tool: string, group: string | undefined): Ledger =>
  ledger.budget.rule === 'strict' ? ledger : withBudget(ledger, markSucceeded(ledger.budget, tool, group));

/** S3: one event, one charge, also for what a circuit that joins it was charged before. */
export const followEvent = (ledger: Ledger, event: SystemicEvent | undefined, within: Within): Ledger => {
  if (event === ledger.event) return ledger;
  if (event === undefined) return { ...ledger, event: undefined, paid: false };
  const isPart = partOf(event, within);
  // An event that grows is the same event. One session may see two events in a row without the end between them (C12).
  const { began } = ledger.event ?? event;
  const paid = ledger.paid && began === event.began;
  const { budget } = ledger;
  const one = budget.rule === 'strict' ? mergeIntoOne(budget, isPart, paid) : mergeEvent(budget, isPart, paid);
  return { ...merged(ledger, one), event, paid: paid || one !== budget };
};

/** Which charges belong to an event: those of its tools, and those of its category. */
const partOf = (event: SystemicEvent, within: Within) => {
  const { openings, category } = event;
  const byTool = new Map(openings.map((one) => [one.tool, one.at]));
  const latest = latestOpening(event).at;
  return (charge: { readonly tool: string; readonly category: ErrorCategory; readonly at: Moment }): boolean => {
    const opened = byTool.get(charge.tool);
    if (opened !== undefined && within(charge.at, opened)) return true;
    return charge.category === category && within(charge.at, latest);
  };
};

/** B1, S3: time has passed in a session that is not paused. */
export const recordTime = (ledger: Ledger, at: Moment, { correlation, within }: Around): Ledger => {
  const { budget } = ledger;
  if (budget.rule === 'window') {
    if (ledger.exhausted) return ledger; // While paused nothing leaves the window.
    return withBudget(
      ledger,
      passTime(budget, at, (charge) => within?.(charge.at, at) === true),
    );
  }
  if (within === undefined || correlation.event !== undefined) return ledger;
  return withBudget(ledger, matureStrictly(budget, at, correlation.openings, within));
};

/** B1, B4: looked at once everything that one call brought has been merged. */
export const settleExhaustion = (ledger: Ledger): Ledger =>
  !ledger.exhausted && isSpent(ledger.budget) ? { ...ledger, exhausted: true } : ledger;

/** A merge may give back what the last failure took; time alone does not. */
const merged = (ledger: Ledger, budget: Budget): Ledger =>
  budget === ledger.budget ? ledger : { ...ledger, budget, exhausted: ledger.exhausted && isSpent(budget) };

/** B1, B4: the budget is full again. */
export const renewBudget = (ledger: Ledger): Ledger => ({ ...ledger, budget: renew(ledger.budget), exhausted: false });
