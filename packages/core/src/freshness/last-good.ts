import { guarded } from '../safely.ts';

/** Most bytes of one result, roughly. A larger one is not kept. */
const RESULT_BYTES = 2 ** 20;

/** Most digests that a session keeps. The oldest one is dropped first. */
const DIGEST_LIMIT = 200;

export interface GoodResult {
  /** A copy: changing it does not change the kept one. */
  readonly result: unknown;
  /** When it was retrieved, in Unix milliseconds; null if unknown. */
  readonly retrievedUnixMs: number | null;
}

/** A result with its size and its age. */
export interface KeptResult extends GoodResult {
  readonly bytes: number;
  readonly ms: number;
}

/**
 * The last results of tools, by tool and digest of the input: last good results for open circuits, and digests of the last
 * results, to detect a result that is identical.
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

/** Bytes that a reference to a part costs, at least. So the number of parts is bounded too. */
const PART = 16;

/** Deepest nesting. `structuredClone` calls itself for each level, and how many fit depends on who calls. */
const DEEPEST = 200;

/** Number of prototypes that data have, by their tags; an instance of a user's class has one more. */
const PROTOTYPES: Readonly<Record<string, number>> = { Object: 1, Array: 2, Date: 2 };

/**
 * Bytes of a copy of a value by `structuredClone`, roughly: an object counts once, and a text each time, as they are copied. Undefined
 * if it is larger than `limit`, nested deeper than 200 levels, or other than plain objects, lists, dates and primitives. An instance of
 * a class would lose its methods, a response its content, and a property with a getter may give something else each time. Throws where
 * a part does.
 */
export const dataSize = (value: unknown, limit: number): number | undefined => {
  const objects = new Set<object>(); // Iterating a set also visits entries that are added meanwhile.
  let bytes = 0;
  const count = (part: unknown): void => {
    if (typeof part === 'string') bytes += 2 * part.length;
    else if (typeof part === 'bigint') bytes += bytesOfBigInt(part);
    else if (typeof part === 'object' && part !== null) objects.add(part);
  };
  count(value);
  let seen = 0;
  let level = 0;
  let endOfLevel = 0;
  for (const one of objects) {
    if (seen === endOfLevel) {
      level += 1;
      endOfLevel = objects.size;
    }
    if (level > DEEPEST || !isData(one)) return undefined;
    seen += 1;
    bytes += PART + (Array.isArray(one) ? PART * one.length : 0);
    if (bytes > limit) return undefined; // Before the parts are listed: an array may say that it has millions.
    for (const part of partsOf(one, limit / PART)) count(part);
    if (bytes + objects.size * PART > limit) return undefined;
  }
  return bytes > limit ? undefined : bytes;
};

/** A few sizes suffice: the time to write digits grows faster than their number. */
const bytesOfBigInt = (value: bigint): number => {
  if (BigInt.asIntN(64, value) === value) return PART;
  return BigInt.asIntN(65_536, value) === value ? 8_192 : Number.POSITIVE_INFINITY;
};

const isData = (value: object): boolean => {
  if (Object.hasOwn(value, Symbol.toStringTag) || value instanceof Error) return false; // It may say that it is something else.
  let left = PROTOTYPES[Object.prototype.toString.call(value).slice(8, -1)] ?? -1;
  // Stops early: a proxy may be its own prototype.
  for (let one = Object.getPrototypeOf(value); one !== null && left >= 0; left -= 1) one = Object.getPrototypeOf(one);
  return left >= 0;
};

const partsOf = (value: object, most: number): readonly unknown[] => {
  const keys = Object.keys(value);
  if (keys.length > most) throw NOT_DATA; // Before each is looked at.
  const parts = keys.map((key) => partOf(value, key));
  // An array's own names come after its indexes.
  const names = Array.isArray(value) ? keys.slice(keys.findLastIndex((key) => /^\d+$/.test(key)) + 1) : keys;
  return [...names, ...parts];
};

const partOf = (value: object, key: string): unknown => {
  const { value: part, get } = Object.getOwnPropertyDescriptor(value, key) ?? {};
  if (get !== undefined) throw NOT_DATA;
  return part;
};

/** Made once, because stacks are expensive. */
const NOT_DATA = new TypeError('It has a getter, or too many properties.');

/** Most results that a session keeps, of all tools together. The oldest one is dropped first. */
const RESULT_LIMIT = 200;

/** Most bytes of all results of a box. Those of the session that has kept none for longest are dropped first. */
const BOX_BYTES = 32 * 2 ** 20;

interface ResultShare {
  get(key: string): KeptResult | undefined;
  /** Puts a result in place of the one before, and drops the oldest ones above the limits. */
  put(key: string, result: KeptResult): void;
  /** Returns false if it has none. */
  dropOldest(): boolean;
}

/** What the sessions of a box keep together. Functions, so that a console that prints a box shows no result (Q2). */
export interface LastResults {
  share(): ResultShare;
  bytes(): number;
}

/** An empty pool. It refers to sessions weakly: the results of a session that the program has dropped go with it. */
export const createResultPool = (): LastResults => {
  const shares = new Map<WeakRef<ResultShare>, { bytes: number }>(); // In the order in which they last kept a result.
  let bytes = 0;
  let mostShares = 64;

  const sweep = (): void => {
    for (const [ref, usage] of shares) if (ref.deref() === undefined) forget(ref, usage);
    mostShares = 64 + 2 * shares.size;
  };
  const forget = (ref: WeakRef<ResultShare>, usage: { bytes: number }): void => {
    bytes -= usage.bytes;
    shares.delete(ref);
  };
  const makeRoom = (): void => {
    if (shares.size > mostShares) sweep();
    for (const [ref, usage] of shares) {
      while (bytes > BOX_BYTES && ref.deref()?.dropOldest());
      if (bytes <= BOX_BYTES) return;
      forget(ref, usage);
    }
  };

  const share = (): ResultShare => {
    const results = new Map<string, KeptResult>();
    const usage = { bytes: 0 };
    const change = (by: number): void => {
      usage.bytes += by;
      bytes += by;
    };
    const drop = (key: string): void => {
      change(-(results.get(key)?.bytes ?? 0));
      results.delete(key);
    };
    const dropOldest = (): boolean => {
      const [oldest] = results.keys();
      if (oldest !== undefined) drop(oldest);
      return oldest !== undefined;
    };
    const put = (key: string, result: KeptResult): void => {
      drop(key);
      shares.delete(ref);
      shares.set(ref, usage);
      results.set(key, result);
      change(result.bytes);
      if (results.size > RESULT_LIMIT) dropOldest();
      makeRoom();
    };
    const own: ResultShare = { get: (key) => results.get(key), put, dropOldest };
    const ref = new WeakRef(own);
    return own;
  };
  return { share, bytes: () => bytes };
};
