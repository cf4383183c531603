import type { Permit, Session } from '@breakerbox/core';
import { safely } from '@breakerbox/core/internal';
import type { ToolAfterHookContext, ToolBeforeHookResult, ToolHookContext, ToolHooks } from '@mastra/core/tools';
import {
  acquire,
  declareTool,
  isRejected,
  type Rejection,
  readSignal,
  type SessionSource,
  sessionFinder,
  throwIfAborted,
} from '../acquire.ts';
import { type GroupOf, groupsBy, type ToolGroup, toolGroup } from '../groups.ts';
import { JUDGING, type JudgeOf, type JudgingOptions, judgesBy } from '../judging.ts';
import { labelForModel } from '../model-output.ts';
import { checkOptions, functionGiven } from '../options.ts';
import { Run } from '../run.ts';
import { sessionOfAdapter } from '../run-tool.ts';
import { settlementOf } from '../settlement.ts';
import { ToolUnavailableError } from '../unavailable.ts';
import { checkVersion } from '../versions.ts';
import { type CallContext, endOf, knownEnd, permitOf, watchedSuspend } from './call-context.ts';

export type { AiModel, GuardAiModelsOptions, ModelEntry } from '../ai-sdk/guard-ai-models.ts';
export type { GuardModelsOptions } from '../models/candidates.ts';
export type { ModelLimits } from '../models/model-limits.ts';
export {
  ModelStreamError,
  ModelsUnavailableError,
  RunLimitError,
  type UnansweredModel,
} from '../models/models-unavailable.ts';
export { ToolUnavailableError, type UnavailableRoute } from '../unavailable.ts';
export { guardMastraModels as guardModels } from './guard-mastra-models.ts';
export { type BreakerProcessor, type BreakerProcessorOptions, breakerProcessor } from './processor.ts';

/** The tool hooks of an agent, in Mastra's form. */
export type BreakerHooks = Required<Pick<ToolHooks, 'beforeToolCall' | 'afterToolCall'>>;

/** Options of {@link breakerHooks}, with your own hooks. */
export interface BreakerHooksOptions extends ToolHooks, JudgingOptions {
  /**
   * The group of the tools (C13), such as the MCP server or the service behind them: a name for all of them, or a function that gives the
   * group of each by the tool's name. When tools of a group fail in a row, all of the group are skipped, and one probe serves them all.
   * The configuration of a tool takes precedence. Default: none, because Mastra does not tell hooks and processors which MCP
   * server a tool belongs to. With `@mastra/mcp`: `group: (tool) => tools[tool]?.mcpMetadata?.serverName`.
   * If you use `breakerProcessor` too, give it the same option.
   */
  readonly group?: ToolGroup;
}

/**
 * Guards the tools of a Mastra agent: its own and those of toolsets, MCP servers, workflows and sub-agents. It does not guard tools that
 * `prepareStep` adds, or those of `agent.network()`. Use it with {@link breakerProcessor}, which counts the turns and can end a call that
 * hangs. Each call is decided once.
 *
 * On skip and pause Mastra makes a tool error of `ToolUnavailableError`, the model reads its message, and the loop continues.
 * (An output in place of the result would go through the tool's `toModelOutput`, and an error there would end the run.)
 * A tool with `serveStaleMs` instead gives its last good result for the same arguments, with a label. Nothing is decided for calls that
 * wait for an approval or were rejected one, or for tools that the client or the provider runs. A call that suspends costs nothing, and is
 * decided again when it resumes.
 *
 * Hooks of a single run replace those of the agent. Guard them there too, with the same function.
 *
 * @param own Your own hooks. Your `beforeToolCall` is asked about calls that may run. A call that it rejects costs nothing.
 * @throws BreakerboxConfigError for invalid hooks.
 * @throws BreakerboxUsageError when `session` is not a session, or the framework is too old.
 *
 * @example
 * ```ts
 * const agent = new Agent({
 *   id: 'researcher', name: 'Researcher', instructions, model, tools,
 *   hooks: breakerHooks(session),
 *   inputProcessors: [breakerProcessor(session, { timeoutMs: 10_000 })],
 * });
 * ```
 */
export function breakerHooks(session: SessionSource, own: BreakerHooksOptions = {}): BreakerHooks {
  const where = 'breakerHooks()';
  checkOptions(where, own, {
    beforeToolCall: functionGiven,
    afterToolCall: functionGiven,
    group: toolGroup,
    ...JUDGING,
  });
  checkVersion('@mastra/core', `${where} of @breakerbox/instrumentation/mastra`);
  const settings: ToolSettings = { groupOf: groupsBy(own.group, where), judgeOf: judgesBy(own, where) };
  const adapter = { findSession: sessionFinder(session, where), where };
  return {
    beforeToolCall: async (call) => {
      const { context } = call;
      const permit = isObject(context)
        ? (permitOf(context) ?? acquireFor(sessionOfAdapter(adapter), settings, call))
        : undefined;
      if (permit !== undefined && isRejected(permit)) return answerFallback(permit);
      return askOwnHook(call, permit, own);
    },
    afterToolCall: async (call) => {
      conclude(call);
      try {
        await own.afterToolCall?.(call);
      } catch (error) {
        // E1: otherwise the processor would take this error for the tool's.
        const { toolName, input, context } = call;
        permitOf(context)?.settle(settlementOf(endOf(call), settings.judgeOf(toolName), input, knownEnd));
        throw error;
      }
    },
  };
}

/** The options, read for each tool. */
interface ToolSettings {
  readonly groupOf: GroupOf;
  readonly judgeOf: JudgeOf;
}

/** The calls that these hooks have let through, until the hook after them. */
const underWay = new WeakMap<object, Run>();

const acquireFor = (
  session: Session,
  { groupOf, judgeOf }: ToolSettings,
  { toolName, input, context }: ToolHookContext,
): Permit => {
  const given = context as CallContext;
  const signal = readSignal(`breakerHooks(), tool '${toolName}'`, given.abortSignal);
  throwIfAborted(signal);
  declareTool(session, toolName, groupOf(toolName));
  const judge = judgeOf(toolName);
  const permit = acquire(session, toolName, input, { callId: given.toolCallId, key: judge.keyOf(input) });
  if (isRejected(permit)) return permit;
  underWay.set(
    given,
    new Run(permit, { input, signal, isToolsSignal: signal !== undefined, canStop: false }, { known: knownEnd }, judge),
  );
  // The tool gets the same context object. The call is decided, so an error in reading it must not end the call.
  safely('watching for the suspension of a call', () => {
    for (const [key, value] of Object.entries(watchedSuspend(given, permit))) Reflect.set(given, key, value);
  });
  return permit;
};

const answerFallback = (permit: Rejection): ToolBeforeHookResult => {
  const { route } = permit;
  if (route?.kind !== 'stale') throw new ToolUnavailableError(permit);
  return { proceed: false, output: labelForModel(route.result, route.label) };
};

const askOwnHook = async (
  call: ToolHookContext,
  permit: Permit | undefined,
  { beforeToolCall }: ToolHooks,
): Promise<ToolBeforeHookResult | undefined> => {
  const reject = (): void => {
    permit?.settle({ outcome: 'ignored', category: 'denied' });
    conclude(call);
  };
  try {
    const answer = await beforeToolCall?.(call);
    if (answer?.proceed === false) reject(); // Mastra calls no hook after it.
    return answer ?? undefined;
  } catch (error) {
    reject();
    throw error;
  }
};

const conclude = (call: ToolAfterHookContext): void => {
  const run = isObject(call.context) ? underWay.get(call.context) : undefined;
  if (run === undefined) return;
  underWay.delete(call.context as object);
  if (call.error === undefined) run.returned(call.output);
  else run.threw(call.error);
};

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
