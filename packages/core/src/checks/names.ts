import { GROUP_PREFIX, MODEL_PREFIX } from '../telemetry/semconv.ts';

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

/** Controls, letters that nothing shows, halves of characters and line separators. The last two are symbols that are drawn blank. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]/gu;

/** Parts of emoji: the joiner, and the selectors of their look. */
const EMOJI_PARTS = ['\u200d', '\ufe0e', '\ufe0f'];

/** Whether nothing of a name can be seen. */
export const isBlank = (name: string): boolean => name.replace(UNSAFE, '').trim() === '';

const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Makes invisible characters visible: a newline becomes `\n`, the escape character `\x1b`. */
export const visible = (text: string): string => text.replace(UNSAFE, escaped);

/** Of the same, those that JSON's own escapes leave as they are. Without the line breaks between its values. */
const UNSAFE_IN_JSON = /[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]/gu;

/**
 * JSON that is safe in a terminal and in a log: C1 controls, bidi overrides and invisible characters are escaped, and what reads the JSON
 * gets them back.
 */
export const safeJson = (value: unknown, indent?: number): string =>
  (JSON.stringify(value, undefined, indent) ?? 'null').replace(UNSAFE_IN_JSON, (character) =>
    [...Array(character.length).keys()]
      .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
      .join(''),
  );

const escaped = (character: string): string => {
  if (EMOJI_PARTS.includes(character)) return character;
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  if (hex.length > 4) return `\\u{${hex}}`;
  return SHORT_ESCAPES[character] ?? (hex.length > 2 ? `\\u${hex.padStart(4, '0')}` : `\\x${hex.padStart(2, '0')}`);
};

/** Names of settings are shorter. A key of a file may be very long. */
const LONGEST_SETTING = 60;

/** Number of letters to insert, delete or change to turn one string into the other. */
const distance = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (const [column, against] of [...other].entries()) {
      const changed = (row[column] ?? 0) + (letter === against ? 0 : 1);
      next.push(Math.min(changed, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
};

const ranked = (written: string, names: readonly string[]) => {
  const text = written.slice(0, LONGEST_SETTING).toLowerCase();
  return names
    .map((name) => ({ name, faults: distance(text, name.toLowerCase()) }))
    .toSorted((a, b) => a.faults - b.faults);
};

/** The existing names, with the one that was probably meant first. */
export const nearestFirst = (written: string, names: readonly string[]): readonly string[] =>
  ranked(written, names).map(({ name }) => name);

/** The name that was probably meant, if two of three letters match. */
export const meant = (written: string, names: readonly string[]): string | undefined => {
  const [first] = ranked(written, names);
  return first !== undefined && first.faults <= first.name.length / 3 ? first.name : undefined;
};

const compact = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/** Whether one name is the other with a server or module before it, as in `mcp__github__search` and `github.search`. */
const isQualified = (long: string, short: string): boolean =>
  long.endsWith(short) && /(?:__|[.:/])$/.test(long.slice(0, -short.length));

/**
 * Whether one name is surely the other, written differently: other capitals and separators, a prefix, or one letter wrong, missing
 * or swapped with the next in a word of five or more. Names of different tools are often as close as `read_file` and `read_files`,
 * `get_user` and `set_user`, `search_v1` and `search_v2`: these are not slips.
 */
export const isSlip = (one: string, other: string): boolean => {
  if (one.length > LONGEST_SETTING || other.length > LONGEST_SETTING || one === other) return false;
  if (compact(one) === compact(other) && compact(one) !== '') return true;
  if (isQualified(one, other) || isQualified(other, one)) return true;
  const most = Math.min(one.length, other.length);
  let start = 0;
  while (start < most && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < most - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  const [left, right] = [one.slice(start, one.length - end), other.slice(start, other.length - end)];
  const isChanged = left.length <= 1 && right.length <= 1;
  const isSwapped = left.length === 2 && right === `${left[1]}${left[0]}`;
  if (!(isChanged || isSwapped) || !/^\p{Ll}*$/u.test(left + right)) return false;
  const before = /\p{Ll}+$/u.exec(one.slice(0, start))?.[0] ?? '';
  const behind = /^\p{Ll}+/u.exec(one.slice(one.length - end))?.[0] ?? '';
  return before !== '' && behind !== '' && before.length + behind.length >= 4;
};

/** The name of a group as an adapter gives it. The name of an MCP server may be very long, or empty. */
export const groupHint = (group: string): string => shortened(group.trim() || 'unnamed', 240);

/** The prefix of a name that no tool may have, because the circuits of groups or models have it. */
export const reservedPrefix = (name: unknown): string | undefined =>
  typeof name === 'string' ? [GROUP_PREFIX, MODEL_PREFIX].find((prefix) => name.startsWith(prefix)) : undefined;

/** Whether it is the circuit of a model, or of a provider. A box has those in any scope (L2). */
export const isModelCircuit = (name: string): boolean =>
  name.startsWith(MODEL_PREFIX) || name.startsWith(`${GROUP_PREFIX}${MODEL_PREFIX}`);

/** Whose prefix it is. Follows 'names that begin with'. */
export const whyReserved = (prefix: string): string =>
  prefix === GROUP_PREFIX
    ? `'${prefix}' are reserved for the circuits of groups.`
    : `'${prefix}' are reserved for the circuits of models, whose settings are in models.`;
