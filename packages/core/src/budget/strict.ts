import type { ErrorCategory } from '../classify/taxonomy.ts';
import type { Moment } from '../clock.ts';
import type { Opening, Within } from './systemic.ts';

/**
 * The rule `strict` (B6): every failure costs one, and charges stay until the session is resumed. Only a systemic event returns its
 * charges beyond the first. Pure: every function returns the next budget.
 *
 * The strictRemaining number is always `granted - consumed`. Both only grow: charges that an event returns are granted again, and a new
 * cycle grants what the old one lacks of a full budget.
 */
export interface StrictBudget {
  readonly rule: 'strict';
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
  /** The charges of this cycle: the latest {@link MOST_SINGLE}. */
  readonly charges: readonly Charge[];
  /** Earlier charges of this cycle. No event returns them any more. */
  readonly earlier: EarlierCharges;
  /** Failures that may turn out to be part of a systemic event, and are not charged yet (S3). At most {@link MOST_SINGLE}. */
  readonly provisional: readonly ProvisionalCharge[];
}

/** Failures that are kept one by one. A budget may have any size, but memory, reports and snapshots stay small. */
export const MOST_SINGLE = 200;

/** Failures that are kept as one sum. */
export interface EarlierCharges {
  readonly failures: number;
  /** What they cost together (B4). */
  readonly tokens: number;
  /** How many of them reported their cost. */
  readonly priced: number;
}

export const NONE_EARLIER: EarlierCharges = { failures: 0, tokens: 0, priced: 0 };

export interface Charge {
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly at: Moment;
  /** The cost of the failed call (B4); 0 if it was not reported. */
  readonly tokens: number;
  /** The one charge of a systemic event. It is not part of another event. */
  readonly event?: true;
}

/** A failure that waits until the window of another tool's opening has passed (S3). */
export interface ProvisionalCharge extends Charge {
  readonly anchor: { readonly tool: string; readonly at: Moment };
}

/** A full budget of `limit` failures and, if given, as many wasted tokens. */
export const createStrictBudget = (limit: number, tokenLimit?: number): StrictBudget => ({
  rule: 'strict',
  limit,
  tokenLimit,
  cycle: 1,
  granted: limit,
  consumed: 0,
  charges: NONE,
  earlier: NONE_EARLIER,
  provisional: NONE,
});

/** Shared by all budgets without charges. */
const NONE: readonly never[] = [];

/** Failures that may still be charged before the session pauses (B1). */
export const strictRemaining = ({ granted, consumed }: StrictBudget): number => Math.max(0, granted - consumed);

/** B4: tokens that failures of this cycle may still waste; undefined without a token budget. */
export const strictTokensRemaining = (budget: StrictBudget): number | undefined =>
  budget.tokenLimit === undefined ? undefined : Math.max(0, budget.tokenLimit - chargedOf(budget).tokens);

/** B1: no failure is left, or no token. */
export const isStrictSpent = (budget: StrictBudget): boolean =>
  strictRemaining(budget) === 0 || strictTokensRemaining(budget) === 0;

/** B2: one more failure may be the last. For tokens, if it costs the average of this cycle's failures with a known cost. */
export const isStrictCautious = (budget: StrictBudget): boolean => {
  if (strictRemaining(budget) === 1) return true;
  const left = strictTokensRemaining(budget) ?? Number.POSITIVE_INFINITY;
  const { tokens, priced } = chargedOf(budget);
  return left <= tokens / priced; // Without known costs the mean is NaN, and the comparison is false.
};

const chargedOf = ({ earlier, charges }: StrictBudget): EarlierCharges => sumOf(earlier, charges);

const sumOf = (earlier: EarlierCharges, charges: readonly Charge[]): EarlierCharges => {
  let { failures, tokens, priced } = earlier;
  for (const one of charges) {
    failures += 1;
    tokens += one.tokens;
    if (one.tokens > 0) priced += 1;
  }
  return { failures, tokens: Math.min(tokens, Number.MAX_SAFE_INTEGER), priced }; // So that snapshots can hold it.
};

/** B1: a failure costs one. It is still counted beyond 0, because the call was already under way. */
export const charge = (budget: StrictBudget, ...charges: readonly Charge[]): StrictBudget => chargeAll(budget, charges);

const chargeAll = (budget: StrictBudget, charges: readonly Charge[]): StrictBudget => ({
  ...budget,
  consumed: budget.consumed + charges.length,
  ...summedUp(budget.earlier, budget.charges.concat(charges)),
});

/** The charges of one cycle after `earlier`, first to last. The latest are kept one by one. */
export const summedUp = (
  earlier: EarlierCharges,
  charges: readonly Charge[],
): Pick<StrictBudget, 'earlier' | 'charges'> => {
  const over = Math.max(0, charges.length - MOST_SINGLE);
  return { earlier: sumOf(earlier, charges.slice(0, over)), charges: charges.slice(over) };
};

/** Number of failures of a tool that wait until a systemic event is confirmed or ruled out (S3). */
export const provisionalOf = ({ provisional }: StrictBudget, tool: string): number =>
  provisional.reduce((count, one) => (one.tool === tool ? count + 1 : count), 0);

/** S3: remembers a failure that may belong to a systemic event. */
export const chargeProvisionally = (budget: StrictBudget, provisional: ProvisionalCharge): StrictBudget => ({
  ...budget,
  provisional: [...budget.provisional, provisional],
});

/** S3: charges that may turn out to be part of an event that began with `anchor` become provisional. */
export const suspend = (
  budget: StrictBudget,
  anchor: ProvisionalCharge['anchor'],
  isSuspect: (charge: Charge) => boolean,
): StrictBudget => {
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

/** S3: provisional charges count once their window has passed. */
export const mature = (budget: StrictBudget, isOver: (charge: ProvisionalCharge) => boolean): StrictBudget => {
  const over = new Set(budget.provisional.filter(isOver));
  if (over.size === 0) return budget;
  const provisional = budget.provisional.filter((one) => !over.has(one));
  return { ...chargeAll(budget, [...over]), provisional };
};

/**
 * S3: all charges that belong to a systemic event become one, the first; the cost of the others is granted back. If the event has
 * had its one charge before (`paid`), the cost of all is granted back.
 */
export const mergeIntoOne = (
  budget: StrictBudget,
  belongs: (charge: Charge) => boolean,
  paid = false,
): StrictBudget => {
  const isPart = (one: Charge) => one.event === undefined && belongs(one);
  const charged = budget.charges.filter(isPart);
  const pending = budget.provisional.filter(isPart);
  const [first] = [...charged, ...pending];
  if (first === undefined) return budget;
  const { tool, category, at, tokens } = first;
  const merged: readonly Charge[] = paid ? [] : [{ tool, category, at, tokens, event: true }];
  const cost = merged.length - charged.length; // Above 0 if all were provisional: then the one is charged now.
  return {
    ...budget,
    granted: budget.granted + Math.max(0, -cost),
    consumed: budget.consumed + Math.max(0, cost),
    ...summedUp(budget.earlier, [...budget.charges.filter((one) => !isPart(one)), ...merged]),
    provisional: budget.provisional.filter((one) => !isPart(one)),
  };
};

/** B1: a new cycle with its full budget. Provisional charges belong to the old cycle and count there. */
export const nextCycle = (budget: StrictBudget): StrictBudget => {
  const settled = mature(budget, () => true);
  return {
    ...settled,
    cycle: settled.cycle + 1,
    granted: settled.consumed + settled.limit,
    charges: NONE,
    earlier: NONE_EARLIER,
  };
};

export interface StrictFailure extends Charge {
  /** Number of failures of this tool that may wait for a systemic event: as many as open its circuit, 0 if it has no circuit. */
  readonly mayWait: number;
  /** The circuit of its group. An opening of the group counts as an opening of this tool. */
  readonly group?: string | undefined;
}

/** B1: charges a failure. The charge is provisional if the failure shares the category of another tool that has just opened. */
export const chargeStrictly = (
  budget: StrictBudget,
  { mayWait, group, ...failure }: StrictFailure,
  openings: readonly Opening[],
  within: Within | undefined,
): StrictBudget => {
  // Bounded: enough failures can wait to open the second circuit, and no tool fails for free.
  const { limit, provisional } = budget;
  const waits = provisional.length < MOST_SINGLE && provisionalOf(budget, failure.tool) < Math.min(mayWait, limit);
  const anchor = waits && within && openings.find((one) => one.tool !== group && isAnchor(one, failure, within));
  return anchor
    ? chargeProvisionally(budget, { ...failure, anchor: { tool: anchor.tool, at: anchor.at } })
    : charge(budget, failure);
};

const isAnchor = (opening: Opening, failure: Charge, within: Within): boolean =>
  opening.tool !== failure.tool && opening.category === failure.category && within(opening.at, failure.at);

/** S3: tools may fail in turns. Failures of other tools just before this circuit opened may belong to the same event. */
export const suspendAlike = (
  budget: StrictBudget,
  { tool, category, at }: Opening,
  within: Within,
  isMember?: (tool: string) => boolean,
): StrictBudget =>
  suspend(budget, { tool, at }, (one) => {
    const isOwn = one.tool === tool || isMember?.(one.tool);
    return !isOwn && one.category === category && within(one.at, at);
  });

/** S3: provisional charges count once the window in which their tool could have opened too has passed. */
export const matureStrictly = (
  budget: StrictBudget,
  at: Moment,
  openings: readonly Opening[],
  within: Within,
): StrictBudget => {
  if (budget.provisional.length === 0) return budget;
  const opened = new Map<Moment, Set<string>>(); // Once, not for each charge: a snapshot may have many of both.
  for (const one of openings) opened.set(one.at, (opened.get(one.at) ?? new Set()).add(one.tool));
  return mature(budget, ({ anchor }) => !opened.get(anchor.at)?.has(anchor.tool) || !within(anchor.at, at));
};
