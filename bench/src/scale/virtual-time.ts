/** A timer of the virtual clock. */
interface Timer {
  atMs: number;
  readonly order: number;
  readonly run: () => void;
  readonly everyMs: number | undefined;
  cancelled: boolean;
}

/** Node's timers and monotonic clock of this process, replaced by a clock that only moves when it is told to. */
export interface VirtualTime {
  now(): number;
  /** Runs all timers that are due until then, each after the promises of the one before it. */
  runUntil(ms: number): Promise<void>;
  /** Gives Node its own timers back. */
  restore(): void;
}

const before = (one: Timer, other: Timer): boolean =>
  one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);

/** A binary heap: thousands of processes have a timer each. */
const createQueue = () => {
  const heap: Timer[] = [];
  const swap = (one: number, other: number): void => {
    const kept = heap[one] as Timer;
    heap[one] = heap[other] as Timer;
    heap[other] = kept;
  };
  const isBefore = (one: number, other: number): boolean => before(heap[one] as Timer, heap[other] as Timer);
  return {
    first: () => heap[0],
    push: (timer: Timer): void => {
      heap.push(timer);
      for (let at = heap.length - 1, up = (at - 1) >> 1; at > 0 && isBefore(at, up); at = up, up = (at - 1) >> 1)
        swap(at, up);
    },
    pop: (): void => {
      swap(0, heap.length - 1);
      heap.pop();
      for (let at = 0; ; ) {
        const left = 2 * at + 1;
        if (left >= heap.length) return;
        const least = left + 1 < heap.length && isBefore(left + 1, left) ? left + 1 : left;
        if (!isBefore(least, at)) return;
        swap(least, at);
        at = least;
      }
    },
  };
};

/** Replaces `setTimeout`, `setInterval` and what cancels them, and `performance.now`. Everything that is started later sees them. */
export const startVirtualTime = (): VirtualTime => {
  const real = { setTimeout, clearTimeout, setInterval, clearInterval };
  const realImmediate = setImmediate;
  const queue = createQueue();
  let nowMs = 0;
  let order = 0;
  const add = (run: (...args: never[]) => void, ms: number, args: readonly unknown[], repeats: boolean) => {
    const waitMs = Math.max(1, Number(ms) || 0);
    order += 1;
    const timer: Timer = {
      atMs: nowMs + waitMs,
      order,
      run: () => run(...(args as never[])),
      everyMs: repeats ? waitMs : undefined,
      cancelled: false,
    };
    queue.push(timer);
    const handle = { timer, unref: () => handle, ref: () => handle, hasRef: () => false, close: () => cancel(handle) };
    return handle;
  };
  const cancel = (handle: unknown): void => {
    const timer = (handle as { timer?: Timer } | undefined)?.timer;
    if (timer !== undefined) timer.cancelled = true;
  };
  Object.assign(globalThis, {
    setTimeout: (run: () => void, ms: number, ...args: unknown[]) => add(run, ms, args, false),
    setInterval: (run: () => void, ms: number, ...args: unknown[]) => add(run, ms, args, true),
    clearTimeout: cancel,
    clearInterval: cancel,
  });
  Object.defineProperty(performance, 'now', { configurable: true, value: () => nowMs });
  const settled = (): Promise<void> => new Promise((resolve) => realImmediate(resolve));
  return {
    now: () => nowMs,
    runUntil: async (ms) => {
      await settled();
      for (let timer = queue.first(); timer !== undefined && timer.atMs <= ms; timer = queue.first()) {
        queue.pop();
        if (timer.cancelled) continue;
        nowMs = timer.atMs;
        timer.run();
        if (timer.everyMs !== undefined && !timer.cancelled) {
          timer.atMs = nowMs + timer.everyMs;
          queue.push(timer);
        }
        const next = queue.first();
        // Timers of one moment run together. What they start is settled before time goes on.
        if (next === undefined || next.atMs > nowMs) await settled();
      }
      nowMs = ms;
      await settled();
    },
    restore: () => {
      Object.assign(globalThis, real);
      Reflect.deleteProperty(performance, 'now');
    },
  };
};
