import type { ReadNotes, RecordingFile } from '../recording.ts';
import { aboveModels, attribute, isModel, isTool, oncePerCall, resumedBy, tokensOf } from './otlp-calls.ts';
import type { Span } from './otlp-json.ts';

/** A share of tool spans without their parents, above which spans were dropped (T4). */
const MISSING_PARENTS = 0.1;

/** What is kept of a trace until its last file is read. */
interface Trace {
  /** Calls of tools and of the model, by their ids. */
  readonly calls: Map<string, Span>;
  /** The parent of each span, by their ids. */
  readonly parents: Map<string, string | undefined>;
  /** The span of the agent may be the only one that names the session. */
  session: string | undefined;
}

/** A call of a tool or of the model, with its session. */
export interface Call {
  readonly span: Span;
  readonly session: string;
  /** Whether another call of a model is below it: that one is the attempt. */
  readonly isAbove: boolean;
  /** What it has used, if it says so and no call of a model below it does: those tokens would count twice (D3). */
  readonly tokens: number | undefined;
}

/** The spans that were read, by their traces. */
export interface Traces {
  /** Adds a span. One that is there already, such as after an exporter's retry, counts once. */
  add(span: Span): void;
  /** Takes the calls of the traces that no later file goes on with, without their order. */
  take(file: RecordingFile, notes: ReadNotes): readonly Call[];
}

/** Traces that may be split over these files, as rotation does it. What no later file goes on with is not kept, so memory is bounded. */
export const tracesOver = async (files: readonly RecordingFile[]): Promise<Traces> => {
  const places = new Map(files.map(({ path }, place) => [path, place]));
  const lastPlace = files.length > 1 ? await lastPlaces(files) : new Map<number, number>();
  const traces = new Map<string, Trace>();

  /** The traces that go on in a later file, and those of the same sessions, so that the calls of a session stay in order. */
  const openAfter = (place: number): ReadonlySet<Trace> => {
    const found = [...traces].filter(([id]) => (lastPlace.get(keyOf(id)) ?? place) > place).map(([, trace]) => trace);
    const sessions = new Set(found.flatMap(({ session }) => session ?? []));
    const related = [...traces.values()].filter(({ session }) => session !== undefined && sessions.has(session));
    return new Set([...found, ...related]);
  };

  return {
    add(span) {
      const trace = traces.get(span.traceId) ?? { calls: new Map(), parents: new Map(), session: undefined };
      traces.set(span.traceId, trace);
      if (trace.parents.has(span.spanId)) return;
      trace.parents.set(span.spanId, span.parentId);
      trace.session ??= sessionOf(span);
      if (isTool(span) || isModel(span) || resumedBy(span)) trace.calls.set(span.spanId, span);
    },
    take(file, notes) {
      const open = openAfter(places.get(file.path) ?? files.length);
      const taken = [...traces].filter(([, trace]) => !open.has(trace));
      for (const [id] of taken) traces.delete(id);
      noteOrphans(
        taken.map(([, trace]) => trace),
        notes,
      );
      return taken.flatMap(([id, { calls, parents, session }]) => {
        const above = aboveModels(calls.values(), parents);
        const aboveTokens = aboveModels(calls.values(), parents, true);
        return oncePerCall([...calls.values()], parents).map((span) => ({
          span,
          session: sessionOf(span) ?? session ?? id,
          isAbove: above.has(span.spanId),
          tokens: aboveTokens.has(span.spanId) ? undefined : tokensOf(span),
        }));
      });
    },
  };
};

const sessionOf = (span: Span): string | undefined => attribute(span, 'gen_ai.conversation.id', 'session.id');

/** The last file of each trace that is in several. A pipe can be read only once, so it is not looked at. */
const lastPlaces = async (files: readonly RecordingFile[]): Promise<ReadonlyMap<number, number>> => {
  const found = new Map<number, number>();
  const several = new Map<number, number>();
  for (const [place, file] of files.entries()) {
    for await (const key of traceKeys(file)) {
      if ((found.get(key) ?? place) !== place) several.set(key, place);
      found.set(key, place);
    }
  }
  return several;
};

/** The keys of the traces in a file, as far as it can be read. */
const traceKeys = async function* (file: RecordingFile): AsyncIterable<number> {
  try {
    if (await file.isPipe()) return;
    for await (const lines of file.lines()) {
      for (const line of lines) for (const [, id = ''] of line.matchAll(TRACE_ID)) yield keyOf(id);
    }
  } catch {
    // The fault is on the file's report when it is read.
  }
};

const TRACE_ID = /"traceId"\s*:\s*"([^"]*)"/g;
const DIGITS = 13;

/** The end of an id as a number, which takes less memory. Traces with the same number are only kept longer than necessary. */
const keyOf = (traceId: string): number => Number.parseInt(traceId.slice(-DIGITS), 16);

/** T4: the parents of some spans were dropped. */
const noteOrphans = (traces: readonly Trace[], notes: ReadNotes): void => {
  let [tools, orphans] = [0, 0];
  let hasModels = false;
  for (const { calls, parents } of traces) {
    const isUnfinished = hasNoRootOnly(parents);
    for (const span of calls.values()) {
      if (!isTool(span)) {
        hasModels ||= isModel(span);
        continue;
      }
      tools += 1;
      const { parentId, hasRemoteParent } = span;
      if (parentId !== undefined && !hasRemoteParent && !isUnfinished && !parents.has(parentId)) orphans += 1;
    }
  }
  if (hasModels && orphans > tools * MISSING_PARENTS) {
    notes.incomplete(`${orphans} of ${tools} tool spans have no parent in the recording`);
  }
};

/** Whether only the span at the top is missing: the agent was still running, or its caller is not recorded. */
const hasNoRootOnly = (parents: Trace['parents']): boolean => {
  const missing = new Set([...parents.values()].filter((id) => id === undefined || !parents.has(id)));
  return missing.size === 1 && !missing.has(undefined);
};
