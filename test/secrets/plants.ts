import { createHash } from 'node:crypto';

/**
 * Secrets as a test plants them. Each has a mark of its own at its beginning, so that one which is cut is found too, and
 * characters behind it that encodings change.
 */
export interface Garden {
  /** A secret for this place: the same text each time. */
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

/** Where the application's own listener throws one: that is for the application's log, and for nobody else. */
export const OWN_FAULT = 'thrown by a listener';

/** What {@link Garden.plant} gives, for whoever only looks for it. */
export const secretOf = (place: string): string => `${markOf(place)}"\\/+= é\n`;

/** Letters and digits that stand nowhere else. */
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
  each(mark, (code) => `${Number.parseInt(code, 16)},`).slice(0, -1), // Bytes, as JSON has those of a Uint8Array.
  [...mark].reverse().join(''),
];

const each = (mark: string, write: (code: string) => string): string =>
  [...Buffer.from(mark)].map((byte) => write(byte.toString(16).padStart(2, '0'))).join('');

/** What is the same wherever in a longer text the mark begins: without the characters that share bits with neighbours. */
const base64FormsOf = (mark: string): readonly string[] =>
  [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.from('\0'.repeat(offset) + mark).toString('base64url');
    const inner = encoded.slice(offset === 0 ? 0 : 4, -4);
    return [inner, inner.replaceAll('-', '+').replaceAll('_', '/')];
  });
