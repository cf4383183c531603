import type { Moment } from './clock.ts';
import type { ErrorCategory } from './outcome/taxonomy.ts';

/**
 * How many failures a session may still have (B1). Pure: every function gives the next budget.
 *
 * What is left is always `granted - consumed`, the two figures that the metrics show. Both only grow: what a systemic event
 * gives back is granted again, and a new cycle grants what the old one lacks of a full budget.
 */
export interface Budget {
  /** Failures a cycle starts with. */
  readonly limit: number;
  /** Which cycle this is, from 1. */
  readonly cycle: number;
  /** Failures allowed since the session began. */
  readonly granted: number;
  /** Failures charged since the session began. */
  readonly consumed: number;
  /** What stands charged in this cycle. */
  readonly charges: readonly Charge[];
  /** Failures that may turn out to be part of a systemic event: not charged yet (S3). */
  readonly provisional: readonly ProvisionalCharge[];
}

/** One failure on the bill. */
export interface Charge {
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly at: Moment;
  /** The one charge that a systemic event came to: it takes part in no other event. */
  readonly event?: true;
}

/** A failure that waits for the window of another tool's opening to pass (S3). */
export interface ProvisionalCharge extends Charge {
  readonly anchor: { readonly tool: string; readonly at: Moment };
}

/** A full budget of `limit` failures. */
export const createBudget = (limit: number): Budget => ({
  limit,
  cycle: 1,
  granted: limit,
  consumed: 0,
  charges: [],
  provisional: [],
});

/** Failures that may still be charged before the session pauses (B1). */
export const remaining = ({ granted, consumed }: Budget): number => Math.max(0, granted - consumed);

/** B1: a failure costs one. Beyond 0 it is still counted: the call was already under way. */
export const charge = (budget: Budget, ...charges: readonly Charge[]): Budget => ({
  ...budget,
  consumed: budget.consumed + charges.length,
  charges: [...budget.charges, ...charges],
});

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
  const suspects = budget.charges.filter((one) => one.event === undefined && isSuspect(one));
  if (suspects.length === 0) return budget;
  return {
    ...budget,
    granted: budget.granted + suspects.length,
    charges: budget.charges.filter((one) => !suspects.includes(one)),
    provisional: [...budget.provisional, ...suspects.map((one) => ({ ...one, anchor }))],
  };
};

/** S3: provisional charges whose window has passed count. */
export const mature = (budget: Budget, isOver: (charge: ProvisionalCharge) => boolean): Budget => {
  if (budget.provisional.length === 0) return budget;
  const over = budget.provisional.filter(isOver);
  if (over.length === 0) return budget;
  const provisional = budget.provisional.filter((one) => !over.includes(one));
  return { ...charge(budget, ...over), provisional };
};

/** S3: all charges that belong to a systemic event become one; what they had cost beyond that is granted back. */
export const mergeIntoOne = (budget: Budget, belongs: (charge: Charge) => boolean): Budget => {
  const isPart = (one: Charge) => one.event === undefined && belongs(one);
  const charged = budget.charges.filter(isPart);
  const pending = budget.provisional.filter(isPart);
  const [kept] = [...charged, ...pending];
  if (kept === undefined) return budget;
  const { tool, category, at } = kept;
  const refund = charged.length - 1; // -1 where all of it was provisional: then the one is charged now.
  return {
    ...budget,
    granted: budget.granted + Math.max(0, refund),
    consumed: budget.consumed - Math.min(0, refund),
    charges: [...budget.charges.filter((one) => !isPart(one)), { tool, category, at, event: true }],
    provisional: budget.provisional.filter((one) => !isPart(one)),
  };
};

/** B1: a new cycle with its full budget. What was provisional belongs to the old one, and counts there. */
export const nextCycle = (budget: Budget): Budget => {
  const settled = mature(budget, () => true);
  return {
    ...settled,
    cycle: settled.cycle + 1,
    granted: settled.consumed + settled.limit,
    charges: [],
  };
};
