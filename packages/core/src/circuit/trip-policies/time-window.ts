import { AS_WRITTEN, type Check, complete, list, number, writtenCount } from '../../config/checks.ts';
import type { CountsFormat } from './trip-policy.ts';

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
export interface Bucket extends Total {
  /** When its first call ended, in monotonic ms. */
  readonly startMs: number;
}

/** The total of a window or a bucket. */
export interface Total {
  readonly calls: number;
  /** The sum of the counted amount of those calls. */
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

/** A window of the last milliseconds in a snapshot. */
export interface TimeWindowSnapshot {
  readonly windowMs: number;
  /** The oldest first. */
  readonly buckets: readonly BucketSnapshot[];
}

export interface BucketSnapshot extends Total {
  /** Milliseconds from its first call to the snapshot. */
  readonly ageMs: number;
}

const notNegative = number(0, AS_WRITTEN, { most: Number.MAX_VALUE }); // Tokens add up.

const aBucket = complete({ ageMs: notNegative, calls: writtenCount, amount: notNegative } satisfies Record<
  keyof BucketSnapshot,
  Check
>);

/** In a rate, the amount is a part of the calls. */
const aRateBucket: Check = (path, value) => {
  const issues = aBucket(path, value);
  if (issues.length > 0) return issues;
  const { calls, amount } = value as BucketSnapshot;
  const message = `is ${amount} of ${calls} calls. Set a whole number that is no more${AS_WRITTEN}`;
  return Number.isInteger(amount) && amount <= calls ? [] : [{ path: `${path}.amount`, message }];
};

const format = (bucket: Check): CountsFormat<TimeWindow, TimeWindowSnapshot> => ({
  write: (window, ms) => ({
    windowMs: window.spanMs,
    buckets: bucketsAt(window, ms).map(({ startMs, calls, amount }) => ({
      ageMs: Math.max(0, ms - startMs),
      calls,
      amount,
    })),
  }),
  check: complete({
    windowMs: number(0, AS_WRITTEN, { above: true }),
    buckets: list(bucket),
  } satisfies Record<keyof TimeWindowSnapshot, Check>),
  // Filled again, so that it never holds more buckets than other windows, even if the snapshot has more.
  read: ({ windowMs, buckets }, ms) =>
    buckets.reduce((window, { ageMs, ...total }) => addCalls(window, ms - ageMs, total), timeWindow(windowMs)),
});

export const TIME_WINDOW = format(aBucket);
export const RATE_TIME_WINDOW = format(aRateBucket);
