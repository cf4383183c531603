import {
  type AcquireOptions,
  BreakerboxUsageError,
  type Permit,
  type Session,
  type Settlement,
} from '@breakerbox/core';
import { safely } from '@breakerbox/core/internal';
import { aValue } from './caller.ts';
import { decide } from './decide.ts';
import { declareTool, firstName } from './groups.ts';
import { JUDGING, type Judge, type JudgingOptions, judgesBy } from './judging.ts';
import { checkOptions, text } from './options.ts';
import { judged } from './run.ts';
import { type SessionSource, sessionFinder } from './session-source.ts';
import { isRefused } from './unavailable.ts';

/** A tool call, as a hook before it tells of it. */
export interface HookedCall {
  /** By which the hook after the call names it again. */
  readonly callId: string;
  readonly tool: string;
  readonly input?: unknown;
  /** The tool's group (C13), such as its MCP server. The configuration of the tool comes first. Default: none. */
  readonly group?: string | undefined;
  /** What kind of tool it is, for the span (`gen_ai.tool.type`). Default: `function`. */
  readonly type?: AcquireOptions['type'];
}

/** A call with the judge of its tool, where an adapter has one. */
export interface JudgedCall extends HookedCall {
  readonly judge?: Judge;
}

/** How the calls are judged. */
export interface HookedCallsOptions extends JudgingOptions {
  /** Names the caller in error messages. Default: `hookedCalls()`. */
  readonly where?: string;
}

/** The calls of a framework that tells before and after each, and can't be made to run it within a function of ours. */
export interface HookedCalls {
  /**
   * Decides about a call. On `skip` and `pause` give the model `message`; else the call is on its way until it is settled.
   *
   * @throws BreakerboxUsageError for a call without an id, and where a session function finds none.
   */
  acquire(call: HookedCall): Permit;
  /**
   * Says how a call went: the options and the classifier read `{ error }` and `{ result }`. Nothing happens for one that is not on
   * its way. Never throws: a session function that does is told to OpenTelemetry's `diag`.
   *
   * @returns the call's decision, whose `freshness` may have to be told the model (F1); undefined where nothing happened.
   */
  settle(callId: string, settlement: Settlement): Permit | undefined;
  /**
   * A call on its way will never be heard of again, or all of the session's: they cost nothing, and a probe's place is free
   * again. Never throws.
   */
  abandon(callId?: string): void;
}

/** Beyond so many calls of one session on their way, hooks surely don't tell of all ends: the oldest is given up. */
export const MAX_UNDER_WAY = 1_000;

const ABANDONED: Settlement = { outcome: 'ignored', category: 'cancelled' };

/**
 * `acquire` and `settle` for any system of hooks: keeps the permits between the two, by session and call.
 *
 * @param options what names the caller, or how its calls are judged.
 * @throws BreakerboxConfigError for options that can't work.
 * @throws BreakerboxUsageError when `session` is no session.
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
  const bySession = new WeakMap<Session, Map<string, Going>>();

  const underWay = (session: Session): Map<string, Going> => {
    const found = bySession.get(session) ?? new Map<string, Going>();
    bySession.set(session, found);
    return found;
  };

  return {
    acquire: ({ callId, tool, input, group, type, judge = judgeOf(tool) }: JudgedCall) => {
      if (typeof callId !== 'string' || callId === '') throw new BreakerboxUsageError(noCallId(where, tool, callId));
      const session = findSession();
      declareTool(session, tool, firstName(group));
      const permits = underWay(session);
      end(permits, callId, ABANDONED); // Asked again, by a framework that calls once more under the same id.
      const permit = decide(session, tool, input, { callId, type, key: judge.keyOf(input) });
      if (isRefused(permit)) return permit;
      permits.set(callId, { permit, judge, input });
      const [oldest] = permits.keys();
      if (permits.size > MAX_UNDER_WAY && oldest !== undefined) end(permits, oldest, ABANDONED);
      return permit;
    },
    // E5: the tool has run, and the framework waits for its hooks. A session function may find none here.
    settle: (callId, settlement) =>
      safely(`settle() of ${where}`, () => end(underWay(findSession()), callId, settlement)),
    abandon: (callId) =>
      void safely(`abandon() of ${where}`, () => {
        const permits = underWay(findSession());
        for (const id of callId === undefined ? [...permits.keys()] : [callId]) end(permits, id, ABANDONED);
      }),
  };
}

interface Going {
  readonly permit: Permit;
  readonly judge: Judge;
  readonly input: unknown;
}

const end = (calls: Map<string, Going>, callId: string, settlement: Settlement): Permit | undefined => {
  const going = calls.get(callId);
  if (going === undefined) return undefined;
  calls.delete(callId);
  const { permit, judge, input } = going;
  permit.settle(judged(settlement, judge, input));
  return permit;
};

const noCallId = (where: string, tool: string, callId: unknown): string =>
  `${where}: a call of tool '${tool}' got ${callId === '' ? 'an empty text' : aValue(callId)} as its callId, so the hook after ` +
  "the call couldn't name it. Give the framework's id of the call, or a text of your own that both hooks know.";
