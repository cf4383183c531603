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
