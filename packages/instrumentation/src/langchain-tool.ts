import { BreakerboxUsageError } from '@breakerbox/core';
import { aValue } from './caller.ts';
import { resumable, uninterrupted } from './langchain-interrupts.ts';
import {
  errorIn,
  errorMessage,
  isGenerator,
  isObject,
  type LangChainTool,
  labelContent,
  labelFor,
  noteFor,
  type RunManager,
  readOf,
  readPieces,
  runsHere,
  type ToolConfig,
} from './langchain-shapes.ts';
import { checkOptions, milliseconds, reader } from './options.ts';
import type { DirectCall } from './otherwise.ts';
import type { CallEnd } from './run.ts';
import { type Kitchen, type Manners, runInPlace, runTool } from './run-tool.ts';
import { declareNow, type SessionSource, sessionFinder } from './session-source.ts';
import { type Refusal, ToolUnavailableError } from './unavailable.ts';

/** How guarded tools behave. */
export interface GuardToolOptions {
  /**
   * Milliseconds that one call of a tool may take. When they are over, the tool's `signal` fires, the call rejects with a
   * `TimeoutError` at once, and it counts as a failure. Default: none; LangChain's own `timeout` is understood as well.
   */
  readonly timeoutMs?: number;
  /**
   * Reads in the end of a call what it cost, in tokens: in what the tool's function returned, or in the error. Those of a failed
   * call are wasted. Default: nobody knows. What it throws goes to OpenTelemetry's `diag`.
   */
  readonly tokens?: (end: CallEnd<unknown>) => number | undefined;
}

export const TOOL_OPTIONS = { timeoutMs: milliseconds, tokens: reader } as const;

/** What the tools of one agent share. */
export interface ToolKitchen extends Kitchen {
  readonly tokens: GuardToolOptions['tokens'];
  /** The tool of that name which the agent has beside this one. */
  sibling(tool: LangChainTool, name: string): unknown;
}

/** Guarded tools: they decide for themselves, wherever they turn up again. */
const guards = new WeakSet<object>();

export const isGuarded = (tool: object): boolean => guards.has(tool);

/** What guarded tools threw while their callers were still there, schemas' errors too. */
const failures = new WeakSet<object>();

/** Whether it comes from a tool, and not from what is around it. What is no object comes from a tool: LangChain puts others into one. */
export const isToolFailure = (error: unknown): boolean => !isObject(error) || failures.has(error);

/**
 * Guards one tool of LangChain: see `guardTools`, which also lets tools stand in for one another.
 *
 * @throws BreakerboxConfigError for options that can't work.
 * @throws BreakerboxUsageError when `session` is no session, or `tool` no object.
 *
 * @example
 * ```ts
 * const search = guardTool(tool(({ query }) => find(query), { name: 'search', schema }), session);
 * ```
 */
export function guardTool<Tool extends object>(
  tool: Tool,
  session: SessionSource,
  options: GuardToolOptions = {},
): Tool {
  return guardEach([tool], session, options, 'guardTool()')[0] as Tool;
}

/**
 * Guards the tools of LangChain: give the result to `ToolNode`, `createAgent`, `bindTools` or a loop of your own in their
 * place. The types are those of the tools. Where no `breakerMiddleware` counts the turns of the agent, call `session.step()` at
 * the end of each.
 *
 * On skip and pause, a tool that a model called answers with a `ToolMessage` of status `error` whose text the model reads;
 * nothing is thrown, so nothing crashes and nothing is retried. One with `serveStaleMs` gives its last good result for the same
 * arguments, labelled; one whose alternative has `adapt` and is a tool of the same list gives what that one gives, with a note.
 * Who invokes a tool with plain arguments in place of a tool call gets a `ToolUnavailableError`.
 *
 * Arguments that the tool's schema refuses never reach the tool, nor the session. Interrupts pass and cost nothing. Passed on
 * as they are: tools that the provider runs, headless tools, and tools that are guarded already.
 *
 * @throws BreakerboxConfigError for options that can't work.
 * @throws BreakerboxUsageError when `session` is no session, or `tools` no array of objects.
 *
 * @example
 * ```ts
 * const tools = guardTools([search, fetchPage], session);
 * const graph = new StateGraph(MessagesAnnotation).addNode('tools', new ToolNode(tools));
 * ```
 */
export function guardTools<Tools extends readonly object[]>(
  tools: Tools,
  session: SessionSource,
  options: GuardToolOptions = {},
): Tools {
  return guardEach(tools, session, options, 'guardTools()') as unknown as Tools;
}

const guardEach = (
  tools: readonly object[],
  session: SessionSource,
  options: GuardToolOptions,
  where: string,
): readonly object[] => {
  checkOptions(where, options, TOOL_OPTIONS);
  const findSession = sessionFinder(session, where);
  if (!Array.isArray(tools)) throw nothingToGuard(where, tools, 'an array of tools');
  for (const tool of tools) {
    if (typeof tool !== 'object' || tool === null) throw nothingToGuard(where, tool, 'a tool');
  }
  const own = tools.filter((tool) => runsHere(tool) && !isGuarded(tool)) as LangChainTool[];
  declareNow(
    session,
    own.map(({ name }) => name),
  );
  const kitchen: ToolKitchen = {
    findSession,
    where,
    timeoutMs: options.timeoutMs,
    tokens: options.tokens,
    sibling: (_, name) => own.find((tool) => tool.name === name),
  };
  return tools.map((tool) => (own.includes(tool) ? guarded(tool, kitchen) : tool));
};

const nothingToGuard = (where: string, given: unknown, wanted: string): BreakerboxUsageError =>
  new BreakerboxUsageError(
    `${where}: got ${aValue(given)} in place of ${wanted}, so there is nothing to guard. Give what createAgent or ToolNode ` +
      'would get.',
  );

/** One call of a tool's work, as LangChain makes it. */
interface Work {
  readonly input: unknown;
  readonly config: ToolConfig | undefined;
  readonly runManager?: RunManager | undefined;
  readonly run: (config: ToolConfig) => unknown;
}

/**
 * The tool, but for its work. Everything else runs with this in place of the tool, for all its ways lead to `_call`: `invoke`,
 * `call`, `batch`, `stream`, and what is made of it by `withConfig` and its like. The work itself, and accessors, keep the tool
 * as `this`, for it may have private members.
 */
export const guarded = <Tool extends LangChainTool>(tool: Tool, kitchen: ToolKitchen): Tool => {
  const work: LangChainTool['_call'] = (input, runManager, config) =>
    callGuarded(tool, kitchen, { input, config, runManager, run: (inner) => tool._call?.(input, runManager, inner) });
  /** Of a tool that is made of a `Runnable`, which has nothing beneath it. */
  const whole: LangChainTool['invoke'] = (given, config) => {
    const run = (inner: ToolConfig): Promise<unknown> => tool.invoke(given, inner);
    if (readOf(given, 'type') !== 'tool_call') return callGuarded(tool, kitchen, { input: given, config, run });
    const toolCall = given as { readonly id?: string; readonly args?: unknown };
    return callGuarded(tool, kitchen, { input: toolCall.args, config: { ...config, toolCall }, run });
  };
  const invoke: LangChainTool['invoke'] = async (given, config) => {
    try {
      return await (tool._call ? Reflect.apply(tool.invoke, stand, [given, config]) : whole(given, config));
    } catch (error) {
      if (isObject(error) && !config?.signal?.aborted) failures.add(error);
      throw error;
    }
  };
  const stand: Tool = new Proxy(tool, {
    get: (target, key) => {
      if (key === 'invoke') return invoke;
      return key === '_call' && target._call ? work : Reflect.get(target, key);
    },
    set: (target, key, value) => Reflect.set(target, key, value),
  });
  guards.add(stand);
  return stand;
};

const callGuarded = async (tool: LangChainTool, kitchen: ToolKitchen, work: Work): Promise<unknown> => {
  const { config, runManager } = work;
  const callId = config?.toolCall?.id;
  const call = { tool: tool.name, input: work.input, callId, signal: config?.signal };
  const { asked, following } = resumable(kitchen.findSession(), callId && `${tool.name} ${callId}`);
  const cook = following(async (signal) => {
    const result = await work.run({ ...config, signal });
    return isGenerator(result) ? await readPieces(result, runManager, signal) : result;
  });
  return runTool(kitchen, { ...call, asked }, cook, {
    tokens: kitchen.tokens,
    evidence: (result) => errorIn(tool, result),
    label: labelFor(tool),
    note: noteFor(tool),
    refuse: (permit) => refusal(tool, permit, config?.toolCall),
    find: (name) => inPlace(kitchen.sibling(tool, name), kitchen, work),
  } satisfies Manners<unknown>);
};

/** R4. Through the other tool's `invoke`, so that its schema looks at what `adapt` made. */
const inPlace = (other: unknown, kitchen: ToolKitchen, { config, runManager }: Work): DirectCall | undefined => {
  if (!runsHere(other) || isGuarded(other)) return undefined;
  const callId = config?.toolCall?.id;
  const child = runManager?.getChild?.();
  const own = { ...config, toolCall: undefined, runName: undefined, ...(child !== undefined && { callbacks: child }) };
  return (input) =>
    runInPlace(
      kitchen,
      { tool: other.name, input, callId, signal: config?.signal },
      uninterrupted((signal) => other.invoke(input, { ...own, signal })),
      { tokens: kitchen.tokens, evidence: (result) => errorIn(other, result), label: labelContent },
    );
};

/** What the model reads. A program that called without a model is told by an error. */
const refusal = async (tool: LangChainTool, permit: Refusal, call: ToolConfig['toolCall']): Promise<unknown> => {
  if (call === undefined) throw new ToolUnavailableError(permit);
  // A call without an id has no message: ToolNode makes one of the text.
  const message = call.id === undefined ? undefined : await errorMessage(permit.message, call.id, tool.name);
  const said = message ?? permit.message;
  return tool.responseFormat === 'content_and_artifact' ? [said, undefined] : said;
};
