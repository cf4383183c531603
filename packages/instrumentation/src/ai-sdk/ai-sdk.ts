import {
  acquire,
  declareTool,
  declareTools,
  isRejected,
  type Rejection,
  readSignal,
  type SessionFinder,
  type SessionSource,
  sessionFinder,
  throwIfAborted,
  toolType,
} from '../acquire.ts';
import { type CircuitFirst, circuitFirst, mayNeedApproval } from '../approval.ts';
import { answerOf, type DirectCall, fallbackFor, orAlternative } from '../fallback.ts';
import { markGuarded, throwIfGuarded } from '../guard-mark.ts';
import { overlay } from '../overlay.ts';
import { Run } from '../run.ts';
import { rejectedBefore } from '../run-tool.ts';
import type { CallEnd } from '../settlement.ts';
import { isAsyncIterable, isThenable, orUndefined } from '../untrusted.ts';

export type { CallEnd } from '../settlement.ts';

import { BreakerboxUsageError, labelled, type Permit } from '@breakerbox/core';
import { isObject, read, safely } from '@breakerbox/core/internal';
import type { Tool, ToolSet } from 'ai';
import { warnIfForeign } from '../foreign.ts';
import { type GroupOf, groupsBy, serverOf, type ToolGroup, toolGroup } from '../groups.ts';
import { withoutApproval } from '../in-place.ts';
import { iterate, lastOf, once } from '../iterate.ts';
import { JUDGING, type JudgeOf, type JudgingOptions, judgesBy } from '../judging.ts';
import { labelForModel, modelOutputOf } from '../model-output.ts';
import { aValue, checkOptions, functionGiven, milliseconds, names, type OptionCheck, show } from '../options.ts';
import { ToolUnavailableError } from '../unavailable.ts';

export {
  type BreakerPrepareStep,
  type BreakerPrepareStepOptions,
  breakerPrepareStep,
  breakerStepEnd,
  type CallTools,
} from './prepare-step.ts';

import { checkVersion } from '../versions.ts';
import { noteRun, ownLimit } from './own-limit.ts';

export type { GuardModelsOptions } from '../models/candidates.ts';
export type { ModelLimits } from '../models/model-limits.ts';
export {
  ModelStreamError,
  ModelsUnavailableError,
  RunLimitError,
  type UnansweredModel,
} from '../models/models-unavailable.ts';
export { ToolUnavailableError, type UnavailableRoute } from '../unavailable.ts';
export { breakerApproval } from './breaker-approval.ts';
export { type BreakerTelemetry, type BreakerTelemetryOptions, breakerTelemetry } from './breaker-telemetry.ts';
export {
  type AiModel,
  type GuardAiModelsOptions,
  guardAiModels as guardModels,
  type ModelEntry,
} from './guard-ai-models.ts';

/** Options of {@link guardTools}. */
export interface GuardToolsOptions extends JudgingOptions {
  /**
   * Milliseconds that one call of a tool may take, from its start to the end of its result or stream. After that, the tool's
   * `abortSignal` fires, the model gets a tool error, and the call counts as a failure. Default: none. `timeout` of
   * `generateText` and `streamText` is recognized as well.
   */
  readonly timeoutMs?: number;
  /**
   * Reads the cost of a call in tokens when it ends: from the result, from the last piece of a tool that yields pieces, or from
   * the error that the tool threw or that stopped it. Tokens of a failed call are wasted: they are counted, are charged to the
   * token budget, and may open the circuit. Default: not known. Errors that it throws go to OpenTelemetry's `diag`.
   */
  readonly tokens?: (end: CallEnd<unknown>) => number | undefined;
  /**
   * The group of the tools (C13), such as the MCP server or the service behind them: a name for all of them, or a function that gives the
   * group of each by the tool's name. When tools of a group fail in a row, all of the group are skipped, and one probe serves them all.
   * The configuration of a tool takes precedence. Default: none, or the `clientName` that you gave the client of
   * `@ai-sdk/mcp` 2.
   */
  readonly group?: ToolGroup;
  /**
   * Names of tools that may be called in place of another tool, if that one's alternative has `adapt`. It needs `toolApproval`, because
   * the AI SDK does not tell a tool which calls a person has to approve. Such a tool is never called in place, and neither is one with
   * `needsApproval`. Default: none, so the model reads of the alternative, and calls it itself.
   */
  readonly inPlace?: readonly string[];
  /**
   * The same `toolApproval` that you give `generateText`, `streamText` or an agent. Tools that it may ask a person about, or deny, are
   * not called in place, even if `inPlace` lists them. If it is a function, none are. `{}`: a person approves no tool. Default: not known,
   * so `inPlace` is refused.
   */
  readonly toolApproval?: object;
}

/**
 * Guards the tools of the AI SDK. Give the result to `generateText`, `streamText` or an agent in place of the tools; the types are
 * the same. `breakerPrepareStep` counts the steps. Without it, call `session.step()` at the end of each step.
 *
 * On skip and pause a tool throws `ToolUnavailableError`. The AI SDK makes a tool error of it, the model reads its message, and the
 * loop continues. A tool with `serveStaleMs` instead gives its last good result for the same arguments, with a label. A tool whose
 * alternative has `adapt` and is listed in `inPlace` gives the alternative's result, with a note. Tools without `execute` run on the
 * client or at the provider, so they are passed on without a guard. Arguments that the tool's schema rejects reach neither the tool
 * nor the session.
 *
 * If you call `execute` directly, a rejection is a rejected promise. For a generator, the first piece rejects.
 *
 * @throws BreakerboxConfigError for options or tool names that can't work.
 * @throws BreakerboxUsageError when `session` is not a session, `tools` is not an object of tools, a tool is guarded for that session
 * already, or the framework is too old.
 *
 * @example
 * ```ts
 * await generateText({ model, tools: guardTools(tools, session), prepareStep: breakerPrepareStep(session), prompt });
 * ```
 */
export function guardTools<Tools extends ToolSet>(
  tools: Tools,
  session: SessionSource,
  options: GuardToolsOptions = {},
): Tools {
  checkOptions('guardTools()', options, {
    timeoutMs: milliseconds,
    tokens: functionGiven,
    group: toolGroup,
    inPlace: names,
    toolApproval: approvalGiven,
    ...JUDGING,
  });
  checkVersion('ai', 'guardTools() of @breakerbox/instrumentation/ai-sdk');
  const findSession = sessionFinder(session, 'guardTools()');
  if (typeof tools !== 'object' || tools === null) {
    throw new BreakerboxUsageError(
      `guardTools(): got ${aValue(tools)} instead of tools, so there is nothing ` +
        `to guard. Pass the object of tools that you would pass to generateText.`,
    );
  }
  const entries = Object.entries(tools);
  const groupOf = groupsBy(options.group, 'guardTools()', (name) => serverOf(tools[name]));
  const executable = entries.filter(([, tool]) => isExecutable(tool)).map(([name]) => name);
  declareTools(session, executable, groupOf);
  const { timeoutMs, tokens, toolApproval, inPlace: listed = [] } = options;
  const approvals = ['toolApproval', 'generateText', toolApproval] as const;
  const inPlace = withoutApproval('guardTools()', listed, approvals, (name) => mayBeAsked(toolApproval, name));
  const judgeOf = judgesBy(options, 'guardTools()');
  const adapter: AiSdkContext = { tools, session, findSession, timeoutMs, tokens, groupOf, judgeOf, inPlace };
  const guard = (name: string, tool: ToolSet[string]): ToolSet[string] => {
    if (isExecutable(tool)) return guardTool(name, tool, adapter);
    warnIfForeign('guardTools() of the AI SDK', tool, 'execute', name);
    return tool;
  };
  return Object.fromEntries(entries.map(([name, tool]) => [name, guard(name, tool)])) as Tools;
}

const approvalGiven: OptionCheck = (value) =>
  isObject(value) || typeof value === 'function'
    ? undefined
    : `is ${show(value)}. Set the same object or function as toolApproval of generateText, or leave it out.`;

/** Whether `toolApproval` may ask a person about a tool, or deny it. */
const mayBeAsked = (toolApproval: object | undefined, name: string): boolean => {
  if (toolApproval === undefined || typeof toolApproval === 'function') return toolApproval !== undefined;
  const status = Object.hasOwn(toolApproval, name) ? read(toolApproval, name) : undefined;
  return status !== undefined && !['not-applicable', 'approved'].includes(String(read(status, 'type') ?? status));
};

type Execute = NonNullable<Tool<unknown, unknown>['execute']>;
type ExecuteOptions = Parameters<Execute>[1];
type ApprovalOptions = Parameters<Extract<Tool<unknown, unknown>['needsApproval'], (...given: never[]) => unknown>>[1];
type OnInputAvailable = NonNullable<Tool<unknown, unknown>['onInputAvailable']>;
type Executable = ToolSet[string] & { readonly execute: Execute };

const isExecutable = (tool: ToolSet[string] | undefined): tool is Executable => typeof tool?.execute === 'function';

/** The context that the guarded tools share. */
interface AiSdkContext {
  readonly tools: ToolSet;
  readonly session: SessionSource;
  readonly findSession: SessionFinder;
  readonly timeoutMs: number | undefined;
  readonly tokens: GuardToolsOptions['tokens'];
  readonly groupOf: GroupOf;
  readonly judgeOf: JudgeOf;
  readonly inPlace: readonly string[];
}

const guardTool = (name: string, tool: Executable, adapter: AiSdkContext): ToolSet[string] => {
  throwIfGuarded(`guardTools(), tool '${name}'`, tool.execute, adapter.session);
  const asked = circuitFirstOf(name, tool, adapter);
  // Not async: the AI SDK recognizes a streaming tool by the AsyncIterable that it returns.
  const execute: Execute = (input, options) => {
    let running: Run;
    try {
      const unasked = asked?.rejectionOf(orUndefined(adapter.findSession), options?.toolCallId);
      const permit = unasked ?? acquireFor(name, tool, input, options, adapter);
      if (isRejected(permit)) return answerFallback(permit, tool, input, options, adapter);
      running = start(permit, tool, input, options, adapter);
    } catch (error) {
      return rejected(tool, error);
    }
    return perform(running, tool, input, options, (end) =>
      orAlternative(name, running, end, input, {
        find: (other) => directCall(tool, other, options, adapter),
      }),
    );
  };
  markGuarded(execute, adapter.session);
  const onInputAvailable: OnInputAvailable = (call) => {
    noteRun(orUndefined(adapter.findSession), call.input, call.abortSignal);
    return tool.onInputAvailable?.(call);
  };
  const members = new Map<PropertyKey, unknown>([
    ['execute', execute],
    ['onInputAvailable', onInputAvailable],
  ]);
  if (asked) members.set('needsApproval', approvalOf(tool, asked, adapter));
  const toModelOutput = tool.toModelOutput?.bind(tool) as Parameters<typeof modelOutputOf>[0] | undefined;
  if (toModelOutput) members.set('toModelOutput', modelOutputOf(toModelOutput));
  return overlay(tool, members);
};

const circuitFirstOf = (name: string, tool: Executable, adapter: AiSdkContext): CircuitFirst | undefined => {
  if (!mayNeedApproval(tool.needsApproval)) return undefined;
  const { findSession, groupOf, judgeOf } = adapter;
  const asking = { findSession, groupOf, judgeOf, where: 'guardTools()' };
  const type = typeOf(tool);
  return circuitFirst((input, callId) =>
    safely('guardTools()', () => rejectedBefore(asking, { tool: name, type, input, callId })),
  );
};

const approvalOf =
  (tool: Executable, asked: CircuitFirst, { findSession }: AiSdkContext) =>
  (input: unknown, options: ApprovalOptions): Promise<boolean> =>
    asked.asks(orUndefined(findSession), options.toolCallId, input, () =>
      typeof tool.needsApproval === 'function' ? tool.needsApproval(input, options) : true,
    );

const answerFallback = (
  permit: Rejection,
  tool: Executable,
  input: unknown,
  options: ExecuteOptions,
  adapter: AiSdkContext,
): ReturnType<Execute> => {
  const find = (other: string): DirectCall | undefined => directCall(tool, other, options, adapter);
  const answer = fallbackFor(permit, input, { find, label: labelOf(tool), advise: {} });
  if (answer === undefined) throw new ToolUnavailableError(permit);
  const value = answer.then((found) => {
    if (found === undefined) throw new ToolUnavailableError(permit);
    return found.value;
  });
  return isStreaming(tool) ? once(value) : value;
};

/**
 * The return value for a call that is rejected. It does not throw, because callers expect a promise. Callers that know the tool as
 * a streaming one may iterate it instead, even if it has not streamed here yet.
 */
const rejected = (tool: Executable, error: unknown): ReturnType<Execute> => {
  const rejection = Promise.reject(error);
  const pieces = once(rejection);
  return isStreaming(tool) ? pieces : Object.assign(rejection, { [Symbol.asyncIterator]: () => pieces });
};

/** `@ai-sdk/mcp` and MCP itself recognize their tools by `_meta` too. */
const typeOf = (tool: Executable): ReturnType<typeof toolType> => toolType('_meta' in tool);

const acquireFor = (
  name: string,
  tool: Executable,
  input: unknown,
  options: ExecuteOptions | undefined,
  adapter: AiSdkContext,
): Permit => {
  throwIfAborted(readSignal(`guardTools(), tool '${name}'`, options?.abortSignal));
  const session = adapter.findSession();
  declareTool(session, name, adapter.groupOf(name));
  return acquire(session, name, input, {
    callId: options?.toolCallId,
    type: typeOf(tool),
    key: adapter.judgeOf(name).keyOf(input),
  });
};

const start = (
  permit: Permit,
  tool: Executable,
  input: unknown,
  options: ExecuteOptions | undefined,
  { timeoutMs, tokens, judgeOf }: AiSdkContext,
): Run => {
  const reading = { label: labelOf(tool), tokens, advise: {} };
  const signal = options?.abortSignal;
  const limits = { signal, timeoutMs, isOwnLimit: ownLimit(input, signal) };
  return new Run(permit, { input, ...limits }, reading, judgeOf(permit.tool));
};

/** Runs the tool. It may throw synchronously, and answer at once, by a promise, or piece by piece. */
const perform = (
  run: Run,
  tool: Executable,
  input: unknown,
  options: ExecuteOptions,
  ended: (end: Promise<unknown>) => Promise<unknown> = (end) => end,
): ReturnType<Execute> => {
  try {
    const result = run.enter(() => tool.execute(input, { ...options, abortSignal: run.signal }));
    if (!isAsyncIterable(result)) {
      if (isThenable(result)) return ended(run.execute(async () => result));
      const value = run.returned(result);
      return run.instead?.kind === 'alternative' ? ended(Promise.resolve(value)) : value;
    }
    streaming.add(tool);
    return iterate(run, result);
  } catch (error) {
    const advised = run.threw(error);
    if (run.instead?.kind !== 'alternative' || isStreaming(tool)) throw advised;
    return ended(Promise.reject(advised));
  }
};

/** R4. Only for a tool that the AI SDK would have run without asking anyone, and whose result the model would read the same way. */
const directCall = (
  tool: Executable,
  name: string,
  options: ExecuteOptions,
  adapter: AiSdkContext,
): DirectCall | undefined => {
  const other = Object.hasOwn(adapter.tools, name) ? adapter.tools[name] : undefined;
  if (!isExecutable(other) || other.needsApproval || other.contextSchema || !adapter.inPlace.includes(name))
    return undefined;
  if (tool.toModelOutput || other.toModelOutput) return undefined;
  const contextless = { ...options, context: undefined } as unknown as ExecuteOptions; // The context belongs to the first tool.
  return async (input, usualMs) => {
    const permit = acquireFor(name, other, input, options, adapter);
    if (isRejected(permit)) return undefined;
    const { timeoutMs = usualMs } = adapter;
    const run = start(permit, other, input, options, { ...adapter, timeoutMs });
    const ended = async (): Promise<unknown> => {
      const result = perform(run, other, input, contextless);
      return isAsyncIterable(result) ? lastOf(result) : result;
    };
    return answerOf(ended(), () => run.unanswered);
  };
};

const labelOf = (tool: Executable): typeof labelled => (tool.toModelOutput ? labelForModel : labelled);

/** Tools that have streamed pieces. Their callers expect pieces of a last good result too. */
const streaming = new WeakSet<object>();

const isStreaming = (tool: Executable): boolean =>
  streaming.has(tool) || Object.prototype.toString.call(tool.execute) === '[object AsyncGeneratorFunction]';
