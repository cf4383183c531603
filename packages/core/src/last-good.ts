import { guarded } from './outcome/untrusted.ts';

/** Results kept at most, in all tools together. The one that was kept longest ago goes first. */
const RESULT_LIMIT = 200;

/** A result that was good once. */
export interface GoodResult {
  /** A copy for whoever asked: what is changed in it changes nothing here. */
  readonly result: unknown;
  /** When it was retrieved, in Unix milliseconds; null where nobody knows. */
  readonly retrievedUnixMs: number | null;
}

/**
 * What tools answered last, by tool and digest of the input: the last good results for open circuits (F2), and digests of the
 * last results, so that one that only says the same again can be told (F1).
 *
 * Lives in the memory of the process, for as long as its session, and is no part of any snapshot or report (Q2). Results are
 * copied when they are kept and when they are given out, so that what was good stays what it was.
 */
export interface LastGood {
  /**
   * Keeps a copy of a result in place of the one before. What is more than data isn't kept: functions, instances of
   * classes, and what can be read once, such as streams and `fetch`'s responses.
   * @param unixMs when it was retrieved, in Unix milliseconds; null where nobody knows
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

/** A map goes by the order in which keys were put in: what is put again goes to the end. */
const put = <V>(map: Map<string, V>, key: string, value: V): void => {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= RESULT_LIMIT) return;
    map.delete(oldest);
  }
};

/** A copy of data; undefined of anything else. */
const copyOf = (result: unknown): { readonly result: unknown } | undefined => {
  // A function or a symbol in it, a read that throws, and nesting without end make it throw.
  return guarded(() => (isData(result) ? { result: structuredClone(result) } : undefined), undefined);
};

/**
 * How many prototypes data have, by their tags: an instance of a class of one's own has one more. Of such an instance
 * `structuredClone` makes an object without methods, and of a response nothing at all, and says no word.
 */
const PROTOTYPES: ReadonlyMap<string, number> = new Map([
  ['Object', 1],
  ...['Array', 'Date', 'Map', 'Set', 'RegExp', 'ArrayBuffer', 'DataView'].map((tag) => [tag, 2] as const),
  ...['Int8', 'Uint8', 'Uint8Clamped', 'Int16', 'Uint16', 'Int32', 'Uint32', 'Float32', 'Float64', 'BigInt64'].map(
    (kind) => [`${kind}Array`, 3] as const,
  ),
  ['BigUint64Array', 3],
]);

/** Whether all objects in a value are data. Of what is no object, `structuredClone` says. */
const isData = (value: unknown): boolean => {
  const found = new Set<unknown>([value]); // A set goes on with what is added to it meanwhile.
  for (const one of found) {
    if (typeof one !== 'object' || one === null) continue;
    const tag = Object.prototype.toString.call(one).slice(8, -1);
    if (prototypesOf(one) > (PROTOTYPES.get(tag) ?? -1)) return false;
    if (ArrayBuffer.isView(one)) continue; // Its parts are numbers, as many as it has bytes.
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
