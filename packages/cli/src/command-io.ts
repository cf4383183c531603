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

export const processIo: CommandIo = {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  exitWith: (code) => {
    process.exitCode = code;
  },
  columns: process.stdout.columns ?? DEFAULT_COLUMNS,
};

/** One JSON document, as `--json` prints it. */
export const documentOf = (report: unknown): string => `${JSON.stringify(report, null, 2)}\n`;
