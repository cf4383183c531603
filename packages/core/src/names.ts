/** Most characters of a name, because a model may make up a very long one. */
const LONGEST = 256;

/**
 * Halves of characters. UTF-8 has one replacement for all of them, so two names that differ only by one would give the same series
 * twice.
 */
const HALVES = /\p{Surrogate}/gu;

/** A name for metrics, spans, events, reports and messages. Never cut in the middle of a character. */
export const shortened = (name: string, most = LONGEST): string =>
  (name.length <= most ? name : `${name.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`).replace(
    HALVES,
    '\ufffd',
  );

/** Whether a name can be exported unchanged. */
export const isShort = (name: string): boolean => shortened(name) === name;

const MOST_NAMED = 10;

/** The first ten names, for a sentence: a file may have thousands. */
export const someNames = (names: readonly string[]): string => {
  const some = names.slice(0, MOST_NAMED).map((name) => shortened(name, 60));
  return names.length > some.length ? `${some.join(', ')} and ${names.length - some.length} more` : some.join(', ');
};
