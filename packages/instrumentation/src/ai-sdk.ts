import { BreakerboxUsageError } from '@breakerbox/core';
import type { Tool, ToolSet } from 'ai';
import { isAsyncIterable, iterate } from './iterate.ts';
import { checkOptions, milliseconds } from './options.ts';
import { attempt, follow, type Run, startRun, throwIfAborted } from './run.ts';
import { declareNow, type SessionFinder, type SessionSource, sessionFinder } from './session-source.ts';
import { standIn } from './stand-in.ts';
import { isRefused, ToolUnavailableError } from './unavailable.ts';

export { ToolUnavailableError } from './unavailable.ts';

/** How guarded tools behave. */
export interface GuardToolsOptions {
  /**
   * Milliseconds that one call of a tool may take, from its start to the end of its result or stream. When they are over,
   * the tool's `abortSignal` fires, the model gets a tool error, and it counts as a failure. Default: none; `timeout` of
   * `generateText` and `streamText` is understood as well.
   */
  readonly timeoutMs?: number;
}

/**
 * Guards the tools of the AI SDK 7: give the result to `generateText`, `streamText` or an agent in their place. The types
 * are those of the tools. Call `session.step()` when a step ends.
 *
 * On skip and pause a tool throws `ToolUnavailableError`: the AI SDK makes a tool error of it, whose message the model
 * reads, and the loop goes on. Tools without `execute` (client-side, or executed by the provider) are passed on as they are:
 * nobody here sees them run. Arguments that the tool's schema refuses never reach the tool, nor the session.
 *
 * @throws BreakerboxConfigError for options or tool names that can't work.
 * @throws BreakerboxUsageError when `session` is no session, or `tools` no object of tools.
 *
 * @example
 * ```ts
 * await generateText({ model, tools: guardTools(tools, session), prompt, onStepEnd: () => session.step() });
 * ```
 */
export function guardTools<Tools extends ToolSet>(
  tools: Tools,
  session: SessionSource,
  options: GuardToolsOptions = {},
): Tools {
  checkOptions('guardTools()', options, { timeoutMs: milliseconds });
  const findSession = sessionFinder(session, 'guardTools()');
  if (typeof tools !== 'object' || tools === null) {
    throw new BreakerboxUsageError(
      `guardTools(): got ${tools === null ? 'null' : `a value of type ${typeof tools}`} in place of tools, so there is nothing ` +
        `to guard. Give the object of tools that generateText would get.`,
    );
  }
  const entries = Object.entries(tools);
  declareNow(
    session,
    entries.filter(([, tool]) => isExecutable(tool)).map(([name]) => name),
  );
  return Object.fromEntries(
    entries.map(([name, tool]) => [name, isExecutable(tool) ? guardTool(name, tool, findSession, options) : tool]),
  ) as Tools;
}

type Execute = NonNullable<Tool<unknown, unknown>['execute']>;
type Executable = ToolSet[string] & { readonly execute: Execute };

const isExecutable = (tool: ToolSet[string] | undefined): tool is Executable => typeof tool?.execute === 'function';

const guardTool = (
  name: string,
  tool: Executable,
  findSession: SessionFinder,
  { timeoutMs }: GuardToolsOptions,
): ToolSet[string] => {
  // Not async: the AI SDK tells a streaming tool by the AsyncIterable that it returns.
  const execute: Execute = (input, options) => {
    const signal = options?.abortSignal;
    throwIfAborted(signal);
    const session = findSession();
    session.declare(name);
    const permit = session.acquire(name, { callId: options?.toolCallId });
    if (isRefused(permit)) throw new ToolUnavailableError(permit);
    const run = startRun(permit, { signal, timeoutMs });
    return attempt(run, () => conclude(run, tool.execute(input, { ...options, abortSignal: run.signal })));
  };
  return standIn(tool, new Map([['execute', execute]]));
};

const conclude = (run: Run, result: ReturnType<Execute>): ReturnType<Execute> => {
  if (isAsyncIterable(result)) return iterate(run, result);
  if (isThenable(result)) return follow(run, result);
  run.returned(result);
  return result;
};

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
