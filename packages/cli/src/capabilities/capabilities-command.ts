import { type Alternative, BreakerboxConfigError, type Capability, type ConfigIssue } from '@breakerbox/core';
import type { CapabilityMap } from '@breakerbox/core/scope';
import { loadCapabilities } from '@breakerbox/instrumentation/capabilities';
import { Command } from 'commander';
import { type CommandIo, documentOf, processIo } from '../command-io.ts';
import { onOneLine, plainTable, printable } from '../plain-table.ts';

/** What `breakerbox capabilities --json` prints. */
export type CapabilityReport = SoundMap | FaultyMap;

/** The file is valid. */
export interface SoundMap {
  /** The path, as given. */
  readonly file: string;
  readonly valid: true;
  /** By name, in the order of the file. */
  readonly tools: CapabilityMap['tools'];
  /** Tools with neither an alternative nor a fallback. */
  readonly warnings: readonly ConfigIssue[];
}

/** The file is not valid. */
export interface FaultyMap {
  readonly file: string;
  readonly valid: false;
  /** All faults, each with its place in the file. */
  readonly errors: readonly ConfigIssue[];
}

interface Flags {
  readonly json: boolean;
  readonly strict: boolean;
}

/** `breakerbox capabilities`. */
export const capabilitiesCommand = (io: CommandIo = processIo): Command =>
  new Command('capabilities')
    .description('Check a capability map, and show what each tool provides and which alternative replaces it.')
    .argument('<file>', 'a .yaml, .yml or .json file')
    .option('--json', 'print one JSON document, of type CapabilityReport', false)
    .option('--strict', 'exit with 1 if there are warnings', false)
    .showHelpAfterError('(see breakerbox capabilities --help)')
    .action((file: string, flags: Flags) => run(file, flags, io));

const run = async (file: string, { json, strict }: Flags, { out, err, exitWith, columns }: CommandIo) => {
  try {
    const { tools, warnings } = await loadCapabilities(file);
    const report: SoundMap = { file, valid: true, tools, warnings };
    out(json ? documentOf(report) : render(report, columns));
    if (strict && warnings.length > 0) exitWith(1);
  } catch (error) {
    if (!(error instanceof BreakerboxConfigError)) throw error;
    const { issues: errors } = error;
    if (json) out(documentOf({ file, valid: false, errors } satisfies FaultyMap));
    else {
      const lines = errors.map(({ path, message }) => ({ path: onOneLine(path), message: onOneLine(message) }));
      const { message } = new BreakerboxConfigError(lines, `capability file '${printable(file)}'`);
      err(`breakerbox capabilities: ${message}\n`);
    }
    exitWith(1);
  }
};

const HEAD = ['tool', 'provides', 'alternatives', 'fallback', 'depends on'] as const;

/** The map as a table, in `columns` columns if its words are short enough, and its warnings. */
const render = ({ file, tools, warnings }: SoundMap, columns: number): string => {
  const rows = Object.entries(tools).map(rowOf);
  return [
    `${printable(file)}: ${counted(rows.length, 'tool')}`,
    ...(rows.length === 0 ? [] : ['', plainTable([HEAD, ...rows], columns)]),
    ...(warnings.length === 0 ? [] : ['', counted(warnings.length, 'warning')]),
    ...warnings.map(({ path, message }) => `  ${onOneLine(path)}: ${onOneLine(message)}`),
    '',
  ].join('\n');
};

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const rowOf = ([tool, { provides, alternatives = [], fallback, dependsOn = [] }]: [string, Capability]) =>
  [
    tool,
    provides ?? '-',
    alternatives.map(describe).join('\n') || '-',
    fallback ?? '-',
    dependsOn.join(', ') || '-',
  ].map(printable);

const describe = ({ tool, degradation = 'unknown', note }: Alternative): string =>
  `${tool} (${degradation})${note === undefined ? '' : `: ${note}`}`;
