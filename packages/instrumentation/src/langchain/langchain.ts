import type { Session } from '@breakerbox/core';
import { beginTurn, read } from '@breakerbox/core/internal';
import type { AIMessage } from '@langchain/core/messages';
import type { AgentMiddleware } from 'langchain';
import { agentFinder, declareTool, type SessionSource, sessionFinder } from '../acquire.ts';
import { isLastTurn } from '../last-turn.ts';
import { checkOptions, flag, names, type OptionCheck, show } from '../options.ts';
import { spendAnswer, sumOf } from '../spend-answer.ts';
import { noteBlock } from '../system-note.ts';
import { orUndefined } from '../untrusted.ts';
import { checkVersion } from '../versions.ts';
import {
  answersByTool,
  errorMessage,
  isAboutToolChoice,
  isControlFlow,
  isObject,
  type LangChainTool,
  runsHere,
  saidOnly,
} from './shapes.ts';
import type { LangChainContext } from './tool-call.ts';
import {
  type GuardToolOptions,
  guarded,
  inPlaceTools,
  isGuarded,
  isToolFailure,
  rememberErrors,
  TOOL_OPTIONS,
  toolGroups,
  toolJudges,
} from './wrap-tools.ts';

export type { GuardModelsOptions } from '../models/candidates.ts';
export type { ModelLimits } from '../models/model-limits.ts';
export {
  ModelStreamError,
  ModelsUnavailableError,
  RunLimitError,
  type UnansweredModel,
} from '../models/models-unavailable.ts';
export { ToolUnavailableError, type UnavailableRoute } from '../unavailable.ts';
export type { ChatModel } from './chat-model.ts';
export {
  type ChatModelEntry,
  type GuardChatModelsOptions,
  guardChatModels as guardModels,
} from './wrap-chat-models.ts';
export { type GuardToolOptions, guardTool, guardTools } from './wrap-tools.ts';

/** Options of {@link breakerMiddleware}. Those of `guardTool` apply to all tools. */
export interface BreakerMiddlewareOptions extends GuardToolOptions {
  /**
   * Adds a note to the system prompt: which tools are unavailable, and what to use instead. Default: `false`, because a system prompt
   * that changes makes the provider's prompt cache useless. Without the note the model is told when it calls such a tool.
   */
  readonly note?: boolean;
  /**
   * What happens to an error that a tool threw. `message`: it becomes the tool message that `createAgent` makes without middleware; with
   * any middleware that wraps tool calls, `createAgent` would end the run. `throw`: it goes to the middleware in front of this one, such
   * as `toolRetryMiddleware` or `toolErrorMiddleware`, and ends the run if none handles it. Default: `message`.
   */
  readonly onToolError?: 'message' | 'throw';
  /**
   * Names of tools that guard themselves, such as those of a guarded MCP client. Nothing is decided for them here, because each of their
   * failures would count twice. Default: none.
   */
  readonly except?: readonly string[];
}

/**
 * Guards all tools of a `createAgent` of LangChain 1, and counts its turns. List it before `toolRetryMiddleware` and others that
 * wrap tool calls, and after those that hide tools from the model. The session is asked at the tool itself, so each attempt
 * has its own decision.
 *
 * A tool that may not run answers with a `ToolMessage` of status `error` that the model reads, or, as with `guardTools`, with its last
 * good result or its alternative. Errors of tools become messages, as without middleware. Interrupts and `Command`s pass. Tools of the
 * provider, headless tools, and tools that a later middleware adds when they are called have no guard. Tools that `guardTools` made
 * keep their own guard.
 *
 * @throws BreakerboxConfigError for options that can't work.
 * @throws BreakerboxUsageError when `session` is not a session, or the framework is too old. A run rejects with one if a session
 * function finds no session.
 *
 * @example
 * ```ts
 * const agent = createAgent({ model, tools, middleware: [breakerMiddleware(session)] });
 * ```
 */
export function breakerMiddleware(session: SessionSource, options: BreakerMiddlewareOptions = {}): AgentMiddleware {
  const where = 'breakerMiddleware()';
  checkOptions(where, options, { ...TOOL_OPTIONS, note: flag, onToolError: messageOrThrow, except: names });
  checkVersion('langchain', `${where} of @breakerbox/instrumentation/langchain`);
  const { note = false, onToolError = 'message', except = [] } = options;
  const inPlace = inPlaceTools(where, options);
  const findSession = sessionFinder(session, where);
  const findAgent = agentFinder(session, where);
  const isOurs = (tool: unknown): tool is LangChainTool =>
    runsHere(tool) && !isGuarded(tool) && !except.includes(tool.name);
  /** The tools beside a tool, by session, because agents for different users may have different tools. */
  const siblings = new WeakMap<Session, WeakMap<object, readonly LangChainTool[]>>();
  const adapter: LangChainContext = {
    findSession,
    where,
    timeoutMs: options.timeoutMs,
    tokens: options.tokens,
    groupOfTool: toolGroups(options.group, where),
    judgeOfTool: toolJudges(options, where),
    sibling: (tool, name) => {
      const beside = inPlace.includes(name) ? siblings.get(findSession())?.get(tool) : undefined;
      return beside?.find((one) => one.name === name);
    },
  };
  const proxies = new WeakMap<object, object>();
  /** One proxy for each tool, always the same, because later middleware compares tools. */
  const proxyOf = <Tool>(tool: Tool): Tool => {
    if (!runsHere(tool) || isGuarded(tool)) return tool;
    const proxy = proxies.get(tool) ?? (isOurs(tool) ? guarded<LangChainTool>(tool, adapter) : rememberErrors(tool));
    proxies.set(tool, proxy);
    return proxy as Tool;
  };
  const turns = new WeakSet<object>();

  const hooks: Pick<AgentMiddleware, 'wrapModelCall' | 'wrapToolCall'> = {
    // Not beforeModel or afterModel: those are nodes of the graph, and each would count against the recursion limit.
    wrapModelCall: async (request, handler) => {
      const current = findAgent();
      const tools = (request.tools as readonly unknown[]).filter(isOurs);
      const known = siblings.get(current) ?? new WeakMap<object, readonly LangChainTool[]>();
      siblings.set(current, known);
      for (const tool of tools) {
        declareTool(current, tool.name, adapter.groupOfTool(tool));
        known.set(tool, tools);
      }
      // Middleware in front of this one that retries or falls back calls the model again within the turn.
      if (!turns.has(request.state.messages)) beginTurn(current);
      turns.add(request.state.messages);
      const isLast = isLastTurn(current);
      const text = note ? noteBlock(current.note()) : '';
      const told = text === '' ? request : withText(request, text);
      const answer = await (isLast ? askForLast(told, handler) : handler(told));
      const message = messageOf(answer);
      const usage = read(message, 'usage_metadata');
      const tokens = sumOf(read(usage, 'input_tokens'), read(usage, 'output_tokens'));
      spendAnswer(current, message, tokens, read(message, 'response_metadata'));
      // With a `responseFormat`, results of its calls may be in the answer already.
      return isLast && message === answer ? saidOnly(answer as AIMessage) : answer;
    },
    wrapToolCall: async (request, handler) => {
      const { tool, toolCall } = request;
      findSession(); // An error here is not the tool's.
      try {
        return await handler({ ...request, tool: proxyOf(tool) });
      } catch (error) {
        const text = onToolError === 'throw' || isControlFlow(error) ? undefined : textOf(error);
        const message = text && (await errorMessage(text, toolCall.id ?? '', toolCall.name));
        if (message) return message;
        throw error;
      }
    },
  };
  return { [BRAND]: true, name: 'breakerMiddleware', ...hooks } as AgentMiddleware;
}

/** What the model has said. With a `responseFormat`, it is the first of several messages, or in the update of a command. */
const messageOf = (answer: unknown): unknown => {
  const messages = read(answer, 'messages') ?? read(read(answer, 'update'), 'messages');
  return Array.isArray(messages) ? messages[0] : answer;
};

type ModelRequest = Parameters<NonNullable<AgentMiddleware['wrapModelCall']>>[0];

type ModelHandler = Parameters<NonNullable<AgentMiddleware['wrapModelCall']>>[1];

/**
 * D6: the model may only answer. If LangChain reads the answer from a tool of its own, that is the only tool left: LangChain then makes the model
 * call it. Providers reject `toolChoice` in a request without tools. Some models of LangChain know no `none` and throw before the request:
 * their calls of tools are left out of the answer in any case.
 */
const askForLast = async (request: ModelRequest, handler: ModelHandler): Promise<Awaited<ReturnType<ModelHandler>>> => {
  const { toolChoice: _, ...free } = request;
  if (await answersByTool(request)) return handler({ ...free, tools: [] });
  if (request.tools.length === 0) return handler(request);
  try {
    return await handler({ ...request, toolChoice: 'none' });
  } catch (error) {
    if (!isAboutToolChoice(error)) throw error;
    return handler(free);
  }
};

const withText = (request: ModelRequest, text: string): ModelRequest => {
  const { systemMessage } = request;
  const gap = systemMessage.text === '' ? '' : '\n\n';
  return { ...request, systemMessage: systemMessage.concat(`${gap}${text}`) };
};

/** LangChain's mark of middleware, which its `createMiddleware` would add. */
const BRAND = Symbol.for('AgentMiddleware');

const messageOrThrow: OptionCheck = (value) =>
  value === 'message' || value === 'throw'
    ? undefined
    : `is ${show(value)}. Set 'message' or 'throw', or leave it out for 'message'.`;

/** The text that `createAgent` gives the model for a tool's error; undefined for an error of a middleware, which ends the run. */
const textOf = (error: unknown): string | undefined => {
  // ToolInvocationError: the schema rejected the arguments.
  if (isObject(read(error, 'toolCall')) && isObject(read(error, 'toolError')))
    return orUndefined(() => String(read(error, 'message')));
  if (isToolFailure(error)) return orUndefined(() => `${error}\n Please fix your mistakes.`);
  // Each middleware that an error passes may wrap it in one of these. A subagent throws them too, and then the error is the tool's.
  return isMiddlewareError(error) ? textOf(read(error, 'cause')) : undefined;
};

/** In some versions the mark is on the class. */
const isMiddlewareError = (error: unknown): boolean =>
  isObject(read(error, 'cause')) &&
  (read(error, '~brand') ?? read(read(error, 'constructor'), '~brand')) === 'MiddlewareError';
