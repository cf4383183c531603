import type { RelayHost } from './relay-process.ts';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
const HANGUP = 'SIGHUP';
const LOOK_MS = 1_000;

/**
 * The streams and signals of this process. A parent that was killed can send no signal, so the parent's id is watched (M7). With `reload`,
 * SIGHUP calls it and does not end the relay (M8): a client that goes with its terminal closes the input too.
 *
 * @param followsParent Whether the relay ends with its parent. No client has started a relay that listens.
 */
export const processHost = (reload?: () => void, followsParent = true): RelayHost => ({
  stdin: process.stdin,
  stdout: process.stdout,
  onStop: (listener) => {
    const parent = process.ppid;
    const timer = setInterval(() => {
      if (followsParent && process.ppid !== parent) listener();
    }, LOOK_MS).unref();
    const signals = reload === undefined ? [...SIGNALS, HANGUP] : SIGNALS;
    for (const signal of signals) process.on(signal, listener);
    if (reload !== undefined) process.on(HANGUP, reload);
    return () => {
      clearInterval(timer);
      for (const signal of signals) process.off(signal, listener);
      if (reload !== undefined) process.off(HANGUP, reload);
    };
  },
});
