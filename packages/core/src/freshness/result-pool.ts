/** Most results that a session keeps, of all tools together. The oldest one is dropped first. */
const RESULT_LIMIT = 200;

/** Most bytes of all results of a box. Those of the session that has kept none for longest are dropped first. */
const BOX_BYTES = 32 * 2 ** 20;

/** A result, and its size. */
export interface SizedResult {
  readonly bytes: number;
}

/** The results of one session. */
export interface ResultShare<Result extends SizedResult> {
  get(key: string): Result | undefined;
  /** Puts a result in place of the one before, and drops the oldest ones above the limits. */
  put(key: string, result: Result): void;
}

/** What the sessions of a box keep together. Functions, so that a console that prints a box shows no result (Q2). */
export interface ResultPool<Result extends SizedResult> {
  /** For a new session. */
  share(): ResultShare<Result>;
  /** Of all results. */
  bytes(): number;
}

interface Usage {
  bytes: number;
}

interface OwnShare<Result extends SizedResult> extends ResultShare<Result> {
  /** Returns false if it has none. */
  dropOldest(): boolean;
}

/** An empty pool. It refers to sessions weakly: the results of a session that the program has dropped go with it. */
export const createResultPool = <Result extends SizedResult>(): ResultPool<Result> => {
  const shares = new Map<WeakRef<OwnShare<Result>>, Usage>(); // In the order in which they last kept a result.
  let bytes = 0;
  let mostShares = 64;

  const sweep = (): void => {
    for (const [ref, usage] of shares) if (ref.deref() === undefined) forget(ref, usage);
    mostShares = 64 + 2 * shares.size;
  };
  const forget = (ref: WeakRef<OwnShare<Result>>, usage: Usage): void => {
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

  const share = (): ResultShare<Result> => {
    const results = new Map<string, Result>();
    const usage: Usage = { bytes: 0 };
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
    const put = (key: string, result: Result): void => {
      drop(key);
      shares.delete(ref);
      shares.set(ref, usage);
      results.set(key, result);
      change(result.bytes);
      if (results.size > RESULT_LIMIT) dropOldest();
      makeRoom();
    };
    const own: OwnShare<Result> = { get: (key) => results.get(key), put, dropOldest };
    const ref = new WeakRef(own);
    return own;
  };
  return { share, bytes: () => bytes };
};
