import type { Runtime } from '../runtime.ts';

interface Timer {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
  isCancelled: boolean;
}

/** A clock that moves only when it is told to, for many processes in one. */
export interface VirtualTime extends Runtime {
  /** Runs all timers that are due until then. Promises settle before time goes on. */
  runUntil(ms: number): Promise<void>;
}

const isBefore = (one: Timer, other: Timer): boolean =>
  one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);

/** A binary heap, because ten thousand processes have timers. */
const createQueue = () => {
  const heap: Timer[] = [];
  const swap = (one: number, other: number): void => {
    const kept = heap[one] as Timer;
    heap[one] = heap[other] as Timer;
    heap[other] = kept;
  };
  const less = (one: number, other: number): boolean => isBefore(heap[one] as Timer, heap[other] as Timer);
  return {
    first: () => heap[0],
    push: (timer: Timer): void => {
      heap.push(timer);
      for (let at = heap.length - 1; at > 0; ) {
        const above = (at - 1) >> 1;
        if (!less(at, above)) return;
        swap(at, above);
        at = above;
      }
    },
    pop: (): void => {
      swap(0, heap.length - 1);
      heap.pop();
      for (let at = 0; ; ) {
        const left = 2 * at + 1;
        if (left >= heap.length) return;
        const least = left + 1 < heap.length && less(left + 1, left) ? left + 1 : left;
        if (!less(least, at)) return;
        swap(least, at);
        at = least;
      }
    },
  };
};

/** Numbers from 0 up to 1. The same seed gives the same numbers (mulberry32). */
export const seededRandom = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** Lets all promises settle that need no timer. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A clock at 0. */
export const virtualTime = (random: () => number): VirtualTime => {
  const queue = createQueue();
  let nowMs = 0;
  let order = 0;
  let ids = 0;
  return {
    now: () => nowMs,
    random,
    id: () => {
      ids += 1;
      return `id-${ids}`;
    },
    after: (ms, run) => {
      order += 1;
      const timer: Timer = { atMs: nowMs + Math.max(0, ms), order, run, isCancelled: false };
      queue.push(timer);
      return () => {
        timer.isCancelled = true;
      };
    },
    runUntil: async (ms) => {
      await settled();
      for (let timer = queue.first(); timer !== undefined && timer.atMs <= ms; timer = queue.first()) {
        queue.pop();
        if (timer.isCancelled) continue;
        nowMs = timer.atMs;
        timer.run();
        await settled();
      }
      nowMs = ms;
    },
  };
};
