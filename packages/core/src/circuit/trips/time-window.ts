/**
 * The calls of the last milliseconds up to a fixed length, in at most 10 buckets. The cost of a call doesn't depend on the number
 * of calls, and a bucket is dropped as a whole. A bucket begins with the first call that no other bucket holds, so the origin of
 * the clock does not matter. Pure: every function returns the next window.
 */
export interface TimeWindow {
  /** Length of the window, in milliseconds. */
  readonly spanMs: number;
  /** The oldest first. Their starts are at least a tenth of the length apart. */
  readonly buckets: readonly Bucket[];
}

/** The calls within one tenth of the length. */
export interface Bucket {
  /** When its first call ended, in monotonic ms. */
  readonly startMs: number;
  readonly calls: number;
  /** The sum of the counted amount of those calls. */
  readonly amount: number;
}

/** The total of a window. */
export interface Total {
  readonly calls: number;
  readonly amount: number;
}

const BUCKETS = 10;

/** An empty window. */
export const timeWindow = (spanMs: number): TimeWindow => ({ spanMs, buckets: [] });

/** Adds `calls` calls with a total of `amount`. */
export const addCalls = (
  { spanMs, buckets }: TimeWindow,
  ms: number,
  { calls, amount }: Total = { calls: 1, amount: 1 },
): TimeWindow => {
  const live = buckets.filter((bucket) => isLive(bucket, spanMs, ms));
  const newest = live.at(-1);
  if (newest === undefined || ms - newest.startMs >= spanMs / BUCKETS) {
    return { spanMs, buckets: [...live, { startMs: ms, calls, amount }] };
  }
  const grown = { startMs: newest.startMs, calls: newest.calls + calls, amount: newest.amount + amount };
  return { spanMs, buckets: live.with(-1, grown) };
};

/** The total of the window at `ms`: never with a call that is `spanMs` old, always with one that is a tenth younger than that. */
export const totalAt = (window: TimeWindow, ms: number): Total => {
  let calls = 0;
  let amount = 0;
  for (const bucket of bucketsAt(window, ms)) {
    calls += bucket.calls;
    amount += bucket.amount;
  }
  return { calls, amount };
};

/** The buckets that count at `ms`. */
export const bucketsAt = ({ spanMs, buckets }: TimeWindow, ms: number): readonly Bucket[] =>
  buckets.filter((bucket) => isLive(bucket, spanMs, ms));

const isLive = ({ startMs }: Bucket, spanMs: number, ms: number): boolean => ms - startMs < spanMs;
