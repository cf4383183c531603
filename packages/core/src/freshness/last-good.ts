import { guarded } from '../classify/untrusted.ts';
import { dataSize } from './data-size.ts';
import { createResultPool, type ResultPool, type SizedResult } from './result-pool.ts';

/** Most bytes of one result, roughly. A larger one is not kept. */
const RESULT_BYTES = 2 ** 20;

/** Most digests that a session keeps. The oldest one is dropped first. */
const DIGEST_LIMIT = 200;

/** A last good result. */
export interface GoodResult {
  /** A copy: changing it does not change the kept one. */
  readonly result: unknown;
  /** When it was retrieved, in Unix milliseconds; null if unknown. */
  readonly retrievedUnixMs: number | null;
}

/** A result with its age. */
export interface KeptResult extends GoodResult, SizedResult {
  readonly ms: number;
}

/** What the sessions of a box keep together. */
export type LastResults = ResultPool<KeptResult>;

/**
 * The last results of tools, by tool and digest of the input: last good results for open circuits (F2), and digests of the last
 * results, to detect a result that is identical (F1).
 *
 * It is kept in the memory of the process for as long as its session, and is not part of any snapshot or report (Q2). Results are
 * copied when they are kept and when they are given out, so that later changes do not affect them. A result has at most 1 MiB, all
 * results of a box 32 MiB.
 */
export interface LastGood {
  /**
   * Keeps a copy of a result in place of the one before. Only plain objects, lists, dates, texts, numbers and other primitives are
   * kept: no functions, no instances of classes, no bytes, and nothing that can be read only once, such as streams and `fetch`'s
   * responses. Nothing is kept of a result that is larger than 1 MiB.
   * @param unixMs when it was retrieved, in Unix milliseconds; null if unknown
   * @param ms the same moment on the monotonic clock, by which it ages
   */
  keep(tool: string, digest: string, result: unknown, unixMs: number | null, ms: number): void;
  /** The last good result for these arguments, if it was kept no more than `maxAgeMs` before `ms` (monotonic). Changes nothing. */
  find(tool: string, digest: string, maxAgeMs: number, ms: number): GoodResult | undefined;
  /** Whether the result is the same as the last one for these arguments (F1), which it replaces. */
  identical(tool: string, inputDigest: string, resultDigest: string): boolean;
}

/**
 * An empty store.
 * @example
 * ```ts
 * const lastGood = createLastGood();
 * lastGood.keep('weather', inputDigest, { celsius: 4 }, clock.unixNow(), clock.now());
 * lastGood.find('weather', inputDigest, 600_000, clock.now())?.result; // { celsius: 4 }, for ten minutes
 * ```
 */
export const createLastGood = (pool: LastResults = createResultPool()): LastGood => {
  const results = pool.share();
  const digests = new Map<string, string>();
  return {
    keep: (tool, digest, result, unixMs, ms) => {
      const copy = copyOf(result);
      if (copy !== undefined) results.put(keyOf(tool, digest), { ...copy, retrievedUnixMs: unixMs, ms });
    },
    find: (tool, digest, maxAgeMs, ms) => {
      const kept = results.get(keyOf(tool, digest));
      if (kept === undefined || ms - kept.ms > maxAgeMs) return undefined;
      const { result, retrievedUnixMs } = kept;
      return guarded(() => ({ result: structuredClone(result), retrievedUnixMs }), undefined);
    },
    identical: (tool, inputDigest, resultDigest) => {
      const key = keyOf(tool, inputDigest);
      const same = digests.get(key) === resultDigest;
      put(digests, key, resultDigest);
      return same;
    },
  };
};

/** All digests are of one length, so that no two pairs make one key. */
const keyOf = (tool: string, digest: string): string => `${digest} ${tool}`;

/** A map keeps the order of insertion: putting a key again moves it to the end. */
const put = <V>(map: Map<string, V>, key: string, value: V): void => {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= DIGEST_LIMIT) return;
    map.delete(oldest);
  }
};

/** A copy of data, with its size; undefined for anything else, and for what is too large. */
const copyOf = (result: unknown): Pick<KeptResult, 'result' | 'bytes'> | undefined =>
  // Throws if the result contains a function or a symbol, a property that throws, or endless nesting.
  guarded(() => {
    const bytes = dataSize(result, RESULT_BYTES);
    return bytes === undefined ? undefined : { result: structuredClone(result), bytes };
  }, undefined);
