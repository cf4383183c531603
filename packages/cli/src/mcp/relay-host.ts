import type { RelayHost } from './relay-process.ts';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
const HANGUP = 'SIGHUP';
const LOOK_MS = 1_000;

/** The host of a relay that is a process of its own. */
export interface ProcessHost extends RelayHost {
  /** Whether it was told to end. */
  isStopped(): boolean;
}

/**
 * The streams and signals of this process. A parent that was killed can send no signal, so the parent's id is watched (M7). With `reload`,
 * SIGHUP calls it and does not end the relay (M8): a client that goes with its terminal closes the input too.
 *
 * @param followsParent Whether the relay ends with its parent. No client has started a relay that listens.
 */
export const processHost = (reload?: () => void, followsParent = true): ProcessHost => {
  let isStopped = false;
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    isStopped: () => isStopped,
    onStop: (listener) => {
      const parent = process.ppid;
      const stop = (): void => {
        isStopped = true;
        listener();
      };
      const timer = setInterval(() => {
        if (followsParent && process.ppid !== parent) stop();
      }, LOOK_MS).unref();
      const signals = reload === undefined ? [...SIGNALS, HANGUP] : SIGNALS;
      for (const signal of signals) process.on(signal, stop);
      if (reload !== undefined) process.on(HANGUP, reload);
      return () => {
        clearInterval(timer);
        for (const signal of signals) process.off(signal, stop);
        if (reload !== undefined) process.off(HANGUP, reload);
      };
    },
  };
};
