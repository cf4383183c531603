import { AS_WRITTEN, type Check, complete, number, show, writtenCount } from '../../config/checks.ts';
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

/** A window of the last calls in a snapshot. */
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
  if (calls > windowCalls) return wrong('calls', `is ${calls} of a window of ${windowCalls}. Set at most that many.`);
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
