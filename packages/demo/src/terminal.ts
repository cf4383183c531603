import type { WriteStream } from 'node:tty';

/** A screen that is drawn again and again in one place. */
export interface Screen {
  draw(lines: readonly string[]): void;
  /** Restores the terminal. A second call does nothing. */
  restore(): void;
}

const ALTERNATE = '\x1b[?1049h';
const MAIN = '\x1b[?1049l';
const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';
const HOME = '\x1b[H';
const REST_OF_LINE = '\x1b[K';
const REST_OF_SCREEN = '\x1b[J';

/** Uses the terminal's second screen, so that its earlier content is visible again at the end. */
export const openScreen = (terminal: WriteStream): Screen => {
  let open = true;
  terminal.write(ALTERNATE + HIDE_CURSOR);
  return {
    draw: (lines) => {
      if (open) terminal.write(HOME + lines.map((line) => line + REST_OF_LINE).join('\r\n') + REST_OF_SCREEN);
    },
    restore: () => {
      if (!open) return;
      open = false;
      terminal.write(SHOW_CURSOR + MAIN);
    },
  };
};
