/*
 * Regular expressions of PromQL are RE2's. This accepts the expressions that JavaScript reads in the same way, so a mistake is found
 * before it is in hundreds of queries. Some expressions that only RE2 knows, such as [[:alpha:]], are rejected too.
 */

const MOST_REPEATS = 1000;

/** What the two read differently, with the reason for the user. An escaped backslash and an escaped bracket do not count. */
const DIFFERENT: readonly (readonly [RegExp, string])[] = [
  [/\(\?<?[=!]/, 'has a lookahead or lookbehind, which Prometheus does not support. Use =~ and !~ together instead'],
  [/\(\?</, 'names a group with (?<name>, which older Prometheus versions reject. Write (?P<name> or just ('],
  [/\\[1-9k]/, 'has a backreference, which Prometheus does not support'],
  [/\\[cu]/, 'has an escape \\c or \\u, which Prometheus does not support. Write the character itself'],
  [/\[\^?\]/, 'is invalid: [ is never closed. A ] directly after [ is a character in Prometheus. Write it as \\]'],
  [
    /\\[pP]\{(?![LMNPSZC][a-z]?\})/,
    'has a class \\p{…} that is not a general category. Use a general category, such as \\p{Lu}',
  ],
];

/** What is wrong with a regular expression of PromQL; undefined if it is valid. */
export const regexFault = (expression: string): string | undefined => {
  const bare = expression.replaceAll(/\\[\\([\]]/g, '_');
  const different = DIFFERENT.find(([pattern]) => pattern.test(bare));
  if (different !== undefined) return different[1];
  const repeats = [...bare.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].map(([, least, most]) => Number(most || least));
  // Prometheus multiplies nested repeats.
  const all = bare.includes('){') ? repeats.reduce((product, times) => product * times, 1) : Math.max(0, ...repeats);
  if (all > MOST_REPEATS)
    return `repeats a part more than ${MOST_REPEATS} times, which Prometheus rejects. Use a smaller number, + or *`;
  try {
    // JavaScript writes these two in another way: flags at the start, and names of groups.
    new RegExp(expression.replace(/^\(\?[ims]+\)/, '').replaceAll('(?P<', '(?<'), 'u');
    return undefined;
  } catch (error) {
    return `is invalid: ${error instanceof Error ? error.message.replace(/^.*\/u: /s, '') : String(error)}`;
  }
};
