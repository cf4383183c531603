import type { Moment } from './clock.ts';
import type { ErrorCategory } from './outcome/taxonomy.ts';

/**
 * How many failures a session may still have (B1), and how many tokens they may waste (B4). Pure: every function gives the
 * next budget.
 *
 * What is left is always `granted - consumed`, the two figures that the metrics show. Both only grow: what a systemic event
 * gives back is granted again, and a new cycle grants what the old one lacks of a full budget. Tokens have no such figures:
 * what is left of them is always reckoned from what stands charged in this cycle.
 */
export interface Budget {
  /** Failures a cycle starts with. */
  readonly limit: number;
  /** Tokens that a cycle may waste on failures (B4); undefined for no such limit. */
  readonly tokenLimit: number | undefined;
  /** Which cycle this is, from 1. */
  readonly cycle: number;
  /** Failures allowed since the session began. */
  readonly granted: number;
  /** Failures charged since the session began. */
  readonly consumed: number;
  /** What stands charged in this cycle: the latest {@link MOST_SINGLE}. */
  readonly charges: readonly Charge[];
  /** What was charged before those, in this cycle: no event takes it back any more. */
  readonly earlier: EarlierCharges;
  /** Failures that may turn out to be part of a systemic event: not charged yet (S3). At most {@link MOST_SINGLE} of them. */
  readonly provisional: readonly ProvisionalCharge[];
}

/** Failures that are kept one by one. A budget may be as large as anybody likes: memory, reports and snapshots stay small. */
export const MOST_SINGLE = 200;

/** Failures that are kept as one sum. */
export interface EarlierCharges {
  readonly failures: number;
  /** What they cost together (B4). */
  readonly tokens: number;
  /** How many of them said what they cost. */
  readonly priced: number;
}

/** No failure. */
export const NONE_EARLIER: EarlierCharges = { failures: 0, tokens: 0, priced: 0 };

/** One failure on the bill. */
export interface Charge {
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly at: Moment;
  /** What the failed call cost (B4); 0 where nobody said. */
  readonly tokens: number;
  /** The one charge that a systemic event came to: it takes part in no other event. */
  readonly event?: true;
}

/** A failure that waits for the window of another tool's opening to pass (S3). */
export interface ProvisionalCharge extends Charge {
  readonly anchor: { readonly tool: string; readonly at: Moment };
}

/** A full budget of `limit` failures and, if given, as many wasted tokens. */
export const createBudget = (limit: number, tokenLimit?: number): Budget => ({
  limit,
  tokenLimit,
  cycle: 1,
  granted: limit,
  consumed: 0,
  charges: NONE,
  earlier: NONE_EARLIER,
  provisional: NONE,
});

/** One list for all budgets that have nothing on it yet. */
const NONE: readonly never[] = [];

/** Failures that may still be charged before the session pauses (B1). */
export const remaining = ({ granted, consumed }: Budget): number => Math.max(0, granted - consumed);

/** B4: tokens that failures of this cycle may still waste; undefined where there is no token budget. */
export const tokensRemaining = (budget: Budget): number | undefined =>
  budget.tokenLimit === undefined ? undefined : Math.max(0, budget.tokenLimit - chargedOf(budget).tokens);

/** B1, B4: no failure is left, or no token. */
export const isSpent = (budget: Budget): boolean => remaining(budget) === 0 || tokensRemaining(budget) === 0;

/** B2, B4: one more failure may be the last; of tokens, one as dear as those of this cycle whose price is known. */
export const isCautious = (budget: Budget): boolean => {
  if (remaining(budget) === 1) return true;
  const left = tokensRemaining(budget);
  if (left === undefined) return false;
  const { tokens, priced } = chargedOf(budget);
  return left <= tokens / priced; // The mean of none is NaN, and nothing is below that.
};

/** All that stands charged in this cycle. */
const chargedOf = ({ earlier, charges }: Budget): EarlierCharges => sumOf(earlier, charges);

const sumOf = (earlier: EarlierCharges, charges: readonly Charge[]): EarlierCharges => {
  let { failures, tokens, priced } = earlier;
  for (const one of charges) {
    failures += 1;
    tokens += one.tokens;
    if (one.tokens > 0) priced += 1;
  }
  return { failures, tokens: Math.min(tokens, Number.MAX_SAFE_INTEGER), priced }; // So that snapshots can hold it.
};

/** B1: a failure costs one. Beyond 0 it is still counted: the call was already under way. */
export const charge = (budget: Budget, ...charges: readonly Charge[]): Budget => ({
  ...budget,
  consumed: budget.consumed + charges.length,
  ...summedUp(budget.earlier, budget.charges.concat(charges)),
});

/** Charges of one cycle, first to last, after `earlier`: the latest stay one by one. */
export const summedUp = (earlier: EarlierCharges, charges: readonly Charge[]): Pick<Budget, 'earlier' | 'charges'> => {
  const over = charges.length - MOST_SINGLE;
  if (over <= 0) return { earlier, charges };
  return { earlier: sumOf(earlier, charges.slice(0, over)), charges: charges.slice(over) };
};

/** How many failures of a tool wait for a systemic event to be confirmed or not (S3). */
export const provisionalOf = ({ provisional }: Budget, tool: string): number =>
  provisional.reduce((count, one) => (one.tool === tool ? count + 1 : count), 0);

/** S3: remembers a failure that may belong to a systemic event. */
export const chargeProvisionally = (budget: Budget, provisional: ProvisionalCharge): Budget => ({
  ...budget,
  provisional: [...budget.provisional, provisional],
});

/** S3: takes back charges that may turn out to be part of an event that began with `anchor`; they are provisional now. */
export const suspend = (
  budget: Budget,
  anchor: ProvisionalCharge['anchor'],
  isSuspect: (charge: Charge) => boolean,
): Budget => {
  const found = budget.charges.filter((one) => one.event === undefined && isSuspect(one));
  const suspects = new Set(found.slice(Math.max(0, found.length + budget.provisional.length - MOST_SINGLE)));
  if (suspects.size === 0) return budget;
  return {
    ...budget,
    granted: budget.granted + suspects.size,
    charges: budget.charges.filter((one) => !suspects.has(one)),
    provisional: [...budget.provisional, ...Array.from(suspects, (one) => ({ ...one, anchor }))],
  };
};

/** S3: provisional charges whose window has passed count. */
export const mature = (budget: Budget, isOver: (charge: ProvisionalCharge) => boolean): Budget => {
  const over = new Set(budget.provisional.filter(isOver));
  if (over.size === 0) return budget;
  const provisional = budget.provisional.filter((one) => !over.has(one));
  return { ...charge(budget, ...over), provisional };
};

/**
 * S3: all charges that belong to a systemic event become one, the first; what they had cost beyond that is granted back. Where
 * the event has had its one charge before (`paid`), all of them are.
 */
export const mergeIntoOne = (budget: Budget, belongs: (charge: Charge) => boolean, paid = false): Budget => {
  const isPart = (one: Charge) => one.event === undefined && belongs(one);
  const charged = budget.charges.filter(isPart);
  const pending = budget.provisional.filter(isPart);
  const [first] = [...charged, ...pending];
  if (first === undefined) return budget;
  const { tool, category, at, tokens } = first;
  const merged: readonly Charge[] = paid ? [] : [{ tool, category, at, tokens, event: true }];
  const cost = merged.length - charged.length; // Above 0 where all of it was provisional: then the one is charged now.
  return {
    ...budget,
    granted: budget.granted + Math.max(0, -cost),
    consumed: budget.consumed + Math.max(0, cost),
    ...summedUp(budget.earlier, [...budget.charges.filter((one) => !isPart(one)), ...merged]),
    provisional: budget.provisional.filter((one) => !isPart(one)),
  };
};

/** B1, B4: a new cycle with its full budget. What was provisional belongs to the old one, and counts there. */
export const nextCycle = (budget: Budget): Budget => {
  const settled = mature(budget, () => true);
  return {
    ...settled,
    cycle: settled.cycle + 1,
    granted: settled.consumed + settled.limit,
    charges: NONE,
    earlier: NONE_EARLIER,
  };
};
