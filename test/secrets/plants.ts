import { createHash } from 'node:crypto';

/**
 * Secrets that a test plants. Each starts with a mark of its own, so that the search finds truncated ones too. After the mark there are
 * characters that encodings change.
 */
export interface Garden {
  /** The secret of a place. It is always the same. */
  plant(place: string): string;
  /** Where secrets were planted. */
  places(): readonly string[];
}

export const createGarden = (): Garden => {
  const used = new Set<string>();
  return {
    plant: (place) => {
      used.add(place);
      return secretOf(place);
    },
    places: () => [...used],
  };
};

/** The place where the application's own listener throws one. That text is only for the application's log. */
export const OWN_FAULT = 'thrown by a listener';

/** The result of {@link Garden.plant}, for code that only searches. */
export const secretOf = (place: string): string => `${markOf(place)}"\\/+= é\n`;

/** Letters and digits that are in no other text. */
const markOf = (place: string): string => `sk${createHash('sha256').update(place).digest('hex').slice(0, 22)}`;

/** The places whose secrets are in a text, plain or encoded: base64 at any offset, hex, URL, JSON and HTML escapes, UTF-16. */
export const secretsIn = (text: string, places: readonly string[]): readonly string[] => {
  const lower = text.toLowerCase();
  return places.filter((place) => {
    const mark = markOf(place);
    return formsOf(mark).some((form) => text.includes(form)) || lower.includes(mark);
  });
};

const formsOf = (mark: string): readonly string[] => [
  mark,
  ...base64FormsOf(mark),
  Buffer.from(mark).toString('hex'),
  Buffer.from(mark).toString('hex').toUpperCase(),
  Buffer.from(mark, 'utf16le').toString('latin1'),
  each(mark, (code) => `%${code}`),
  each(mark, (code) => `\\u00${code}`),
  each(mark, (code) => `\\x${code}`),
  each(mark, (code) => `&#x${code};`),
  each(mark, (code) => `${Number.parseInt(code, 16)},`).slice(0, -1), // Bytes, as JSON writes a Uint8Array.
  [...mark].reverse().join(''),
];

const each = (mark: string, write: (code: string) => string): string =>
  [...Buffer.from(mark)].map((byte) => write(byte.toString(16).padStart(2, '0'))).join('');

/** The part of an encoded mark that does not depend on its position: without the characters that share bits with neighbours. */
const base64FormsOf = (mark: string): readonly string[] =>
  [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.from('\0'.repeat(offset) + mark).toString('base64url');
    const inner = encoded.slice(offset === 0 ? 0 : 4, -4);
    return [inner, inner.replaceAll('-', '+').replaceAll('_', '/')];
  });
