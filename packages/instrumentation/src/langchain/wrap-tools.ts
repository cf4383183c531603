import { BreakerboxUsageError } from '@breakerbox/core';
import { read } from '@breakerbox/core/internal';
import { declareTools, type SessionSource, sessionFinder } from '../acquire.ts';
import { warnIfForeign } from '../foreign.ts';
import { firstName, groupsBy, serverOf, type ToolGroup, toolGroup } from '../groups.ts';
import { withoutApproval } from '../in-place.ts';
import { JUDGING, type JudgingOptions, judgesBy, titleOf } from '../judging.ts';
import { aValue, checkOptions, functionGiven, milliseconds, names, show } from '../options.ts';
import type { CallEnd } from '../settlement.ts';
import { isObject, isOfServer, type LangChainTool, mayInterrupt, runsHere, type ToolConfig } from './shapes.ts';
import { callGuarded, type LangChainContext } from './tool-call.ts';
import { leadsToWork, toolProxy, withWork } from './tool-proxy.ts';

/** Options of {@link guardTool} and {@link guardTools}. */
export interface GuardToolOptions extends JudgingOptions {
  /**
   * Milliseconds that one call of a tool may take. After that, the tool's `signal` fires, the call rejects with a `TimeoutError` at
   * once, and it counts as a failure. Default: none. LangChain's own `timeout` is recognized as well.
   */
  readonly timeoutMs?: number;
  /**
   * Reads the cost of a call in tokens when it ends: from the return value of the tool's function, or from the error. Tokens of a failed
   * call are wasted. Default: not known. Errors that it throws go to OpenTelemetry's `diag`.
   */
  readonly tokens?: (end: CallEnd<unknown>) => number | undefined;
  /**
   * The group of the tools (C13), such as the MCP server or the service behind them: a name for all of them, or a function that gives the
   * group of each by the tool's name. When tools of a group fail in a row, all of the group are skipped, and one probe serves them all.
   * The configuration of a tool takes precedence. Default: none, or the MCP server if the tool's name begins with it
   * (`prefixToolNameWithServerName`), or if the tool's `metadata` has a `serverName`.
   */
  readonly group?: ToolGroup;
  /**
   * Names of tools that may be called in place of another tool, if that one's alternative has `adapt`. It needs `interruptOn`, because
   * LangChain does not tell a tool which calls a person has to approve. Leave it out with `interruptBefore`, where a person approves all
   * calls. Default: none, so the model reads of the alternative, and calls it itself.
   */
  readonly inPlace?: readonly string[];
  /**
   * The same `interruptOn` that you give `humanInTheLoopMiddleware`. Tools that it may ask a person about are not called in place, even if
   * `inPlace` lists them, and neither are those of `interruptOn` in the `context` of a run. `{}`: a person approves no tool. Default: not
   * known, so `inPlace` is refused.
   */
  readonly interruptOn?: object;
}

export const TOOL_OPTIONS = {
  timeoutMs: milliseconds,
  tokens: functionGiven,
  group: toolGroup,
  inPlace: names,
  interruptOn: (value: unknown) =>
    isObject(value)
      ? undefined
      : `is ${show(value)}. Set the same object as interruptOn of humanInTheLoopMiddleware, or leave it out.`,
  ...JUDGING,
} as const;

/** R4: the tools that may be called in place of others. */
export const inPlaceTools = (where: string, { inPlace = [], interruptOn }: GuardToolOptions): readonly string[] =>
  withoutApproval(where, inPlace, ['interruptOn', 'humanInTheLoopMiddleware', interruptOn], (name) =>
    mayInterrupt(interruptOn, name),
  );

/** Guarded tools. They decide for themselves, also inside another guard. */
const guards = new WeakSet<object>();

export const isGuarded = (tool: object): boolean => guards.has(tool);

/** Errors that tools threw while their callers still waited, errors of schemas included. */
const failures = new WeakSet<object>();

/** Whether an error comes from a tool and not from the code around it. LangChain wraps other errors, so a non-object comes from a tool. */
export const isToolFailure = (error: unknown): boolean => !isObject(error) || failures.has(error);

/**
 * Guards one tool of LangChain. See `guardTools`, which can also call an alternative in place of a tool.
 *
 * @throws BreakerboxConfigError for options that can't work.
 * @throws BreakerboxUsageError when `session` is not a session, or `tool` is not an object.
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
 * Guards the tools of LangChain. Give the result to `ToolNode`, `createAgent`, `bindTools` or a loop of your own in place of the tools;
 * the types are the same. Without `breakerMiddleware`, which counts the turns of the agent, call `session.step()` at the end of each.
 *
 * On skip and pause, a tool that a model called answers with a `ToolMessage` of status `error`, whose text the model reads. It does not
 * throw, so the run continues and middleware does not retry. A tool with `serveStaleMs` instead gives its last good result for the same
 * arguments, with a label. A tool whose alternative has `adapt` and is in `inPlace` gives the alternative's result, with a note.
 * If you invoke a tool with plain arguments instead of a tool call, a rejection is a `ToolUnavailableError`.
 *
 * Arguments that the tool's schema rejects reach neither the tool nor the session. If a class has its own `invoke`, such calls are
 * decided, and cost nothing. Interrupts pass and cost nothing. Tools that the provider runs, headless tools, and tools that are guarded
 * already are passed on unchanged.
 *
 *
 * @throws BreakerboxConfigError for options that can't work.
 * @throws BreakerboxUsageError when `session` is not a session, or `tools` is not an array of objects.
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
  const { timeoutMs, tokens, group } = options;
  const inPlace = inPlaceTools(where, options);
  const groupOfTool = toolGroups(group, where);
  const sibling = (name: string): LangChainTool | undefined => own.find((tool) => tool.name === name);
  for (const tool of own) declareTools(session, [tool.name], () => groupOfTool(tool));
  const adapter: LangChainContext = {
    findSession,
    where,
    timeoutMs,
    tokens,
    groupOfTool,
    judgeOfTool: toolJudges(options, where),
    sibling: (_, name) => (inPlace.includes(name) ? sibling(name) : undefined),
  };
  return tools.map((tool) => {
    if (own.includes(tool)) return guarded(tool, adapter);
    if (!isGuarded(tool)) warnIfForeign(`${where} of LangChain`, tool, 'invoke');
    return tool;
  });
};

const nothingToGuard = (where: string, given: unknown, wanted: string): BreakerboxUsageError =>
  new BreakerboxUsageError(
    `${where}: got ${aValue(given)} instead of ${wanted}, so there is nothing to guard. Pass the tools that you would pass ` +
      'to createAgent or ToolNode.',
  );

/** The group of each tool: from the option, or else the server that the tool's metadata or the prefix of its name tells. */
export const toolGroups = (given: ToolGroup | undefined, where: string): LangChainContext['groupOfTool'] => {
  const groupOf = groupsBy(given, where);
  return (tool) => groupOf(tool.name) ?? serverOf(tool) ?? serverInName(tool);
};

/** `@langchain/mcp-adapters` names the server only in the tool's name, and only with `prefixToolNameWithServerName`. */
const serverInName = (tool: LangChainTool): string | undefined => {
  const end = isOfServer(tool) ? tool.name.lastIndexOf('__') : -1;
  return end === -1 ? undefined : firstName(tool.name.slice(0, end));
};

/** The judge of each tool. MCP adapters put the tool's title in its metadata. */
export const toolJudges = (options: JudgingOptions, where: string): LangChainContext['judgeOfTool'] => {
  const judgeOf = judgesBy(options, where);
  return ({ name, metadata }) => judgeOf(name, { title: titleOf(metadata) });
};

/** The tool with work that first asks a session. */
export const guarded = <Tool extends LangChainTool>(tool: Tool, adapter: LangChainContext): Tool => {
  const proxy = rememberErrors(leadsToWork(tool) ? guardWork(tool, adapter) : guardInvoke(tool, adapter));
  guards.add(proxy);
  return proxy;
};

const guardWork = <Tool extends LangChainTool>(tool: Tool, adapter: LangChainContext): Tool =>
  withWork(tool, (input, runManager, config) => {
    const run = (inner: ToolConfig): unknown => tool._call?.(input, runManager, inner);
    return callGuarded(tool, adapter, { input, config, runManager, form: tool, run });
  });

/** Guards `invoke`, so the schema is checked after the decision. */
const guardInvoke = <Tool extends LangChainTool>(tool: Tool, adapter: LangChainContext): Tool => {
  const invoke: LangChainTool['invoke'] = (given, config) => {
    const run = (inner: ToolConfig): Promise<unknown> => tool.invoke(given, inner);
    const work = { config, form: {}, run };
    if (read(given, 'type') !== 'tool_call') return callGuarded(tool, adapter, { ...work, input: given });
    const toolCall = given as { readonly id?: string; readonly args?: unknown };
    return callGuarded(tool, adapter, { ...work, input: toolCall.args, config: { ...config, toolCall } });
  };
  return toolProxy(tool, { invoke, ...(tool.call && { call: invoke }) });
};

/** The tool with its errors remembered as a tool's errors. */
export const rememberErrors = <Tool extends LangChainTool>(tool: Tool): Tool =>
  toolProxy(tool, {
    invoke: async (given, config) => {
      try {
        return await tool.invoke(given, config);
      } catch (error) {
        if (isObject(error) && !isUsageError(error) && !config?.signal?.aborted) failures.add(error);
        throw error;
      }
    },
  });

/** The error of a session function that found no session. The model cannot fix it. */
const isUsageError = (error: unknown): boolean => read(error, 'code') === 'BREAKERBOX_USAGE';
