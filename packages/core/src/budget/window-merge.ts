import type { ErrorCategory } from '../classify/taxonomy.ts';
import type { Moment } from '../clock.ts';

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
export const MOST_ENTRIES = 200;

/** One list for all budgets without entries. */
export const NONE: readonly never[] = [];

/** B1: the most that the charges of one tool count, so that one tool alone never exhausts the budget. */
const capOf = (limit: number): number => Math.max(1, limit - 1);

const isCapped = ({ event, uncapped }: WindowCharge): boolean => event === undefined && uncapped === undefined;

/** B1: the number of failures in these charges. */
export const countCharges = (charges: readonly WindowCharge[], limit: number): number => {
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

/** How many of them are provisional (S3). */
export const countProvisional = (charges: readonly WindowCharge[]): number => {
  let count = 0;
  for (const { provisional } of charges) if (provisional) count += 1;
  return count;
};

/** B4: the total cost of these entries. */
export const sumTokens = (spent: readonly SpentTokens[]): number => {
  let sum = 0;
  for (const { tokens } of spent) sum += tokens;
  return Math.min(sum, Number.MAX_SAFE_INTEGER); // So that a snapshot can hold it.
};

/** B4: the list with the cost of one more call, if it has one. */
export const addTokens = (spent: readonly SpentTokens[], { at, tokens }: SpentTokens): readonly SpentTokens[] => {
  if (!(Number.isFinite(tokens) && tokens > 0)) return spent;
  const all = [...spent, { at, tokens: Math.min(tokens, Number.MAX_SAFE_INTEGER) }];
  const [old, recent] = splitOldest(all);
  return old.length === 0 ? all : [{ at: latestOf(old).at, tokens: sumTokens(old) }, ...recent];
};

/** A list with one more charge, within its bounds. `madeFinal`: number of provisional charges that became final by folding. */
export const appendCharge = (
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
export const deletePast = <T extends { readonly at: Moment }>(
  window: Window,
  entries: readonly T[],
  now: Moment,
): readonly T[] => {
  for (const { at } of entries) {
    if (hasLeft(window, at, now)) return entries.filter((one) => !hasLeft(window, one.at, now));
  }
  return entries;
};

interface Window {
  readonly windowSteps: number;
  readonly windowMs: number;
}

/** B1: by steps once the session has any, otherwise by time. */
const hasLeft = ({ windowSteps, windowMs }: Window, at: Moment, now: Moment): boolean =>
  now.step > 0 ? now.step - at.step > windowSteps : now.ms - at.ms > windowMs;

/** Only these may be merged. The charge of an event and a folded charge stay as they are. */
export const isSingle = ({ event, count }: WindowCharge): boolean => event === undefined && count === undefined;

/** Those that may be merged and belong together, and the others. */
export const partition = (
  charges: readonly WindowCharge[],
  belongs: (charge: WindowCharge) => boolean,
): readonly [parts: readonly WindowCharge[], others: readonly WindowCharge[]] => {
  const parts: WindowCharge[] = [];
  const others: WindowCharge[] = [];
  for (const one of charges) (isSingle(one) && belongs(one) ? parts : others).push(one);
  return [parts, others];
};

/** Whether a merge would leave a charge unchanged. */
export const isSame = (one: WindowCharge, other: WindowCharge): boolean =>
  one.tool === other.tool &&
  one.category === other.category &&
  one.at.ms === other.at.ms &&
  one.at.step === other.at.step &&
  one.since === other.since &&
  one.uncapped === other.uncapped;
