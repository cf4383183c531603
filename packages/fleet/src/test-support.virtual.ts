import type { Runtime } from './runtime.ts';

export interface VirtualRuntime extends Runtime {
  /** Lets time pass. Timers run in their order, and what they started runs to its end before the next one. */
  pass(ms: number): Promise<void>;
}

/** Lets everything run that waits for nothing but a promise. */
export const settleAll = async (): Promise<void> => {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** A clock, timers, and chance from a seed. */
export const virtualRuntime = (seed = 1): VirtualRuntime => {
  let nowMs = 0;
  let state = seed;
  let made = 0;
  const timers = new Map<number, { readonly atMs: number; readonly run: () => void }>();
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return {
    now: () => nowMs,
    random,
    id: () => {
      made += 1;
      return `${seed}id${made}`;
    },
    after: (ms, run) => {
      made += 1;
      const key = made;
      timers.set(key, { atMs: nowMs + Math.max(0, ms), run });
      return () => void timers.delete(key);
    },
    pass: async (ms) => {
      const endMs = nowMs + ms;
      await settleAll();
      for (;;) {
        const [next] = [...timers].sort(([, a], [, b]) => a.atMs - b.atMs);
        if (next === undefined || next[1].atMs > endMs) break;
        timers.delete(next[0]);
        nowMs = Math.max(nowMs, next[1].atMs);
        next[1].run();
        await settleAll();
      }
      nowMs = endMs;
    },
  };
};
