/** Results kept at most, in all tools together. The one that was kept longest ago goes first. */
const RESULT_LIMIT = 200;

/** A result that was good once. */
export interface GoodResult {
  /** The very value that the tool returned, not a copy: what its receiver changes in it is changed here too. */
  readonly result: unknown;
  /** When it was retrieved, in Unix milliseconds; null where nobody knows. */
  readonly retrievedUnixMs: number | null;
}

/**
 * What tools answered last, by tool and digest of the input: the last good results for open circuits (F2), and digests of the
 * last results, so that one that only says the same again can be told (F1).
 *
 * Lives in the memory of the process, for as long as its session, and is no part of any snapshot or report (Q2). Results
 * are kept by reference.
 */
export interface LastGood {
  /**
   * Keeps a result in place of the one before.
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
    keep: (tool, digest, result, unixMs, ms) =>
      put(results, keyOf(tool, digest), { result, retrievedUnixMs: unixMs, ms }),
    find: (tool, digest, maxAgeMs, ms) => {
      const kept = results.get(keyOf(tool, digest));
      if (kept === undefined || ms - kept.ms > maxAgeMs) return undefined;
      return { result: kept.result, retrievedUnixMs: kept.retrievedUnixMs };
    },
    identical: (tool, inputDigest, resultDigest) => {
      const key = keyOf(tool, inputDigest);
      const same = digests.get(key) === resultDigest;
      put(digests, key, resultDigest);
      return same;
    },
  };
};

/** A digest has no space, so that no two pairs make one key. */
const keyOf = (tool: string, digest: string): string => `${digest} ${tool}`;

/** A map goes by the order in which keys were put in: what is put again goes to the end. */
const put = <V>(map: Map<string, V>, key: string, value: V): void => {
  map.delete(key);
  map.set(key, value);
  if (map.size <= RESULT_LIMIT) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
};
