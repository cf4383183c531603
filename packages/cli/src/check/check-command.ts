import { basename } from 'node:path';
import { BreakerboxConfigError, type ConfigIssue } from '@breakerbox/core';
import { loadCapabilities } from '@breakerbox/instrumentation/capabilities';
import { readConfig } from '@breakerbox/instrumentation/config';
import { Command, Option } from 'commander';
import { type CommandIo, documentOf, processIo } from '../command-io.ts';
import { onOneLine, printable } from '../plain-table.ts';

const KINDS = ['configuration', 'capabilities'] as const;

type Kind = (typeof KINDS)[number];

/** What `breakerbox check --json` prints: an array with one of these for each file. */
export interface CheckedFile {
  /** The path, as given. */
  readonly file: string;
  readonly kind: Kind;
  readonly valid: boolean;
  /** All faults, up to 100, each with its line and its place in the file. Empty if the file is valid. */
  readonly errors: readonly ConfigIssue[];
  /** How many tools the file names. Undefined if it is not valid. */
  readonly tools: number | undefined;
}

interface Flags {
  readonly as?: Kind;
  readonly json: boolean;
}

/** `breakerbox check`. */
export const checkCommand = (io: CommandIo = processIo): Command =>
  new Command('check')
    .description(
      'Check configuration files such as breakerbox.yaml, and capability maps. Exits with 1 if one is not valid.',
    )
    .argument('<file...>', '.yaml, .yml or .json files')
    .addOption(
      new Option(
        '--as <kind>',
        'what all files are (default: capabilities if the name begins with that, else configuration)',
      ).choices(KINDS),
    )
    .option('--json', 'print one JSON document, of type CheckedFile[]', false)
    .showHelpAfterError('(see breakerbox check --help)')
    .action((files: readonly string[], flags: Flags) => run(files, flags, io));

const run = async (files: readonly string[], { as, json }: Flags, { out, err, exitWith }: CommandIo) => {
  const checked = await Promise.all(files.map((file) => check(file, as ?? kindOf(file))));
  if (json) out(documentOf(checked));
  else
    for (const one of checked) {
      if (one.valid) out(`${printable(one.file)}: valid, ${counted(one)}\n`);
      else err(`breakerbox check: ${faultsOf(one)}\n`);
    }
  if (checked.some(({ valid }) => !valid)) exitWith(1);
};

const kindOf = (file: string): Kind => (basename(file).startsWith('capabilities') ? 'capabilities' : 'configuration');

const check = async (file: string, kind: Kind): Promise<CheckedFile> => {
  try {
    const tools = kind === 'capabilities' ? (await loadCapabilities(file)).tools : readConfig(file).settings.tools;
    return { file, kind, valid: true, errors: [], tools: Object.keys(tools ?? {}).length };
  } catch (error) {
    if (!(error instanceof BreakerboxConfigError)) throw error;
    return { file, kind, valid: false, errors: error.issues, tools: undefined };
  }
};

const counted = ({ tools = 0 }: CheckedFile): string => `${tools} ${tools === 1 ? 'tool' : 'tools'}`;

const faultsOf = ({ file, kind, errors }: CheckedFile): string => {
  const lines = errors.map(({ path, message }) => ({ path: onOneLine(path), message: onOneLine(message) }));
  const what = kind === 'capabilities' ? 'capability file' : 'configuration file';
  return new BreakerboxConfigError(lines, `${what} '${printable(file)}'`).message;
};
