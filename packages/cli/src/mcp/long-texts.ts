import { createHash } from 'node:crypto';

/** Longest string that is kept whole, in bytes as it is written in JSON. */
const MOST_BYTES = 65_536;
/** Longest escape sequence, such as `\u20ac`. */
const ESCAPE_BYTES = 6;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * The JSON text with its long strings cut. Each ends with a digest of all of it, so that two of them are equal only if the strings are.
 * To decode and to parse a file that a tool has read takes several times its memory, and the relay looks at the beginning only.
 */
export const withoutLongTexts = (json: Buffer, mostBytes = MOST_BYTES): Buffer => {
  const parts: Buffer[] = [];
  let from = 0;
  for (let start = json.indexOf(QUOTE); start >= 0; ) {
    const end = closingQuote(json, start + 1);
    if (end < 0) break; // Not JSON. The parser says so.
    if (end - start > mostBytes) {
      const digest = createHash('sha256').update(json.subarray(start, end)).digest('hex');
      parts.push(json.subarray(from, cutBefore(json, start + mostBytes, start + 1)), Buffer.from(`… ${digest}`));
      from = end;
    }
    start = json.indexOf(QUOTE, end + 1);
  }
  return parts.length === 0 ? json : Buffer.concat([...parts, json.subarray(from)]);
};

const closingQuote = (json: Buffer, from: number): number => {
  const first = json.indexOf(QUOTE, from);
  if (json[first - 1] !== BACKSLASH) return first;
  // It may be escaped. A text within the text has millions of such quotes, and each search takes time.
  for (let at = from; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === BACKSLASH) at += 1;
    else if (byte === QUOTE) return at;
  }
  return -1;
};

/** A place in a string, at or before another, that divides neither an escape sequence nor a character. */
const cutBefore = (json: Buffer, wanted: number, least: number): number => {
  let at = wanted;
  while (at > least) {
    const begun = Math.max(least, at - ESCAPE_BYTES);
    const slash = json.subarray(begun, at).lastIndexOf(BACKSLASH);
    if (slash >= 0) at = begun + slash;
    else if (isContinuation(json[at])) at -= 1;
    else return at;
  }
  return least;
};

/** Whether the byte goes on a character of UTF-8. */
const isContinuation = (byte = 0): boolean => (byte & 0xc0) === 0x80;
