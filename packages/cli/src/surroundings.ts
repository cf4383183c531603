/** What a command needs of the process that it runs in. */
export interface Surroundings {
  out(text: string): void;
  err(text: string): void;
  /** The process is to end with this code. */
  exitWith(code: number): void;
  /** How wide the terminal is. */
  readonly columns: number;
}

/** Where output goes to no terminal: what fits beside other windows. */
const DEFAULT_COLUMNS = 120;

export const ofThisProcess: Surroundings = {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  exitWith: (code) => {
    process.exitCode = code;
  },
  columns: process.stdout.columns ?? DEFAULT_COLUMNS,
};

/** One JSON document, as `--json` prints it. */
export const documentOf = (report: unknown): string => `${JSON.stringify(report, null, 2)}\n`;
