import type { Session } from '@breakerbox/core';
import { safely } from '@breakerbox/core/internal';
import type { Run } from './run.ts';
import { shared } from './shared.ts';

/** One run of an agent, as its events tell of it. */
export interface AgentRun {
  /** The integration that follows it. */
  readonly by: object;
  readonly tools: Readonly<Record<string, unknown>>;
  /** Whether its reader may leave it without a word: a stream. */
  readonly isStream: boolean;
  /** Undefined until a tool asks, where nobody gave one. */
  session?: Session;
  /** Makes the run its own session; undefined where one was given, or nothing can be guarded. */
  readonly open: (() => Session) | undefined;
  /** Fires when the run is over: its calls under way end by that. */
  readonly over: AbortController;
  /** Calls that are decided and not settled yet. */
  readonly calls: Set<AgentCall>;
  /** How many of its tools are running, those of `guardTools` too. */
  running: number;
  /** Whether its turns are steps of the session. */
  counts: boolean;
  /** When something was heard of it, by `performance.now()`. */
  heardMs: number;
}

/** A call of a run: models that give two calls one id are told apart by the input. */
export interface AgentCall {
  readonly id: string;
  readonly input: unknown;
  readonly running: Run;
}

/** A stream that its reader left tells nobody: after so long without a word, and with no tool running, its run is over. */
const IDLE_MS = 10 * 60_000;
/** Beyond so many at once somebody surely leaves streams: the one that was not heard of for the longest time is given up. */
const MAX_RUNS = 10_000;

interface Followed {
  /** By the AI SDK's ids, the one last heard of at the end. Each is followed by one integration alone, the last one registered. */
  readonly runs: Map<string, AgentRun>;
  readonly bySession: WeakMap<Session, Set<AgentRun>>;
  /** Sessions that were made for a run: they end with it. */
  readonly made: WeakSet<Session>;
}

/** The AI SDK's integrations are shared by all copies of the SDK, so that two copies of this package may be told of one run. */
const { runs, bySession, made } = shared(
  'ai-sdk-runs',
  1,
  (): Followed => ({ runs: new Map(), bySession: new WeakMap(), made: new WeakSet() }),
);

/** Follows a run from now on, and gives up those that nobody will hear of again: no timer does (C10). */
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

/** The run that an event tells of, if this integration follows it. */
export const heardOf = (callId: string | undefined, by: object): AgentRun | undefined => {
  const run = callId === undefined ? undefined : runs.get(callId);
  if (callId === undefined || run?.by !== by) return undefined;
  runs.delete(callId);
  runs.set(callId, run);
  run.heardMs = performance.now();
  return run;
};

/** @param reason why it was stopped, where it was: a time-out counts for the calls under way. */
export const endRun = (callId: string, reason?: unknown): void => {
  const run = runs.get(callId);
  runs.delete(callId);
  run?.over.abort(reason);
  if (run?.session === undefined) return;
  bySession.get(run.session)?.delete(run);
  if (made.has(run.session)) run.session.end();
};

/** The session of a run, which may have to be made. */
export const openSession = (run: AgentRun): Session | undefined => {
  if (run.session !== undefined) return run.session;
  const session = run.open && safely('the box of breakerTelemetry()', run.open);
  if (session === undefined) return undefined;
  made.add(session);
  join(run, session);
  return session;
};

/** A run within a tool of another run of the session is a part of that one's turn. */
const join = (run: AgentRun, session: Session): void => {
  const others = bySession.get(session) ?? new Set();
  bySession.set(session, others);
  run.counts = ![...others].some(({ running }) => running > 0);
  others.add(run);
  run.session = session;
};

/** Whether a session was made for a run. A run within a tool of that run gets its own. */
export const isMade = (session: Session): boolean => made.has(session);

/** Whether somebody counts this session's turns, so that nobody else may. */
export const areTurnsCounted = (session: Session): boolean => (bySession.get(session)?.size ?? 0) > 0;
