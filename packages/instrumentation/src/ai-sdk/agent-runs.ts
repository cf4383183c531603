import type { Session } from '@breakerbox/core';
import { processWide } from '../process-wide.ts';
import type { Run } from '../run.ts';
import { inTurn } from '../running-calls.ts';

/** One run of an agent, as its events describe it. */
export interface AgentRun {
  /** The integration that follows the run. */
  readonly by: object;
  readonly tools: Readonly<Record<string, unknown>>;
  /** Whether the run is a stream. Its reader may stop reading, and no event says so. */
  readonly isStream: boolean;
  /** Undefined until a tool asks, unless a session was given. */
  session?: Session;
  /** Makes a session for the run. Undefined if one was given, or if no tool can be guarded. */
  readonly open: (() => Session) | undefined;
  /** Fires when the run is over, which ends its calls under way. */
  readonly over: AbortController;
  /** Calls that are decided but not settled yet. */
  readonly calls: Set<AgentCall>;
  /** Number of its tools that are running, those of `guardTools` included. */
  running: number;
  /** Whether its turns are steps of the session. */
  counts: boolean;
  /** Time of its last event, by `performance.now()`. */
  heardMs: number;
}

/** A call of a run. The input tells calls apart if the model gives two the same id. */
export interface AgentCall {
  readonly id: string;
  readonly input: unknown;
  readonly running: Run;
}

/** Milliseconds without an event and without a running tool after which a run counts as over: its reader may have left the stream. */
const IDLE_MS = 10 * 60_000;
/** Most runs at once. Beyond it readers are leaving streams, and the run with the oldest last event is given up. */
const MAX_RUNS = 10_000;

interface Followed {
  /** By the AI SDK's call ids, the most recent event last. One integration follows each run: the last one registered. */
  readonly runs: Map<string, AgentRun>;
  readonly bySession: WeakMap<Session, Set<AgentRun>>;
  /** Sessions that were made for a run. They end with it. */
  readonly made: WeakSet<Session>;
}

/** All copies of the SDK share its integrations, so two copies of this package may get the events of one run. */
const { runs, bySession, made } = processWide(
  'ai-sdk-runs',
  (): Followed => ({ runs: new Map(), bySession: new WeakMap(), made: new WeakSet() }),
);

/** Follows a run from now on, and gives up runs that are no longer heard of. No timer does that (C10). */
export const followRun = (
  callId: string,
  given: Pick<AgentRun, 'by' | 'tools' | 'isStream' | 'open'>,
  session?: Session,
): void => {
  const heardMs = performance.now();
  const run: AgentRun = {
    ...given,
    over: new AbortController(),
    calls: new Set(),
    running: 0,
    counts: false,
    heardMs,
  };
  if (session !== undefined) join(run, session);
  endRun(callId);
  runs.set(callId, run);
  for (const [id, one] of runs) {
    const tooMany = runs.size > MAX_RUNS;
    if (!tooMany && heardMs - one.heardMs < IDLE_MS) break;
    if (tooMany || (one.isStream && one.running === 0)) endRun(id);
  }
};

/** The run of an event, if this integration follows it. */
export const heardOf = (callId: string | undefined, by: object): AgentRun | undefined => {
  const run = callId === undefined ? undefined : runs.get(callId);
  if (callId === undefined || run?.by !== by) return undefined;
  runs.delete(callId);
  runs.set(callId, run);
  run.heardMs = performance.now();
  return run;
};

/** @param reason Why the run was stopped, if it was. A timeout counts for the calls under way. */
export const endRun = (callId: string, reason?: unknown): void => {
  const run = runs.get(callId);
  runs.delete(callId);
  run?.over.abort(reason);
  if (run?.session === undefined) return;
  bySession.get(run.session)?.delete(run);
  if (made.has(run.session)) run.session.end();
};

/**
 * The session of a run. It is made here if it does not exist yet.
 *
 * @throws ChildLimitError if the run is a sub-agent that may not begin.
 */
export const openSession = (run: AgentRun): Session | undefined => {
  if (run.session !== undefined) return run.session;
  const session = run.open && inTurn('the box of breakerTelemetry()', run.open);
  if (session === undefined) return undefined;
  join(run, session);
  return session;
};

/** A run within a tool of another run of the session is part of that run's turn. */
const join = (run: AgentRun, session: Session): void => {
  const others = bySession.get(session) ?? new Set();
  bySession.set(session, others);
  run.counts = ![...others].some(({ running }) => running > 0);
  others.add(run);
  run.session = session;
};

/** The session was made for a run, and ends with it. */
export const madeForRun = (session: Session): Session => {
  made.add(session);
  return session;
};

/** Whether a session was made for a run. */
export const isMade = (session: Session): boolean => made.has(session);

/** Whether a run already counts the turns of this session. Then nothing else may count them. */
export const areTurnsCounted = (session: Session): boolean => (bySession.get(session)?.size ?? 0) > 0;
