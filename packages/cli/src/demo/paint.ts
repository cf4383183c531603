import { styleText } from 'node:util';

/** The colours of the view; they only repeat what the words say. */
export type Style = 'red' | 'yellow' | 'green' | 'cyan' | 'dim' | 'bold';

/** Puts colour on a text, or leaves it. */
export type Paint = (style: Style, text: string) => string;

/** Colour whatever the terminal is. */
export const colour: Paint = (style, text) => styleText(style, text, { validateStream: false });

/** No colour. */
export const plain: Paint = (_, text) => text;

/** A colour of the terminal, as an escape sequence or one character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what escape sequences are made of
const PIECES = /\x1b\[[\d;]*m|[\s\S]/gu;

/** The first `columns` columns of a line; colours count for nothing, and are reset where the line is cut. */
export const clip = (line: string, columns: number): string => {
  let width = 0;
  let kept = '';
  for (const [piece] of line.matchAll(PIECES)) {
    const isColour = piece.length > 1 && piece.startsWith('\x1b');
    if (!isColour && width === columns) return kept.includes('\x1b') ? `${kept}\x1b[0m` : kept;
    if (!isColour) width += 1;
    kept += piece;
  }
  return kept;
};

/** A text on lines of at most `columns` columns, broken at spaces: the first begins with `first`, the others with `rest`. */
export const wrap = (text: string, columns: number, first: string, rest: string): readonly string[] => {
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
