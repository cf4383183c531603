import { type AcquireOptions, BreakerboxUsageError, type Permit, type Session } from '@breakerbox/core';
import { noticeCopy, noticeExecutor, noticeWrapped, watchEnd } from '@breakerbox/core/internal';
import type { GroupOf } from './groups.ts';
import { notePause } from './last-turn.ts';
import { aValue } from './options.ts';
import { calls, followCalls, noteCall, sessionHere, sessionOfAgent } from './running-calls.ts';
import { hasMethod } from './untrusted.ts';

/** A session, or a function that finds the current one. With a function, a server wraps its tools once for all conversations. */
export type SessionSource = Session | (() => Session);

/** Finds the session of a source, at each call. */
export type SessionFinder = () => Session;

/** Options that a caller may give with a call. */
export interface ToolCall {
  /** Ends the call: it rejects with the signal's reason at once, and counts as `cancelled`, which costs nothing. */
  readonly signal?: AbortSignal | undefined;
  /** The framework's id of the tool call. It is recorded on the span. */
  readonly callId?: string | undefined;
}

/** A permit that rejects the call. */
export type Rejection = Permit & { readonly decision: 'skip' | 'pause' };

/** Whether the tool may not run. */
export const isRejected = (permit: Permit): permit is Rejection =>
  permit.decision === 'skip' || permit.decision === 'pause';

/** The input of a call without arguments: all such calls are the same. Core cannot know that if no input is given (O5, F2). */
const NO_ARGUMENTS = {};

/** Asks the session about a call with its arguments, of which core only keeps a digest. Default of `type`: `function`. */
export const acquire = (
  session: Session,
  tool: string,
  input: unknown,
  { callId, key, type = 'function', attributes }: Omit<AcquireOptions, 'input'> = {},
): Permit => {
  const known = input === undefined ? NO_ARGUMENTS : input;
  const permit = session.acquire(tool, { callId, key, type, attributes, input: known });
  if (permit.decision === 'pause') notePause(session);
  return calls.running === undefined ? permit : noteCall(session, permit);
};

/** The type of a tool: one of an MCP server, or a function of the agent's own. */
export const toolType = (isOfServer: boolean): AcquireOptions['type'] => (isOfServer ? 'extension' : 'function');

/** Gives a tool its circuit and its group. The box's configuration of the tool takes precedence. */
export const declareTool = (session: Session, tool: string, group: string | undefined): void => {
  if (group === undefined) session.declare(tool);
  else session.declare(tool, { group });
};

/** Gives tools their circuits when they are wrapped. With a session function, that happens at their calls. */
export const declareTools = (source: SessionSource, tools: readonly string[], groupOf?: GroupOf): void => {
  if (typeof source === 'function') noticeWrapped(tools);
  else for (const tool of tools) declareTool(source, tool, groupOf?.(tool));
};

/**
 * @throws BreakerboxUsageError when `source` is neither a session nor a function.
 */
export const sessionFinder = (source: SessionSource, where: string): SessionFinder => {
  checkSource(source, where);
  noticeCopy();
  return () => sessionOf(source, where);
};

/**
 * The same for a function that an agent calls at each of its turns. In a guarded call of the session, the agent is a sub-agent, with a session
 * of its own (D1).
 *
 * @throws BreakerboxUsageError when `source` is neither a session nor a function. The finder throws ChildLimitError if the sub-agent may not begin.
 */
export const agentFinder = (source: SessionSource, where: string): SessionFinder => {
  const findSession = sessionFinder(source, where);
  followCalls();
  return () => sessionOfAgent(findSession());
};

/**
 * @throws BreakerboxUsageError when `source` is neither a session nor a function.
 */
export const checkSource = (source: SessionSource, where: string): void => {
  if (typeof source === 'function') return;
  if (!isSession(source)) throw noSession(source, where);
  noticeExecutor(source);
};

/** The current session of a source that is already checked. */
export const sessionOf = (source: SessionSource, where: string): Session => {
  if (typeof source !== 'function') return sessionHere(source);
  const given = source();
  if (isSession(given)) {
    noticeExecutor(given);
    return sessionHere(given);
  }
  const what = `the session function given to ${where}`;
  watchEnd(what, given);
  throw noSession(given, what);
};

const isSession = (value: Session | null | undefined): value is Session =>
  typeof value?.acquire === 'function' && typeof value.declare === 'function';

const noSession = (value: unknown, where: string): BreakerboxUsageError =>
  new BreakerboxUsageError(
    `${where}: got ${kindOf(value)} instead of a session, so Breakerbox cannot decide about calls. Pass what ` +
      'box.session() returns, or a function that returns it.',
  );

const kindOf = (value: unknown): string => {
  if (hasMethod(value, 'session')) return 'a box';
  if (hasMethod(value, 'then')) return 'a promise';
  return value === null ? 'null' : `a value of type ${typeof value}`;
};

/**
 * Reads the options of a call once, before the session is asked, so that an error here does not use up a probe.
 *
 * @throws BreakerboxUsageError for invalid options.
 */
export const readCall = (where: string, call: unknown): ToolCall => {
  if (typeof call !== 'object' || call === null) {
    throw new BreakerboxUsageError(
      `${where}: the second argument of a call is ${aValue(call)}, but it must be { signal, callId } or nothing. The tool was not called. ` +
        'To use the tool with array.map, write array.map((input) => tool(input)), because map also passes the index.',
    );
  }
  const { signal, callId } = call as ToolCall;
  return { signal: readSignal(where, signal), callId };
};

/**
 * The signal of a caller.
 *
 * @throws BreakerboxUsageError if it is not a signal. Otherwise listening to it would fail after the call is decided.
 */
export const readSignal = (where: string, signal: unknown): AbortSignal | undefined => {
  if (signal === undefined || signal === null) return undefined; // `fetch` accepts null too.
  const { aborted, addEventListener, removeEventListener } = signal as Partial<AbortSignal>;
  if (
    typeof aborted === 'boolean' &&
    typeof addEventListener === 'function' &&
    typeof removeEventListener === 'function'
  ) {
    return signal as AbortSignal;
  }
  throw new BreakerboxUsageError(
    `${where}: the signal of a call is ${aValue(signal)}, which is not an AbortSignal, so the tool was not called. Give the ` +
      'signal of an AbortController or AbortSignal.timeout(), or leave it out.',
  );
};

/** Rejects a call whose caller has already aborted. The session is not asked. */
export const throwIfAborted = (signal: AbortSignal | undefined): void => {
  if (signal?.aborted) throw signal.reason;
};
