import type { RelayHost } from './relay-process.ts';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
const LOOK_MS = 1_000;

/** The streams and signals of this process. A parent that was killed can send no signal, so the parent's id is watched (M7). */
export const processHost = (): RelayHost => ({
  stdin: process.stdin,
  stdout: process.stdout,
  onStop: (listener) => {
    const parent = process.ppid;
    const timer = setInterval(() => {
      if (process.ppid !== parent) listener();
    }, LOOK_MS).unref();
    for (const signal of SIGNALS) process.on(signal, listener);
    return () => {
      clearInterval(timer);
      for (const signal of SIGNALS) process.off(signal, listener);
    };
  },
});
