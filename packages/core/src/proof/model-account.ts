import type { ErrorCategory, SessionState, SuspectedLayer } from '../index.ts';
import { inOneWindow, type SystemicRules, type When } from './rules.ts';

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
  /** It stands on the bill for good, for 200 came after it there. */
  old?: true;
}

export interface ModelOpening {
  readonly id: number;
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly at: When;
}

/** Budget and systemic failure of a session, kept as the list of everything that failed. */
export interface Account {
  readonly limit: number;
  /** B4; undefined for no such limit. */
  readonly tokenLimit: number | undefined;
  cycle: number;
  /** How often a failure was written on the bill. */
  consumed: number;
  /** In the order in which they came to stand where they do. */
  failures: Failing[];
  /** Circuits that opened and have not closed since; after an event is over, those that opened since then. */
  openings: ModelOpening[];
  event: ModelOpening[] | undefined;
  /** S3: the event has cost its one. */
  paid: boolean;
  exhausted: boolean;
  opened: number;
}

/** Failures that are known one by one: of those that wait, and of those on the bill. */
const KNOWN = 200;

export const newAccount = (limit: number, tokenLimit: number | undefined): Account => ({
  limit,
  tokenLimit,
  cycle: 1,
  consumed: 0,
  failures: [],
  openings: [],
  event: undefined,
  paid: false,
  exhausted: false,
  opened: 0,
});

/** What changes its standing comes last. */
const stand = (account: Account, one: Failing, where: Failing['standing']): void => {
  account.failures = [...account.failures.filter((other) => other !== one), one];
  one.standing = where;
  growOld(account);
};

/** Of a large budget, the last failures alone can still turn out to be part of an event. */
const growOld = (account: Account): void => {
  if (account.failures.length <= KNOWN) return;
  const young = standing(account, 'charged', 'event').filter(({ old }) => old === undefined);
  for (const one of young.slice(0, -KNOWN)) one.old = true;
};

/** What an event may take back. */
const inDoubt = (account: Account): Failing[] => standing(account, 'charged').filter(({ old }) => old === undefined);

const standing = ({ failures }: Account, ...which: Failing['standing'][]) =>
  failures.filter((one) => which.includes(one.standing));

/** B1: what stands on the bill of this cycle. More than the limit, if calls were under way when it ran out. */
const onTheBill = (account: Account): number => standing(account, 'charged', 'event').length;

export const left = (account: Account): number => Math.max(0, account.limit - onTheBill(account));

/** B4. */
export const tokensLeft = (account: Account): number | undefined =>
  account.tokenLimit === undefined ? undefined : Math.max(0, account.tokenLimit - sum(costs(account)));

const costs = (account: Account): number[] => standing(account, 'charged', 'event').map(({ tokens }) => tokens);

const sum = (some: readonly number[]): number => some.reduce((all, one) => all + one, 0);

const isSpent = (account: Account): boolean => left(account) === 0 || tokensLeft(account) === 0;

/** B2, B4: one more failure may be the last, if it costs what they do on average. */
export const caution = (account: Account): boolean => {
  const known = costs(account).filter((tokens) => tokens > 0);
  const tokens = tokensLeft(account);
  return left(account) === 1 || (tokens !== undefined && known.length > 0 && tokens <= sum(known) / known.length);
};

/** Recorded in the decisions on B1: whatever is given back, and each new cycle, is granted, so that this always holds. */
export const granted = (account: Account): number => account.consumed + account.limit - onTheBill(account);

export const waiting = (account: Account): number => standing(account, 'waiting').length;

/** S2, B1. */
export const stateOf = ({ event, exhausted }: Account): SessionState => {
  if (event !== undefined) return 'paused_systemic';
  return exhausted ? 'paused_budget' : 'active';
};

/** B1: true if that was the moment. */
export const noticeExhaustion = (account: Account): boolean => {
  if (account.exhausted || !isSpent(account)) return false;
  account.exhausted = true;
  return true;
};

/** B1, S3. `mayWait`: how many failures of the tool may wait at a time. */
export const chargeFailure = (
  account: Account,
  { tool, category, at, tokens }: Pick<Failing, 'tool' | 'category' | 'at' | 'tokens'>,
  mayWait: number,
  rules: SystemicRules | undefined,
): void => {
  if (account.event !== undefined) return; // S3: the event has had its one.
  const beside =
    rules &&
    account.openings.find((one) => one.tool !== tool && one.category === category && inOneWindow(rules, one.at, at));
  const waitingAlready = standing(account, 'waiting').filter((one) => one.tool === tool).length;
  if (beside !== undefined && waiting(account) < KNOWN && waitingAlready < Math.min(mayWait, account.limit)) {
    account.failures.push({ tool, category, at, tokens, standing: 'waiting', beside: beside.id });
    return;
  }
  account.failures.push({ tool, category, at, tokens, standing: 'charged' });
  account.consumed += 1;
  growOld(account);
};

/** S1: an opening joins an event, makes one (true), or stands alone. */
export const recordOpening = (
  account: Account,
  what: Omit<ModelOpening, 'id'>,
  rules: SystemicRules | undefined,
): boolean => {
  if (account.openings.some(({ tool }) => tool === what.tool)) return false;
  account.opened += 1;
  const opening = { ...what, id: account.opened };
  account.openings.push(opening);
  if (account.event !== undefined) {
    account.event = [...account.event.filter(({ tool }) => tool !== opening.tool), opening];
    if (rules) payOnce(account, account.event, opening, rules);
    return false;
  }
  if (rules === undefined) return false;
  const together = account.openings.filter(({ at }) => inOneWindow(rules, at, opening.at));
  const alike = together.filter(({ category }) => category === opening.category);
  if (alike.length >= rules.sameCategory) beginEvent(account, alike, opening, rules);
  else if (together.length >= rules.anyCategory) beginEvent(account, together, opening, rules);
  else if (!account.exhausted) letWait(account, opening, rules);
  return account.event !== undefined;
};

/** S3: looks back as well. What others failed with alike, just before the first circuit opened, waits from now on. */
const letWait = (account: Account, opening: ModelOpening, rules: SystemicRules): void => {
  const alike = inDoubt(account).filter(
    (one) => one.tool !== opening.tool && one.category === opening.category && inOneWindow(rules, one.at, opening.at),
  );
  const room = KNOWN - waiting(account);
  for (const one of alike.slice(Math.max(0, alike.length - room))) {
    stand(account, one, 'waiting');
    one.beside = opening.id;
  }
};

const beginEvent = (account: Account, event: ModelOpening[], latest: ModelOpening, rules: SystemicRules): void => {
  account.event = event;
  account.paid = false;
  payOnce(account, event, latest, rules);
};

/** C12: an event that another session has found out. True if it is news. */
export const joinEvent = (account: Account, event: ModelOpening[], rules: SystemicRules | undefined): boolean => {
  const latest = event.at(-1);
  if (account.event !== undefined || latest === undefined || rules === undefined) return false;
  beginEvent(account, event, latest, rules);
  return true;
};

/** S3: all that belongs to the event costs one, also what belongs to a circuit that joins it. */
const payOnce = (account: Account, event: ModelOpening[], latest: ModelOpening, rules: SystemicRules): void => {
  const category = sharedCategory(event);
  const belongs = (one: Failing): boolean => {
    const own = event.find(({ tool }) => tool === one.tool);
    if (own !== undefined && inOneWindow(rules, one.at, own.at)) return true; // Or later: its window has begun.
    return one.category === category && inOneWindow(rules, one.at, latest.at);
  };
  const charged = inDoubt(account).filter(belongs);
  const part = [...charged, ...standing(account, 'waiting').filter(belongs)];
  const [kept] = part;
  if (kept === undefined) return;
  for (const one of part) one.standing = 'gone';
  if (!account.paid) {
    if (charged.length === 0) account.consumed += 1;
    stand(account, kept, 'event');
    account.paid = true;
  }
  if (!isSpent(account)) account.exhausted = false;
};

/** A circuit closed, or was taken in hand: it is no part of an event to come. */
export const recordClosing = (account: Account, tool: string): void => {
  account.openings = account.openings.filter((one) => one.tool !== tool);
};

/** S3: what waited beside an opening that has closed, or whose window has passed, counts. */
export const mature = (account: Account, now: When, rules: SystemicRules | undefined): void => {
  if (rules === undefined || account.event !== undefined) return;
  for (const one of standing(account, 'waiting')) {
    const anchor = account.openings.find(({ id }) => id === one.beside);
    if (anchor === undefined || !inOneWindow(rules, anchor.at, now)) charge(account, one);
  }
};

const charge = (account: Account, one: Failing): void => {
  stand(account, one, 'charged');
  account.consumed += 1;
};

/** B1. What waits counts in the old cycle. */
export const newCycle = (account: Account): void => {
  for (const one of standing(account, 'waiting')) charge(account, one);
  for (const one of account.failures) one.standing = 'gone';
  account.cycle += 1;
  account.exhausted = false;
};

/** S5. What opened in the event is no evidence for the next. */
export const endEvent = (account: Account): void => {
  if (account.event === undefined) return;
  account.event = undefined;
  account.openings = [];
};

const sharedCategory = (event: readonly ModelOpening[]): ErrorCategory | undefined =>
  event.every(({ category }) => category === event[0]?.category) ? event[0]?.category : undefined;

/** S4. */
const LAYERS: readonly (readonly [SuspectedLayer, readonly ErrorCategory[]])[] = [
  ['network', ['network', 'timeout']],
  ['filesystem', ['filesystem', 'resource']],
  ['permissions', ['permission']],
  ['upstream', ['server', 'rate_limit']],
];

/** S4: what is said of an event. */
export const eventReport = (event: readonly ModelOpening[]) => ({
  category: sharedCategory(event),
  layer: LAYERS.find(([, of]) => event.every(({ category }) => of.includes(category)))?.[0] ?? 'unknown',
  openings: event.map(({ tool, category, at }) => `${tool} ${category} @${at.step} ${at.ms}`),
});
