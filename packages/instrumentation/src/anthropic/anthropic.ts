import { BreakerboxUsageError, labelled } from '@breakerbox/core';
import { annotated, isContent, reportThrown } from '@breakerbox/core/internal';
import { declareTools, type SessionSource, sessionFinder, type ToolCall } from '../acquire.ts';
import { advisedError, advisedResult } from '../advice.ts';
import type { DirectCall } from '../fallback.ts';
import { warnIfForeign } from '../foreign.ts';
import { groupsBy, type ToolGroup, toolGroup } from '../groups.ts';
import { markGuarded, throwIfGuarded } from '../guard-mark.ts';
import { JUDGING, type JudgingOptions, judgesBy } from '../judging.ts';
import { aValue, checkOptions, functionGiven, milliseconds } from '../options.ts';
import { overlay } from '../overlay.ts';
import { type AdapterContext, type ResponseFormat, runAlternative, runTool, type ToolExecutor } from '../run-tool.ts';
import type { CallEnd, Reading } from '../settlement.ts';
import { ToolUnavailableError } from '../unavailable.ts';
import { checkVersion } from '../versions.ts';

export type { GuardModelsOptions } from '../models/candidates.ts';
export type { ModelLimits } from '../models/model-limits.ts';
export { ToolUnavailableError, type UnavailableRoute } from '../unavailable.ts';
export {
  type AnthropicClient,
  type AnthropicModelEntry,
  type GuardAnthropicModelsOptions,
  guardAnthropicModels as guardModels,
} from './guard-anthropic-models.ts';

/** Options of {@link guardTools}. */
export interface GuardToolsOptions extends JudgingOptions {
  /**
   * Milliseconds that one call of a tool may take. After that, the `signal` that the tool got fires, the model reads an error, and
   * the call counts as a failure. Default: none. The SDK has no timeout of its own.
   */
  readonly timeoutMs?: number;
  /**
   * Reads the cost of a call in tokens when it ends: from the result, or from the error that the tool threw or that stopped it.
   * Default: not known. Errors that it throws go to OpenTelemetry's `diag`.
   */
  readonly tokens?: (end: CallEnd<unknown>) => number | undefined;
  /**
   * The group of the tools (C13), such as the MCP server or the service behind them: a name for all of them, or a function that gives the
   * group of each by the tool's name. When tools of a group fail in a row, all of the group are skipped, and one probe serves them all.
   * The configuration of a tool takes precedence. Default: none.
   */
  readonly group?: ToolGroup;
}

/**
 * Guards the tools of Anthropic's tool runner: those of `betaZodTool`, `betaTool`, `betaMemoryTool`, `mcpTools` and any other
 * with a name and `run`. Give the result to `client.beta.messages.toolRunner` in place of the tools; the types are the same.
 * Call `session.step()` once per message of the runner, after its tools.
 *
 * On skip and pause `run` throws `ToolUnavailableError`. The runner makes a result with `is_error` of it, the model reads its text,
 * and the loop continues. A tool with `serveStaleMs` instead gives its last good result for the same arguments, with a label. A tool
 * whose alternative has `adapt` and is in the same array gives the alternative's result, with a note. Tools that the provider runs
 * and toolsets are passed on unchanged. Arguments that `parse` rejects never reach the session.
 *
 * A `ToolError` is judged by its text, as an answer of the tool: one that says 503 is an outage, one that says that a file does not
 * exist costs nothing. Errors of the memory tool are judged only by code, status and cause, because their text quotes the model.
 *
 * @throws BreakerboxConfigError for options or tool names that can't work.
 * @throws BreakerboxUsageError when `session` is not a session, `tools` is not an array of tools, a tool is guarded for that session
 * already, or the framework is too old.
 *
 * @example
 * ```ts
 * const runner = client.beta.messages.toolRunner({ model, max_tokens, messages, tools: guardTools(tools, session) });
 * for await (const message of runner) {
 *   await runner.generateToolResponse(); // runs the tools of this turn, once
 *   session.step();
 * }
 * ```
 */
export function guardTools<Tools extends readonly object[]>(
  tools: Tools,
  session: SessionSource,
  options: GuardToolsOptions = {},
): Tools {
  const where = 'guardTools()';
  checkOptions(where, options, { timeoutMs: milliseconds, tokens: functionGiven, group: toolGroup, ...JUDGING });
  checkVersion('@anthropic-ai/sdk', `${where} of @breakerbox/instrumentation/anthropic`);
  const findSession = sessionFinder(session, where);
  if (!Array.isArray(tools)) {
    throw new BreakerboxUsageError(
      `${where}: got ${aValue(tools)} instead of tools, so there is nothing to guard. Pass the array that you would pass to toolRunner().`,
    );
  }
  const runnable = new Map(tools.filter(isRunnable).map((tool) => [tool.name, tool]));
  const { timeoutMs, tokens, group } = options;
  const groupOf = groupsBy(group, where);
  declareTools(session, [...runnable.keys()], groupOf);
  const judgeOf = judgesBy(options, where);
  const adapter: AnthropicContext = { session, findSession, where, timeoutMs, tokens, groupOf, judgeOf, runnable };
  return tools.map((tool: object) => {
    if (isRunnable(tool)) return guardTool(tool, adapter);
    warnIfForeign('guardTools() of the Anthropic adapter', tool, 'run');
    return tool;
  }) as readonly object[] as Tools;
}

/** The second argument that the runner gives. Older SDKs have only `toolUseBlock`. */
interface RunContext {
  readonly toolUse?: { readonly id?: string };
  readonly toolUseBlock?: { readonly id?: string };
  readonly signal?: AbortSignal | null;
}

interface RunnableTool {
  readonly type?: unknown;
  readonly name: string;
  readonly parse?: (input: unknown) => unknown;
  readonly run: (input: unknown, context?: RunContext) => unknown;
}

/** A toolset has `run` too, but no name. Its members have names. */
const isRunnable = (tool: object | null): tool is RunnableTool => {
  const { name, run } = (tool ?? {}) as Partial<RunnableTool>;
  return typeof name === 'string' && typeof run === 'function';
};

interface AnthropicContext extends AdapterContext {
  readonly session: SessionSource;
  readonly runnable: ReadonlyMap<string, RunnableTool>;
  readonly tokens: GuardToolsOptions['tokens'];
}

const guardTool = (tool: RunnableTool, adapter: AnthropicContext): RunnableTool => {
  throwIfGuarded(`${adapter.where}, tool '${tool.name}'`, tool.run, adapter.session);
  const run = (input: unknown, context?: RunContext): Promise<unknown> => {
    const format: ResponseFormat<unknown> = {
      ...readingOf(tool, adapter),
      reject: (permit) => {
        throw new ToolUnavailableError(permit);
      },
      find: (name) => directCall(name, context, adapter),
      note: (result, key, words) => unwrap(annotated(wrap(result), key, words)),
    };
    return runTool(adapter, { tool: tool.name, input, ...callOf(context) }, executor(tool, input, context), format);
  };
  return overlay(tool, new Map([['run', markGuarded(run, adapter.session)]]));
};

/** R4. Through `parse`, as the runner would call the tool. */
const directCall = (
  name: string,
  context: RunContext | undefined,
  adapter: AnthropicContext,
): DirectCall | undefined => {
  const other = adapter.runnable.get(name);
  if (other === undefined) return undefined;
  return async (adapted, usualMs) => {
    const input = parsed(other, adapted);
    if (input === undefined) return undefined;
    const request = { tool: name, input: input.value, ...callOf(context) };
    const run = executor(other, input.value, context);
    return runAlternative(adapter, request, run, readingOf(other, adapter), usualMs);
  };
};

/** The parsed input. Undefined if the tool rejects it; then no alternative is called. */
const parsed = ({ name, parse }: RunnableTool, input: unknown): { readonly value: unknown } | undefined => {
  try {
    return { value: parse === undefined ? input : parse(input) };
  } catch {
    // The error quotes the input, and so the model.
    reportThrown(
      `parse() of tool '${name}', for the input that adapt() returned`,
      new Error('It rejected the input that adapt() returned'),
    );
    return undefined;
  }
};

const callOf = (context: RunContext | undefined): ToolCall => ({
  callId: context?.toolUse?.id ?? context?.toolUseBlock?.id,
  signal: context?.signal ?? undefined,
});

const executor =
  (tool: RunnableTool, input: unknown, context: RunContext | undefined): ToolExecutor<unknown> =>
  ({ signal }) =>
    // A caller without a context gets none: tools may use it to see that they are outside of a runner.
    tool.run(input, context && { ...context, signal });

/** The error to judge if it is the tool's answer to the model; undefined for any other error. */
const answerIn = ({ type }: RunnableTool, error: unknown): Error | undefined => {
  if (!(error instanceof Error) || error instanceof ToolUnavailableError) return undefined; // Of another tool that this one calls.
  if (isToolError(error)) return error;
  if (typeof type !== 'string' || !type.startsWith('memory_')) return undefined;
  // The error says that a text is not in a file, and quotes it. A quoted text about an outage is not an outage.
  return Object.create(error, { message: { value: '' } });
};

/** The runner uses `instanceof`. Derived classes have other names, and bundlers may rename classes. */
const isToolError = (error: Error): boolean => {
  for (let owner = error; owner instanceof Error; owner = Object.getPrototypeOf(owner)) {
    if (owner.name === 'ToolError' || owner.constructor.name === 'ToolError') return 'content' in error;
  }
  return false;
};

const readingOf = (tool: RunnableTool, { tokens }: AnthropicContext): Reading => ({
  tokens,
  label: labelBlocks,
  advise: {
    error: (error, advice) => {
      const advised = advisedError(error, advice);
      // The runner gives the model the content of its own error, and the message of any other.
      if (error instanceof Error && isToolError(error)) {
        Reflect.set(Object(advised), 'content', advisedResult(Reflect.get(error, 'content'), advice));
      }
      return advised;
    },
  },
  known: (end) => {
    const result = 'error' in end ? answerIn(tool, end.error) : undefined;
    return result && { result };
  },
});

/** A result is a string or an array of content blocks, and has to stay one. Core reads arrays as the `content` of an object. */
const wrap = (result: unknown): unknown => (isContent(result) ? { content: result } : result);

const unwrap = (made: unknown): unknown => {
  const { content } = (typeof made === 'object' && made !== null ? made : {}) as { readonly content?: unknown };
  return isContent(content) ? content : made;
};

const labelBlocks: typeof labelled = (result, label) => unwrap(labelled(wrap(result), label));
