import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

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

/** Writes the text, in parts. */
export type ScrapeWriter = () => Promise<string | readonly string[]>;

/** The text of the scrape endpoint, and how many clients are still reading it. */
export interface ScrapeBody {
  /** The text for a client that asks now. Rejects if it can't be written. */
  take(zipped?: boolean): Promise<Buffer>;
  /** Counts a reader. @returns a function that ends the count; further calls have no effect. */
  reading(): () => void;
}

interface Written {
  readonly body: Buffer;
  zipped: Promise<Buffer> | undefined;
  readonly at: number;
  readonly reuseMs: number;
}

/** Compressed in the thread pool, once. */
const zip = promisify(gzip);

/**
 * Writes the text once for all clients that ask while it is being written, and for those that ask soon after. A text can be megabytes
 * long, and a client may never read it. One text for each client would fill the memory.
 */
export function scrapeBody(render: ScrapeWriter): ScrapeBody {
  let underWay: Promise<Written> | undefined;
  const readers = new Set<object>();
  // Weak, so that a text is freed when its last reader is done.
  const writtenOf = new WeakMap<Buffer, Written>();
  let last: WeakRef<Buffer> | undefined;
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
      const body = typeof text === 'string' ? Buffer.from(text) : Buffer.concat(text.map((part) => Buffer.from(part)));
      const reuseMs = body.length < SMALL_BYTES ? 0 : Math.min(body.length / REUSED_BYTES_PER_MS, MOST_REUSED_MS);
      const written: Written = { body, zipped: undefined, at: performance.now(), reuseMs };
      writtenOf.set(body, written);
      last = new WeakRef(body);
      if (reuseMs > 0) keep(written);
      return written;
    } finally {
      underWay = undefined;
    }
  };
  const fresh = (): Written | undefined => {
    const body = last?.deref();
    const written = body && writtenOf.get(body);
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

  return {
    async take(zipped = false) {
      const written = await current();
      if (!zipped) return written.body;
      written.zipped ??= zip(written.body);
      return written.zipped;
    },
    reading() {
      const reader = {};
      readers.add(reader);
      return () => void readers.delete(reader);
    },
  };
}
