/** So many who read at once are no Prometheus, or a very slow network. */
const CROWD = 4;
/** No scraper asks more often. */
const FRESH_MS = 1_000;

/** What the scrape endpoint answers with, and how many are still reading. */
export interface ScrapeBody {
  /** The text, for somebody who asks now. Rejects if it can't be written. */
  take(): Promise<Buffer>;
  /** Counts a reader. @returns Counts it no more, however often it is called. */
  reading(): () => void;
}

/**
 * Writes the text once for all who ask while it is being written; and if many are still reading, once a second. A text can
 * be megabytes long and a client needs not read it: each with a text of its own would fill the memory.
 */
export function scrapeBody(render: () => Promise<string>): ScrapeBody {
  let underWay: Promise<Buffer> | undefined;
  const readers = new Set<object>();
  // Held by those who still read it, and gone with them.
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
