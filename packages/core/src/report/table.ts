import { cut, visible, widthOf, wrap } from './width.ts';

/** The colour of a cell. */
export type Tone = 'bad' | 'warn' | 'good' | 'quiet' | 'strong';

/** Colours a string; returns it unchanged without colour. */
export type Paint = (text: string, tone: Tone | undefined) => string;

/** The page that a report is written on. */
export interface Sheet {
  /** Largest width of a line. */
  readonly width: number;
  readonly paint: Paint;
}

/** One column of a table. */
export interface Column<Row> {
  readonly head: string;
  /** The cell's text; '' for an empty cell. A column with only empty cells is left out. */
  readonly cell: (row: Row) => string;
  readonly align?: 'right';
  /** The least width that it may be folded to. Without it, the column is not folded. */
  readonly least?: number;
  readonly tone?: (row: Row) => Tone | undefined;
}

/** A column with its cells and its width. */
interface Laid<Row> {
  readonly column: Column<Row>;
  readonly texts: readonly string[];
  width: number;
}

const GAP = '  ';

/** Longer cells would take too many lines. */
const LONGEST_CELL = 60;

/** The rows as aligned lines, none wider than `width`. As a list of sentences if columns do not fit. */
export const table = <Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { width, paint }: Sheet,
): string[] => {
  const laid = columns.map((column) => layOut(column, rows)).filter(({ texts }) => texts.some((text) => text !== ''));
  if (laid.length === 0) return [];
  if (!fit(laid, width)) return rows.flatMap((_, index) => wrap(inWords(laid, index), width, 2));
  return [
    ...lines(
      laid.map((one) => ({ ...one, text: one.column.head, tone: 'quiet' })),
      paint,
    ),
    ...rows.flatMap((row, index) =>
      lines(
        laid.map((one) => ({ ...one, text: one.texts[index] ?? '', tone: one.column.tone?.(row) })),
        paint,
      ),
    ),
  ];
};

const layOut = <Row>(column: Column<Row>, rows: readonly Row[]): Laid<Row> => {
  const texts = rows.map((row) => cut(visible(column.cell(row)), LONGEST_CELL));
  return { column, texts, width: Math.max(...[column.head, ...texts].map(widthOf)) };
};

/** Narrows foldable columns, the widest first, until all fit. */
const fit = <Row>(laid: readonly Laid<Row>[], width: number): boolean => {
  let over = laid.reduce((sum, one) => sum + one.width, 0) + GAP.length * (laid.length - 1) - width;
  while (over > 0) {
    const slack = laid.filter((one) => one.width > (one.column.least ?? one.width));
    const [widest] = slack.toSorted((a, b) => b.width - a.width);
    if (widest === undefined) return false;
    widest.width -= 1;
    over -= 1;
  }
  return true;
};

/** A cell in its place. */
interface Cell<Row> extends Laid<Row> {
  readonly text: string;
  readonly tone: Tone | undefined;
}

/** One row: more than one line where a cell is folded. */
const lines = <Row>(cells: readonly Cell<Row>[], paint: Paint): string[] => {
  const folded = cells.map(({ text, width }) => wrap(text, width));
  const height = Math.max(...folded.map(({ length }) => length));
  return Array.from({ length: height }, (_, at) => {
    const row = cells.map((cell, index) => align(cell, folded[index]?.[at] ?? '', paint));
    while (row.at(-1)?.trim() === '') row.pop(); // No blanks at the end of a line.
    const last = row.length - 1;
    return row.map((text, index) => (index === last ? text.trimEnd() : text)).join(GAP);
  });
};

const align = <Row>({ column, width, tone }: Cell<Row>, text: string, paint: Paint): string => {
  const blanks = ' '.repeat(width - widthOf(text));
  const shown = text === '' ? '' : paint(text, tone);
  return column.align === 'right' ? blanks + shown : shown + blanks;
};

/** `web_search: state open, cause timeout`. */
const inWords = <Row>(laid: readonly Laid<Row>[], index: number): string => {
  const [name, ...rest] = laid.map(({ column, texts }) => ({ head: column.head, text: texts[index] ?? '' }));
  const known = rest.filter(({ text }) => text !== '').map(({ head, text }) => `${head} ${text}`);
  return known.length === 0 ? (name?.text ?? '') : `${name?.text ?? ''}: ${known.join(', ')}`;
};
