import {
  type AcquireOptions,
  BreakerboxUsageError,
  type Permit,
  type Session,
  type Settlement,
} from '@breakerbox/core';
import { safely, warnOnce } from '@breakerbox/core/internal';
import { acquire, declareTool, isRejected, type SessionSource, sessionFinder } from './acquire.ts';
import { firstName } from './groups.ts';
import { JUDGING, type Judge, type JudgingOptions, judgesBy } from './judging.ts';
import { aValue, checkOptions, text } from './options.ts';
import { withReading } from './settlement.ts';

/** A tool call, as the hook before it describes it. */
export interface HookedCall {
  /** The id by which the hook after the call names it again. */
  readonly callId: string;
  readonly tool: string;
  readonly input?: unknown;
  /** The tool's group (C13), such as its MCP server. The configuration of the tool takes precedence. Default: none. */
  readonly group?: string | undefined;
  /** What kind of tool it is, for the span (`gen_ai.tool.type`). Default: `function`. */
  readonly type?: AcquireOptions['type'];
  /** More attributes for the span of the decision. Default: none. */
  readonly attributes?: AcquireOptions['attributes'];
}

/** A call with the judge of its tool, if the adapter has one. */
export interface JudgedCall extends HookedCall {
  readonly judge?: Judge;
}

/** Options of {@link hookedCalls}. */
export interface HookedCallsOptions extends JudgingOptions {
  /** Name of the caller in error messages. Default: `hookedCalls()`. */
  readonly where?: string;
}

/** Calls of a framework that runs hooks before and after each call, and cannot run the call inside a function of ours. */
export interface HookedCalls {
  /**
   * Decides about a call. On `skip` and `pause` give the model `message`. Otherwise the call is under way until it is settled.
   *
   * @throws BreakerboxUsageError for a call without an id, and if a session function finds no session.
   */
  acquire(call: HookedCall): Permit;
  /**
   * Reports how a call went. The options and the classifier read `{ error }` and `{ result }`. A call that is not under way is ignored.
   * Never throws: the error of a session function goes to OpenTelemetry's `diag`.
   *
   * @returns the call's decision. You may have to tell the model its `freshness` (F1). Undefined if the call was ignored.
   */
  settle(callId: string, settlement: Settlement): Permit | undefined;
  /**
   * Gives up a call under way, or all of the session's, if no hook will report the end. They cost nothing, and a probe's place is free
   * again. Never throws.
   */
  abandon(callId?: string): void;
}

/** Most calls of one session under way. Beyond it the hooks do not report all ends, and the oldest call is given up. */
export const MAX_UNDER_WAY = 1_000;

/** Calls of one tool under way from more turns than these: a turn ends when its calls have ended, so their ends are not reported. */
const MOST_TURNS = 3;
/** The same without `session.step()`: so many calls, for so long. */
const MANY_CALLS = 10;
const LONG_MS = 600_000;

const ABANDONED: Settlement = { outcome: 'ignored', category: 'cancelled' };

/**
 * `acquire` and `settle` for any system of hooks. It keeps the permits between the two, by session and call.
 *
 * @param options The name of the caller, or how its calls are judged.
 * @throws BreakerboxConfigError for options that can't work.
 * @throws BreakerboxUsageError when `session` is not a session.
 *
 * @example
 * ```ts
 * const calls = hookedCalls(session);
 * agent.on('before', ({ id, name, args }) => {
 *   const permit = calls.acquire({ callId: id, tool: name, input: args });
 *   if (permit.message !== '') return { answer: permit.message };
 * });
 * agent.on('after', ({ id, result }) => calls.settle(id, { result }));
 * agent.on('failed', ({ id, error }) => calls.settle(id, { error }));
 * agent.on('end', () => calls.abandon());
 * ```
 */
export function hookedCalls(session: SessionSource, options: HookedCallsOptions | string = {}): HookedCalls {
  const given: HookedCallsOptions = typeof options === 'string' ? { where: options } : options;
  checkOptions('hookedCalls()', given, { where: text, ...JUDGING });
  const { where = 'hookedCalls()' } = given;
  const judgeOf = judgesBy(given, where);
  const findSession = sessionFinder(session, where);
  const bySession = new WeakMap<Session, Map<string, PendingCall>>();

  const underWay = (session: Session): Map<string, PendingCall> => {
    const found = bySession.get(session) ?? new Map<string, PendingCall>();
    bySession.set(session, found);
    return found;
  };

  let isWarned = false;
  const look = (session: Session, permits: ReadonlyMap<string, PendingCall>, tool: string): void => {
    const calls = [...permits.values()].filter(({ permit }) => permit.tool === tool);
    const latest = calls.at(-1);
    if (calls.length < 3 || latest === undefined) return;
    latest.step = session.view().step;
    isWarned = isLeft(calls);
    if (isWarned) warnOfLeft(where, tool, calls.length);
  };

  return {
    acquire: ({ callId, tool, input, group, type, attributes, judge = judgeOf(tool) }: JudgedCall) => {
      if (typeof callId !== 'string' || callId === '') throw new BreakerboxUsageError(noCallId(where, tool, callId));
      const session = findSession();
      declareTool(session, tool, firstName(group));
      const permits = underWay(session);
      end(permits, callId, ABANDONED); // The framework calls once more under the same id.
      const permit = acquire(session, tool, input, { callId, type, attributes, key: judge.keyOf(input) });
      if (isRejected(permit)) return permit;
      permits.set(callId, { permit, judge, input, startMs: performance.now(), step: undefined });
      if (permits.size > 2 && !isWarned) safely('a look at calls under way', () => look(session, permits, tool));
      const [oldest] = permits.keys();
      if (permits.size > MAX_UNDER_WAY && oldest !== undefined) end(permits, oldest, ABANDONED);
      return permit;
    },
    // E5: the tool has run, and the framework waits for its hooks. A session function may find no session here.
    settle: (callId, settlement) =>
      safely(`settle() of ${where}`, () => end(underWay(findSession()), callId, settlement)),
    abandon: (callId) =>
      void safely(`abandon() of ${where}`, () => {
        const permits = underWay(findSession());
        for (const id of callId === undefined ? [...permits.keys()] : [callId]) end(permits, id, ABANDONED);
      }),
  };
}

interface PendingCall {
  readonly permit: Permit;
  readonly judge: Judge;
  readonly input: unknown;
  readonly startMs: number;
  /** The step that it began in, if two calls of its tool were under way. */
  step: number | undefined;
}

/** Whether hooks do not report the ends of these calls of one tool. Calls made in parallel, and long ones, are correct. */
const isLeft = (calls: readonly PendingCall[]): boolean => {
  const turns = new Set(calls.map(({ step }) => step ?? 'earlier'));
  if (turns.size > MOST_TURNS) return true;
  const longMs = performance.now() - LONG_MS;
  return calls.length > MANY_CALLS && calls.filter(({ startMs }) => startMs < longMs).length >= MANY_CALLS;
};

const warnOfLeft = (where: string, tool: string, calls: number): void =>
  warnOnce(
    'BREAKERBOX_NEVER_SETTLED',
    `${where}/${tool}`,
    () =>
      `${where}: ${calls} calls of tool '${tool}' have begun in different turns and were never settled, so its circuit does not see how they ended. A framework may call no hook after a call that fails. Take its failures from its events: calls.settle(callId, { error }). For a call whose end no hook reports, use calls.abandon(callId).`,
  );

const end = (calls: Map<string, PendingCall>, callId: string, settlement: Settlement): Permit | undefined => {
  const pending = calls.get(callId);
  if (pending === undefined) return undefined;
  calls.delete(callId);
  const { permit, judge, input, startMs } = pending;
  permit.settle(withReading(settlement, judge, input, performance.now() - startMs));
  return permit;
};

const noCallId = (where: string, tool: string, callId: unknown): string =>
  `${where}: a call of tool '${tool}' got ${callId === '' ? 'an empty string' : aValue(callId)} as its callId, so the hook after ` +
  "the call could not refer to it. Give the framework's id of the call, or a string of your own that both hooks know.";
