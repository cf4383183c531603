import { beginTurn, callDeadline, safely } from '@breakerbox/core/internal';
import type { BasePlugin, BaseTool, Context, LlmAgentConfig, LlmRequest, LlmResponse } from '@google/adk';
import { agentFinder, declareTool, type Rejection, type SessionSource, sessionFinder, toolType } from '../acquire.ts';
import { advisedData } from '../advice.ts';
import { type Answer, answerOf, type DirectCall, valueIn } from '../fallback.ts';
import { groupsBy, type ToolGroup, toolGroup } from '../groups.ts';
import { JUDGING, type JudgingOptions, judgesBy } from '../judging.ts';
import { isLastTurn } from '../last-turn.ts';
import { checkOptions, flag, functionGiven, milliseconds, names } from '../options.ts';
import { overlay } from '../overlay.ts';
import {
  type AdapterContext,
  rejectedBefore,
  runAlternative,
  runTool,
  type ToolExecutor,
  type ToolRequest,
} from '../run-tool.ts';
import { inTurn } from '../running-calls.ts';
import type { CallEnd, Reading } from '../settlement.ts';
import { spendAnswer } from '../spend-answer.ts';
import { noteBlock } from '../system-note.ts';
import { orUndefined } from '../untrusted.ts';
import { checkVersion } from '../versions.ts';
import { addressOf, describeNativeSpan, expectCall, type Guard, isMcpTool, knownTool, toolsetOf } from './adk-tools.ts';

/** Options of {@link BreakerPlugin} and {@link breakerCallbacks}. */
export interface BreakerPluginOptions extends JudgingOptions {
  /**
   * Milliseconds that one call of a tool may take. After that, the `abortSignal` of its context fires, the model reads an error, and
   * the call counts as a failure. Default: none. ADK has no timeout of its own.
   */
  readonly timeoutMs?: number;
  /** Reads the cost of a call in tokens when it ends. Tokens of a failed call are wasted. Default: not known. */
  readonly tokens?: (end: CallEnd<unknown>, tool: string) => number | undefined;
  /**
   * The group of the tools (C13), such as the MCP server or the service behind them: a name for all of them, or a function that gives the
   * group of each by the tool's name. When tools of a group fail in a row, all of the group are skipped, and one probe serves them all.
   * The configuration of a tool takes precedence. Default: none; for MCP tools, the prefix of the `MCPToolset`, or else
   * the host or the command of its server.
   */
  readonly group?: ToolGroup;
  /**
   * Names of tools that may be called in place of another tool, if that one's alternative has `adapt`. Leave out each tool that a person
   * has to approve: your own plugins, and an agent's `beforeToolCallback`, do not see a call in place. No tool is called in place in a
   * runner with a `SecurityPlugin`. Default: none, so the model reads of the alternative, and calls it itself.
   */
  readonly inPlace?: readonly string[];
  /**
   * Adds a note to the system instruction of each request while a tool is unavailable: which tools are, and what to use instead.
   * Default: false, because the model is told at the call, and a changed system instruction misses the prompt cache.
   */
  readonly note?: boolean;
}

/** An ADK plugin. */
export type BreakerPlugin = BasePlugin;

/**
 * Guards all tools of all agents of a `Runner` of `@google/adk`: function tools, MCP and OpenAPI toolsets, agents as tools. It
 * counts the turns of the model as steps.
 *
 * On skip and pause the model reads `{ error }`, which says what is unavailable and what to use instead, and the run continues. A tool
 * with `serveStaleMs` instead gives its last good result for the same arguments, with a label. A tool whose alternative has `adapt`,
 * is a tool of the same agent and is listed in `inPlace` gives the alternative's result, with a note. Nothing is decided for arguments that the schema
 * rejects, for calls that wait for a confirmation or were rejected one, and for ADK's own tools such as `transfer_to_agent`.
 *
 * An `AgentTool` is one tool: ADK runs the agent inside without plugins. See {@link breakerCallbacks}.
 *
 * @throws BreakerboxConfigError for options that can't work.
 * @throws BreakerboxUsageError when `session` is not a session, or the framework is too old.
 *
 * @example
 * ```ts
 * const runner = new InMemoryRunner({ agent, plugins: [new BreakerPlugin(session, { timeoutMs: 10_000 })] });
 * ```
 */
export const BreakerPlugin = class {
  constructor(session: SessionSource, options: BreakerPluginOptions = {}) {
    const { beforeModel, afterModel, beforeTool } = hooksOf('BreakerPlugin', session, options);
    const hooks: Readonly<Record<PropertyKey, unknown>> = {
      name: 'breakerbox',
      beforeModelCallback: async ({ callbackContext, llmRequest }: PluginModelCall) =>
        beforeModel(callbackContext, llmRequest),
      afterModelCallback: async ({ callbackContext, llmResponse }: PluginModelEnd) =>
        afterModel(callbackContext, llmResponse),
      beforeToolCallback: async ({ tool, toolContext }: PluginToolCall) => beforeTool(tool, toolContext),
    };
    // ADK calls every hook of every plugin, including hooks of later versions. A subclass would need ADK when this module is loaded.
    // biome-ignore lint/correctness/noConstructorReturn: the proxy answers to all hook names.
    return new Proxy(this, { get: (_, key) => hooks[key] ?? (isHook(key) ? nothing : Reflect.get(this, key)) });
  }
} as new (
  session: SessionSource,
  options?: BreakerPluginOptions,
) => BreakerPlugin;

/**
 * The same for a single agent that no plugin reaches, such as one inside an `AgentTool`, which ADK runs with its own runner.
 * If a plugin reaches the agent too, nothing is counted twice.
 *
 * @throws BreakerboxConfigError for options that can't work.
 * @throws BreakerboxUsageError when `session` is not a session, or the framework is too old.
 *
 * @example
 * ```ts
 * const critic = new AgentTool({ agent: new LlmAgent({ name: 'critic', model, tools, ...breakerCallbacks(session) }) });
 * ```
 */
export function breakerCallbacks(
  session: SessionSource,
  options: BreakerPluginOptions = {},
): Required<Pick<LlmAgentConfig, 'beforeModelCallback' | 'afterModelCallback' | 'beforeToolCallback'>> {
  const { beforeModel, afterModel, beforeTool } = hooksOf('breakerCallbacks()', session, options);
  return {
    beforeModelCallback: ({ context, request }) => beforeModel(context, request),
    afterModelCallback: ({ context, response }) => afterModel(context, response),
    beforeToolCallback: ({ tool, context }) => beforeTool(tool, context),
  };
}

type PluginModelCall = Parameters<BasePlugin['beforeModelCallback']>[0];
type PluginModelEnd = Parameters<BasePlugin['afterModelCallback']>[0];
type PluginToolCall = Parameters<BasePlugin['beforeToolCallback']>[0];

const isHook = (key: PropertyKey): boolean => typeof key === 'string' && /^(before|after|on)[A-Z]/.test(key);

const nothing = async (): Promise<undefined> => undefined;

/** The hooks that ADK calls. No error here may reach ADK, because it ends the run for an error of a plugin (E5). */
interface Hooks {
  beforeModel(context: Context, request: LlmRequest): undefined;
  afterModel(context: Context, response: LlmResponse): undefined;
  beforeTool(tool: BaseTool, context: Context): undefined;
}

/** ADK's control tools: they hand over, end the run, or wait for a person. */
const CONTROL_TOOLS: ReadonlySet<string> = new Set([
  'transfer_to_agent',
  'exit_loop',
  'finish_task',
  'set_model_response',
  'adk_request_input',
  'get_user_choice',
]);

/** If the model made up a name, ADK gives what its record of tools inherits, such as `Object`. */
const isTool = (tool: BaseTool): boolean => typeof tool === 'object' && typeof tool.runAsync === 'function';

type ToolsByName = Readonly<Record<string, BaseTool>>;

/** Requests whose turns were counted as steps. */
const counted = new WeakSet<LlmRequest>();

/** The invocations of agents whose model has its last turn (D6). */
const lastTurns = new WeakSet<object>();

/** The answer of an alternative that may not be called either. */
const REJECTED = Symbol('rejected');

const hooksOf = (where: string, session: SessionSource, options: BreakerPluginOptions): Hooks => {
  checkOptions(where, options, {
    timeoutMs: milliseconds,
    tokens: functionGiven,
    group: toolGroup,
    note: flag,
    inPlace: names,
    ...JUDGING,
  });
  checkVersion('@google/adk', `${where} of @breakerbox/instrumentation/google-adk`);
  const { timeoutMs, tokens, group, note = false, inPlace = [] } = options;
  const byOption = groupsBy(group, where);
  const groupOfTool = (tool: BaseTool): string | undefined => byOption(tool.name) ?? toolsetOf(tool) ?? addressOf(tool);
  const adapter: AdapterContext = { findSession: sessionFinder(session, where), where, timeoutMs };
  const findAgent = agentFinder(session, where);
  const judgeOf = judgesBy(options, where);
  const toolsOf = new WeakMap<object, ToolsByName>();

  const requestOf = (tool: BaseTool, input: unknown, context: Context): ToolRequest => ({
    tool: tool.name,
    group: groupOfTool(tool),
    judge: judgeOf(tool.name, knownTool(tool)),
    type: toolType(isMcpTool(tool)),
    input,
    callId: context.functionCallId,
    signal: context.abortSignal,
  });

  const readingOf = ({ name }: BaseTool): Reading => ({
    tokens: tokens && ((end) => tokens(end, name)),
    advise: { result: advisedData }, // ADK copies what a session keeps.
  });

  const executorOf =
    (tool: BaseTool, context: Context, work: (context: Context) => unknown): ToolExecutor<unknown> =>
    async ({ signal, permit }) => {
      const isBounded = timeoutMs !== undefined || callDeadline(permit) !== undefined;
      const bounded = !isBounded ? context : overlay(context, new Map([['abortSignal', signal]]));
      const result = await work(bounded);
      // An error here must not replace the tool's result.
      const category = safely(`reading how tool '${tool.name}' ended`, () => notDone(tool, context, result));
      if (category !== undefined) permit.settle({ outcome: 'ignored', category });
      return result;
    };

  const guardOf =
    (tool: BaseTool, rejectionOf: () => Rejection | undefined): Guard =>
    (input, context, work) => {
      describeNativeSpan(tool.name);
      const find = (name: string): DirectCall | undefined => directCall(name, context);
      const request = { ...requestOf(tool, input, context), rejection: rejectionOf() };
      return runTool(adapter, request, executorOf(tool, context, work), {
        ...readingOf(tool),
        reject,
        find,
      });
    };

  /** R4. Through ADK's own way of running a tool, so that the arguments are checked. */
  const directCall = (name: string, context: Context): DirectCall | undefined => {
    const tools = toolsOf.get(context.invocationContext) ?? {};
    const other = Object.hasOwn(tools, name) ? tools[name] : undefined;
    if (other === undefined || !inPlace.includes(name) || CONTROL_TOOLS.has(name) || other.isLongRunning)
      return undefined;
    if (hasPolicy(context)) return undefined;
    return async (input, usualMs) => {
      let answer: Answer | undefined;
      const args = input as Record<string, unknown>;
      if (await needsConfirmation(other, args, context)) return undefined;
      expectCall(other, context, async (input, context, work) => {
        answer = await runAlternative(
          adapter,
          requestOf(other, input, context),
          executorOf(other, context, work),
          readingOf(other),
          usualMs,
        );
        return answer === undefined ? REJECTED : valueIn(answer);
      });
      const end = other.runAsync({ args, toolContext: context });
      // Without an answer, ADK rejected the arguments.
      const ended = await answerOf(end, () => (answer === undefined ? 'unanswered' : answer.unanswered));
      return 'value' in ended && ended.value === REJECTED ? undefined : ended;
    };
  };

  return {
    beforeModel: (context, request) => {
      inTurn(`beforeModelCallback of ${where}`, () => {
        toolsOf.set(context.invocationContext, request.toolsDict);
        if (counted.has(request)) return;
        counted.add(request);
        const session = findAgent();
        beginTurn(session);
        for (const [name, tool] of Object.entries(request.toolsDict)) {
          if (!CONTROL_TOOLS.has(name)) declareTool(session, name, groupOfTool(tool));
        }
        if (note) addInstruction(request, noteBlock(session.note()));
        const wasLast = lastTurns.delete(context.invocationContext);
        if (!isLastTurn(session)) return;
        lastTurns.add(context.invocationContext);
        withoutTools(request, wasLast ? [] : OUTPUT_TOOLS);
      });
      return undefined;
    },
    afterModel: (context, response) => {
      safely(`afterModelCallback of ${where}`, () => {
        if (lastTurns.has(context.invocationContext)) withoutCalls(response);
        // Pieces of a stream: the last one has the usage of all.
        if (response.partial === true) return;
        spendAnswer(findAgent(), response, response.usageMetadata?.totalTokenCount, undefined);
      });
      return undefined;
    },
    beforeTool: (tool, context) => {
      safely(`beforeToolCallback of ${where}`, () => {
        if (!isTool(tool) || CONTROL_TOOLS.has(tool.name)) return;
        let rejection: Rejection | undefined;
        const isRejected = (input: unknown): boolean => {
          describeNativeSpan(tool.name);
          rejection = safely(where, () => rejectedBefore(adapter, requestOf(tool, input, context)));
          return rejection !== undefined;
        };
        expectCall(
          tool,
          context,
          guardOf(tool, () => rejection),
          isRejected,
        );
      });
      return undefined;
    },
  };
};

const reject = ({ message }: Rejection): unknown => ({ error: message });

/** The category of a call whose result says nothing about the tool: it waits for someone, or a person said no. */
const notDone = (tool: BaseTool, context: Context, result: unknown): 'cancelled' | 'denied' | undefined => {
  const { functionCallId: id = '', actions, toolConfirmation } = context;
  if (toolConfirmation?.confirmed === false) return 'denied';
  const asks = Object.hasOwn(actions.requestedToolConfirmations, id) || Object.hasOwn(actions.requestedAuthConfigs, id);
  const waits = tool.isLongRunning && (result === undefined || result === null);
  return asks || waits ? 'cancelled' : undefined;
};

/** Whether a person would have to be asked. ADK 1 has no such question. */
const needsConfirmation = async (tool: BaseTool, args: Record<string, unknown>, context: Context): Promise<boolean> =>
  (await (tool as Partial<BaseTool>).checkRequireConfirmation?.(args, context)) === true;

/** Whether ADK's `SecurityPlugin` may ask a person. It would not see a call in place. */
const hasPolicy = ({ invocationContext }: Context): boolean =>
  orUndefined(() => invocationContext.pluginManager.getPlugin('security_plugin')) !== undefined;

/** Tools by which ADK reads an answer that has a schema, or the end of a task. */
const OUTPUT_TOOLS = ['set_model_response', 'finish_task'];

/**
 * D6: the model may only answer, by one of these tools if the agent has it. That did not end the run if it is asked again. Gemini rejects this
 * setting in a request without functions.
 */
const withoutTools = ({ config, toolsDict }: LlmRequest, answerTools: readonly string[]): void => {
  if (config?.tools?.some((one) => 'functionDeclarations' in one && one.functionDeclarations?.length) !== true) return;
  const allowedFunctionNames = answerTools.filter((name) => Object.hasOwn(toolsDict, name));
  const functionCallingConfig =
    allowedFunctionNames.length === 0 ? { mode: 'NONE' as never } : { mode: 'ANY' as never, allowedFunctionNames };
  config.toolConfig = { ...config.toolConfig, functionCallingConfig };
};

/**
 * Some models call tools nevertheless. Then the run would go on to its cap, so such calls are left out of the answer. ADK's own tools stay,
 * because they hand over or end the run. The response gets new content, because a callback that returns one hides it from those after it.
 */
const withoutCalls = (response: LlmResponse): void => {
  const { content } = response;
  if (content?.parts === undefined) return;
  const isKept = ({ functionCall: call }: (typeof content.parts)[number]): boolean =>
    call === undefined || CONTROL_TOOLS.has(`${call.name}`);
  response.content = { ...content, parts: content.parts.filter(isKept) };
};

/** Adds text to an instruction that is a string, as ADK makes it. Any other instruction is the user's own, and stays. */
const addInstruction = (request: LlmRequest, text: string): void => {
  if (text === '') return;
  request.config ??= {};
  const { systemInstruction: given = '' } = request.config;
  if (typeof given === 'string') request.config.systemInstruction = given === '' ? text : `${given}\n\n${text}`;
};
