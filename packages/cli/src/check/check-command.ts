import { basename } from 'node:path';
import { BreakerboxConfigError, type ConfigIssue } from '@breakerbox/core';
import { validateConfig } from '@breakerbox/core/internal';
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
  /** All faults, up to 100. Empty if the file is valid. */
  readonly errors: readonly FileFault[];
  /** How many tools the file names. Undefined if it is not valid. */
  readonly tools: number | undefined;
}

/** One fault of a file. */
export interface FileFault {
  /** Undefined if it is about the whole file. */
  readonly line: number | undefined;
  /** Undefined if only the line is known. */
  readonly column: number | undefined;
  /** The setting, such as `tools.search.cooldownMs`; or `file`. */
  readonly path: string;
  /** What is wrong, and how to fix it. */
  readonly message: string;
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
        'what all files are (default: capabilities or configuration by a name that begins with capabilities or breakerbox, else by the content)',
      ).choices(KINDS),
    )
    .option('--json', 'print one JSON document, of type CheckedFile[]', false)
    .showHelpAfterError('(see breakerbox check --help)')
    .action((files: readonly string[], flags: Flags) => run(files, flags, io));

const run = async (files: readonly string[], { as, json }: Flags, { out, err, exitWith }: CommandIo) => {
  const checked = await Promise.all(files.map((file) => check(file, as ?? namedKind(file))));
  if (json) out(documentOf(checked.map((one) => ({ ...one, errors: one.errors.map(faultOf) }))));
  else
    for (const one of checked) {
      if (one.valid) out(`${printable(one.file)}: valid, ${counted(one)}\n`);
      else err(`breakerbox check: ${faultsOf(one)}\n`);
    }
  if (checked.some(({ valid }) => !valid)) exitWith(1);
};

/** What a file is by its name; undefined if the name does not say it. */
const namedKind = (file: string): Kind | undefined => {
  const name = basename(file);
  if (name.startsWith('capabilities')) return 'capabilities';
  return name.startsWith('breakerbox') ? 'configuration' : undefined;
};

type Checked = Omit<CheckedFile, 'errors'> & { readonly errors: readonly ConfigIssue[] };

/**
 * Every sound capability map is a sound configuration too. Another file of an unknown kind is a configuration if it has a setting that no map
 * has. Otherwise it is what it has fewer faults as.
 */
const check = async (file: string, kind: Kind | undefined): Promise<Checked> => {
  if (kind !== undefined) return checkAs(file, kind);
  const [map, configuration] = await Promise.all([checkAs(file, 'capabilities'), checkAs(file, 'configuration')]);
  const isConfiguration = [...map.errors, ...configuration.errors].some((fault) => isOfSettings(faultOf(fault)));
  return map.valid || (!isConfiguration && map.errors.length < configuration.errors.length) ? map : configuration;
};

/** Whether a fault is in a setting of a configuration that a map does not have, or about such a setting. */
const isOfSettings = ({ path }: FileFault): boolean => {
  const [key = ''] = path.split(/[.[]/);
  return key !== 'tools' && isSetting(key);
};

const isSetting = (key: string): boolean => {
  try {
    validateConfig({ agent: 'agent', [key]: undefined }); // Only a key that is not known is a fault.
    return true;
  } catch {
    return false;
  }
};

const checkAs = async (file: string, kind: Kind): Promise<Checked> => {
  try {
    const tools = kind === 'capabilities' ? (await loadCapabilities(file)).tools : readConfig(file).settings.tools;
    return { file, kind, valid: true, errors: [], tools: Object.keys(tools ?? {}).length };
  } catch (error) {
    if (!(error instanceof BreakerboxConfigError)) throw error;
    return { file, kind, valid: false, errors: error.issues, tools: undefined };
  }
};

/** Errors of files have the line in front of the path, because people read them in one line. */
const faultOf = ({ path, message }: ConfigIssue): FileFault => {
  const [, line, column, rest] = /^line (\d+)(?:, column (\d+))?(?:, (.+))?$/s.exec(path) ?? [];
  if (line === undefined) return { line: undefined, column: undefined, path, message };
  return {
    line: Number(line),
    column: column === undefined ? undefined : Number(column),
    path: rest ?? 'file',
    message,
  };
};

const counted = ({ tools = 0 }: Checked): string => `${tools} ${tools === 1 ? 'tool' : 'tools'}`;

const faultsOf = ({ file, kind, errors }: Checked): string => {
  const lines = errors.map(({ path, message }) => ({ path: onOneLine(path), message: onOneLine(message) }));
  const what = kind === 'capabilities' ? 'capability file' : 'configuration file';
  return new BreakerboxConfigError(lines, `${what} '${printable(file)}'`).message;
};
