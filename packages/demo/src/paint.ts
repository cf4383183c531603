import { styleText } from 'node:util';

/** The colours of the view. They only repeat what the words say. */
export type Style = 'red' | 'yellow' | 'green' | 'cyan' | 'dim' | 'bold';

/** Colours a text, or returns it unchanged. */
export type Paint = (style: Style, text: string) => string;

/** Colours a text on any terminal. */
export const colour: Paint = (style, text) => styleText(style, text, { validateStream: false });

/** No colour. */
export const plain: Paint = (_, text) => text;

/** A colour of the terminal, as an escape sequence or one character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are made of these
const PIECES = /\x1b\[[\d;]*m|[\s\S]/gu;

/** The first `columns` columns of a line. Colours do not count, and are reset at the cut. */
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
