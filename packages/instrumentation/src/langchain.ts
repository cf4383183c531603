import { safely } from '@breakerbox/core/internal';
import type { AgentMiddleware } from 'langchain';
import { errorMessage, isControlFlow, isObject, type LangChainTool, readOf, runsHere } from './langchain-shapes.ts';
import {
  type GuardToolOptions,
  guarded,
  isGuarded,
  isToolFailure,
  TOOL_OPTIONS,
  type ToolKitchen,
} from './langchain-tool.ts';
import { checkOptions, flag, type OptionCheck, show } from './options.ts';
import { type SessionSource, sessionFinder } from './session-source.ts';

export { type GuardToolOptions, guardTool, guardTools } from './langchain-tool.ts';
export { ToolUnavailableError, type UnavailableRoute } from './unavailable.ts';

/** How the middleware behaves; `timeoutMs` and `tokens` are those of all tools. */
export interface BreakerMiddlewareOptions extends GuardToolOptions {
  /**
   * Adds `session.note()` to the system prompt: which tools are out, and where to go instead. Default: `false`, for a system
   * prompt that changes begins the provider's prompt cache anew. Without it the model is told when it calls such a tool.
   */
  readonly note?: boolean;
  /**
   * What becomes of an error that a tool threw. `message`: the tool message that `createAgent` makes of it where there is no
   * middleware; with any that wraps tool calls, it ends the run instead. `throw`: it goes on to the middleware in front of this
   * one, and ends the run if none takes it; for `toolRetryMiddleware` and `toolErrorMiddleware` in front. Default: `message`.
   */
  readonly onToolError?: 'message' | 'throw';
}

/**
 * Guards all tools of a `createAgent` of LangChain 1, and counts its turns. List it first, before `toolRetryMiddleware` and
 * others that wrap tool calls: the decision is asked at the tool itself, so each attempt has its own.
 *
 * A tool that must not be run answers with a `ToolMessage` of status `error` that the model reads, or as `guardTools` has it
 * with its last good result or its alternative. Errors of tools become messages, as without middleware. Interrupts and
 * `Command`s pass. Tools without a guard: those of the provider, headless ones, and those that a middleware behind this
 * one brings when they are called. Tools that `guardTools` made keep their own guard.
 *
 * @throws BreakerboxConfigError for options that can't work.
 * @throws BreakerboxUsageError when `session` is no session. A run rejects with one where a session function finds none.
 *
 * @example
 * ```ts
 * const agent = createAgent({ model, tools, middleware: [breakerMiddleware(session)] });
 * ```
 */
export function breakerMiddleware(session: SessionSource, options: BreakerMiddlewareOptions = {}): AgentMiddleware {
  const where = 'breakerMiddleware()';
  checkOptions(where, options, { ...TOOL_OPTIONS, note: flag, onToolError: messageOrThrow });
  const { note = false, onToolError = 'message' } = options;
  const findSession = sessionFinder(session, where);
  const siblings = new WeakMap<object, readonly unknown[]>();
  const kitchen: ToolKitchen = {
    findSession,
    where,
    timeoutMs: options.timeoutMs,
    tokens: options.tokens,
    sibling: (tool, name) => siblings.get(tool)?.find((one) => readOf(one, 'name') === name),
  };
  const turns = new WeakSet<object>();

  const hooks: Pick<AgentMiddleware, 'wrapModelCall' | 'wrapToolCall'> = {
    // Not beforeModel or afterModel: those are nodes of the graph, and each would count against the recursion limit.
    wrapModelCall: (request, handler) => {
      const current = findSession();
      const tools = request.tools ?? [];
      for (const tool of tools) {
        if (!runsHere(tool)) continue;
        if (!isGuarded(tool)) current.declare(tool.name);
        siblings.set(tool, tools);
      }
      // One that retries or falls back, in front of this, asks again within the turn.
      if (!turns.has(request.state.messages)) current.step();
      turns.add(request.state.messages);
      const text = note ? current.note() : '';
      if (text === '') return handler(request);
      const { systemMessage } = request;
      const gap = systemMessage.text === '' ? '' : '\n\n';
      return handler({ ...request, systemMessage: systemMessage.concat(`${gap}${text}`) });
    },
    wrapToolCall: async (request, handler) => {
      const { tool, toolCall } = request;
      const own = runsHere(tool) && !isGuarded(tool) ? (guarded<LangChainTool>(tool, kitchen) as typeof tool) : tool;
      try {
        return await handler({ ...request, tool: own });
      } catch (error) {
        const text = onToolError === 'throw' || isControlFlow(error) ? undefined : textOf(error);
        const said = text && (await errorMessage(text, toolCall.id ?? '', toolCall.name));
        if (said) return said;
        throw error;
      }
    },
  };
  return { [BRAND]: true, name: 'breakerMiddleware', ...hooks } as AgentMiddleware;
}

/** By which LangChain tells middleware; what its `createMiddleware` would add. */
const BRAND = Symbol.for('AgentMiddleware');

const messageOrThrow: OptionCheck = (value) =>
  value === 'message' || value === 'throw'
    ? undefined
    : `is ${show(value)}. Set 'message' or 'throw', or leave it out for 'message'.`;

/** What `createAgent` says to the model of a tool's error; undefined for an error of a middleware, which it lets end the run. */
const textOf = (error: unknown): string | undefined => {
  const root = rootOf(error);
  // ToolInvocationError, of arguments that the schema refuses.
  if (isObject(readOf(root, 'toolCall')) && isObject(readOf(root, 'toolError'))) return String(readOf(root, 'message'));
  if (!isToolFailure(root)) return undefined;
  return safely('an error of a tool', () => `${root}\n Please fix your mistakes.`);
};

/** Each middleware that an error passes may put it into a MiddlewareError; some versions have the brand on the class. */
const rootOf = (error: unknown): unknown => {
  const brand = readOf(error, '~brand') ?? readOf(readOf(error, 'constructor'), '~brand');
  const cause = readOf(error, 'cause');
  return brand === 'MiddlewareError' && cause !== undefined ? rootOf(cause) : error;
};
