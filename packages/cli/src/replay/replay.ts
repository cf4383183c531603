import { type JudgedEnding, judgeEnding } from './judged-ending.ts';
import { inTime } from './merge.ts';
import { READERS, readerOf } from './readers.ts';
import {
  type Ending,
  type ReadNotes,
  type RecordedEvent,
  type RecordedModelCall,
  type RecordingFile,
  type RecordingReader,
  sumOf,
  type Used,
} from './recording.ts';
import { recordingFile } from './recording-file.ts';
import { createSimulation, type JudgeEnd, type Simulation } from './simulation.ts';
import type { ReplayConfig, SimulationObserver } from './simulation-observer.ts';

/** What was read from a file. */
export interface FileReport {
  readonly path: string;
  /** Undefined if no reader recognizes the file. */
  readonly format: string | undefined;
  /** Versions of the programs that wrote it. */
  readonly versions: readonly string[];
  events: number;
  /** What was left out, with how often. */
  readonly skipped: Readonly<Record<string, number>>;
  /** Rows that were left out and may have been calls. */
  leftOut: number;
  /** Evidence that calls are missing (T4). */
  readonly incomplete: readonly string[];
  /** Why reading stopped before the end. */
  error: string | undefined;
}

/** The recording as a whole. */
export interface Recording {
  readonly files: readonly FileReport[];
  readonly sessions: number;
  readonly calls: number;
  readonly steps: number;
  /** That calls of tools and of models have used, as far as the recording says so. */
  readonly tokens: number;
  readonly cost: number;
  /** Whether a session is of the wanted agent. */
  hasSession(session: string): boolean;
  readonly firstMs: number | undefined;
  readonly lastMs: number | undefined;
  /** Events before an earlier one of their session, and ends without a start. */
  readonly misplaced: number;
}

/** Options of {@link replayFiles}. */
export interface ReplayOptions {
  readonly paths: readonly string[];
  /** The name of a format; default: each file is recognized by its beginning. */
  readonly format?: string | undefined;
  /** Only sessions whose first call is of this agent. */
  readonly agent?: string | undefined;
  /** The simulations, each with its own configuration. The first configuration decides how ends are judged. */
  readonly simulations: readonly {
    readonly config: ReplayConfig;
    readonly observer: SimulationObserver;
    takes?(session: string): boolean;
  }[];
  /** Gets the calls of models. */
  readonly onModelCall?: ((call: RecordedModelCall) => void) | undefined;
  /** Sees each judged end. */
  readonly onJudged?: ((ending: Ending, judged: JudgedEnding, tool: string) => void) | undefined;
}

interface Feed {
  readonly simulation: Simulation;
  takes?(session: string): boolean;
}

/**
 * Reads recordings as streams, and runs every simulation over them at once.
 *
 * @throws BreakerboxConfigError if a configuration can't work; Error if there is no such format.
 */
export const replayFiles = async ({
  paths,
  format,
  simulations,
  onJudged,
  onModelCall = () => {},
  agent,
}: ReplayOptions): Promise<Recording> => {
  if (format !== undefined && !READERS.some(({ name }) => name === format)) {
    throw new Error(`There is no format '${format}'. Give one of ${READERS.map(({ name }) => name).join(', ')}.`);
  }
  const feeds: readonly Feed[] = simulations.map(({ config, observer, takes }) => ({
    simulation: createSimulation(config, observer),
    ...(takes && { takes }),
  }));
  const config = simulations[0]?.config ?? {};
  const sessions = new Set<string>();
  let [calls, steps, tokens, cost, misplaced] = [0, 0, 0, 0, 0];
  let [firstMs, lastMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

  /** The judgement on the event that is being applied, which all simulations share. */
  let judged: JudgedEnding | undefined;
  const judge: JudgeEnd = ({ ending }, tool, input) => {
    if (judged === undefined) {
      judged = judgeEnding(ending, tool, input, config);
      onJudged?.(ending, judged, tool);
    }
    return judged;
  };

  const isWanted = ofAgent(agent);
  const apply = (event: RecordedEvent): void => {
    if (!isWanted(event)) return;
    if (event.kind === 'end' || event.kind === 'spend') {
      tokens += event.tokens ?? 0;
      cost += event.cost ?? 0;
    }
    sessions.add(event.session);
    if (event.kind === 'start') calls += 1;
    else if (event.kind === 'step') steps += 1;
    if (event.atMs < firstMs) firstMs = event.atMs;
    if (event.atMs > lastMs) lastMs = event.atMs;
    judged = undefined;
    let isPlaced = true;
    for (const { simulation, takes } of feeds) {
      if (takes === undefined || takes(event.session)) isPlaced = simulation.apply(event, judge) && isPlaced;
    }
    if (!isPlaced) misplaced += 1;
  };

  /** The first call of a session says what agent it is of. What models have used before waits for it. */
  const waiting = new Map<string, Used>();
  const applyInTurn = (event: RecordedEvent): void => {
    const { session, atMs } = event;
    const spent = waiting.get(session);
    if (event.kind === 'spend' && !sessions.has(session)) waiting.set(session, sumOf(spent, event));
    else if (event.kind === 'start' && spent !== undefined) {
      waiting.delete(session);
      apply({ kind: 'spend', session, atMs, ...spent, agent: event.agent });
      apply(event);
    } else apply(event);
  };

  const files: FileReport[] = [];
  const keys = new Set<string>();
  const streams = (await openFiles(paths, format)).map((opened) => readFile(opened, files, keys, onModelCall));
  if (config.scope === 'process') {
    for await (const event of inTime(streams)) applyInTurn(event);
  } else {
    for (const stream of streams) for await (const batch of stream) for (const event of batch) applyInTurn(event);
  }
  for (const { simulation } of feeds) simulation.finish();
  const [from, to] = calls + steps > 0 ? [firstMs, lastMs] : [undefined, undefined];
  const hasSession = (session: string): boolean => sessions.has(session);
  return {
    files,
    sessions: sessions.size,
    hasSession,
    calls,
    steps,
    tokens,
    cost,
    firstMs: from,
    lastMs: to,
    misplaced,
  };
};

/** Whether an event is of an agent: its session is, by its first call. */
const ofAgent = (agent: string | undefined): ((event: RecordedEvent) => boolean) => {
  if (agent === undefined) return () => true;
  const sessions = new Map<string, boolean>();
  return (event) => {
    const isFirst = !sessions.has(event.session) && (event.kind === 'start' || event.kind === 'spend');
    if (isFirst) sessions.set(event.session, event.agent === agent);
    return sessions.get(event.session) === true;
  };
};

/** A file with its reader, before it is read. */
interface OpenedFile {
  readonly file: RecordingFile;
  /** Undefined if no reader recognizes the file. */
  readonly reader: RecordingReader | undefined;
  readonly read: RecordingReader['read'] | undefined;
  /** Why the file cannot be looked at. */
  readonly error: unknown;
}

/** Finds the reader of each file. One that splits sessions over files gets all of its files at once. */
const openFiles = async (paths: readonly string[], format: string | undefined): Promise<readonly OpenedFile[]> => {
  const found: Omit<OpenedFile, 'read'>[] = [];
  for (const path of paths) {
    const file = recordingFile(path);
    try {
      found.push({ file, reader: await readerOf(path, format), error: undefined });
    } catch (error) {
      found.push({ file, reader: undefined, error });
    }
  }
  const reads = new Map<RecordingReader | undefined, RecordingReader['read'] | undefined>();
  for (const reader of new Set(found.map((one) => one.reader))) {
    const files = found.filter((one) => one.reader === reader).map(({ file }) => file);
    reads.set(reader, (await reader?.over?.(files)) ?? reader?.read.bind(reader));
  }
  return found.map((one) => ({ ...one, read: reads.get(one.reader) }));
};

const NOT_ALLOWED: readonly unknown[] = ['EACCES', 'EPERM', 'EISDIR'];

const faultOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const { code, message } = error as NodeJS.ErrnoException;
  return NOT_ALLOWED.includes(code) ? `it cannot be read (${code}). Change its permissions, or leave it out.` : message;
};

/** The events of one file. A fault in the file ends it, and is on its report; other files are read all the same. */
const readFile = async function* (
  { file, reader, read, error: fault }: OpenedFile,
  reports: FileReport[],
  keys: Set<string>,
  modelCall: ReadNotes['modelCall'],
): AsyncIterable<readonly RecordedEvent[]> {
  const skipped: Record<string, number> = Object.create(null);
  const versions: string[] = [];
  const incomplete: string[] = [];
  const { path } = file;
  const format = reader?.name;
  const report: FileReport = { path, format, versions, events: 0, skipped, leftOut: 0, incomplete, error: undefined };
  reports.push(report);
  const assumed = (what: string): void => {
    skipped[what] = (skipped[what] ?? 0) + 1;
  };
  const notes: ReadNotes = {
    assumed,
    skipped: (what) => {
      assumed(what);
      report.leftOut += 1;
    },
    version: (version) => void (versions.includes(version) || versions.push(version)),
    incomplete: (evidence) => void (incomplete.includes(evidence) || incomplete.push(evidence)),
    modelCall,
    isFirst: (key) => keys.size < keys.add(key).size,
  };
  try {
    if (fault !== undefined) throw fault;
    if (!read) return;
    for await (const events of read(file, notes)) {
      report.events += events.length;
      yield events;
    }
  } catch (error) {
    report.error = faultOf(error);
  }
};
