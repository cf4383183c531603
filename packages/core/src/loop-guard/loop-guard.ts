/**
 * Detects a model that is stuck: the same tool with the same arguments that does not succeed in the same way, again and again (O5).
 * Pure: each function returns the next guard. Skipped and paused calls do not count.
 *
 * Each tool has at most one row: consecutive calls with the same arguments that did not succeed in the same way. Rows are sorted by
 * when they last grew, the earliest first.
 */
export type LoopGuard = readonly LoopRow[];

/** The arguments of a call. Their digest is computed on request, which may be expensive. */
export interface Digested {
  digest(): string;
}

export interface LoopRow {
  readonly tool: string;
  readonly digest: string;
  /** The way it did not succeed: outcome and category, as `failure:timeout`. */
  readonly way: string;
  readonly count: number;
}

/** Number of failures in the same way after which a call is skipped, unless the configuration says otherwise (O5). */
export const DEFAULT_REPEATS = 3;

/** Most tools that are remembered. The row that hasn't grown for longest is forgotten first. */
const TOOL_LIMIT = 200;

export const NO_LOOPS: LoopGuard = [];

/** O5: whether the call repeats one that was made `repeats` times. Never true if the arguments are unknown. */
export const isRepeat = (guard: LoopGuard, tool: string, input: Digested | undefined, repeats: number): boolean => {
  const row = rowOf(guard, tool);
  return row !== undefined && row.count >= repeats && row.digest === input?.digest();
};

/**
 * A call is let through. If it differs from all rows, every block is lifted and its count begins at 0. A call that repeats a row
 * that hasn't succeeded yet does not lift blocks: otherwise two tools that fail in turns would lift each other's block for ever. If
 * it succeeds this time, `settled` lifts all blocks.
 */
export const tried = (guard: LoopGuard, tool: string, input: Digested | undefined, repeats: number): LoopGuard => {
  const row = rowOf(guard, tool);
  if (row !== undefined && row.digest === input?.digest()) return guard;
  const kept = guard.filter((one) => one !== row && one.count < repeats);
  return kept.length === guard.length ? guard : kept;
};

/**
 * A call has ended. `way` is 'success', or how it did not succeed: outcome and category.
 *
 * - Any success resets all counts, because the model may have learnt something.
 * - The same way again makes the row longer. Another way or other arguments begin a new row at 1.
 * - A call that ends while its tool is blocked was begun before the block, and changes nothing.
 * - A call without known arguments is not counted.
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
