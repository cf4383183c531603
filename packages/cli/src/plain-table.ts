import Table from 'cli-table3';
import { NO_EDGES } from './table-edges.ts';

/** The least width of a column. A longer word makes it wider. */
const NARROWEST = 10;
const GAP = 2;

/** A line between rows, because a row may have several lines. There is no other edge. */
const RULED = { ...NO_EDGES, mid: '─' };

/**
 * A table of rows with the same number of cells, in `columns` columns if their words are short enough.
 * @param ruled a line between rows; default true
 */
export const plainTable = (rows: readonly (readonly string[])[], columns: number, ruled = true): string => {
  const widths = fit(rows, columns);
  const chars = ruled ? RULED : NO_EDGES;
  const made = new Table({ chars, style: { head: [], border: [], 'padding-left': 0, 'padding-right': GAP } });
  made.push(...rows.map((row) => row.map((cell, index) => wrap(cell, widths[index] ?? NARROWEST))));
  return made
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
};

/** Control characters of a text could move the cursor or change colours. They are shown by their number. */
export const printable = (text: string): string =>
  text.replace(/[^\P{C}\n]/gu, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`);

/** Widths of the columns: as wide as the longest line, and then the widest is narrowed until all fit. */
const fit = (rows: readonly (readonly string[])[], columns: number): readonly number[] => {
  const widths = (rows[0] ?? []).map((_, index) =>
    Math.max(NARROWEST, ...rows.flatMap((row) => (row[index] ?? '').split('\n').map((line) => line.length))),
  );
  const room = columns - GAP * widths.length;
  for (let excess = widths.reduce((sum, width) => sum + width, -room); excess > 0; excess -= 1) {
    const widest = widths.indexOf(Math.max(...widths));
    const width = widths[widest] ?? NARROWEST;
    if (width <= NARROWEST) break;
    widths[widest] = width - 1;
  }
  return widths;
};

const wrap = (text: string, width: number): string =>
  text
    .split('\n')
    .flatMap((line) => wrapLine(line, width))
    .join('\n');

const wrapLine = (line: string, width: number): readonly string[] => {
  const lines: string[] = [];
  let last = '';
  for (const word of line.split(' ')) {
    if (last !== '' && last.length + 1 + word.length > width) {
      lines.push(last);
      last = word;
    } else last = last === '' ? word : `${last} ${word}`;
  }
  return [...lines, last];
};
