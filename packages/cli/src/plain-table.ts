import Table from 'cli-table3';

/** The least width of a column. A longer word makes it wider. */
const NARROWEST = 10;
const GAP = 2;

/** No edges. By default cli-table3 draws a box around every cell. */
const EDGES = ['top', 'bottom', 'left', 'right'].flatMap((edge) => [
  edge,
  `${edge}-mid`,
  `${edge}-left`,
  `${edge}-right`,
]);
const NO_EDGES = Object.fromEntries([...EDGES, 'mid', 'mid-mid', 'middle'].map((edge) => [edge, '']));
/** A line between rows, because a row may have several lines. */
const RULED = { ...NO_EDGES, mid: '─' };

/** The lines of a table whose columns are as wide as their longest cell. Colours do not count. */
export const tableLines = (rows: readonly (readonly string[])[], ruled = false): readonly string[] => {
  const style = { head: [], border: [], 'padding-left': 0, 'padding-right': GAP };
  const made = new Table({ chars: ruled ? RULED : NO_EDGES, style });
  made.push(...rows.map((row) => [...row]));
  return made
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
};

/**
 * A table of rows with the same number of cells, in `columns` columns if their words are short enough.
 * @param ruled a line between rows; default true
 */
export const plainTable = (rows: readonly (readonly string[])[], columns: number, ruled = true): string => {
  const widths = fit(rows, columns);
  const wrapped = (cell: string, index: number): string =>
    cell
      .split('\n')
      .flatMap((line) => wrap(line, widths[index] ?? NARROWEST))
      .join('\n');
  return tableLines(
    rows.map((row) => row.map(wrapped)),
    ruled,
  ).join('\n');
};

/** Control characters of a text could move the cursor or change colours. They are shown by their number. */
export const printable = (text: string): string =>
  text.replace(/[^\P{C}\n]/gu, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`);

/** The same on one line. */
export const onOneLine = (text: string): string => printable(text).replaceAll('\n', '\\n');

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

/** A text on lines of at most `columns` columns, broken at spaces: the first begins with `first`, the others with `rest`. */
export const wrap = (text: string, columns: number, first = '', rest = ''): readonly string[] => {
  const [start = '', ...words] = text.split(' ');
  const lines: string[] = [];
  let line = first + start;
  for (const word of words) {
    if (line.length + 1 + word.length <= columns) {
      line += ` ${word}`;
    } else {
      lines.push(line);
      line = rest + word;
    }
  }
  return [...lines, line];
};
