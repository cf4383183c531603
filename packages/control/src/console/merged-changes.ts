import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { readChangesAmong } from '../change-reader.ts';
import type { Change, Changes } from '../changes.ts';
import type { Target } from '../target.ts';
import type { ConsoleChange } from './console-state.ts';

/** What the page shows. */
const HOUR_MS = 3_600_000;
/** Changes of an endpoint that are known when it repeats them. */
const KNOWN = 500;
/** What a page that connects is sent at once: well below what an unread stream may hold. No more is kept of an endpoint. */
const MOST_CHARACTERS = 100_000;
/** Milliseconds before the next try. They double. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

/** The changes of all endpoints as one stream. */
export interface MergedChanges extends Pick<Changes, 'recent' | 'listen'> {
  recent(): readonly ConsoleChange[];
  /** Follows an endpoint until the returned function is called. */
  follow(endpoint: string, target: Target): () => void;
}

/** An endpoint that is connected to again repeats its recent changes. */
const keyOf = ({ kind, agent, session, tool, from, to, unixMs, who }: Change): string =>
  createHash('sha256')
    .update(JSON.stringify([kind, agent, session, tool, from, to, unixMs, who]))
    .digest('base64');

interface Sized {
  readonly change: ConsoleChange;
  readonly size: number;
}

/** The changes of one endpoint. */
const createKept = () => {
  const known = new Set<string>();
  const newest: Sized[] = [];
  let size = 0;
  return {
    newest: newest as readonly Sized[],
    /** False if it is known already. */
    add: (key: string, change: ConsoleChange): boolean => {
      if (known.has(key)) return false;
      known.add(key);
      const [oldest = key] = known;
      if (known.size > KNOWN) known.delete(oldest);
      const added = { change, size: JSON.stringify(change).length };
      newest.push(added);
      size += added.size;
      while (size > MOST_CHARACTERS || newest.length > KNOWN) size -= newest.shift()?.size ?? 0;
      return true;
    },
  };
};

export const mergeChanges = (now: () => number = Date.now): MergedChanges => {
  const kept = new Map<string, ReturnType<typeof createKept>>();
  const followed = new Set<string>();
  const listeners = new Set<(change: Change) => void>();

  const add = (endpoint: string, change: Change): void => {
    // A time in the future would hide the changes of others.
    const told: ConsoleChange = { ...change, unixMs: Math.min(change.unixMs, now()), endpoint };
    if (kept.get(endpoint)?.add(keyOf(change), told) !== true) return;
    for (const listener of listeners) listener(told);
  };

  const run = async (endpoint: string, target: Target, signal: AbortSignal): Promise<void> => {
    let waitMs = FIRST_WAIT_MS;
    while (!signal.aborted) {
      try {
        for await (const change of readChangesAmong(() => followed.size, target, signal)) {
          waitMs = FIRST_WAIT_MS;
          add(endpoint, change);
        }
      } catch {
        // The state of the endpoint says why it does not answer.
      }
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
      waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS);
    }
  };

  return {
    recent: () =>
      newestOfEach(
        [...kept.values()].map(({ newest }) => newest.filter(({ change }) => now() - change.unixMs < HOUR_MS)),
      ).toSorted((a, b) => a.unixMs - b.unixMs),
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    follow: (endpoint, target) => {
      const stop = new AbortController();
      const own = kept.get(endpoint) ?? createKept();
      kept.set(endpoint, own);
      followed.add(endpoint);
      void run(endpoint, target, stop.signal);
      return () => {
        stop.abort();
        followed.delete(endpoint);
        // The page still shows what the process did.
        setTimeout(() => followed.has(endpoint) || kept.delete(endpoint), HOUR_MS).unref();
      };
    },
  };
};

/** The newest of each endpoint: those with few changes leave their part to the others. */
const newestOfEach = (endpoints: readonly (readonly Sized[])[]): readonly ConsoleChange[] => {
  const smallestFirst = endpoints.toSorted((a, b) => sizeOf(a) - sizeOf(b));
  let left = MOST_CHARACTERS;
  return smallestFirst.flatMap((changes, index) => {
    const newest = newestOf(changes, left / (smallestFirst.length - index));
    left -= sizeOf(newest);
    return newest.map(({ change }) => change);
  });
};

const sizeOf = (changes: readonly Sized[]): number => changes.reduce((sum, { size }) => sum + size, 0);

/** As many of the newest as fit. */
const newestOf = (changes: readonly Sized[], room: number): readonly Sized[] => {
  const sorted = changes.toSorted((a, b) => a.change.unixMs - b.change.unixMs);
  let left = room;
  const from = sorted.findLastIndex(({ size }) => {
    left -= size;
    return left < 0;
  });
  return sorted.slice(from + 1);
};
