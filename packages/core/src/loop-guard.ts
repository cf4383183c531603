/**
 * Finds a model that is stuck: the same tool, with the same arguments, not succeeding in the same way again and again (O5).
 * Pure: each function gives the next guard. A call that was skipped or paused is none, and isn't told to the guard.
 *
 * A tool has one row at most: calls with the same arguments, one after the other, that did not succeed in the same way.
 * The row stands first to last by when it last grew.
 */
export type LoopGuard = readonly LoopRow[];

/** The arguments of a call. Their digest is made when it is asked for, which may be expensive. */
export interface Digested {
  digest(): string;
}

/** Calls of one tool that failed in the same way. */
export interface LoopRow {
  readonly tool: string;
  /** Digest of the arguments. */
  readonly digest: string;
  /** How they did not succeed: outcome and category, as `failure:timeout`. */
  readonly way: string;
  /** How many in a row, from 1. */
  readonly count: number;
}

/** How often a call may fail in the same way before it is skipped, unless the configuration says otherwise (O5). */
export const DEFAULT_REPEATS = 3;

/** Tools remembered at most; the row that hasn't grown for longest is forgotten first. */
const TOOL_LIMIT = 200;

/** The guard of a session that begins. */
export const NO_LOOPS: LoopGuard = [];

/** O5: whether the call would be the same once more, after `repeats` of it. Never where the arguments aren't known. */
export const isRepeat = (guard: LoopGuard, tool: string, input: Digested | undefined, repeats: number): boolean => {
  const row = rowOf(guard, tool);
  return row !== undefined && row.count >= repeats && row.digest === input?.digest();
};

/**
 * A call is let through. If it is something else than what the rows hold, every block is lifted, and its count begins at 0.
 * A call that itself only repeats a row that hasn't succeeded yet is nothing else: two tools that fail in turns
 * would otherwise lift each other's block for ever. Should it succeed this time, `settled` lifts all.
 */
export const tried = (guard: LoopGuard, tool: string, input: Digested | undefined, repeats: number): LoopGuard => {
  const row = rowOf(guard, tool);
  if (row !== undefined && row.digest === input?.digest()) return guard;
  const kept = guard.filter((one) => one !== row && one.count < repeats);
  return kept.length === guard.length ? guard : kept;
};

/**
 * A call came to its end. `way` is 'success', or how it did not succeed: outcome and category.
 *
 * - Any success sets all counts back: something was learnt.
 * - The same way again makes the row longer, another way or other arguments begin a new one at 1.
 * - What ends while its tool is blocked was begun before the block, and changes nothing.
 * - Where the arguments aren't known nothing is counted.
 */
export const settled = (
  guard: LoopGuard,
  tool: string,
  input: Digested | undefined,
  way: string,
  repeats: number,
): LoopGuard => {
  if (way === 'success') return NO_LOOPS;
  const row = rowOf(guard, tool);
  if (input === undefined || (row !== undefined && row.count >= repeats)) return guard;
  const digest = input.digest();
  const count = row?.digest === digest && row.way === way ? row.count + 1 : 1;
  const others = guard.filter((one) => one !== row);
  return [...others.slice(-(TOOL_LIMIT - 1)), { tool, digest, way, count }];
};

const rowOf = (guard: LoopGuard, tool: string): LoopRow | undefined => guard.find((row) => row.tool === tool);
