import { visible } from '../checks/names.ts';
import { formatDuration } from '../routing/wording.ts';

/** The lines of a report, and how it writes names, counts and times. Plain text: for logs, tickets and terminals. */

const WIDTH = 78;

/** Text on lines of at most 78 characters, broken at blanks. A longer word stays whole. Lines after the first are indented. */
export const wrapped = (text: string, indent = 0): string =>
  visible(text)
    .replace(new RegExp(`(.{1,${WIDTH - indent}})(?: +|$)`, 'g'), `$1\n${' '.repeat(indent)}`)
    .trimEnd();

/** An item that begins with a mark, such as `1.` or `deferred`. */
export const item = (mark: string, text: string): string => `  ${mark} ${wrapped(text, mark.length + 3)}`;

/** One column of a table. A column with only empty cells is left out. */
export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => string;
  readonly align?: 'right';
}

/** The rows as aligned lines, beneath their heads. Empty without rows. */
export const table = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]): readonly string[] => {
  const used = columns.flatMap(({ head, cell, align }) => {
    const texts = rows.map((row) => visible(cell(row)));
    if (texts.every((text) => text === '')) return [];
    const width = Math.max(...[head, ...texts].map(({ length }) => length));
    return [[head, ...texts].map((text) => (align === 'right' ? text.padStart(width) : text.padEnd(width)))];
  });
  return (used[0] ?? []).map((_, row) => `  ${used.map((texts) => texts[row]).join('  ')}`.trimEnd());
};

const LONGEST_NAME = 40;

/** A name for people: on one line, and short. Its end is kept, because long names of one server differ there. */
export const named = (name: string): string => {
  const characters = Array.from(name.trim() === '' ? `'${name}'` : visible(name));
  if (characters.length <= LONGEST_NAME) return characters.join('');
  return [...characters.slice(0, LONGEST_NAME - 14), '…', ...characters.slice(-13)].join('');
};

/** `a`, `a and b`, `a, b and c`; with more than four, `a, b, c and 4 more`. */
export const listed = (items: readonly string[], most = 4): string => {
  const some = items.length > most ? [...items.slice(0, most - 1), `${items.length - most + 1} more`] : items;
  return some.length < 2 ? some.join('') : `${some.slice(0, -1).join(', ')} and ${some.at(-1)}`;
};

/** `1 failure`, `3 failures`, `12,000 tokens`. */
export const counted = (count: number, noun: string): string => `${figure(count)} ${noun}${count === 1 ? '' : 's'}`;

/** `12400` as `12,400`. */
export const figure = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',');

/** `2 min`: how long something has lasted so far. */
export const lasted = (ms: number): string => (ms < 1_000 ? 'under 1 s' : formatDuration(ms));

/** `2 min ago`. */
export const ago = (ms: number): string => (ms < 1_000 ? 'just now' : `${formatDuration(ms)} ago`);

/** `2026-11-20 21:14:03`. There is no date beyond the year 275760, and a report must not fail because of it. */
export const utc = (unixMs: number): string => {
  const date = new Date(unixMs);
  return Number.isNaN(date.getTime()) ? 'unknown time' : date.toISOString().replace('T', ' ').slice(0, 19);
};
