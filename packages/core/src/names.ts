/** Characters of a name that a model may have made up: it might make up a book. */
const LONGEST = 256;

/** Halves of characters. UTF-8 has one sign for all of them, so names that differ by one would be one series, told twice. */
const HALVES = /\p{Surrogate}/gu;

/** A name for metrics, spans, events, reports and messages. Never cut in the middle of a character. */
export const shortened = (name: string, most = LONGEST): string =>
  (name.length <= most ? name : `${name.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`).replace(
    HALVES,
    '\ufffd',
  );

/** Whether a name may go everywhere as it is. */
export const isShort = (name: string): boolean => shortened(name) === name;

const MOST_NAMED = 10;

/** Names in a sentence, the first ten: a file may have thousands. */
export const someNames = (names: readonly string[]): string => {
  const some = names.slice(0, MOST_NAMED).map((name) => shortened(name, 60));
  return names.length > some.length ? `${some.join(', ')} and ${names.length - some.length} more` : some.join(', ');
};
