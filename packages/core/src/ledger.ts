import {
  type Budget,
  type Charge,
  charge,
  chargeProvisionally,
  isSpent,
  MOST_SINGLE,
  mature,
  mergeIntoOne,
  nextCycle,
  provisionalOf,
  suspend,
} from './budget.ts';
import type { Moment } from './clock.ts';
import {
  type Correlation,
  detectSystemic,
  inWindow,
  type Opening,
  type SystemicEvent,
  type SystemicPolicy,
  systemicEvent,
} from './systemic.ts';

/**
 * Where failure budget and systemic failure meet: what failed, what it cost, which circuits are open and whether they are
 * one event. Pure: every function gives the next ledger.
 */
export interface Ledger {
  readonly budget: Budget;
  /** Circuits that left closed and aren't back, first to last. After an event is over, only those that open anew. */
  readonly openings: readonly Opening[];
  /** The event that pauses the session (S2). */
  readonly event: SystemicEvent | undefined;
  /** The running event has had its one charge (S3). */
  readonly paid: boolean;
  /** The budget has run out, of failures (B1) or of tokens (B4); until a new cycle, or an event that gives it back (S3). */
  readonly exhausted: boolean;
}

/** A failure to be charged. */
export interface Failure extends Charge {
  /** How many failures of this tool may wait for a systemic event: as many as open its circuit, none where it has no circuit. */
  readonly mayWait: number;
}

/** What the ledger says of a session. */
export type SessionState = 'active' | 'paused_budget' | 'paused_systemic';

export const createLedger = (budget: Budget): Ledger => ({
  budget,
  openings: NONE,
  event: undefined,
  paid: false,
  exhausted: false,
});

/** One list for all ledgers without an opening. */
const NONE: readonly never[] = [];

/** S2, B1. A systemic pause is the graver one. */
export const sessionState = ({ exhausted, event }: Ledger): SessionState => {
  if (event !== undefined) return 'paused_systemic';
  return exhausted ? 'paused_budget' : 'active';
};

/** B1, B4: looked at once all consequences of a failure are known, for a systemic event gives back what the last one took. */
export const noticeExhaustion = (ledger: Ledger): Ledger =>
  !ledger.exhausted && isSpent(ledger.budget) ? { ...ledger, exhausted: true } : ledger;

/** B1, S3: charges a failure; provisionally, if it shares the category of another tool that opened just now. */
export const chargeFailure = (
  ledger: Ledger,
  { mayWait, ...reported }: Failure,
  policy: SystemicPolicy | undefined,
): Ledger => {
  if (ledger.event !== undefined) return ledger; // The event has had its one charge.
  const failure = { ...reported, tokens: sane(reported.tokens) };
  // Bounded: waiting gives the second circuit the failures that open it, and lets nobody fail for free.
  const { limit, provisional } = ledger.budget;
  const waits =
    provisional.length < MOST_SINGLE && provisionalOf(ledger.budget, failure.tool) < Math.min(mayWait, limit);
  const anchor = waits && policy && ledger.openings.find((opening) => isAnchor(opening, failure, policy));
  return {
    ...ledger,
    budget: anchor
      ? chargeProvisionally(ledger.budget, { ...failure, anchor: { tool: anchor.tool, at: anchor.at } })
      : charge(ledger.budget, failure),
  };
};

/** B4: a cost that is none would corrupt the sum, and the snapshot. */
const sane = (tokens: number): number => (Number.isFinite(tokens) ? Math.max(0, tokens) : 0);

const isAnchor = (opening: Opening, failure: Charge, policy: SystemicPolicy): boolean =>
  opening.tool !== failure.tool && opening.category === failure.category && inWindow(policy, opening.at, failure.at);

/**
 * S1, S3: a circuit opened. Joins a running event, begins one, or stands alone. `opening.at` is a moment of this ledger's session,
 * whichever session's failure opened the circuit (C12).
 */
export const recordOpening = (ledger: Ledger, opening: Opening, policy: Correlation | undefined): Ledger => {
  // A failed probe opens a circuit that was open already: no news.
  if (ledger.openings.some(({ tool }) => tool === opening.tool)) return ledger;
  const next = { ...ledger, openings: [...ledger.openings, opening] };
  if (ledger.event !== undefined) {
    // An event that only would have paused the session lets a tool close and open again: it is still one tool.
    const others = ledger.event.openings.filter(({ tool }) => tool !== opening.tool);
    return chargeEvent(next, systemicEvent([...others, opening], policy?.sharedDependency), opening, policy);
  }
  if (policy === undefined) return next;
  const event = detectSystemic(next.openings, opening, policy);
  if (event !== undefined) return chargeEvent(next, event, opening, policy);
  if (ledger.exhausted) return next; // Paused until somebody resumes: nothing is given back.
  // Tools that fail in turns: what the others failed with before this one opened may belong to the same event.
  const { tool, at } = opening;
  const isSuspect = (one: Charge) =>
    one.tool !== tool && one.category === opening.category && inWindow(policy, one.at, at);
  return { ...next, budget: suspend(ledger.budget, { tool, at }, isSuspect) };
};

/** C12: the same for what other sessions' failures have opened, first to last: there may be hundreds at once. */
export const recordOpenings = (
  ledger: Ledger,
  openings: readonly Opening[],
  policy: Correlation | undefined,
): Ledger => {
  const known = new Set(ledger.openings.map(({ tool }) => tool));
  const fresh = openings.filter(({ tool }) => !known.has(tool));
  let next = ledger;
  for (const [index, opening] of fresh.entries()) {
    if (next.event !== undefined) return joinAll(next, next.event, fresh.slice(index), policy);
    next = recordOpening(next, opening, policy);
  }
  return next;
};

/** All of them join the running event. It is put together once; what was charged is looked through for each of them alone. */
const joinAll = (
  ledger: Ledger,
  event: SystemicEvent,
  joining: readonly Opening[],
  policy: Correlation | undefined,
): Ledger => {
  const inEvent = new Set(event.openings.map(({ tool }) => tool));
  if (policy === undefined || joining.some(({ tool }) => inEvent.has(tool))) {
    return joining.reduce((before, opening) => recordOpening(before, opening, policy), ledger);
  }
  let { budget, paid } = ledger;
  let shared = event.category;
  for (const { tool, category, at } of joining) {
    if (category !== shared) shared = undefined;
    const isPart = (one: Charge) => (one.tool === tool || one.category === shared) && inWindow(policy, one.at, at);
    const merged = mergeIntoOne(budget, isPart, paid);
    paid ||= merged !== budget;
    budget = merged;
  }
  return {
    budget,
    openings: [...ledger.openings, ...joining],
    event: systemicEvent([...event.openings, ...joining], policy.sharedDependency),
    paid,
    exhausted: ledger.exhausted && isSpent(budget),
  };
};

/**
 * S3: one event, one charge, also for what a circuit that joins it had failed with before. A session that had no failure of
 * its own in it, because other sessions share its circuits (C12), pays nothing.
 */
const chargeEvent = (
  ledger: Ledger,
  event: SystemicEvent,
  { at: latest }: Opening,
  policy: SystemicPolicy | undefined,
): Ledger => {
  if (policy === undefined) return { ...ledger, event };
  const isPart = (one: Charge) =>
    event.openings.some(({ tool, at }) => tool === one.tool && inWindow(policy, one.at, at)) ||
    (one.category === event.category && inWindow(policy, one.at, latest));
  const budget = mergeIntoOne(ledger.budget, isPart, ledger.paid);
  const paid = ledger.paid || budget !== ledger.budget;
  return { ...ledger, event, paid, budget, exhausted: ledger.exhausted && isSpent(budget) };
};

/**
 * C12: an event that another session has found out, whose circuits this one shares. Its openings have moments of this ledger's
 * session.
 */
export const joinEvent = (ledger: Ledger, event: SystemicEvent, policy: SystemicPolicy | undefined): Ledger => {
  const latest = event.openings.at(-1);
  return ledger.event !== undefined || latest === undefined ? ledger : chargeEvent(ledger, event, latest, policy);
};

/** A circuit closed: it can't be part of an event to come. */
export const recordClosing = (ledger: Ledger, tool: string): Ledger => recordClosings(ledger, new Set([tool]));

/** The same for many. */
export const recordClosings = (ledger: Ledger, tools: ReadonlySet<string>): Ledger => ({
  ...ledger,
  openings: ledger.openings.filter(({ tool }) => !tools.has(tool)),
});

/** B1, B4: a new cycle of the failure budget, and of the token budget. */
export const renewBudget = (ledger: Ledger): Ledger => ({
  ...ledger,
  budget: nextCycle(ledger.budget),
  exhausted: false,
});

/** S3: provisional charges count once the window has passed in which their tool could have opened too. */
export const matureCharges = (ledger: Ledger, at: Moment, policy: SystemicPolicy | undefined): Ledger => {
  if (policy === undefined || ledger.event !== undefined) return ledger;
  const budget = mature(
    ledger.budget,
    ({ anchor }) =>
      !ledger.openings.some((opening) => opening.tool === anchor.tool && opening.at === anchor.at) ||
      !inWindow(policy, anchor.at, at),
  );
  return budget === ledger.budget ? ledger : { ...ledger, budget };
};

/** S5: the event is over. What opened during it is no evidence for the next one; a failed probe is. */
export const resolveEvent = (ledger: Ledger): Ledger =>
  ledger.event === undefined ? ledger : { ...ledger, openings: [], event: undefined, paid: false };
