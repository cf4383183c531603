import type { ErrorCategory } from '../classify/taxonomy.ts';
import type { Moment } from '../clock.ts';
import { type Budget, isSpent, mayChange, renew } from './budget.ts';
import { chargeStrictly, matureStrictly, mergeIntoOne, suspendAlike } from './strict.ts';
import { type Correlation, latestOpening, type Opening, type SystemicEvent, type Within } from './systemic.ts';
import {
  awaitsSuccessOf,
  chargeFailure,
  markClosed,
  markSucceeded,
  mergeEvent,
  mergeGroup,
  mergeOpening,
  passTime,
  windowSteady,
} from './window.ts';

/**
 * The charges of one session: its failure budget, by either rule, and the cost of systemic events. Pure: every function returns the
 * next ledger, or the same one if nothing changed.
 */
export interface Ledger {
  readonly budget: Budget;
  /** The event whose charges were merged last (S3); undefined without an event. */
  readonly event: SystemicEvent | undefined;
  /** Whether that event has had its one charge. */
  readonly paid: boolean;
  /** Whether the budget has run out, of failures or of tokens (B4). */
  readonly exhausted: boolean;
}

/**
 * The ledger that pauses the session, and the ledger of a dry run. Once a tool is only observed, the dry-run ledger gets the
 * failures of all tools, observed ones too. It shows when the session would have been paused (C1).
 */
export interface LedgerPair {
  readonly real: Ledger;
  /** Undefined if no tool was ever observed. */
  readonly dryRun: Ledger | undefined;
}

/** The other failures that decide what a session pays. */
export interface Around {
  readonly correlation: Correlation;
  /** Undefined: failures of several tools never count as one event. */
  readonly within: Within | undefined;
}

export interface LedgerFailure {
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly at: Moment;
  /** The cost of the call; 0 if the executor did not report it (B4). */
  readonly tokens: number;
  readonly hasCircuit: boolean;
  /** The call was a probe: free by the rule `window` (B3). */
  readonly isProbe: boolean;
  /** A systemic event that lasts has had its one charge, and this failure is part of it (S3). */
  readonly isPartOfEvent: boolean;
  /** Rule `strict`: how many failures of this tool may be provisional. */
  readonly mayWait: number;
  /** The circuit of the tool's group, `group:NAME`. */
  readonly group: string | undefined;
}

/** The state of a session in reports and metrics. */
export type SessionState = 'active' | 'paused_budget' | 'paused_systemic' | 'paused_limit';

/** B1: whether no charge leaves the budget, because the session is paused. */
export const keepsCharges = (state: SessionState): boolean => state === 'paused_budget' || state === 'paused_systemic';

/** D2: the systemic pause and that of the budget come first. */
export const withLimits = (state: SessionState, isOver: boolean): SessionState =>
  state === 'active' && isOver ? 'paused_limit' : state;

export const createLedger = (budget: Budget): Ledger => ({ budget, event: undefined, paid: false, exhausted: false });

const withBudget = (ledger: Ledger, budget: Budget): Ledger =>
  budget === ledger.budget ? ledger : { ...ledger, budget };

/** B1: charges a failure. */
export const recordFailure = (ledger: Ledger, failure: LedgerFailure, { correlation, within }: Around): Ledger => {
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

/** B4: a cost that is not a number would corrupt the sum and the snapshot. */
const sane = (tokens: number): number => (Number.isFinite(tokens) ? Math.max(0, tokens) : 0);

/**
 * B3: a circuit has opened. The charges of its tool since it last closed become one charge. A group (`isMember`) absorbs the charges
 * of its members since their last success.
 */
export const recordOpening = (
  ledger: Ledger,
  opening: Opening,
  { correlation, within }: Around,
  isMember?: (tool: string) => boolean,
): Ledger => {
  const { budget } = ledger;
  if (budget.rule === 'window') {
    return merged(ledger, isMember ? mergeGroup(budget, opening, isMember) : mergeOpening(budget, opening));
  }
  // Rule `strict`, S3: while the session is paused, nothing is taken back.
  if (within === undefined || ledger.exhausted || correlation.event !== undefined) return ledger;
  return withBudget(ledger, suspendAlike(budget, opening, within, isMember));
};

/** A circuit has closed. Earlier charges of its tool are not part of a later opening. */
export const recordClosing = (ledger: Ledger, tool: string): Ledger =>
  ledger.budget.rule === 'strict' ? ledger : withBudget(ledger, markClosed(ledger.budget, tool));

/** S3: a tool that works is not part of an event. `group`: the circuit of its group, `group:NAME`. */
export const recordSuccess = (ledger: Ledger, tool: string, group: string | undefined): Ledger =>
  ledger.budget.rule === 'strict' ? ledger : withBudget(ledger, markSucceeded(ledger.budget, tool, group));

/** Whether a success of this tool may change a ledger. */
export const awaitsSuccess = ({ budget }: Ledger, tool: string, group: string | undefined): boolean =>
  budget.rule === 'window' && awaitsSuccessOf(budget, tool, group);

/** S3: one event costs one charge. Earlier charges of a circuit that joins are part of it. */
export const followEvent = (ledger: Ledger, event: SystemicEvent | undefined, within: Within): Ledger => {
  if (event === ledger.event) return ledger;
  if (event === undefined) return { ...ledger, event: undefined, paid: false };
  const isPart = partOf(event, within);
  // An event that grows is the same event. One session may see two events in a row without the end of the first (C12).
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

/** B1: time has passed in a session that is not paused. */
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

/** While a session takes no step, time and calls change nothing up to there. Monotonic ms, and calls that were settled. */
export interface Steady {
  readonly ms: number;
  readonly calls: number;
}

const NEVER: Steady = { ms: Number.POSITIVE_INFINITY, calls: Number.POSITIVE_INFINITY };
/** Not known: time may change the ledger at once. */
export const NOT_LONG: Steady = { ms: Number.NEGATIVE_INFINITY, calls: Number.NEGATIVE_INFINITY };

/** Until when {@link recordTime} leaves the ledger as it is. `alikeWithinMs`: the `windowMs` of S1, if correlation is on. */
export const steadyUntil = ({ budget }: Ledger, now: Moment, alikeWithinMs: number | undefined): Steady => {
  if (!mayChange(budget)) return NEVER;
  return budget.rule === 'window' ? windowSteady(budget, now, alikeWithinMs) : NOT_LONG;
};

/**
 * M5: when the pause of a session that has no steps may end, because its oldest charge leaves the window. Undefined without such a pause.
 * In code, a pause ends only when the session is resumed.
 */
export const pauseEndMs = ({ budget, exhausted }: Ledger): number | undefined => {
  if (!exhausted || budget.rule !== 'window') return undefined;
  const leaves = [...budget.charges, ...budget.spent].map(({ at }) => ({ ...at, ms: at.ms + budget.windowMs + 1 }));
  const ends = leaves.toSorted((a, b) => a.ms - b.ms);
  return ends.find((at) => !isSpent(passTime(budget, at, () => true)))?.ms;
};

/** M5: the pause has ended if its time is over. The charges that are still in the window stay. */
export const endPauseByTime = (ledger: Ledger, at: Moment): Ledger => {
  const { budget } = ledger;
  const endMs = pauseEndMs(ledger);
  if (endMs === undefined || at.ms < endMs || budget.rule !== 'window') return ledger;
  return { ...ledger, budget: { ...passTime(budget, at, () => true), cycle: budget.cycle + 1 }, exhausted: false };
};

/** B1: checked once everything from one call has been merged. */
export const recordExhaustion = (ledger: Ledger): Ledger =>
  !ledger.exhausted && isSpent(ledger.budget) ? { ...ledger, exhausted: true } : ledger;

/** A merge may return what the last failure charged; time alone does not. */
const merged = (ledger: Ledger, budget: Budget): Ledger =>
  budget === ledger.budget ? ledger : { ...ledger, budget, exhausted: ledger.exhausted && isSpent(budget) };

/** B1: the budget is full again. */
export const renewBudget = (ledger: Ledger): Ledger => ({ ...ledger, budget: renew(ledger.budget), exhausted: false });
