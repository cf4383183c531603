/** Characters of a name that a model may have made up: it might make up a book. */
const LONGEST = 256;

/** Whether a name may go everywhere as it is. */
export const isShort = (name: string): boolean => name.length <= LONGEST;

/** A name for spans, events, reports and messages. Never cut in the middle of a character, which no exporter could write. */
export const shortened = (name: string, most = LONGEST): string =>
  name.length <= most ? name : `${name.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;

const MOST_NAMED = 10;

/** Names in a sentence, the first ten: a file may have thousands. */
export const someNames = (names: readonly string[]): string => {
  const some = names.slice(0, MOST_NAMED).map((name) => shortened(name, 60));
  return names.length > some.length ? `${some.join(', ')} and ${names.length - some.length} more` : some.join(', ');
};
