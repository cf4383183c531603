import type { AcquireOptions, Permit, Session } from '@breakerbox/core';
import { safely } from '@breakerbox/core/internal';
import { diag } from '@opentelemetry/api';
import {
  acquire,
  declareTool,
  isRejected,
  type Rejection,
  readSignal,
  type SessionFinder,
  type ToolCall,
  throwIfAborted,
} from './acquire.ts';
import {
  type Answer,
  answerOf,
  type DirectCall,
  type FallbackOptions,
  fallbackFor,
  orAlternative,
} from './fallback.ts';
import type { GroupOf } from './groups.ts';
import { type Judge, type JudgeOf, plainJudge } from './judging.ts';
import { Run } from './run.ts';
import type { Reading } from './settlement.ts';

/** The context that the tools of one adapter share. */
export interface AdapterContext {
  readonly findSession: SessionFinder;
  /** The adapter's function, for error messages, such as `guardTools()`. */
  readonly where: string;
  readonly timeoutMs?: number | undefined;
  /** Default: its tools are in no group. */
  readonly groupOf?: GroupOf | undefined;
  /** Default: no call has a key, and only the classifier is asked. */
  readonly judgeOf?: JudgeOf | undefined;
}

/** O10: whether a call has run until a framework's limit of its tool, whose time began a little before the call reached the guard. */
export const ranUntil = (limitMs: number, ranMs: number): boolean => ranMs >= 0.9 * limitMs - 50;

/** One call of a tool, as a framework requests it. */
export interface ToolRequest extends ToolCall {
  readonly tool: string;
  /** The tool's group, if the framework's tool names it. Default: the result of the adapter's `groupOf`. */
  readonly group?: string | undefined;
  /** The tool's judge, if the framework's tool says more than its name. Default: the result of the adapter's `judgeOf`. */
  readonly judge?: Judge | undefined;
  /** Whether a time-out of the signal is the tool's own limit (O10). Default: from 30 s. */
  readonly isOwnLimit?: ((ranMs: number, reason: unknown) => boolean) | undefined;
  /** Default: `function`. */
  readonly type?: AcquireOptions['type'];
  readonly input: unknown;
  /** Input for core in place of the real one, if core must not recognize the call (O5, F2). */
  readonly asked?: unknown;
  /** The result of {@link rejectedBefore} for this call: the session is not asked again. */
  readonly rejection?: Rejection | undefined;
}

/** The form in which a framework's tools answer. */
export interface ResponseFormat<Output> extends Reading {
  /** The framework's result if the tool may not run. May throw. */
  readonly reject: (permit: Rejection) => Output;
  /** How to call another tool in place of this one (R4). Default: not at all. */
  readonly find?: FallbackOptions['find'];
  /** Adds a note to an alternative's answer. Default: core's `annotated`. */
  readonly note?: FallbackOptions['note'];
}

/** Runs the tool. `signal` fires on timeout and on the caller's abort. */
export type ToolExecutor<Output> = (call: {
  readonly signal: AbortSignal;
  readonly permit: Permit;
}) => Output | PromiseLike<Output>;

/**
 * One call of a tool whose framework waits for a promise. It asks the session, runs the tool in the decision's context, and settles the
 * decision by the outcome. If the tool may not run, it gives the last good result (F2), an alternative in place (R4), or the rejection.
 *
 * @throws the signal's reason if the caller has already aborted. The session is not asked then.
 */
export const runTool = async <Output>(
  adapter: AdapterContext,
  request: ToolRequest,
  executor: ToolExecutor<Output>,
  format: ResponseFormat<Output>,
): Promise<Output> => {
  const permit = request.rejection ?? acquireFor(adapter, request);
  const { reject, find = findNone, label, note, advise = BY_DEFAULT } = format;
  if (!isRejected(permit)) {
    const [run, end] = execute(adapter, request, permit, executor, format);
    return find === findNone ? end : orAlternative(permit.tool, run, end, request.input, { find, note });
  }
  const forms = { find, label: label as FallbackOptions['label'], note, advise };
  const answer = await fallbackFor(permit, request.input, forms);
  return answer === undefined ? reject(permit) : (answer.value as Output);
};

/**
 * Decides about a call before a person is asked, if the session rejects it now. Otherwise it decides nothing, because the person may take hours.
 *
 * @returns undefined if the tool may run.
 */
export const rejectedBefore = (adapter: AdapterContext, request: ToolRequest): Rejection | undefined => {
  const { tool, group = adapter.groupOf?.(tool), input } = request;
  const session = sessionOfAdapter(adapter);
  declareTool(session, tool, group);
  const { decision } = session.explain(tool, input);
  if (decision === 'call' || decision === 'probe') return undefined;
  const permit = acquireFor(adapter, request);
  if (isRejected(permit)) return permit;
  permit.settle({ outcome: 'ignored', category: 'cancelled' });
  return undefined;
};

/**
 * {@link runTool} for a tool that is called in place of another. It makes no further hop.
 *
 * @param usualMs Milliseconds that it has if the adapter has no limit.
 * @returns undefined if the decision rejects the call.
 */
export const runAlternative = async <Output>(
  adapter: AdapterContext,
  request: ToolRequest,
  executor: ToolExecutor<Output>,
  reading: Reading,
  usualMs?: number,
): Promise<Answer | undefined> => {
  const permit = acquireFor(adapter, request);
  if (isRejected(permit)) return undefined;
  const limited = { ...adapter, timeoutMs: adapter.timeoutMs ?? usualMs };
  const [run, end] = execute(limited, request, permit, executor, reading);
  return answerOf(end, () => run.unanswered);
};

const findNone = (): DirectCall | undefined => undefined;

const acquireFor = (adapter: AdapterContext, request: ToolRequest): Permit => {
  const { tool, group = adapter.groupOf?.(tool), input, asked = input, callId, signal, type } = request;
  throwIfAborted(readSignal(`${adapter.where}, tool '${tool}'`, signal));
  const session = sessionOfAdapter(adapter);
  declareTool(session, tool, group);
  return acquire(session, tool, asked, { callId, type, key: judgeOf(adapter, request).keyOf(input) });
};

const judgeOf = ({ judgeOf = plainJudge }: AdapterContext, { tool, judge = judgeOf(tool) }: ToolRequest): Judge =>
  judge;

/** Reports the error of a session function, because frameworks turn errors thrown here into text that only the model reads. */
export const sessionOfAdapter = ({ findSession, where }: Pick<AdapterContext, 'findSession' | 'where'>): Session => {
  try {
    return findSession();
  } catch (error) {
    safely('the logger', () =>
      diag.error(
        `Breakerbox: ${where}: no session was found, so the tool was not run. Run the agent inside withSession(session, …), or pass the session to the adapter.`,
        error,
      ),
    );
    throw error;
  }
};

const execute = <Output>(
  adapter: AdapterContext,
  request: ToolRequest,
  permit: Permit,
  executor: ToolExecutor<Output>,
  reading: Reading,
): readonly [Run, Promise<Output>] => {
  const { input, signal, isOwnLimit } = request;
  const limits = { input, signal, isOwnLimit, timeoutMs: adapter.timeoutMs };
  const run = new Run(permit, limits, { advise: BY_DEFAULT, ...reading }, judgeOf(adapter, request));
  return [run, run.execute(async () => executor({ signal: run.signal, permit }))];
};

/** The model reads what a tool of a framework throws and reports. */
const BY_DEFAULT = {};
