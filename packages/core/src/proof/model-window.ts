import type { ErrorCategory } from '../index.ts';
import type { BudgetRules, When } from './rules.ts';

/** What a failure, or several that were merged, costs the budget. Never changed: each change is another one. */
interface Charge {
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly at: When;
  /** S3: it may be part of an event, and does not pause the session yet. */
  readonly provisional: boolean;
  /** S3: the one that an event has cost. */
  readonly event: boolean;
  /** B3, C15: what its tool has done since. */
  readonly since: 'success' | 'closing' | undefined;
  /** B1, B5: its tool has no circuit, so that it alone may exhaust the budget. */
  readonly uncapped: boolean;
  /** How many were folded into it; 0: none was. */
  readonly folded: number;
}

/** The rule `window` (B1 to B4): failures leave the budget again. */
export interface WindowBudget {
  readonly rule: 'window';
  readonly rules: BudgetRules;
  readonly limit: number;
  readonly tokenLimit: number | undefined;
  cycle: number;
  /** How often a charge has become final. */
  consumed: number;
  /** In the order in which they were charged or merged. */
  charges: Charge[];
  /** B4: what failed calls have cost. */
  spent: { readonly at: When; readonly tokens: number }[];
  exhausted: boolean;
}

/** S3. */
const MOST_PROVISIONAL = 5;
/** Entries of a list that are known one by one. */
const KNOWN = 200;

export const newWindow = (rules: BudgetRules): WindowBudget => ({
  rule: 'window',
  rules,
  limit: rules.limit,
  tokenLimit: rules.tokenLimit,
  cycle: 1,
  consumed: 0,
  charges: [],
  spent: [],
  exhausted: false,
});

const isCapped = ({ event, uncapped, folded }: Charge): boolean => !event && !uncapped && folded === 0;

/** B1: one tool alone counts so often at most. */
const capOf = ({ limit }: WindowBudget): number => Math.max(1, limit - 1);

const countOf = (budget: WindowBudget, charges: readonly Charge[]): number => {
  const free = charges.filter((one) => !isCapped(one)).map(({ folded }) => Math.max(1, folded));
  const tools = new Set(charges.filter(isCapped).map(({ tool }) => tool));
  const capped = [...tools].map((tool) => charges.filter((one) => isCapped(one) && one.tool === tool).length);
  return sum(free) + sum(capped.map((count) => Math.min(count, capOf(budget))));
};

const sum = (some: readonly number[]): number => some.reduce((all, one) => all + one, 0);

export const left = (budget: WindowBudget): number => Math.max(0, budget.limit - countOf(budget, budget.charges));

/** B4. */
export const tokensLeft = ({ tokenLimit, spent }: WindowBudget): number | undefined =>
  tokenLimit === undefined ? undefined : Math.max(0, tokenLimit - sum(spent.map(({ tokens }) => tokens)));

/** B1, S3, B4: what is provisional after the last final charge does not pause the session yet. */
export const isSpent = (budget: WindowBudget): boolean => {
  const lastFinal = budget.charges.map(({ provisional }) => provisional).lastIndexOf(false);
  return countOf(budget, budget.charges.slice(0, lastFinal + 1)) >= budget.limit || tokensLeft(budget) === 0;
};

/** B2, B4. */
export const caution = (budget: WindowBudget): boolean => {
  const tokens = tokensLeft(budget);
  const known = budget.spent.map((one) => one.tokens);
  return left(budget) <= 1 || (tokens !== undefined && known.length > 0 && tokens <= sum(known) / known.length);
};

export const waiting = ({ charges }: WindowBudget): number => charges.filter(({ provisional }) => provisional).length;

const PLAIN = { event: false, since: undefined, uncapped: false, folded: 0 } as const;

/** A failure, with what is to be said of it. */
export interface WindowFailure {
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly at: When;
  readonly tokens: number;
  readonly hasCircuit: boolean;
  /** S3: whether failures of several tools may be one event. */
  readonly mayBeShared: boolean;
}

/** B4: tokens count whatever the failure costs. */
export const spendTokens = (budget: WindowBudget, { at, tokens }: Pick<WindowFailure, 'at' | 'tokens'>): void => {
  if (tokens === 0) return;
  budget.spent.push({ at, tokens });
  const [first, second, ...others] = budget.spent;
  if (budget.spent.length <= KNOWN || first === undefined || second === undefined) return;
  budget.spent = [{ at: later(first.at, second.at), tokens: first.tokens + second.tokens }, ...others];
};

const later = (one: When, other: When): When => (other.ms >= one.ms ? other : one);

/** B1, S3. */
export const chargeFailure = (budget: WindowBudget, failure: WindowFailure): void => {
  const { tool, category, at, hasCircuit, mayBeShared } = failure;
  const provisional = mayBeShared && hasCircuit && waiting(budget) < MOST_PROVISIONAL;
  if (!provisional) budget.consumed += 1;
  append(budget, { ...PLAIN, tool, category, at, provisional, uncapped: !hasCircuit });
};

const append = (budget: WindowBudget, charge: Charge): void => {
  budget.charges = [...budget.charges, charge];
  if (isCapped(charge)) forgetOldest(budget, charge.tool);
  const [first, second, ...others] = budget.charges;
  if (budget.charges.length <= KNOWN || first === undefined || second === undefined) return;
  budget.consumed += [first, second].filter(({ provisional }) => provisional).length;
  const folded = Math.max(1, first.folded) + Math.max(1, second.folded);
  const at = later(first.at, second.at);
  budget.charges = [{ ...PLAIN, tool: '', category: 'unknown', at, provisional: false, folded }, ...others];
};

/** B1: of one tool no more are kept than count. What the next opening may merge (B3) is kept beside what it may not. */
const forgetOldest = (budget: WindowBudget, tool: string): void => {
  const own = budget.charges.filter((one) => isCapped(one) && one.tool === tool);
  const old = own.filter(({ since }) => since === 'closing').slice(0, -capOf(budget));
  const recent = own.filter(({ since }) => since !== 'closing').slice(0, -capOf(budget));
  budget.charges = budget.charges.filter((one) => !old.includes(one) && !recent.includes(one));
};

/** B3, C15: an outage costs one. Whether that changed anything. */
const mergeInto = (
  budget: WindowBudget,
  { tool, category, at }: Pick<Charge, 'tool' | 'category' | 'at'>,
  isPart: (one: Charge) => boolean,
): boolean => {
  const parts = budget.charges.filter((one) => !one.event && one.folded === 0 && isPart(one));
  if (parts.length === 0) return false;
  const before = JSON.stringify(budget.charges);
  budget.charges = budget.charges.filter((one) => !parts.includes(one));
  append(budget, { ...PLAIN, tool, category, at, provisional: parts.every(({ provisional }) => provisional) });
  return JSON.stringify(budget.charges) !== before;
};

/** B3: the circuit of a tool has opened. */
export const mergeOpening = (budget: WindowBudget, opening: Pick<Charge, 'tool' | 'category' | 'at'>): boolean =>
  mergeInto(budget, opening, ({ tool, since }) => tool === opening.tool && since !== 'closing');

/** C15: the circuit of a group has opened. */
export const mergeGroup = (
  budget: WindowBudget,
  opening: Pick<Charge, 'tool' | 'category' | 'at'>,
  isMember: (tool: string) => boolean,
): boolean => mergeInto(budget, opening, ({ tool, since }) => since === undefined && isMember(tool));

/** S3: all that belongs to an event costs one; nothing if it has cost its one before. Whether anything belonged to it. */
export const payOnce = (budget: WindowBudget, belongs: (one: Charge) => boolean, paid: boolean): boolean => {
  const parts = budget.charges.filter((one) => !one.event && one.folded === 0 && belongs(one));
  const [first] = parts;
  const last = parts.at(-1);
  if (first === undefined || last === undefined) return false;
  budget.charges = budget.charges.filter((one) => !parts.includes(one));
  if (paid) return true;
  const { tool, category } = first;
  if (parts.every(({ provisional }) => provisional)) budget.consumed += 1;
  append(budget, { ...PLAIN, tool, category, at: last.at, provisional: false, event: true });
  return true;
};

/** B3: the circuit of a tool has closed. */
export const markClosed = (budget: WindowBudget, closed: string): void => {
  budget.charges = budget.charges.map((one) => (one.tool === closed ? { ...one, since: 'closing' } : one));
};

/** C15, S3: a tool succeeded. If it was suspected, the event that was expected has not come. */
export const markSucceeded = (budget: WindowBudget, succeeded: string, group: string | undefined): void => {
  const suspects = budget.charges.filter(({ provisional }) => provisional);
  budget.charges = budget.charges.map((one) =>
    one.tool === succeeded && one.since === undefined ? { ...one, since: 'success' } : one,
  );
  if (suspects.some(({ tool }) => tool === succeeded || tool === group)) makeFinal(budget, () => true);
};

const makeFinal = (budget: WindowBudget, isOver: (one: Charge) => boolean): void => {
  const over = budget.charges.filter((one) => one.provisional && isOver(one));
  budget.consumed += over.length;
  budget.charges = budget.charges.map((one) => (over.includes(one) ? { ...one, provisional: false } : one));
};

/** B1, S3: time passes while the session is active. `isRecent`: whether an event may still take a failure of then. */
export const passTime = (budget: WindowBudget, now: When, isRecent: (at: When) => boolean): void => {
  const { windowSteps, windowMs, windowCalls } = budget.rules;
  // The failed call is one of those that were settled since then, and no later one.
  const later = ({ calls = 0 }: When) => (now.calls ?? 0) - calls - 1;
  const isIn = ({ at }: { readonly at: When }) =>
    now.step > 0 ? now.step - at.step <= windowSteps : now.ms - at.ms <= windowMs && later(at) < windowCalls;
  makeFinal(budget, ({ at }) => !isRecent(at));
  budget.charges = budget.charges.filter(isIn);
  budget.spent = budget.spent.filter(isIn);
};

/** B1. */
export const newCycle = (budget: WindowBudget): void => {
  budget.charges = [];
  budget.spent = [];
  budget.cycle += 1;
  budget.exhausted = false;
};
