import { guarded } from '../classify/untrusted.ts';

/** Most results that are kept, of all tools together. The oldest one is dropped first. */
const RESULT_LIMIT = 200;

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
 * copied when they are kept and when they are given out, so that later changes do not affect them.
 */
export interface LastGood {
  /**
   * Keeps a copy of a result in place of the one before. Only data is kept: no functions, no instances of classes, and nothing that
   * can be read only once, such as streams and `fetch`'s responses.
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
export const createLastGood = (): LastGood => {
  const results = new Map<string, GoodResult & { readonly ms: number }>();
  const digests = new Map<string, string>();
  return {
    keep: (tool, digest, result, unixMs, ms) => {
      const copy = copyOf(result);
      if (copy !== undefined) put(results, keyOf(tool, digest), { ...copy, retrievedUnixMs: unixMs, ms });
    },
    find: (tool, digest, maxAgeMs, ms) => {
      const kept = results.get(keyOf(tool, digest));
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

/** A copy of data; undefined for anything else. */
const copyOf = (result: unknown): { readonly result: unknown } | undefined => {
  // Throws if the result contains a function or a symbol, a property that throws, or endless nesting.
  return guarded(() => (isData(result) ? { result: structuredClone(result) } : undefined), undefined);
};

/**
 * Number of prototypes that data have, by their tags; an instance of a user's class has one more. `structuredClone` turns such an
 * instance into an object without methods, and a response into an empty object, without an error.
 */
const PROTOTYPES: ReadonlyMap<string, number> = new Map([
  ['Object', 1],
  ...['Array', 'Date', 'Map', 'Set', 'RegExp', 'ArrayBuffer', 'DataView'].map((tag) => [tag, 2] as const),
  ...['Int8', 'Uint8', 'Uint8Clamped', 'Int16', 'Uint16', 'Int32', 'Uint32', 'Float32', 'Float64', 'BigInt64'].map(
    (kind) => [`${kind}Array`, 3] as const,
  ),
  ['BigUint64Array', 3],
]);

/** Whether all objects in a value are data. `structuredClone` checks everything that is not an object. */
const isData = (value: unknown): boolean => {
  const found = new Set<unknown>([value]); // Iterating a set also visits entries that are added meanwhile.
  for (const one of found) {
    if (typeof one !== 'object' || one === null) continue;
    const tag = Object.prototype.toString.call(one).slice(8, -1);
    if (prototypesOf(one) > (PROTOTYPES.get(tag) ?? -1)) return false;
    if (ArrayBuffer.isView(one)) continue; // It holds only numbers.
    for (const part of partsOf(one, tag)) found.add(part);
  }
  return true;
};

const prototypesOf = (value: object): number => {
  let count = 0;
  for (let one = Object.getPrototypeOf(value); one !== null; one = Object.getPrototypeOf(one)) count += 1;
  return count;
};

const partsOf = (value: object, tag: string): Iterable<unknown> => {
  if (tag === 'Map') return [...(value as ReadonlyMap<unknown, unknown>)].flat();
  if (tag === 'Set') return value as ReadonlySet<unknown>;
  return Object.values(value);
};
