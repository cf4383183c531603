import { describeFreshness, type FreshnessLabel, labelled } from '@breakerbox/core';
import { annotated, isContent, read, readItems, reportThrown } from '@breakerbox/core/internal';
import type { AIMessage, ToolMessage } from '@langchain/core/messages';
import { advisedResult } from '../advice.ts';
import { hasMethod, orUndefined } from '../untrusted.ts';

/**
 * The shapes of LangChain's own classes. They come in an ESM and a CJS build and in many versions side by side, so that
 * `instanceof` would miss most of them.
 */

/** The part of a tool that is read here. */
export interface LangChainTool {
  readonly name: string;
  readonly invoke: (input: unknown, config?: ToolConfig) => Promise<unknown>;
  readonly call?: LangChainTool['invoke'];
  /** The tool's work, without schema and callbacks. Tools made of a `Runnable` have no `_call`. */
  readonly _call?: (input: unknown, runManager?: RunManager, config?: ToolConfig) => unknown;
  readonly responseFormat?: unknown;
  readonly metadata?: unknown;
}

/** How LangChain reads the result of a tool. Default: as `content`. */
export type AnswerForm = Pick<LangChainTool, 'responseFormat'>;

/** The part of a `RunnableConfig` that is read here. The rest is passed on. */
export interface ToolConfig {
  readonly signal?: AbortSignal | undefined;
  readonly metadata?: { readonly timeoutMs?: unknown } | undefined;
  /** The context of the run, which middleware reads too. */
  readonly context?: unknown;
  /** The model's call, if a model called. */
  readonly toolCall?: { readonly id?: string | undefined } | undefined;
}

/** The part of a `CallbackManagerForToolRun` that is used here. */
export interface RunManager {
  getChild?(): unknown;
  handleToolEvent?(chunk: unknown): Promise<void>;
  handleToolError?(error: unknown): Promise<void>;
}

/**
 * Whether a tool runs here. Tools of a provider are only descriptions, and headless tools pass their call to the client by an
 * interrupt.
 */
export const runsHere = (tool: unknown): tool is LangChainTool =>
  hasMethod(tool, 'invoke') &&
  typeof (tool as LangChainTool).name === 'string' &&
  (tool as { metadata?: { headlessTool?: unknown } }).metadata?.headlessTool !== true;

/** Whether a tool belongs to an MCP server. Its adapter puts the server's name or the annotations in the tool's metadata. */
export const isOfServer = ({ metadata }: LangChainTool): boolean =>
  orUndefined(() => isObject(metadata) && ('serverName' in metadata || 'annotations' in metadata)) === true;

/** Whether `humanInTheLoopMiddleware` may ask a person about a tool. */
export const mayInterrupt = (interruptOn: unknown, name: string): boolean =>
  isObject(interruptOn) && Object.hasOwn(interruptOn, name) && read(interruptOn, name) !== false;

/** GraphInterrupt, ParentCommand and similar: they control a graph, and are not errors. */
export const isControlFlow = (error: unknown): boolean => read(error, 'is_bubble_up') === true;

/** A ParentCommand: a tool throws it if its answer is for the parent graph. */
export const isHandoff = (error: unknown): boolean => isControlFlow(error) && isCommand(read(error, 'command'));

const isCommand = (value: unknown): boolean => read(value, 'lg_name') === 'Command';

export const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';

const isToolMessage = (value: unknown): value is ToolMessage =>
  read(value, 'lc_direct_tool_output') === true && read(value, 'type') === 'tool';

/** A value that LangGraph reads itself. Neither labels nor notes can be added to it. */
const isUntouchable = (value: unknown): boolean => read(value, 'lc_direct_tool_output') === true || isCommand(value);

/** A result with an artifact, which programs read and the model does not. */
const isPair = (form: AnswerForm, result: unknown): result is readonly [unknown, unknown] =>
  form.responseFormat === 'content_and_artifact' && Array.isArray(result) && result.length === 2;

/** The value to judge in a result that LangChain reads in its own way; undefined for all others. */
export const errorIn = (form: AnswerForm, result: unknown): unknown => {
  if (isToolMessage(result)) return result.status === 'error' ? mcpError(result.content) : result.content;
  if (isCommand(result)) {
    const messages = read(read(result, 'update'), 'messages');
    const told = (Array.isArray(messages) ? readItems(messages, MOST_MESSAGES) : [messages]).filter(isToolMessage);
    const [first, ...others] = told;
    const failed = told.find(({ status }) => status === 'error') ?? (others.length === 0 ? first : undefined);
    return failed && errorIn(form, failed);
  }
  return isPair(form, result) ? result[0] : undefined;
};

/** Messages of one command that are read. */
const MOST_MESSAGES = 64;

/** Characters in which `@langchain/mcp-adapters` names the tool and the server of an error. */
const LONGEST_HEAD = 600;

const MCP_ERROR = ["MCP tool '", "' on server '", "' returned an error: "] as const;

/** The result of an MCP tool from which its adapter made an error. The text may quote another such error, so the first end counts. */
export const mcpErrorIn = (error: unknown): unknown => {
  const message = read(error, 'name') === 'ToolException' && read(error, 'message');
  if (typeof message !== 'string') return undefined;
  const head = message.slice(0, LONGEST_HEAD);
  const [begin, middle, end] = MCP_ERROR;
  const server = head.startsWith(begin) ? head.indexOf(middle) : -1;
  const start = server === -1 ? -1 : head.indexOf(end, server + middle.length);
  return start === -1 ? undefined : mcpError(message.slice(start + end.length));
};

const mcpError = (content: unknown): unknown => ({
  isError: true,
  content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
});

/** Adds a label for the model to a tool's result. It drops the artifact of a last good result, which would be read as a new one (F2). */
export const labelFor =
  (form: AnswerForm): typeof labelled =>
  (result: unknown, label: FreshnessLabel): unknown =>
    isPair(form, result)
      ? [labelContent(result[0], label), label.kind === 'stale' ? undefined : result[1]]
      : labelContent(result, label);

/** Adds a label to a result without its artifact. */
export const labelContent: typeof labelled = (content: unknown, label: FreshnessLabel): unknown =>
  isUntouchable(content) ? content : (withWords(content, describeFreshness(label)) ?? labelled(content, label));

/** Adds a note to another tool's result, which has no artifact. */
export const noteFor =
  (form: AnswerForm): typeof annotated =>
  (result: unknown, key: string, words: string): unknown => {
    if (isUntouchable(result) && !isToolMessage(result)) return result;
    const content = isToolMessage(result) ? result.content : result; // The message has the name of a tool that was not called.
    const noted = withWords(content, words) ?? annotated(content, key, words);
    return form.responseFormat === 'content_and_artifact' ? [noted, undefined] : noted;
  };

/** The advice after the error in a result (R5). A message keeps its class, so its text is changed in place. */
export const adviseAnswer = (form: AnswerForm, result: unknown, advice: string): unknown => {
  if (isPair(form, result)) return [adviseAnswer({}, result[0], advice), result[1]];
  if (!isToolMessage(result)) return isUntouchable(result) ? result : advisedResult(result, advice);
  result.content = advisedResult(result.content, advice) as ToolMessage['content'];
  return result;
};

/** Content blocks with words before them; undefined for other values. */
const withWords = (content: unknown, words: string): unknown =>
  orUndefined(() =>
    isContent(content) && content.length > 0 ? [{ type: 'text', text: `[${words}]` }, ...content] : undefined,
  );

/** Whether a tool's work answers piece by piece, by LangChain's own test. */
export const isGenerator = (value: unknown): value is AsyncGenerator<unknown, unknown> => hasMethod(value, 'next');

/**
 * Reads a generator to its end, as LangChain does: the callbacks get the pieces, and its return value is the result. It is read here,
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

/** Blocks of content that are calls of the user's tools, by LangChain's name and by those of providers. */
const CALL_BLOCKS: ReadonlySet<unknown> = new Set([
  'tool_call',
  'invalid_tool_call',
  'tool_call_chunk',
  'tool_use',
  'input_json_delta',
  'function_call',
  'functionCall',
]);

/** The part of a request of a model that says how the agent gets its answer. */
interface StructuredRequest {
  readonly model: unknown;
  readonly responseFormat?: unknown;
}

/** A model that is made when it is needed: `createAgent({ model: 'openai:gpt' })`. */
interface Configurable {
  _getModelInstance(): Promise<unknown>;
}

/** Whether an agent reads its answer from a tool that LangChain adds: by a `toolStrategy`, or because the model knows no JSON schema. */
export const answersByTool = async ({ model, responseFormat: format }: StructuredRequest): Promise<boolean> => {
  if (!isObject(format) || '__responseFormatUndefined' in format || '_schemaType' in format) return false;
  if (Array.isArray(format) || isObject(read(format, 'tool'))) return true;
  const resolved = hasMethod(model, '_getModelInstance') ? await (model as Configurable)._getModelInstance() : model;
  return read(read(resolved, 'profile'), 'structuredOutput') !== true;
};

/** Words of errors about a choice of tools that a model or its provider does not know. */
const CHOICE_WORDS = ['tool_choice', 'toolchoice', 'tool choice', 'tool with name none'];

/** Whether a model refused the choice of tools `none`: `ChatBedrockConverse` and `ChatCohere` do, before they make a request. */
export const isAboutToolChoice = (error: unknown): boolean => {
  const text = `${orUndefined(() => read(error, 'message'))}`.toLowerCase();
  return CHOICE_WORDS.some((words) => text.includes(words));
};

/**
 * D6: a message of the model without its calls of tools, wherever providers read them from a conversation: they reject one that has a call
 * without a result. It is a copy, because a cache may hold the message. The class of the message stays.
 */
export const saidOnly = (message: AIMessage): AIMessage => {
  const withoutBlocks = (blocks: unknown): unknown =>
    Array.isArray(blocks) ? blocks.filter((block) => !CALL_BLOCKS.has(read(block, 'type'))) : blocks;
  const { tool_calls, function_call, ...additional_kwargs } = message.additional_kwargs;
  const { response_metadata: metadata } = message;
  const said = {
    content: withoutBlocks(message.content),
    tool_calls: [],
    invalid_tool_calls: [],
    ...('tool_call_chunks' in message && { tool_call_chunks: [] }),
    additional_kwargs,
    response_metadata: { ...metadata, ...('output' in metadata && { output: withoutBlocks(metadata.output) }) },
  };
  const copy: AIMessage = Object.create(Object.getPrototypeOf(message));
  return Object.assign(copy, message, said, { lc_kwargs: { ...message.lc_kwargs, ...said } });
};

/**
 * A tool message of LangChain's own class; undefined if this package cannot import `@langchain/core`.
 *
 * This is the only import at run time. Messages of a conversation are recognized by the methods of their class, and no object that
 * LangChain gives to tools or middleware leads to that class. The import happens at the first rejection, so everything else works
 * without it.
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
