import { stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { type FileSettings, loadConfig } from '@breakerbox/instrumentation/config';
import { Command, type ErrorOptions, Option } from 'commander';
import { type CommandIo, documentOf, processIo } from '../command-io.ts';
import { printable } from '../plain-table.ts';
import { gridOf } from './grid.ts';
import { collectModelCalls } from './model-replay.ts';
import { READERS } from './readers.ts';
import type { RecordedModelCall } from './recording.ts';
import { headOf } from './recording-file.ts';
import { recordingPaths } from './recording-paths.ts';
import { type Recording, replayFiles } from './replay.ts';
import { replayPage } from './replay-page.ts';
import { modelsReport, type ReplayReport, replayReport } from './replay-report.ts';
import { faultLines, replayText } from './replay-text.ts';
import { keepTimelines, type SessionTimeline } from './session-timelines.ts';
import { tallySimulation } from './simulation-tally.ts';
import { collectTexts } from './unjudged-texts.ts';

interface Flags {
  readonly config?: string;
  readonly format?: string;
  readonly agent?: string;
  readonly json: boolean;
  readonly html?: string;
  readonly grid: boolean;
  readonly show: boolean;
  readonly allowIncomplete: boolean;
  readonly failOn?: string;
}

/** The exit code 1 says that the condition of `--fail-on` is true, so wrong usage has another one. */
class ReplayCommand extends Command {
  override error(message: string, options?: ErrorOptions): never {
    return super.error(message, { ...options, exitCode: 2 });
  }
}

/** `breakerbox replay`. */
export const replayCommand = (io: CommandIo = processIo): Command =>
  new ReplayCommand('replay')
    .description(
      'Replay recorded agent runs: which circuits would open, which failed calls that avoids, and which good calls are lost.',
    )
    .argument('<path...>', 'recordings, or folders of them')
    .option(
      '--config <file>',
      'settings of the box in YAML or JSON, as createBreakerbox() takes them; without it: the default settings',
    )
    .addOption(
      new Option('--format <name>', 'the format of all files; default: recognized for each file').choices(
        READERS.map(({ name }) => name),
      ),
    )
    .option('--agent <name>', 'only sessions of this agent; default: all')
    .option('--allow-incomplete', 'replay even if calls are missing, as in sampled traces', false)
    .option('--grid', 'try other thresholds and cooldowns, and recommend one if the recording supports it', false)
    .option('--html <file>', 'write the report as one HTML page, with a timeline for each session')
    .option('--show', 'list the texts of errors that could not be classified; they may contain private data', false)
    .option(
      '--fail-on <condition>',
      'exit with 1 if the condition is true, such as lost>0. Values: lost, avoided, openings, pauses, limits, different',
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
    if (flags.html !== undefined) await checkPage(flags.html);
    keepSmall();
    const { report, timelines } = await replayed(paths, flags);
    out(flags.json ? documentOf(report) : replayText(report, columns));
    if (flags.html !== undefined) await writeFile(flags.html, replayPage(report, timelines));
    if (fails === undefined) return;
    const why = unjudgeable(report, paths, flags.failOn);
    if (why !== undefined) throw new Error(`--fail-on ${flags.failOn} cannot be judged: ${why}`);
    if (fails(report)) {
      err(`breakerbox replay: the condition ${flags.failOn} of --fail-on is true.\n`);
      exitWith(1);
    }
  } catch (error) {
    err(`breakerbox replay: ${explain(error)}\n`);
    exitWith(2);
  }
};

interface Replayed {
  readonly report: ReplayReport;
  readonly timelines: readonly SessionTimeline[];
}

/**
 * Most of what a stream allocates is garbage at once. A small young generation, and a heap that grows in small steps, take half of the
 * memory (T7), and no more time.
 */
const keepSmall = (): void => {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--max-semi-space-size=4');
  setFlagsFromString('--heap-growing-percent=20');
};

const replayed = async (paths: readonly string[], flags: Flags): Promise<Replayed> => {
  const config = flags.config === undefined ? {} : withoutRequests(loadConfig(flags.config));
  const tally = tallySimulation(config.scope === 'process');
  const kept = flags.html === undefined ? undefined : keepTimelines(tally.observer);
  const grid = flags.grid ? gridOf(config) : undefined;
  const texts = flags.show ? collectTexts() : undefined;
  const models = collectModelCalls();
  const recording = await replayFiles({
    paths: await recordingPaths(paths),
    format: flags.format,
    agent: flags.agent,
    simulations: [{ config, observer: kept?.observer ?? tally.observer }, ...(grid?.simulations ?? [])],
    onJudged: texts?.add,
    onModelCall: models.add,
  });
  const isWanted = ({ agent, session }: RecordedModelCall): boolean =>
    flags.agent === undefined || (agent === undefined ? recording.hasSession(session) : agent === flags.agent);
  const replayedModels = modelsReport(models.replay(config, isWanted), models.leftOut);
  if (recording.calls === 0 && replayedModels === undefined) throw new Error(noCalls(recording, flags.agent));
  const report = replayReport(recording, config, tally.close(), flags.allowIncomplete);
  const extras = {
    ...(replayedModels && !report.refused && { models: replayedModels }),
    ...(grid && !report.refused && { grid: grid.close() }),
    ...(texts && { unjudgedTexts: texts.texts() }),
  };
  return { report: { ...report, ...extras }, timelines: kept?.timelines() ?? [] };
};

/** A recording does not say what a health check would have found then, and what it finds today proves nothing. */
const withoutRequests = (config: FileSettings): FileSettings => {
  const { systemic } = config;
  if (!systemic || systemic.recovery?.healthCheck === undefined) return config;
  return { ...config, systemic: { ...systemic, recovery: { ...systemic.recovery, healthCheck: () => false } } };
};

const noCalls = ({ files }: Recording, agent: string | undefined): string => {
  const of = agent === undefined ? '' : ` of the agent '${printable(agent)}'`;
  const where = files.length === 1 ? 'this file' : 'these files';
  const isUnread = files.length > 0 && files.every(({ format, error }) => format === undefined && error === undefined);
  const what = isUnread
    ? `The format of ${where} is not known, so nothing was read.`
    : `There is no tool call${of} in ${where}.`;
  return [what, ...faultLines(files)].join('\n');
};

/** Its start and its end. */
const EVENTS_OF_A_CALL = 2;

/** Why a condition means nothing for a report: in CI, a recording that cannot be read must not pass. */
const unjudgeable = (
  { refused, recording, decisions }: ReplayReport,
  paths: readonly string[],
  failOn: string | undefined,
): string | undefined => {
  if (refused) return 'calls are missing in the recording. Add --allow-incomplete to replay it anyway.';
  const unread = recording.files.find(
    ({ path, error, format }) => error !== undefined || (format === undefined && paths.includes(path)),
  );
  if (unread) return `'${printable(unread.path)}': ${unread.error ?? 'unknown format. Name it with --format.'}`;
  const hardlyRead = recording.files.find(({ leftOut, events }) => leftOut > events / EVENTS_OF_A_CALL);
  if (hardlyRead) {
    const { path, leftOut, skipped } = hardlyRead;
    return `'${printable(path)}': most of its rows were left out (${leftOut}): ${Object.keys(skipped).join(', ')}. Correct these rows, or give --format.`;
  }
  const { success, failure, ignored } = recording.outcomes;
  if (success + failure + ignored === 0)
    return 'no call in the recording has a result. Its format may be newer than this version of Breakerbox.';
  if (failOn?.includes('different') && !decisions?.parity) return 'Breakerbox did not guard the recorded run.';
  return undefined;
};

/** @throws Error if the page cannot be written, or if it would overwrite something else, such as a recording. */
const checkPage = async (path: string): Promise<void> => {
  const folder = await stat(dirname(path)).catch(() => undefined);
  if (!folder?.isDirectory())
    throw new Error(`--html: there is no folder '${printable(dirname(path))}'. Make it first.`);
  const before = await stat(path).catch(() => undefined);
  if (before?.isDirectory())
    throw new Error(`--html: '${printable(path)}' is a folder. Give the name of a file in it.`);
  if (before?.isFile() && !/^(?:<!doctype html|$)/i.test(await headOf(path)))
    throw new Error(`--html: '${printable(path)}' is not an HTML page, so it is not overwritten. Give another file.`);
};

const explain = (error: unknown): string => {
  const { code, path, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return `There is no file or folder '${printable(path ?? '')}'.`;
  return message;
};

const VALUES: Readonly<Record<string, (report: ReplayReport) => number>> = {
  lost: ({ decisions }) => decisions?.goodCallsLost.atMost ?? 0,
  avoided: ({ decisions }) => decisions?.failedCallsAvoided.atMost ?? 0,
  openings: ({ decisions }) => decisions?.tools.reduce((sum, { openings }) => sum + openings, 0) ?? 0,
  pauses: ({ decisions }) => (decisions ? decisions.pausedBy.budget + decisions.pausedBy.systemic : 0),
  limits: ({ decisions }) => decisions?.limitsReached ?? 0,
  different: ({ decisions }) => decisions?.parity?.different ?? 0,
};

/** A condition such as `lost>0`. @throws Error if the text is not a condition */
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
