import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { createGzip } from 'node:zlib';

/**
 * How long a text is reused: a millisecond for each 10 kB, which take about 50 µs to write. So clients that ask in a loop take about a
 * twentieth of the process's time. A small text is always new.
 */
const REUSED_BYTES_PER_MS = 10_000;
const SMALL_BYTES = 200_000;
const MOST_REUSED_MS = 5_000;
/** More concurrent readers than this are not Prometheus, or the network is very slow. */
const CROWD = 4;
const CROWD_MS = 1_000;

/** A text in parts. One piece of many megabytes would take too long to make in one turn of the event loop. */
export type Parts = readonly Buffer[];

/** Writes the text. */
export type ScrapeWriter = () => Promise<string | Parts>;

/** The text of the scrape endpoint, and how many clients are still reading it. */
export interface ScrapeBody {
  /** The text for a client that asks now. Rejects if it can't be written. A client that `isGone` by then keeps no other one waiting. */
  take(zipped?: boolean, isGone?: () => boolean): Promise<Parts>;
  /** Counts a reader. @returns a function that ends the count; further calls have no effect. */
  reading(): () => void;
}

interface Written {
  readonly parts: Parts;
  zipped: Promise<Parts> | undefined;
  readonly at: number;
  readonly reuseMs: number;
}

/** Compressed in the thread pool. */
const zip = (parts: Parts): Promise<Parts> => Readable.from(parts).pipe(createGzip()).toArray();

/** The length of a text, in bytes. */
export const bytesOf = (parts: Parts): number => parts.reduce((sum, { length }) => sum + length, 0);

/**
 * Writes the text once for all clients that ask while it is being written, and for those that ask soon after. A text can be megabytes
 * long, and a client may never read it. One text for each client would fill the memory.
 */
export function scrapeBody(render: ScrapeWriter): ScrapeBody {
  let underWay: Promise<Written> | undefined;
  const readers = new Set<object>();
  // Weak, so that a text is freed when its last reader is done.
  const writtenOf = new WeakMap<Parts, Written>();
  let last: WeakRef<Parts> | undefined;
  // A text that may be reused is kept until then.
  let kept: Written | undefined;

  const keep = (written: Written): void => {
    kept = written;
    const drop = (): void => {
      if (kept === written) kept = undefined;
    };
    setTimeout(drop, written.reuseMs).unref();
  };
  const write = async (): Promise<Written> => {
    try {
      const text = await render();
      const parts = typeof text === 'string' ? [Buffer.from(text)] : text;
      const bytes = bytesOf(parts);
      const reuseMs = bytes < SMALL_BYTES ? 0 : Math.min(bytes / REUSED_BYTES_PER_MS, MOST_REUSED_MS);
      const written: Written = { parts, zipped: undefined, at: performance.now(), reuseMs };
      writtenOf.set(parts, written);
      last = new WeakRef(parts);
      if (reuseMs > 0) keep(written);
      return written;
    } finally {
      underWay = undefined;
    }
  };
  const fresh = (): Written | undefined => {
    const parts = last?.deref();
    const written = parts && writtenOf.get(parts);
    if (written === undefined) return undefined;
    const reuseMs = readers.size > CROWD ? Math.max(CROWD_MS, written.reuseMs) : written.reuseMs;
    return performance.now() - written.at < reuseMs ? written : undefined;
  };
  const current = async (): Promise<Written> => {
    const written = underWay === undefined ? fresh() : undefined;
    if (written !== undefined) return written;
    underWay ??= write();
    return underWay;
  };

  let turns: Promise<unknown> = Promise.resolve();
  /** Clients that waited for one text get it one after the other: to send it, the kernel copies megabytes at once. */
  const ownTurn = (isGone: () => boolean): Promise<unknown> => {
    turns = turns.then(() => (isGone() ? undefined : setImmediate()));
    return turns;
  };

  return {
    async take(zipped = false, isGone = () => false) {
      const written = await current();
      if (zipped) written.zipped ??= zip(written.parts);
      const parts = zipped ? await written.zipped : written.parts;
      await ownTurn(isGone);
      return parts ?? [];
    },
    reading() {
      const reader = {};
      readers.add(reader);
      return () => void readers.delete(reader);
    },
  };
}
