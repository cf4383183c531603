import { randomUUID } from 'node:crypto';

/** Clock, timers and chance, so that tests control them. */
export interface Runtime {
  /** Monotonic milliseconds. */
  now(): number;
  /** From 0 to less than 1. */
  random(): number;
  /** Runs something later, without keeping the process alive. Returns a function that cancels it. */
  after(ms: number, run: () => void): () => void;
  /** A new unique name. */
  id(): string;
}

export const systemRuntime: Runtime = {
  now: () => performance.now(),
  random: Math.random,
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
  id: randomUUID,
};
