/**
 * The width of a string on a terminal, and how to make it fit. Tool names come from servers and models, so characters that would
 * move the cursor, reverse the text or colour it are made visible first.
 */

/** Controls, invisible formatting, halves of characters and line separators. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const ZERO_WIDTH_JOINER = '\u200d'; // Joins emoji of several parts.

const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Makes invisible characters visible: a newline becomes `\n`, the escape character `\x1b`. */
export const visible = (text: string): string => text.replace(UNSAFE, escaped);

const escaped = (character: string): string => {
  if (character === ZERO_WIDTH_JOINER) return character;
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  if (hex.length > 4) return `\\u{${hex}}`;
  return SHORT_ESCAPES[character] ?? (hex.length > 2 ? `\\u${hex.padStart(4, '0')}` : `\\x${hex.padStart(2, '0')}`);
};

const PLAIN = /^[\x20-\x7e]*$/;

const MARK = /^[\p{Mn}\p{Me}\u200d]+$/u;

const WIDE = new RegExp(
  '[\\u1100-\\u115f\\u2e80-\\u303e\\u3041-\\ua4cf\\uac00-\\ud7a3\\uf900-\\ufaff\\ufe30-\\ufe6f\\uff00-\\uff60\\uffe0-\\uffe6' +
    '\\u{20000}-\\u{3fffd}\\ufe0f\\p{Emoji_Presentation}]',
  'u',
);

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The characters as a reader counts them. */
const characters = (text: string): string[] =>
  PLAIN.test(text) ? [...text] : Array.from(segmenter.segment(text), ({ segment }) => segment);

const columnsOf = (character: string): number => {
  if (MARK.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
};

/** Columns that a text takes: East Asian wide characters and emoji take two. */
export const widthOf = (text: string): number =>
  PLAIN.test(text) ? text.length : characters(text).reduce((sum, one) => sum + columnsOf(one), 0);

/** How many of the characters, first to last, fit in `width` columns. */
const fitting = (all: readonly string[], width: number): number => {
  let used = 0;
  const over = all.findIndex((one) => {
    used += columnsOf(one);
    return used > width;
  });
  return over === -1 ? all.length : over;
};

/** Cuts a string to a width with … inside, because long names of one server differ at the end. */
export const cut = (text: string, width: number): string => {
  if (widthOf(text) <= width) return text;
  if (width < 1) return '';
  const all = characters(text);
  const tail = Math.floor((width - 1) / 3);
  const head = all.slice(0, fitting(all, width - 1 - tail));
  const end = all.slice(all.length - fitting(all.toReversed(), tail));
  return [...head, '…', ...end].join('');
};

/** Breaks a text on words into lines of at most `width` columns; lines after the first begin with `indent` blanks. */
export const wrap = (text: string, width: number, indent = 0): string[] => {
  const lines: string[] = [];
  let line = '';
  let used = 0;
  for (const word of text.split(/ +/).flatMap((one) => pieces(one, Math.max(1, width - indent)))) {
    const room = lines.length === 0 ? width : width - indent;
    const own = widthOf(word);
    if (line !== '' && used + 1 + own > room) {
      lines.push(line);
      line = word;
      used = own;
    } else {
      used += line === '' ? own : own + 1;
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  lines.push(line);
  return lines.map((one, index) => (index === 0 ? one : `${' '.repeat(indent)}${one}`));
};

/** Splits a word that is too long for a line, after `_`, `-`, `.`, `/` or `:` if that is not too early. */
const pieces = (word: string, width: number): string[] => {
  if (widthOf(word) <= width) return [word];
  const parts: string[] = [];
  let rest = characters(word);
  while (rest.length > 0) {
    const most = Math.max(1, fitting(rest, width));
    const joint = rest.slice(0, most).findLastIndex((one) => JOINTS.includes(one)) + 1;
    const end = most < rest.length && joint > most / 3 ? joint : most;
    parts.push(rest.slice(0, end).join(''));
    rest = rest.slice(end);
  }
  return parts;
};

const JOINTS: readonly string[] = ['_', '-', '.', '/', ':'];
