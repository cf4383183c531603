import { describeFreshness, type FreshnessLabel, labelled } from '@breakerbox/core';
import { annotated, isContent, reportThrown } from '@breakerbox/core/internal';
import type { ToolMessage } from '@langchain/core/messages';
import { hasMethod } from './has-method.ts';
import { readable, readOf } from './readable.ts';

/**
 * What LangChain's own classes look like. They come in an ESM and a CJS build and in many versions side by side, so that
 * `instanceof` would miss most of them.
 */

/** What is read of a tool here. */
export interface LangChainTool {
  readonly name: string;
  readonly invoke: (input: unknown, config?: ToolConfig) => Promise<unknown>;
  readonly call?: LangChainTool['invoke'];
  /** The tool's work, without schema and callbacks. Those made of a `Runnable` have none. */
  readonly _call?: (input: unknown, runManager?: RunManager, config?: ToolConfig) => unknown;
  readonly responseFormat?: unknown;
  readonly metadata?: unknown;
}

/** How LangChain reads what a tool gives: as `content`, if not said otherwise. */
export type AnswerForm = Pick<LangChainTool, 'responseFormat'>;

/** What is read of a `RunnableConfig`; all the rest is handed on. */
export interface ToolConfig {
  readonly signal?: AbortSignal | undefined;
  /** The model's call, where a model called. */
  readonly toolCall?: { readonly id?: string | undefined } | undefined;
}

/** What is used of a `CallbackManagerForToolRun`. */
export interface RunManager {
  getChild?(): unknown;
  handleToolEvent?(chunk: unknown): Promise<void>;
  handleToolError?(error: unknown): Promise<void>;
}

/**
 * Whether a tool runs here: those of a provider are descriptions alone, and headless ones hand their call to the client by an
 * interrupt.
 */
export const runsHere = (tool: unknown): tool is LangChainTool =>
  hasMethod(tool, 'invoke') &&
  typeof (tool as LangChainTool).name === 'string' &&
  (tool as { metadata?: { headlessTool?: unknown } }).metadata?.headlessTool !== true;

/** Whether a tool is of an MCP server: its adapter says so in the tool's metadata, by the server's name or its annotations. */
export const isOfServer = ({ metadata }: LangChainTool): boolean =>
  readable(() => isObject(metadata) && ('serverName' in metadata || 'annotations' in metadata)) === true;

/** GraphInterrupt, ParentCommand and their like: how a graph is steered, and no errors. */
export const isControlFlow = (error: unknown): boolean => readOf(error, 'is_bubble_up') === true;

/** A ParentCommand: what a tool throws whose answer is for the graph above. */
export const isHandoff = (error: unknown): boolean => isControlFlow(error) && isCommand(readOf(error, 'command'));

const isCommand = (value: unknown): boolean => readOf(value, 'lg_name') === 'Command';

export const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';

const isToolMessage = (value: unknown): value is ToolMessage =>
  readOf(value, 'lc_direct_tool_output') === true && readOf(value, 'type') === 'tool';

/** What LangGraph reads itself: neither labels nor notes can be put on it. */
const isUntouchable = (value: unknown): boolean => readOf(value, 'lc_direct_tool_output') === true || isCommand(value);

/** A result with an artifact beside it, which programs read and the model doesn't. */
const isPair = (form: AnswerForm, result: unknown): result is readonly [unknown, unknown] =>
  form.responseFormat === 'content_and_artifact' && Array.isArray(result) && result.length === 2;

/** What is to be judged of a result that LangChain reads in its own way; undefined for all others. */
export const errorIn = (form: AnswerForm, result: unknown): unknown => {
  if (isToolMessage(result)) {
    const text = typeof result.content === 'string' ? result.content : JSON.stringify(result.content);
    return result.status === 'error' ? mcpError(text) : undefined;
  }
  if (isCommand(result)) {
    const messages = readOf(readOf(result, 'update'), 'messages');
    const told = (Array.isArray(messages) ? messages : [messages]).filter(isToolMessage);
    return told.map((message) => errorIn(form, message)).find((error) => error !== undefined);
  }
  return isPair(form, result) ? result[0] : undefined;
};

/** What `@langchain/mcp-adapters` throws of each result that reports an error, whatever it reports. */
const MCP_ERROR = /^MCP tool '.*' on server '.*' returned an error: (?<text>.*)$/s;

/** The result of an MCP tool of which its adapter made an error. */
export const mcpErrorIn = (error: unknown): unknown => {
  const message = readOf(error, 'name') === 'ToolException' && readOf(error, 'message');
  const text = typeof message === 'string' ? MCP_ERROR.exec(message)?.groups?.text : undefined;
  return text === undefined ? undefined : mcpError(text);
};

const mcpError = (text: string): unknown => ({ isError: true, content: [{ type: 'text', text }] });

/** A label on a tool's result, as the model reads it. An artifact of a last good result would be read as a new one (F2). */
export const labelFor =
  (form: AnswerForm): typeof labelled =>
  (result: unknown, label: FreshnessLabel): unknown =>
    isPair(form, result)
      ? [labelContent(result[0], label), label.kind === 'stale' ? undefined : result[1]]
      : labelContent(result, label);

/** The same on a result without its artifact. */
export const labelContent: typeof labelled = (content: unknown, label: FreshnessLabel): unknown =>
  isUntouchable(content) ? content : (withWords(content, describeFreshness(label)) ?? labelled(content, label));

/** A note on what another tool gave in place of this one, which gave no artifact. */
export const noteFor =
  (form: AnswerForm): typeof annotated =>
  (result: unknown, key: string, words: string): unknown => {
    if (isUntouchable(result) && !isToolMessage(result)) return result;
    const content = isToolMessage(result) ? result.content : result; // Its name is that of a tool which nobody called.
    const noted = withWords(content, words) ?? annotated(content, key, words);
    return form.responseFormat === 'content_and_artifact' ? [noted, undefined] : noted;
  };

/** Words before content blocks; undefined for what are none. */
const withWords = (content: unknown, words: string): unknown =>
  readable(() =>
    isContent(content) && content.length > 0 ? [{ type: 'text', text: `[${words}]` }, ...content] : undefined,
  );

/** Whether a tool's work answers piece by piece. As LangChain asks it. */
export const isGenerator = (value: unknown): value is AsyncGenerator<unknown, unknown> => hasMethod(value, 'next');

/**
 * Reads a generator to its end, as LangChain does: pieces are told to the callbacks, and what it returns is the result. Here,
 * because its errors and its time belong to the call.
 */
export const readPieces = async (
  pieces: AsyncGenerator<unknown, unknown>,
  runManager: RunManager | undefined,
  signal: AbortSignal,
): Promise<unknown> => {
  try {
    for (;;) {
      const { done, value } = await pieces.next();
      if (done || signal.aborted) return value;
      await Promise.resolve(runManager?.handleToolEvent?.(value)).catch((error) =>
        runManager?.handleToolError?.(error),
      );
    }
  } finally {
    await pieces.return?.(undefined);
  }
};

/**
 * A tool message of LangChain's own class; undefined where `@langchain/core` isn't within this package's reach.
 *
 * The one import at run time: what stands in a conversation is told by the methods of its class, and nothing that LangChain
 * hands to tools or middleware leads to that class. It is made when the first refusal is, so that all else works without.
 */
export const errorMessage = async (content: string, callId: string, name: string): Promise<ToolMessage | undefined> => {
  try {
    const { ToolMessage } = await import('@langchain/core/messages');
    return new ToolMessage({ content, tool_call_id: callId, name, status: 'error' });
  } catch (error) {
    reportThrown("LangChain's ToolMessage", error);
    return undefined;
  }
};
