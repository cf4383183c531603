import type { ErrorCategory } from '../index.ts';
import { belongs, type Correlating, type Correlation, type ModelOpening } from './model-correlation.ts';
import type { StrictBudget } from './model-strict.ts';
import * as strict from './model-strict.ts';
import type { WindowBudget } from './model-window.ts';
import * as sliding from './model-window.ts';
import type { BudgetRules, When } from './rules.ts';

/** What a session pays: its failures by one of the two rules, and the event that it has paid for (S3). */
export interface Budget {
  readonly by: StrictBudget | WindowBudget;
  /** The event that was looked at last, and how many openings it had. */
  event: { readonly id: number; readonly size: string } | undefined;
  /** That event has cost its one. */
  paid: boolean;
}

export const newBudget = (rules: BudgetRules): Budget => ({
  by: rules.rule === 'strict' ? strict.newStrict(rules.limit, rules.tokenLimit) : sliding.newWindow(rules),
  event: undefined,
  paid: false,
});

export const left = ({ by }: Budget): number => (by.rule === 'strict' ? strict.left(by) : sliding.left(by));

export const tokensLeft = ({ by }: Budget): number | undefined =>
  by.rule === 'strict' ? strict.tokensLeft(by) : sliding.tokensLeft(by);

export const caution = ({ by }: Budget): boolean => (by.rule === 'strict' ? strict.caution(by) : sliding.caution(by));

export const waiting = ({ by }: Budget): number => (by.rule === 'strict' ? strict.waiting(by) : sliding.waiting(by));

const isSpent = ({ by }: Budget): boolean => (by.rule === 'strict' ? strict.isSpent(by) : sliding.isSpent(by));

/** B1: looked at when all that one call brought has been merged. True if the session has just run out. */
export const noticeExhaustion = (budget: Budget): boolean => {
  if (budget.by.exhausted || !isSpent(budget)) return false;
  budget.by.exhausted = true;
  return true;
};

/** B3, S3: a merge may give back what paused the session. */
const relent = (budget: Budget): void => {
  if (!isSpent(budget)) budget.by.exhausted = false;
};

/** A failure, with what decides about its cost. */
export interface Charged {
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly at: When;
  readonly tokens: number;
  readonly hasCircuit: boolean;
  /** B3: the call causes a slot of a circuit that is not closed. */
  readonly isProbe: boolean;
  /** S3: an event lasts, and the failure is part of it. */
  readonly isOfEvent: boolean;
  /** B6, S3: how many failures of the tool may wait at a time. */
  readonly mayWait: number;
  /** The circuit of its group. */
  readonly group: string | undefined;
}

export const chargeFailure = (
  { by }: Budget,
  failure: Charged,
  { openings }: Correlation,
  around: Correlating | undefined,
): void => {
  if (by.rule === 'strict') {
    if (!failure.isOfEvent) strict.chargeFailure(by, failure, failure, openings, around?.within);
    return;
  }
  sliding.spendTokens(by, failure);
  if (failure.isProbe || failure.isOfEvent) return;
  sliding.chargeFailure(by, { ...failure, mayBeShared: around !== undefined });
};

/** What a budget hears of a circuit that has opened. */
export interface OpeningFacts {
  /** As correlation lists it. */
  readonly opening: ModelOpening;
  /** The moment of the session. */
  readonly at: When;
  readonly wasClosed: boolean;
  /** Correlation had it listed, so that nothing changes there. */
  readonly isListed: boolean;
  /** C15: of a group. */
  readonly isMember: ((tool: string) => boolean) | undefined;
}

/** B3, C15, S3: a circuit has opened. */
export const circuitOpened = (
  budget: Budget,
  { opening, at, wasClosed, isListed, isMember }: OpeningFacts,
  { event }: Correlation,
  around: Correlating | undefined,
): void => {
  const { by } = budget;
  if (by.rule === 'strict') {
    if (isListed || event !== undefined || around === undefined) return;
    strict.letWait(by, opening, isMember ?? (() => false), around.within);
    return;
  }
  if (!wasClosed) return;
  const outage = { tool: opening.tool, category: opening.category, at };
  const merged = isMember ? sliding.mergeGroup(by, outage, isMember) : sliding.mergeOpening(by, outage);
  if (merged) relent(budget);
};

export const circuitClosed = ({ by }: Budget, tool: string): void => {
  if (by.rule === 'window') sliding.markClosed(by, tool);
};

/** `group`: the circuit of the tool's group. */
export const toolSucceeded = ({ by }: Budget, tool: string, group: string | undefined): void => {
  if (by.rule === 'window') sliding.markSucceeded(by, tool, group);
};

/** S3: an event has begun or grown, or is over. */
export const followEvent = (budget: Budget, { event }: Correlation, around: Correlating | undefined): void => {
  const { by } = budget;
  const size = event === undefined ? '' : event.openings.map(({ id }) => id).join();
  if (event === undefined || around === undefined || event.id !== budget.event?.id) budget.paid = false;
  if (event !== undefined && around !== undefined && !(event.id === budget.event?.id && size === budget.event.size)) {
    const isPart = belongs(event, around.within);
    const found =
      by.rule === 'strict' ? strict.payOnce(by, isPart, budget.paid) : sliding.payOnce(by, isPart, budget.paid);
    budget.paid ||= found;
    if (found) relent(budget);
  }
  budget.event = event && { id: event.id, size };
};

/** B1, S3: time has passed. Not for a session that is paused by an event. */
export const passTime = (
  { by }: Budget,
  now: When,
  { openings, event }: Correlation,
  around: Correlating | undefined,
): void => {
  if (by.rule === 'strict') {
    if (around !== undefined && event === undefined) strict.mature(by, openings, (at) => around.within(at, now));
    return;
  }
  if (!by.exhausted) sliding.passTime(by, now, (at) => around?.within(at, now) === true);
};

export const newCycle = ({ by }: Budget): void => (by.rule === 'strict' ? strict.newCycle(by) : sliding.newCycle(by));
