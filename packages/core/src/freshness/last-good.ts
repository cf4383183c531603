import { guarded } from '../classify/untrusted.ts';
import { dataSize } from './data-size.ts';

/** Most results that a session keeps, of all tools together. The oldest one is dropped first. */
const RESULT_LIMIT = 200;

/** Most bytes of one result, roughly. A larger one is not kept. */
const RESULT_BYTES = 2 ** 20;

/** Most bytes of all results of a box. The oldest ones are dropped first, of whatever session they are. */
const BOX_BYTES = 32 * 2 ** 20;

/** What the sessions of a box keep together. Functions, so that a console that prints a box shows no result (Q2). */
export interface ResultPool {
  /** Adds a result, and drops the oldest ones while all have more than 32 MiB. */
  add(kept: KeptResult): void;
  drop(kept: KeptResult): void;
  bytes(): number;
}

interface KeptResult extends GoodResult {
  readonly ms: number;
  readonly bytes: number;
  readonly key: string;
  readonly owner: Map<string, KeptResult>;
}

/** An empty pool. */
export const createResultPool = (): ResultPool => {
  const all = new Set<KeptResult>(); // In the order in which they were kept.
  let bytes = 0;
  const drop = (kept: KeptResult): void => {
    kept.owner.delete(kept.key);
    all.delete(kept);
    bytes -= kept.bytes;
  };
  const add = (kept: KeptResult): void => {
    all.add(kept);
    bytes += kept.bytes;
    for (const oldest of all) {
      if (bytes <= BOX_BYTES) return;
      drop(oldest);
    }
  };
  return { add, drop, bytes: () => bytes };
};

/** A last good result. */
export interface GoodResult {
  /** A copy: changing it does not change the kept one. */
  readonly result: unknown;
  /** When it was retrieved, in Unix milliseconds; null if unknown. */
  readonly retrievedUnixMs: number | null;
}

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
   * Keeps a copy of a result in place of the one before. Only data is kept: no functions, no instances of classes, and nothing that
   * can be read only once, such as streams and `fetch`'s responses. Nothing is kept of a result that is larger than 1 MiB.
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
export const createLastGood = (pool = createResultPool()): LastGood => {
  const owner = new Map<string, KeptResult>();
  const digests = new Map<string, string>();
  return {
    keep: (tool, digest, result, unixMs, ms) => {
      const key = keyOf(tool, digest);
      const copy = copyOf(result);
      if (copy === undefined) return;
      const before = owner.get(key);
      if (before !== undefined) pool.drop(before);
      const kept: KeptResult = { ...copy, retrievedUnixMs: unixMs, ms, key, owner };
      owner.set(key, kept);
      pool.add(kept);
      const [oldest] = owner.values();
      if (oldest !== undefined && owner.size > RESULT_LIMIT) pool.drop(oldest);
    },
    find: (tool, digest, maxAgeMs, ms) => {
      const kept = owner.get(keyOf(tool, digest));
      if (kept === undefined || ms - kept.ms > maxAgeMs) return undefined;
      return { result: structuredClone(kept.result), retrievedUnixMs: kept.retrievedUnixMs };
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
    if (map.size <= RESULT_LIMIT) return;
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
