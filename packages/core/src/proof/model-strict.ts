import type { ErrorCategory } from '../index.ts';
import type { ModelOpening } from './model-correlation.ts';
import type { When, Within } from './rules.ts';

/** A failure, from when it happened on. */
interface Failing {
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly at: When;
  /** O4. */
  readonly tokens: number;
  /**
   * `charged`: it has cost one, in this cycle. `waiting`: it may be part of an event (S3). `event`: the one that an event has
   * cost. `gone`: part of an event, or of an earlier cycle.
   */
  standing: 'charged' | 'waiting' | 'event' | 'gone';
  /** The opening that it waits beside. */
  beside?: number;
  /** It stays on the bill, because 200 came after it there. */
  old?: true;
}

/** The rule `strict` (B6), kept as the list of everything that failed: each failure costs one, and `resume()` alone gives back. */
export interface StrictBudget {
  readonly rule: 'strict';
  readonly limit: number;
  /** B4; undefined for no such limit. */
  readonly tokenLimit: number | undefined;
  cycle: number;
  /** How often a failure was written on the bill. */
  consumed: number;
  /** In the order in which they got their standing. */
  failures: Failing[];
  /** B1: the session has noticed that it is spent. */
  exhausted: boolean;
}

/** Failures that are known one by one: of those that wait, and of those on the bill. */
const KNOWN = 200;

export const newStrict = (limit: number, tokenLimit: number | undefined): StrictBudget => ({
  rule: 'strict',
  limit,
  tokenLimit,
  cycle: 1,
  consumed: 0,
  failures: [],
  exhausted: false,
});

/** What changes its standing comes last. */
const stand = (budget: StrictBudget, one: Failing, where: Failing['standing']): void => {
  budget.failures = [...budget.failures.filter((other) => other !== one), one];
  one.standing = where;
  growOld(budget);
};

/** Of a large budget, only the last failures can still turn out to be part of an event. */
const growOld = (budget: StrictBudget): void => {
  if (budget.failures.length <= KNOWN) return;
  const young = standing(budget, 'charged', 'event').filter(({ old }) => old === undefined);
  for (const one of young.slice(0, -KNOWN)) one.old = true;
};

/** What an event may take back. */
const inDoubt = (budget: StrictBudget): Failing[] => standing(budget, 'charged').filter(({ old }) => old === undefined);

const standing = ({ failures }: StrictBudget, ...which: Failing['standing'][]) =>
  failures.filter((one) => which.includes(one.standing));

/** B1: what is on the bill of this cycle. More than the limit, if calls were under way when it ran out. */
const onTheBill = (budget: StrictBudget): number => standing(budget, 'charged', 'event').length;

export const left = (budget: StrictBudget): number => Math.max(0, budget.limit - onTheBill(budget));

/** B4. */
export const tokensLeft = (budget: StrictBudget): number | undefined =>
  budget.tokenLimit === undefined ? undefined : Math.max(0, budget.tokenLimit - sum(costs(budget)));

const costs = (budget: StrictBudget): number[] => standing(budget, 'charged', 'event').map(({ tokens }) => tokens);

const sum = (some: readonly number[]): number => some.reduce((all, one) => all + one, 0);

export const isSpent = (budget: StrictBudget): boolean => left(budget) === 0 || tokensLeft(budget) === 0;

/** B2, B4: one more failure may be the last, if it costs what they do on average. */
export const caution = (budget: StrictBudget): boolean => {
  const known = costs(budget).filter((tokens) => tokens > 0);
  const tokens = tokensLeft(budget);
  return left(budget) === 1 || (tokens !== undefined && known.length > 0 && tokens <= sum(known) / known.length);
};

export const waiting = (budget: StrictBudget): number => standing(budget, 'waiting').length;

/** B1, S3. `mayWait`: how many failures of the tool may wait at a time. `group`: the circuit of its group. */
export const chargeFailure = (
  budget: StrictBudget,
  { tool, category, at, tokens }: Pick<Failing, 'tool' | 'category' | 'at' | 'tokens'>,
  { mayWait, group }: { readonly mayWait: number; readonly group: string | undefined },
  openings: readonly ModelOpening[],
  within: Within | undefined,
): void => {
  const isOther = (one: ModelOpening) => one.tool !== tool && one.tool !== group && one.category === category;
  const beside = within && openings.find((one) => isOther(one) && within(one.at, at));
  const waitingAlready = standing(budget, 'waiting').filter((one) => one.tool === tool).length;
  if (beside !== undefined && waiting(budget) < KNOWN && waitingAlready < Math.min(mayWait, budget.limit)) {
    budget.failures.push({ tool, category, at, tokens, standing: 'waiting', beside: beside.id });
    return;
  }
  budget.failures.push({ tool, category, at, tokens, standing: 'charged' });
  budget.consumed += 1;
  growOld(budget);
};

/** S3: looks back as well. What others failed with alike, just before the first circuit opened, waits from now on. */
export const letWait = (
  budget: StrictBudget,
  opening: ModelOpening,
  isMember: (tool: string) => boolean,
  within: Within,
): void => {
  if (budget.exhausted) return;
  const isOwn = (tool: string) => tool === opening.tool || isMember(tool); // C15
  const alike = inDoubt(budget).filter(
    (one) => !isOwn(one.tool) && one.category === opening.category && within(one.at, opening.at),
  );
  const room = KNOWN - waiting(budget);
  for (const one of alike.slice(Math.max(0, alike.length - room))) {
    stand(budget, one, 'waiting');
    one.beside = opening.id;
  }
};

/** S3: all that belongs to an event costs one; nothing if it has cost its one before. Whether anything belonged to it. */
export const payOnce = (budget: StrictBudget, belongs: (one: Failing) => boolean, paid: boolean): boolean => {
  const charged = inDoubt(budget).filter(belongs);
  const part = [...charged, ...standing(budget, 'waiting').filter(belongs)];
  const [kept] = part;
  if (kept === undefined) return false;
  for (const one of part) one.standing = 'gone';
  if (!paid) {
    if (charged.length === 0) budget.consumed += 1;
    stand(budget, kept, 'event');
  }
  return true;
};

/** S3: what waited beside an opening that has closed, or whose window has passed, counts. */
export const mature = (
  budget: StrictBudget,
  openings: readonly ModelOpening[],
  isRecent: (at: When) => boolean,
): void => {
  for (const one of standing(budget, 'waiting')) {
    const anchor = openings.find(({ id }) => id === one.beside);
    if (anchor === undefined || !isRecent(anchor.at)) charge(budget, one);
  }
};

const charge = (budget: StrictBudget, one: Failing): void => {
  stand(budget, one, 'charged');
  budget.consumed += 1;
};

/** B1. What waits counts in the old cycle. */
export const newCycle = (budget: StrictBudget): void => {
  for (const one of standing(budget, 'waiting')) charge(budget, one);
  for (const one of budget.failures) one.standing = 'gone';
  budget.cycle += 1;
  budget.exhausted = false;
};
