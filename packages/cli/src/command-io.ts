import { safeJson, visible } from '@breakerbox/core/internal';

/** The parts of its process that a command needs. */
export interface CommandIo {
  out(text: string): void;
  err(text: string): void;
  /** Sets the exit code of the process. */
  exitWith(code: number): void;
  /** How wide the terminal is. */
  readonly columns: number;
}

/** Columns if the output does not go to a terminal. */
const DEFAULT_COLUMNS = 120;

/** Names and texts of agents and tools could move the cursor, or reorder what is read. Commands print no colours. */
export const terminalSafe = (text: string): string => text.replace(/[^\n\t]+/g, visible);

export const processIo: CommandIo = {
  out: (text) => process.stdout.write(terminalSafe(text)),
  err: (text) => process.stderr.write(terminalSafe(text)),
  exitWith: (code) => {
    process.exitCode = code;
  },
  columns: process.stdout.columns ?? DEFAULT_COLUMNS,
};

/** One JSON document, as `--json` prints it. */
export const documentOf = (report: unknown): string => `${safeJson(report, 2)}\n`;
