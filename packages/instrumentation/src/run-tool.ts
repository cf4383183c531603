import type { AcquireOptions, Permit, Session } from '@breakerbox/core';
import { safely } from '@breakerbox/core/internal';
import { diag } from '@opentelemetry/api';
import { readSignal, type ToolCall, throwIfAborted } from './caller.ts';
import { decide } from './decide.ts';
import { declareTool, type GroupOf } from './groups.ts';
import { type Judge, type JudgeOf, plainJudge } from './judging.ts';
import { type DirectCall, otherwise, type StandIns } from './otherwise.ts';
import { perform } from './perform.ts';
import { type Reading, startRun } from './run.ts';
import type { SessionFinder } from './session-source.ts';
import { isRefused, type Refusal } from './unavailable.ts';

/** The context that the tools of one adapter share. */
export interface Kitchen {
  readonly findSession: SessionFinder;
  /** The adapter's function, for error messages, such as `guardTools()`. */
  readonly where: string;
  readonly timeoutMs?: number | undefined;
  /** Default: its tools are in no group. */
  readonly groupOf?: GroupOf | undefined;
  /** Default: no call has a key, and only the classifier is asked. */
  readonly judgeOf?: JudgeOf | undefined;
}

/** One call of a tool, as a framework requests it. */
export interface ToolRequest extends ToolCall {
  readonly tool: string;
  /** The tool's group, if the framework's tool names it. Default: the result of the adapter's `groupOf`. */
  readonly group?: string | undefined;
  /** The tool's judge, if the framework's tool says more than its name. Default: the result of the adapter's `judgeOf`. */
  readonly judge?: Judge | undefined;
  /** Default: `function`. */
  readonly type?: AcquireOptions['type'];
  readonly input: unknown;
  /** Input for core in place of the real one, if core must not recognize the call (O5, F2). */
  readonly asked?: unknown;
}

/** How a framework's tools answer. */
export interface Manners<Output> extends Reading {
  /** The framework's result if the tool may not run. May throw. */
  readonly refuse: (permit: Refusal) => Output;
  /** How to call another tool in place of this one (R4). Default: not at all. */
  readonly find?: StandIns['find'];
  /** Adds a note to an alternative's answer. Default: core's `annotated`. */
  readonly note?: StandIns['note'];
}

/** Runs the tool. `signal` fires on timeout and on the caller's abort. */
export type Cook<Output> = (call: {
  readonly signal: AbortSignal;
  readonly permit: Permit;
}) => Output | PromiseLike<Output>;

/**
 * One call of a tool whose framework waits for a promise. It asks the session, runs the tool in the decision's context, and settles the
 * decision by the outcome. If the tool may not run, it gives the last good result (F2), an alternative in place (R4), or the refusal.
 *
 * @throws the signal's reason if the caller has already aborted. The session is not asked then.
 */
export const runTool = async <Output>(
  kitchen: Kitchen,
  request: ToolRequest,
  cook: Cook<Output>,
  manners: Manners<Output>,
): Promise<Output> => {
  const permit = ask(kitchen, request);
  if (!isRefused(permit)) return execute(kitchen, request, permit, cook, manners);
  const { refuse, find = nobody, label, note } = manners;
  const answer = await otherwise(permit, request.input, { find, ...(label && { label }), ...(note && { note }) });
  return answer === undefined ? refuse(permit) : (answer.value as Output);
};

/**
 * The same for a tool that is called in place of another. It makes no further hop.
 *
 * @returns undefined if the decision refuses the call.
 */
export const runInPlace = async <Output>(
  kitchen: Kitchen,
  request: ToolRequest,
  cook: Cook<Output>,
  reading: Reading,
): Promise<{ readonly value: Output } | undefined> => {
  const permit = ask(kitchen, request);
  return isRefused(permit) ? undefined : { value: await execute(kitchen, request, permit, cook, reading) };
};

const nobody = (): DirectCall | undefined => undefined;

const ask = (kitchen: Kitchen, request: ToolRequest): Permit => {
  const { tool, group = kitchen.groupOf?.(tool), input, asked = input, callId, signal, type } = request;
  throwIfAborted(readSignal(`${kitchen.where}, tool '${tool}'`, signal));
  const session = sessionOf(kitchen);
  declareTool(session, tool, group);
  return decide(session, tool, asked, { callId, type, key: judgeOf(kitchen, request).keyOf(input) });
};

const judgeOf = ({ judgeOf = plainJudge }: Kitchen, { tool, judge = judgeOf(tool) }: ToolRequest): Judge => judge;

/** Reports the error of a session function, because frameworks turn errors thrown here into text that only the model reads. */
export const sessionOf = ({ findSession, where }: Pick<Kitchen, 'findSession' | 'where'>): Session => {
  try {
    return findSession();
  } catch (error) {
    safely('the logger', () =>
      diag.error(`Breakerbox: ${where}: there is no session, so the tool was not run.`, error),
    );
    throw error;
  }
};

const execute = <Output>(
  kitchen: Kitchen,
  request: ToolRequest,
  permit: Permit,
  cook: Cook<Output>,
  reading: Reading,
): Promise<Output> => {
  const { timeoutMs } = kitchen;
  const { input, signal } = request;
  const running = startRun(permit, { input, signal, timeoutMs }, reading, judgeOf(kitchen, request));
  return perform(running, () => cook({ signal: running.signal, permit }));
};
