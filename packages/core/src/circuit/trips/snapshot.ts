import { type Check, complete, list, nullable, number, oneOf, show } from '../../checks.ts';
import type { ConfigIssue } from '../../errors.ts';
import { ERROR_CATEGORIES, type ErrorCategory } from '../../outcome/taxonomy.ts';
import { type CallWindow, callsOf, callWindow, MAX_WINDOW_CALLS, pushCall } from './call-window.ts';
import type { Counts } from './counts.ts';
import { isCallWindow, type RateWindow } from './rate.ts';
import { addCalls, bucketsAt, type TimeWindow, timeWindow } from './time-window.ts';

/** The counts of a closed circuit as plain JSON (C11): ages, never points in time. */
export interface CountsSnapshot {
  /** The category of the latest failure; null before the first. */
  readonly category: ErrorCategory | null;
  readonly failureRate: RateWindowSnapshot | null;
  readonly slowCallRate: RateWindowSnapshot | null;
  readonly wastedTokens: TimeWindowSnapshot | null;
}

export type RateWindowSnapshot = CallWindowSnapshot | TimeWindowSnapshot;

/** A window of the last calls. */
export interface CallWindowSnapshot {
  readonly windowCalls: number;
  /** Number of calls in it. */
  readonly calls: number;
  /**
   * The calls, the oldest first, as hexadecimal digits of four calls each: the oldest is the lowest bit, and 1 means that it
   * counts.
   */
  readonly outcomes: string;
}

/** A window of the last milliseconds. */
export interface TimeWindowSnapshot {
  readonly windowMs: number;
  /** The oldest first. */
  readonly buckets: readonly BucketSnapshot[];
}

export interface BucketSnapshot {
  /** Milliseconds from its first call to the snapshot. */
  readonly ageMs: number;
  readonly calls: number;
  /** Number of those calls that count, or the tokens that they wasted. */
  readonly amount: number;
}

/** The counts at `ms`; null without counts. Pure. */
export const snapshotOfCounts = (counts: Counts | undefined, ms: number): CountsSnapshot | null =>
  counts === undefined
    ? null
    : {
        category: counts.category ?? null,
        failureRate: rateAt(counts.failureRate, ms),
        slowCallRate: rateAt(counts.slowCallRate, ms),
        wastedTokens: counts.wastedTokens === undefined ? null : bucketed(counts.wastedTokens, ms),
      };

const rateAt = (window: RateWindow | undefined, ms: number): RateWindowSnapshot | null => {
  if (window === undefined) return null;
  return isCallWindow(window) ? packed(window) : bucketed(window, ms);
};

const packed = (window: CallWindow): CallWindowSnapshot => {
  const digits = Array.from({ length: Math.ceil(window.calls / 4) }, () => 0);
  for (const [index, hit] of callsOf(window).entries()) {
    if (hit) digits[index >>> 2] = (digits[index >>> 2] ?? 0) | (1 << (index & 3));
  }
  const outcomes = digits.map((digit) => digit.toString(16)).join('');
  return { windowCalls: window.size, calls: window.calls, outcomes };
};

const bucketed = (window: TimeWindow, ms: number): TimeWindowSnapshot => ({
  windowMs: window.spanMs,
  buckets: bucketsAt(window, ms).map(({ startMs, calls, amount }) => ({
    ageMs: Math.max(0, ms - startMs),
    calls,
    amount,
  })),
});

/** The counts in a checked snapshot, on a clock that shows `ms` now. Pure. */
export const countsFrom = (kept: CountsSnapshot | null, ms: number): Counts | undefined =>
  kept === null
    ? undefined
    : {
        category: kept.category ?? undefined,
        failureRate: rateFrom(kept.failureRate, ms),
        slowCallRate: rateFrom(kept.slowCallRate, ms),
        wastedTokens: kept.wastedTokens === null ? undefined : unbucketed(kept.wastedTokens, ms),
      };

const rateFrom = (kept: RateWindowSnapshot | null, ms: number): RateWindow | undefined => {
  if (kept === null) return undefined;
  return 'outcomes' in kept ? unpacked(kept) : unbucketed(kept, ms);
};

const unpacked = ({ windowCalls, calls, outcomes }: CallWindowSnapshot): CallWindow => {
  let window = callWindow(windowCalls);
  for (let index = 0; index < calls; index += 1) {
    const digit = Number.parseInt(outcomes.charAt(index >>> 2), 16);
    window = pushCall(window, ((digit >>> (index & 3)) & 1) === 1);
  }
  return window;
};

/** Filled again, so that it never holds more buckets than other windows, even if the snapshot has more. */
const unbucketed = ({ windowMs, buckets }: TimeWindowSnapshot, ms: number): TimeWindow =>
  buckets.reduce((window, { ageMs, ...total }) => addCalls(window, ms - ageMs, total), timeWindow(windowMs));

const AS_WRITTEN = ', as session.snapshot() wrote it.';
const count = number(0, AS_WRITTEN, { whole: true });
const notNegative = number(0, AS_WRITTEN, { most: Number.MAX_VALUE }); // Tokens add up.
const span = number(0, AS_WRITTEN, { above: true });

/** Rejects a string that doesn't hold the right number of calls. */
const checkCalls: Check = (path, value) => {
  const issues = complete({
    windowCalls: number(1, AS_WRITTEN, { whole: true }),
    calls: count,
    outcomes: () => [],
  } satisfies Record<keyof CallWindowSnapshot, Check>)(path, value);
  if (issues.length > 0) return issues;
  const { windowCalls, calls, outcomes } = value as CallWindowSnapshot;
  const wrong = (key: string, message: string): ConfigIssue[] => [{ path: `${path}.${key}`, message }];
  if (windowCalls > MAX_WINDOW_CALLS) {
    return wrong('windowCalls', `is ${windowCalls}. Set at most ${MAX_WINDOW_CALLS}${AS_WRITTEN}`);
  }
  if (calls > windowCalls) return wrong('calls', `is ${calls} of a window of ${windowCalls}. Set at most that many.`);
  const digits = Math.ceil(calls / 4);
  if (typeof outcomes === 'string' && outcomes.length === digits && !/[^0-9a-f]/.test(outcomes)) return [];
  return wrong('outcomes', `is ${show(outcomes)}. Set ${digits} hexadecimal digits${AS_WRITTEN}`);
};

const checkTimes = (bucket: Check): Check =>
  complete({ windowMs: span, buckets: list(bucket) } satisfies Record<keyof TimeWindowSnapshot, Check>);

const aBucket = complete({ ageMs: notNegative, calls: count, amount: notNegative } satisfies Record<
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

const checkRateTimes = checkTimes(aRateBucket);

const checkRate: Check = (path, value) => {
  const byCalls = 'outcomes' in Object(value);
  return (byCalls ? checkCalls : checkRateTimes)(path, value);
};

/** Rejects a value that {@link snapshotOfCounts} can't have written (C11); null is allowed. */
export const checkCounts: Check = nullable(
  complete({
    category: nullable(oneOf(ERROR_CATEGORIES, AS_WRITTEN)),
    failureRate: nullable(checkRate),
    slowCallRate: nullable(checkRate),
    wastedTokens: nullable(checkTimes(aBucket)),
  } satisfies Record<keyof CountsSnapshot, Check>),
);
