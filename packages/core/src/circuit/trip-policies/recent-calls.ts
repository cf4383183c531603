import { AS_WRITTEN, type Check, complete, list, number, show, writtenCount } from '../../checks/checks.ts';
import type { CountsFormat } from './trip-policy.ts';

/**
 * The last calls up to a fixed number, one bit each: whether the call is of the counted kind. A ring of fixed size in pages of
 * 1,024 calls. Each call copies at most one page, so a call costs the same whether the window is empty or holds 100,000 calls. A
 * call that equals the one it pushes out copies no page. Pure: every function returns the next window.
 */
export interface CallWindow {
  /** Number of calls that it can hold. */
  readonly size: number;
  /** Number of calls that it holds. */
  readonly calls: number;
  /** Number of calls of the counted kind. */
  readonly hits: number;
  /** The position of the next call. Once the window is full, the oldest call is there. */
  readonly next: number;
  readonly pages: readonly Page[];
}

/** 32 words of 32 calls. */
type Page = readonly number[];

/** The largest window that configuration may ask for: 100 pages. */
export const MAX_WINDOW_CALLS = 100_000;

const WORD_BITS = 32;
const PAGE_WORDS = 32;
const PAGE_BITS = WORD_BITS * PAGE_WORDS;

const EMPTY_PAGE: Page = Array.from({ length: PAGE_WORDS }, () => 0);

/** An empty window; its pages are shared until they are written. */
export const callWindow = (size: number): CallWindow => ({
  size,
  calls: 0,
  hits: 0,
  next: 0,
  pages: Array.from({ length: Math.ceil(size / PAGE_BITS) }, () => EMPTY_PAGE),
});

/** Adds one call. In a full window, the oldest call leaves. */
export const pushCall = (window: CallWindow, hit: boolean): CallWindow => {
  const { size, next } = window;
  const old = isHit(window, next); // A position that was never written holds no hit.
  return {
    size,
    calls: Math.min(window.calls + 1, size),
    hits: window.hits + Number(hit) - Number(old),
    next: (next + 1) % size,
    pages: old === hit ? window.pages : flipped(window.pages, next),
  };
};

/** The calls in the window, the oldest first: whether each is of the counted kind. */
export const callsOf = (window: CallWindow): readonly boolean[] => {
  const oldest = window.calls < window.size ? 0 : window.next;
  return Array.from({ length: window.calls }, (_, index) => isHit(window, (oldest + index) % window.size));
};

const isHit = ({ pages }: CallWindow, place: number): boolean =>
  ((wordAt(pageAt(pages, place), place) >>> (place % WORD_BITS)) & 1) === 1;

const flipped = (pages: readonly Page[], place: number): readonly Page[] => {
  const page = pageAt(pages, place);
  const word = wordAt(page, place) ^ (1 << (place % WORD_BITS));
  return pages.with(Math.floor(place / PAGE_BITS), page.with(wordIndex(place), word));
};

const wordIndex = (place: number): number => Math.floor(place / WORD_BITS) % PAGE_WORDS;

const pageAt = (pages: readonly Page[], place: number): Page => pages[Math.floor(place / PAGE_BITS)] ?? EMPTY_PAGE;

const wordAt = (page: Page, place: number): number => page[wordIndex(place)] ?? 0;

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

/** Rejects a string that doesn't hold the right number of calls. */
const check: Check = (path, value) => {
  const checks = { windowCalls: number(1, AS_WRITTEN, { whole: true }), calls: writtenCount, outcomes: () => [] };
  const issues = complete(checks satisfies Record<keyof CallWindowSnapshot, Check>)(path, value);
  if (issues.length > 0) return issues;
  const { windowCalls, calls, outcomes } = value as CallWindowSnapshot;
  const wrong = (key: string, message: string) => [{ path: `${path}.${key}`, message }];
  if (windowCalls > MAX_WINDOW_CALLS) {
    return wrong('windowCalls', `is ${windowCalls}. Set at most ${MAX_WINDOW_CALLS}${AS_WRITTEN}`);
  }
  if (calls > windowCalls)
    return wrong('calls', `is ${calls}, but windowCalls is ${windowCalls}. Set at most ${windowCalls}${AS_WRITTEN}`);
  const digits = Math.ceil(calls / 4);
  if (typeof outcomes === 'string' && outcomes.length === digits && !/[^0-9a-f]/.test(outcomes)) return [];
  return wrong('outcomes', `is ${show(outcomes)}. Set ${digits} hexadecimal digits${AS_WRITTEN}`);
};

export const CALL_WINDOW: CountsFormat<CallWindow, CallWindowSnapshot> = {
  write: (window) => {
    const digits = Array.from({ length: Math.ceil(window.calls / 4) }, () => 0);
    for (const [index, hit] of callsOf(window).entries()) {
      if (hit) digits[index >>> 2] = (digits[index >>> 2] ?? 0) | (1 << (index & 3));
    }
    const outcomes = digits.map((digit) => digit.toString(16)).join('');
    return { windowCalls: window.size, calls: window.calls, outcomes };
  },
  check,
  read: ({ windowCalls, calls, outcomes }) => {
    let window = callWindow(windowCalls);
    for (let index = 0; index < calls; index += 1) {
      const digit = Number.parseInt(outcomes.charAt(index >>> 2), 16);
      window = pushCall(window, ((digit >>> (index & 3)) & 1) === 1);
    }
    return window;
  },
};

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

export interface Total {
  readonly calls: number;
  /** The sum of the counted amount of those calls. */
  readonly amount: number;
}

const BUCKETS = 10;

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
  const message = `is ${amount}, but calls is ${calls}. Set a whole number of at most ${calls}${AS_WRITTEN}`;
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
