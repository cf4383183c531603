import { read } from '@breakerbox/core/internal';
import type { AnswerFacts } from '../models/candidates.ts';
import type { PartFormat, PartMeaning } from '../models/model-stream.ts';
import type { ChatModel } from './chat-model.ts';

/** A message, or a piece of one. */
export interface ChatMessage {
  response_metadata: Record<string, unknown>;
  readonly content: string | readonly object[];
  concat?(other: ChatMessage): ChatMessage;
}

/** A piece of an answer, as LangChain's callbacks know it. */
export interface ChatChunk {
  readonly text: string;
  readonly message: ChatMessage;
  readonly generationInfo: object;
  concat(other: ChatChunk): ChatChunk;
}

/** The same as LangChain's `ChatGenerationChunk`, whose class is not known here. */
export const chunkOf = (message: ChatMessage, text: string): ChatChunk => ({
  text,
  message,
  generationInfo: {},
  concat: (other) => chunkOf(message.concat?.(other.message) ?? message, text + other.text),
});

/** Follows the last message of a stream, because LangChain's streams end in silence. */
export const END_MESSAGE: ChatMessage = Object.freeze({ response_metadata: {}, content: '' });
const CUT_END: ChatMessage = Object.freeze({ response_metadata: {}, content: '' });

/** Where providers say why an answer has ended. */
const REASONS = ['finish_reason', 'stop_reason', 'finishReason', 'done_reason'];

/** Models that have said why an answer ended. */
const finishers = new WeakSet<object>();

const KNOWN = /^(?:openai|azure|anthropic|google)/;

/** L3: whether an answer without such a reason is cut. Some models, such as those of tests, never give one. */
export const mustFinish = (model: ChatModel): boolean =>
  finishers.has(model) || KNOWN.test(`${model.getLsParams({} as never).ls_provider}`);

/** Whether a message says that its answer has ended. */
export const isFinished = (message: ChatMessage, model: ChatModel): boolean => {
  const metadata = read(message, 'response_metadata');
  const status = read(metadata, 'status'); // Of OpenAI's Responses
  const isDone =
    REASONS.some((key) => typeof read(metadata, key) === 'string') ||
    typeof read(read(message, 'additional_kwargs'), 'stop_reason') === 'string' ||
    status === 'completed' ||
    status === 'incomplete';
  if (isDone) finishers.add(model);
  return isDone;
};

/** What a message says of itself. */
export const messageFacts = (message: unknown): AnswerFacts => {
  const usage = read(message, 'usage_metadata');
  const metadata = read(message, 'response_metadata');
  const details = read(usage, 'input_token_details');
  const counts = {
    inputTokens: read(usage, 'input_tokens'),
    cacheReadTokens: read(details, 'cache_read'),
    cacheWriteTokens: read(details, 'cache_creation'),
    outputTokens: read(usage, 'output_tokens'),
  };
  const model = read(metadata, 'model_name') ?? read(metadata, 'model');
  return {
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => typeof count === 'number')),
    ...(typeof model === 'string' && { responseModel: model }),
  };
};

/** The messages of a stream, and whether it has ended well. */
export async function* withEnd(messages: AsyncIterable<ChatMessage>, model: ChatModel): AsyncGenerator<ChatMessage> {
  let isDone = false;
  for await (const message of messages) {
    if (isFinished(message, model)) isDone = true;
    yield message;
  }
  yield isDone || !mustFinish(model) ? END_MESSAGE : CUT_END;
}

/** Keys of a block that are never its content. */
const NO_CONTENT: ReadonlySet<string> = new Set(['type', 'index', 'id', 'phase']);

const isFilled = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value);

/** L4: text, reasoning, or the call of a tool. */
const isVisible = (message: ChatMessage): boolean => {
  const { content } = message;
  if (typeof content === 'string' ? content !== '' : content.some(isFilledBlock)) return true;
  if (isFilled(read(message, 'tool_call_chunks')) || isFilled(read(message, 'tool_calls'))) return true;
  const more = read(message, 'additional_kwargs');
  return isFilled(read(more, 'reasoning_content')) || isFilled(read(more, 'reasoning'));
};

const isFilledBlock = (block: object): boolean =>
  Object.entries(block).some(([key, value]) => !NO_CONTENT.has(key) && isFilled(value));

/** LangChain adds up the usage of the pieces of an answer. */
const added = (facts: AnswerFacts, { responseModel = facts.responseModel, ...more }: AnswerFacts): AnswerFacts => {
  const sums = Object.entries(more).map(([key, count]) => [key, (facts[key as keyof typeof more] ?? 0) + (count ?? 0)]);
  return { ...facts, ...Object.fromEntries(sums), responseModel };
};

/** The messages of one stream. */
export const messageFormat = (): PartFormat<ChatMessage> => {
  let facts: AnswerFacts = {};
  return {
    mustFinish: true,
    meaning: (message): PartMeaning => {
      if (message === END_MESSAGE) return { facts, end: 'complete' };
      if (message === CUT_END) return { facts, end: 'cut' };
      facts = added(facts, messageFacts(message));
      return isVisible(message) ? 'visible' : 'held';
    },
    finished: (message) => message,
    failed: () => undefined,
  };
};
