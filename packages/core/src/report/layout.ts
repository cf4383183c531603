import type { Sheet, Tone } from './table.ts';
import { visible, wrap } from './width.ts';

/** How a report is formatted. */
export interface TextOptions {
  /** Width of the terminal: no line is wider. Default 80. A value below 20 counts as 20, and a value that is not a number as 80. */
  readonly columns?: number | undefined;
  /** ANSI colours, for terminals only. Default false. */
  readonly colour?: boolean | undefined;
}

/** One part of a report. A part without lines is left out. */
export interface Section {
  readonly title: string;
  readonly lines: readonly string[];
}

const SGR: Readonly<Record<Tone, string>> = { bad: '31', warn: '33', good: '32', quiet: '2', strong: '1' };

export const INDENT = '  ';

const LEAST_COLUMNS = 20;
const DEFAULT_COLUMNS = 80;

/** A report must not fail if the terminal has no width. */
export const sheetOf = ({ columns = DEFAULT_COLUMNS, colour = false }: TextOptions): Sheet => ({
  width: Number.isFinite(columns) ? Math.max(LEAST_COLUMNS, Math.floor(columns)) : DEFAULT_COLUMNS,
  paint: colour ? (text, tone) => (tone === undefined ? text : `\u001b[${SGR[tone]}m${text}\u001b[0m`) : (text) => text,
});

/** The sheet for the content of a section. */
export const within = ({ width, paint }: Sheet): Sheet => ({ width: width - INDENT.length, paint });

/** A paragraph, wrapped at words. */
export const paragraph = (sheet: Sheet, text: string, tone?: Tone): readonly string[] =>
  wrap(visible(text), sheet.width).map((line) => sheet.paint(line, tone));

/** Items that begin with a mark each, `1.` or `deferred`, and are indented beneath it. */
export const marked = (
  { width, paint }: Sheet,
  items: readonly { readonly mark: string; readonly text: string; readonly tone?: Tone | undefined }[],
  gap = 1,
): readonly string[] => {
  const hang = Math.max(0, ...items.map(({ mark }) => mark.length)) + gap;
  return items.flatMap(({ mark, text, tone }) =>
    wrap(visible(text), width - hang).map((line, index) =>
      index === 0 ? `${paint(mark, tone)}${' '.repeat(hang - mark.length)}${line}` : `${' '.repeat(hang)}${line}`,
    ),
  );
};

/** Head and parts, with a blank line between them. */
export const layOutSections = (sheet: Sheet, head: readonly string[], sections: readonly Section[]): string =>
  [
    ...head,
    ...sections
      .filter(({ lines }) => lines.length > 0)
      .flatMap(({ title, lines }) => [
        '',
        ...paragraph(sheet, title, 'strong'),
        ...lines.map((line) => `${INDENT}${line}`),
      ]),
  ].join('\n');
