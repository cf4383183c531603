import { type Command, CommanderError } from 'commander';
import type { CommandIo } from './command-io.ts';

/** How a run of a command ended. */
export interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command in this process, with a terminal of its own. For tests. */
export const runCommand = async (
  make: (io: CommandIo) => Command,
  args: readonly string[],
  columns = 120,
): Promise<Run> => {
  const seen = { code: 0, out: '', err: '' };
  const command = make({
    out: (text) => {
      seen.out += text;
    },
    err: (text) => {
      seen.err += text;
    },
    exitWith: (code) => {
      seen.code = code;
    },
    columns,
  });
  inProcess(command, (text) => {
    seen.err += text;
  });
  try {
    await command.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    seen.code = error.exitCode;
  }
  return seen;
};

/** Wrong flags throw, and do not end the process. */
const inProcess = (command: Command, writeErr: (text: string) => void): void => {
  command.exitOverride().configureOutput({ writeErr });
  for (const one of command.commands) inProcess(one, writeErr);
};
