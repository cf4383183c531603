import type { Command } from 'commander';
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
  await command.parseAsync(args, { from: 'user' });
  return seen;
};
