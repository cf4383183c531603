/**
 * The calls of the last so many milliseconds, in at most 10 buckets: what a call costs doesn't depend on how many there
 * were, and a bucket is forgotten as a whole. A bucket begins with the first call that no other holds, so that nothing
 * depends on where a clock has its origin. Pure: every function gives the next window.
 */
export interface TimeWindow {
  /** How far back it reaches, in milliseconds. */
  readonly spanMs: number;
  /** The oldest first; they begin at least a tenth of the span apart. */
  readonly buckets: readonly Bucket[];
}

/** What came within one tenth of the span. */
export interface Bucket {
  /** When its first call came, in monotonic ms. */
  readonly startMs: number;
  readonly calls: number;
  /** What is counted of those calls, added up. */
  readonly amount: number;
}

/** What a window holds. */
export interface Total {
  readonly calls: number;
  readonly amount: number;
}

const BUCKETS = 10;

/** An empty window. */
export const timeWindow = (spanMs: number): TimeWindow => ({ spanMs, buckets: [] });

/** `calls` calls more, which have `amount` of what is counted together. */
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

/** What the window holds at `ms`: never a call that is `spanMs` old, always one that is a tenth younger than that. */
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
