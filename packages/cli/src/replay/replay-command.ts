import { readFile } from 'node:fs/promises';
import { BreakerboxConfigError } from '@breakerbox/core';
import { Command, Option } from 'commander';
import { parse } from 'yaml';
import { type CommandIo, documentOf, processIo } from '../command-io.ts';
import { printable } from '../plain-table.ts';
import { READERS } from './readers.ts';
import { recordingPaths } from './recording-paths.ts';
import { replayFiles } from './replay.ts';
import { type ReplayReport, replayReport } from './replay-report.ts';
import { replayText } from './replay-text.ts';
import type { ReplayConfig } from './simulation.ts';
import { tallySimulation } from './simulation-tally.ts';

interface Flags {
  readonly config?: string;
  readonly format?: string;
  readonly agent?: string;
  readonly json: boolean;
  readonly allowIncomplete: boolean;
  readonly failOn?: string;
}

/** `breakerbox replay`. */
export const replayCommand = (io: CommandIo = processIo): Command =>
  new Command('replay')
    .description(
      'Replay recorded agent runs: what would have opened, which failed calls it avoids, which good calls it loses.',
    )
    .argument('<path...>', 'recordings, or folders of them')
    .option(
      '--config <file>',
      'settings of the box in YAML or JSON, as createBreakerbox() takes them; default: the defaults',
    )
    .addOption(
      new Option('--format <name>', 'the format of all files; default: recognized').choices(
        READERS.map(({ name }) => name),
      ),
    )
    .option('--agent <name>', 'only sessions of this agent; default: all')
    .option('--allow-incomplete', 'decide although calls are missing, as in sampled traces', false)
    .option(
      '--fail-on <condition>',
      'exit with 1 if it holds, such as lost>0; lost, avoided, openings, pauses, different',
    )
    .option('--json', 'print one JSON document, a ReplayReport', false)
    .showHelpAfterError('(see breakerbox replay --help)')
    .action((paths: string[], flags: Flags) => run(paths, flags, io));

const run = async (
  paths: readonly string[],
  flags: Flags,
  { out, err, exitWith, columns }: CommandIo,
): Promise<void> => {
  try {
    const fails = flags.failOn === undefined ? undefined : conditionOf(flags.failOn);
    const config = flags.config === undefined ? {} : await configOf(flags.config);
    const { observer, close } = tallySimulation(config.scope === 'process');
    const files = await recordingPaths(paths);
    const recording = await replayFiles({
      paths: files,
      format: flags.format,
      agent: flags.agent,
      simulations: [{ config, observer }],
    });
    if (recording.calls === 0)
      throw new Error(
        'There is no tool call in these files. --format names their format, --json says what was left out.',
      );
    const report = replayReport(recording, config, close(), flags.allowIncomplete);
    out(flags.json ? documentOf(report) : replayText(report, columns));
    if (fails === undefined) return;
    if (report.refused)
      throw new Error(`--fail-on ${flags.failOn} cannot be judged: calls are missing in the recording.`);
    if (fails(report)) {
      err(`breakerbox replay: ${flags.failOn} holds.\n`);
      exitWith(1);
    }
  } catch (error) {
    err(`breakerbox replay: ${explain(error)}\n`);
    exitWith(2);
  }
};

const explain = (error: unknown): string => {
  const { code, path, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT')
    return `There is no file '${printable(path ?? '')}'. Give the path of a recording or a folder.`;
  return message;
};

/** The settings in a YAML or JSON file. */
const configOf = async (path: string): Promise<ReplayConfig> => {
  const value: unknown = parse(await readFile(path, 'utf8'));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new BreakerboxConfigError(
      [{ path, message: 'is not a mapping. Give settings such as budget: { limit: 3 }.' }],
      'settings',
    );
  }
  const { agent: _agent, ...config } = value as Record<string, unknown>;
  return config as ReplayConfig;
};

const VALUES: Readonly<Record<string, (report: ReplayReport) => number>> = {
  lost: ({ decisions }) => decisions?.goodCallsLost.atMost ?? 0,
  avoided: ({ decisions }) => decisions?.failedCallsAvoided.atMost ?? 0,
  openings: ({ decisions }) => decisions?.tools.reduce((sum, { openings }) => sum + openings, 0) ?? 0,
  pauses: ({ decisions }) => decisions?.pauses.length ?? 0,
  different: ({ decisions }) => decisions?.parity?.different ?? 0,
};

/** A condition such as `lost>0`. @throws Error if it is none */
const conditionOf = (text: string): ((report: ReplayReport) => boolean) => {
  const [, name = '', sign, limit] = /^\s*(\w+)\s*([<>])\s*(\d+)\s*$/.exec(text) ?? [];
  const value = Object.hasOwn(VALUES, name) ? VALUES[name] : undefined;
  if (value === undefined || limit === undefined) {
    throw new Error(
      `--fail-on is '${text}'. Give one of ${Object.keys(VALUES).join(', ')}, then > or <, then a number, such as lost>0.`,
    );
  }
  return (report) => (sign === '>' ? value(report) > Number(limit) : value(report) < Number(limit));
};
