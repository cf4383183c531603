import type { ErrorCategory } from '../classify/taxonomy.ts';
import type { Moment } from '../clock.ts';
import type { Opening } from './systemic.ts';

/**
 * The failure budget in a sliding window (B1). Pure: every function returns the next budget, or the same object if
 * nothing changed.
 *
 * A charge is provisional while it may still turn out to be part of a correlated event. It reduces what remains, but it pauses the
 * session only when it is final.
 */
export interface WindowBudget {
  readonly rule: 'window';
  /** Failures that the window has room for. */
  readonly limit: number;
  readonly windowSteps: number;
  readonly windowMs: number;
  readonly windowCalls: number;
  /** Tokens that failures in the window may waste (B4); undefined for no such limit. */
  readonly tokenLimit: number | undefined;
  /** Which cycle this is, from 1. */
  readonly cycle: number;
  /** Charges that became final since the session began. It only grows. */
  readonly consumed: number;
  /** In the order in which they were charged or merged. At most {@link MOST_ENTRIES}. */
  readonly charges: readonly WindowCharge[];
  /** Tokens of failed calls (B4). At most {@link MOST_ENTRIES}. */
  readonly spent: readonly SpentTokens[];
  /** Failures that may still be charged before the session pauses. Computed when the charges change. */
  readonly remaining: number;
}

/** S3: charges that may be provisional at the same time. The next one is final. */
export const MOST_PROVISIONAL = 5;

/** B1: calls that a failure counts for, in a session without steps. Also of snapshots of older versions. */
export const DEFAULT_WINDOW_CALLS = 20;

export const createWindowBudget = (options: {
  limit: number;
  tokenLimit?: number | undefined;
  windowSteps?: number;
  windowMs?: number;
  windowCalls?: number;
}): WindowBudget => ({
  rule: 'window',
  limit: options.limit,
  windowSteps: options.windowSteps ?? 20,
  windowMs: options.windowMs ?? 600_000,
  windowCalls: options.windowCalls ?? DEFAULT_WINDOW_CALLS,
  tokenLimit: options.tokenLimit,
  cycle: 1,
  consumed: 0,
  charges: NONE,
  spent: NONE,
  remaining: options.limit,
});

/** The budget with `remaining` computed from its charges, such as after a restore. */
export const withCharges = (budget: Omit<WindowBudget, 'remaining'>): WindowBudget => ({
  ...budget,
  remaining: Math.max(0, budget.limit - countCharges(budget.charges, budget.limit)),
});

/** B4: tokens that failures may still waste; undefined without a token limit. */
export const windowTokensRemaining = ({ tokenLimit, spent }: WindowBudget): number | undefined =>
  tokenLimit === undefined ? undefined : Math.max(0, tokenLimit - sumTokens(spent));

/** B2: the next failure may exhaust the budget, or its tokens may if they cost what the entries cost on average. */
export const isWindowCautious = (budget: WindowBudget): boolean => {
  if (budget.remaining <= 1) return true;
  const left = windowTokensRemaining(budget) ?? Number.POSITIVE_INFINITY;
  return left <= sumTokens(budget.spent) / budget.spent.length; // Without entries NaN: not cautious.
};

/** B1: the session has to pause. Charges after the last final one are provisional, and do not pause it yet. */
export const isWindowSpent = (budget: WindowBudget): boolean => {
  if (windowTokensRemaining(budget) === 0) return true;
  const { charges, limit, remaining } = budget;
  if (remaining > 0) return false;
  const lastFinal = charges.findLastIndex(({ provisional }) => !provisional);
  return countCharges(charges.slice(0, lastFinal + 1), limit) >= limit;
};

export const windowProvisional = ({ charges }: WindowBudget): number => countProvisional(charges);

export interface WindowFailure {
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly at: Moment;
  /** What the call cost (B4). */
  readonly tokens: number;
  readonly hasCircuit: boolean;
  /** It was a probe, or is part of an event that lasts, so it is not charged. Its tokens still count. */
  readonly free: boolean;
  /** Correlation is on: the failure may turn out to be part of an event. */
  readonly mayBeShared: boolean;
}

/** B1: charges a failure, and its tokens. */
export const chargeFailure = (budget: WindowBudget, failure: WindowFailure): WindowBudget => {
  const { tool, category, at, hasCircuit } = failure;
  const spent = addTokens(budget.spent, failure);
  const next = spent === budget.spent ? budget : { ...budget, spent };
  if (failure.free) return next;
  const provisional = failure.mayBeShared && hasCircuit && windowProvisional(budget) < MOST_PROVISIONAL;
  const charge = { tool, category, at, provisional };
  return append(next, budget.charges, hasCircuit ? charge : { ...charge, uncapped: true }, provisional ? 0 : 1);
};

/** The budget with these charges. `consumed`: number of them that have just become final. */
const append = (
  budget: WindowBudget,
  others: readonly WindowCharge[],
  charge: WindowCharge,
  consumed: number,
): WindowBudget => {
  const { charges, madeFinal } = appendCharge(others, charge, budget.limit);
  return withCharges({ ...budget, charges, consumed: budget.consumed + consumed + madeFinal });
};

/** B3: the circuit of a tool opened. Its charges since it last closed become one: an outage costs one. */
export const mergeOpening = (budget: WindowBudget, opening: Omit<Opening, 'unixMs'>): WindowBudget =>
  mergeInto(budget, opening, (one) => one.tool === opening.tool && one.since !== 'closing');

/** C15: the circuit of a group opened. The charges of its members since their last success become one. */
export const mergeGroup = (
  budget: WindowBudget,
  opening: Omit<Opening, 'unixMs'>,
  isMember: (tool: string) => boolean,
): WindowBudget => mergeInto(budget, opening, (one) => one.since === undefined && isMember(one.tool));

const mergeInto = (
  budget: WindowBudget,
  { tool, category, at }: Omit<Opening, 'unixMs'>,
  belongs: (charge: WindowCharge) => boolean,
): WindowBudget => {
  const [parts, others] = partition(budget.charges, belongs);
  const [first] = parts;
  if (first === undefined) return budget;
  const merged: WindowCharge = { tool, category, at, provisional: parts.every(({ provisional }) => provisional) };
  if (first === budget.charges.at(-1) && isSame(first, merged)) return budget;
  return append(budget, others, merged, 0); // Final if a part was, which has been counted.
};

/**
 * S3: a correlated event began or grew. All charges that are part of it become one final charge. If the event has had its charge
 * (`paid`), they are removed.
 */
export const mergeEvent = (
  budget: WindowBudget,
  belongs: (charge: WindowCharge) => boolean,
  paid: boolean,
): WindowBudget => {
  const [parts, others] = partition(budget.charges, belongs);
  const [first] = parts;
  if (first === undefined) return budget;
  if (paid) return withCharges({ ...budget, charges: others });
  const { tool, category } = first;
  const { at } = parts.at(-1) ?? first;
  const made = parts.every(({ provisional }) => provisional) ? 1 : 0;
  return append(budget, others, { tool, category, at, provisional: false, event: true }, made);
};

/** B3: a circuit closed. Earlier failures are not part of its next opening. */
export const markClosed = (budget: WindowBudget, tool: string): WindowBudget => markSince(budget, tool, 'closing');

/**
 * C15: a tool succeeded. Its earlier failures are not part of the opening of its group. If the tool or its group was suspected
 * of a correlated event, all provisional charges become final.
 */
export const markSucceeded = (budget: WindowBudget, tool: string, group: string | undefined): WindowBudget => {
  const next = markSince(budget, tool, 'success');
  for (const one of budget.charges) {
    if (one.provisional && (one.tool === tool || one.tool === group)) return makeFinal(next);
  }
  return next;
};

/** Whether {@link markSucceeded} changes anything. */
export const awaitsSuccessOf = ({ charges }: WindowBudget, tool: string, group: string | undefined): boolean => {
  for (const one of charges) {
    if (isMarkedBy(one, tool, 'success')) return true;
    if (one.provisional && (one.tool === tool || one.tool === group)) return true;
  }
  return false;
};

const markSince = (budget: WindowBudget, tool: string, since: 'success' | 'closing'): WindowBudget => {
  for (const each of budget.charges) {
    if (!isMarkedBy(each, tool, since)) continue;
    const charges = budget.charges.map((one) => (isMarkedBy(one, tool, since) ? { ...one, since } : one));
    return { ...budget, charges };
  }
  return budget;
};

/** A closing overrides a success. */
const isMarkedBy = (charge: WindowCharge, tool: string, since: 'success' | 'closing'): boolean =>
  charge.tool === tool &&
  (since === 'closing' ? charge.since !== 'closing' : charge.since === undefined) &&
  isSingle(charge);

/**
 * B1: makes charges final that can no longer be shared, and deletes those that have left the window. In this order, so that a charge
 * counts as consumed also in a session that nothing has used in between. Only for an active session: while it is paused, charges stay.
 */
export const passTime = (
  budget: WindowBudget,
  now: Moment,
  mayStillBeShared: (charge: WindowCharge) => boolean,
): WindowBudget => {
  const settled = makeFinal(budget, mayStillBeShared);
  const charges = deletePast(settled, settled.charges, now);
  const spent = deletePast(settled, settled.spent, now);
  const allStay = charges === settled.charges && spent === settled.spent;
  return allStay ? settled : withCharges({ ...settled, charges, spent });
};

/** Until when {@link passTime} changes nothing, if the session takes no step. `sharedMs`: how long a charge may be provisional. */
export const windowSteady = (
  budget: WindowBudget,
  now: Moment,
  sharedMs = 0,
): { readonly ms: number; readonly calls: number } => {
  let ms = Number.POSITIVE_INFINITY;
  let calls = Number.POSITIVE_INFINITY;
  const leaves = ({ at }: { readonly at: Moment }): void => {
    if (now.step > 0) return; // By steps alone.
    ms = Math.min(ms, at.ms + budget.windowMs);
    calls = Math.min(calls, (at.calls ?? 0) + budget.windowCalls);
  };
  for (const charge of budget.charges) {
    leaves(charge);
    if (charge.provisional) ms = Math.min(ms, charge.at.ms + sharedMs);
  }
  budget.spent.forEach(leaves);
  return { ms, calls };
};

const makeFinal = (budget: WindowBudget, mayWait?: (charge: WindowCharge) => boolean): WindowBudget => {
  for (const each of budget.charges) {
    if (!each.provisional || mayWait?.(each)) continue;
    const charges = budget.charges.map((one) =>
      one.provisional && !mayWait?.(one) ? { ...one, provisional: false } : one,
    );
    const made = countProvisional(budget.charges) - countProvisional(charges);
    return { ...budget, charges, consumed: budget.consumed + made };
  }
  return budget;
};

/** B1: a new cycle without charges. Provisional charges of the old cycle never become final. */
export const renewWindow = (budget: WindowBudget): WindowBudget =>
  withCharges({ ...budget, cycle: budget.cycle + 1, charges: NONE, spent: NONE });

/** A failure in the window, or several that were merged. */
export interface WindowCharge {
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly at: Moment;
  readonly provisional: boolean;
  /** The one charge of a correlated event. It is never merged. */
  readonly event?: true;
  /**
   * What its tool did since. After a closing, the charge is not part of the tool's next opening. After a closing or a success, it
   * is not part of the group's.
   */
  readonly since?: 'success' | 'closing';
  /** Its tool has no circuit, so this one tool may exhaust the budget (B5). */
  readonly uncapped?: true;
  /** Number of charges that were folded into this one, to bound the list; default 1. It is never merged. */
  readonly count?: number;
}

/** The cost of failed calls (B4). */
export interface SpentTokens {
  readonly at: Moment;
  readonly tokens: number;
}

/** Entries that a list holds at most. The oldest are folded into one, so that memory and snapshots stay small. */
const MOST_ENTRIES = 200;

/** One list for all budgets without entries. */
export const NONE: readonly never[] = [];

/** B1: the most that the charges of one tool count, so that one tool alone never exhausts the budget. */
const capOf = (limit: number): number => Math.max(1, limit - 1);

const isCapped = ({ event, uncapped }: WindowCharge): boolean => event === undefined && uncapped === undefined;

const countCharges = (charges: readonly WindowCharge[], limit: number): number => {
  const cap = capOf(limit);
  const perTool = new Map<string, number>();
  let sum = 0;
  for (const charge of charges) {
    const count = charge.count ?? 1;
    if (!isCapped(charge)) sum += count;
    else perTool.set(charge.tool, (perTool.get(charge.tool) ?? 0) + count);
  }
  for (const count of perTool.values()) sum += Math.min(count, cap);
  return sum;
};

const countProvisional = (charges: readonly WindowCharge[]): number => {
  let count = 0;
  for (const { provisional } of charges) if (provisional) count += 1;
  return count;
};

const sumTokens = (spent: readonly SpentTokens[]): number => {
  let sum = 0;
  for (const { tokens } of spent) sum += tokens;
  return Math.min(sum, Number.MAX_SAFE_INTEGER); // So that a snapshot can hold it.
};

/** B4: the list with the cost of one more call, if it has one. */
const addTokens = (spent: readonly SpentTokens[], { at, tokens }: SpentTokens): readonly SpentTokens[] => {
  if (!(Number.isFinite(tokens) && tokens > 0)) return spent;
  const all = [...spent, { at, tokens: Math.min(tokens, Number.MAX_SAFE_INTEGER) }];
  const [old, recent] = splitOldest(all);
  return old.length === 0 ? all : [{ at: latestOf(old).at, tokens: sumTokens(old) }, ...recent];
};

/** A list with one more charge, within its bounds. `madeFinal`: number of provisional charges that became final by folding. */
const appendCharge = (
  others: readonly WindowCharge[],
  charge: WindowCharge,
  limit: number,
): { readonly charges: readonly WindowCharge[]; readonly madeFinal: number } => {
  const all = [...others, charge];
  const [old, recent] = splitOldest(isCapped(charge) ? keepLatest(all, charge.tool, limit) : all);
  if (old.length === 0) return { charges: recent, madeFinal: 0 };
  const { tool, category, at } = latestOf(old);
  const count = old.reduce((sum, one) => sum + (one.count ?? 1), 0);
  const folded: WindowCharge = { tool, category, at, provisional: false, uncapped: true, count };
  return { charges: [folded, ...recent], madeFinal: countProvisional(old) };
};

/**
 * A tool needs no more charges than count for it. Later ones stay longer in the window, so the earlier ones are dropped. Charges
 * for the next opening are kept separate from those before the last closing (B3), because otherwise a merge would find too few.
 */
const keepLatest = (charges: readonly WindowCharge[], tool: string, limit: number): readonly WindowCharge[] => {
  const cap = capOf(limit);
  if (charges.length <= cap) return charges; // Nearly always.
  const isOld = ({ since }: WindowCharge) => since === 'closing';
  const own = charges.filter((charge) => charge.tool === tool && isCapped(charge));
  const old = own.filter(isOld);
  const recent = own.filter((charge) => !isOld(charge));
  const excess = new Set([old, recent].flatMap((some) => some.slice(0, Math.max(0, some.length - cap))));
  return charges.filter((charge) => !excess.has(charge));
};

/** The entries to be folded into one, and the others. */
const splitOldest = <T>(entries: readonly T[]): readonly [old: readonly T[], recent: readonly T[]] => {
  const over = entries.length - MOST_ENTRIES;
  return over > 0 ? [entries.slice(0, over + 1), entries.slice(over + 1)] : [NONE, entries];
};

/** By time, because the charge of an event may be earlier than the one before it in the list. */
const latestOf = <T extends { readonly at: Moment }>(entries: readonly T[]): T =>
  entries.reduce((latest, one) => (one.at.ms >= latest.at.ms ? one : latest));

/** B1: the entries without those that have left the window. */
const deletePast = <T extends { readonly at: Moment }>(
  window: BudgetWindow,
  entries: readonly T[],
  now: Moment,
): readonly T[] => {
  for (const { at } of entries) {
    if (hasLeft(window, at, now)) return entries.filter((one) => !hasLeft(window, one.at, now));
  }
  return entries;
};

type BudgetWindow = Pick<WindowBudget, 'windowSteps' | 'windowMs' | 'windowCalls'>;

/** B1: by steps once the session has any, otherwise by time and by the calls that were settled since the failed one. */
const hasLeft = ({ windowSteps, windowMs, windowCalls }: BudgetWindow, at: Moment, now: Moment): boolean =>
  now.step > 0 ? now.step - at.step > windowSteps : now.ms - at.ms > windowMs || callsSince(at, now) > windowCalls;

/** Number of calls that were settled since then, the call of that moment included. */
export const callsSince = (at: Moment, now: Moment): number => (now.calls ?? 0) - (at.calls ?? 0);

/** Only these may be merged. The charge of an event and a folded charge stay as they are. */
const isSingle = ({ event, count }: WindowCharge): boolean => event === undefined && count === undefined;

/** Those that may be merged and belong together, and the others. */
const partition = (
  charges: readonly WindowCharge[],
  belongs: (charge: WindowCharge) => boolean,
): readonly [parts: readonly WindowCharge[], others: readonly WindowCharge[]] => {
  const parts: WindowCharge[] = [];
  const others: WindowCharge[] = [];
  for (const one of charges) (isSingle(one) && belongs(one) ? parts : others).push(one);
  return [parts, others];
};

const isSame = (one: WindowCharge, other: WindowCharge): boolean =>
  one.tool === other.tool &&
  one.category === other.category &&
  one.at.ms === other.at.ms &&
  one.at.step === other.at.step &&
  one.at.calls === other.at.calls &&
  one.since === other.since &&
  one.uncapped === other.uncapped;
