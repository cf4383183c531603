const LINE_FEED = 0x0a;

/** The sign of a string, and as many digits as a length has. */
const LONGEST_HEAD = 16;

/** Strings whose bytes follow in a line of their own. `$-1` has none. */
const STRING = /^[$=!](\d+)/;

/**
 * Counts the parts of what Redis sends, without reading them: each line of the protocol (RESP) that is not the content of a string. A
 * list of a million empty lists has few bytes, and a client takes a second for it.
 */
export const partCounter = (): ((bytes: Buffer) => number) => {
  /** Bytes of a string that have not come yet. */
  let content = 0;
  let head = '';
  return (bytes) => {
    let parts = 0;
    let at = 0;
    while (at < bytes.length) {
      const skipped = Math.min(content, bytes.length - at);
      content -= skipped;
      at += skipped;
      if (at === bytes.length) break;
      const end = bytes.indexOf(LINE_FEED, at);
      const to = end === -1 ? bytes.length : end;
      head += bytes.toString('latin1', at, Math.min(to, at + LONGEST_HEAD));
      at = to + 1;
      if (end === -1) break;
      parts += 1;
      content = Number(STRING.exec(head)?.[1] ?? -2) + 2;
      head = '';
    }
    return parts;
  };
};
