/** More concurrent readers than this are not Prometheus, or the network is very slow. */
const CROWD = 4;
/** Milliseconds that a text can be reused. No scraper asks more often. */
const FRESH_MS = 1_000;

/** The text of the scrape endpoint, and how many clients are still reading it. */
export interface ScrapeBody {
  /** The text for a client that asks now. Rejects if it can't be written. */
  take(): Promise<Buffer>;
  /** Counts a reader. @returns a function that ends the count; further calls have no effect. */
  reading(): () => void;
}

/**
 * Writes the text once for all clients that ask while it is being written, and at most once a second while many are reading. A
 * text can be megabytes long, and a client may never read it. One text for each client would fill the memory.
 */
export function scrapeBody(render: () => Promise<string>): ScrapeBody {
  let underWay: Promise<Buffer> | undefined;
  const readers = new Set<object>();
  // A weak reference: the text is freed when its last reader is done.
  let last: { readonly body: WeakRef<Buffer>; readonly at: number } | undefined;

  const write = async (): Promise<Buffer> => {
    try {
      const body = Buffer.from(await render());
      last = { body: new WeakRef(body), at: performance.now() };
      return body;
    } finally {
      underWay = undefined;
    }
  };
  const fresh = (): Buffer | undefined =>
    last && readers.size > CROWD && performance.now() - last.at < FRESH_MS ? last.body.deref() : undefined;

  return {
    async take() {
      const body = underWay === undefined ? fresh() : undefined;
      if (body !== undefined) return body;
      underWay ??= write();
      return underWay;
    },
    reading() {
      const reader = {};
      readers.add(reader);
      return () => void readers.delete(reader);
    },
  };
}
