import { read, readText } from '@breakerbox/core/internal';
import type { AnswerFacts } from '../models/candidates.ts';
import { JudgedError } from '../models/model-attempt.ts';
import { isPing, type PartFormat, type PartMeaning } from '../models/model-stream.ts';
import { CUT, EMPTY, type ModelVerdict } from '../models/model-verdict.ts';
import { ModelStreamError } from '../models/models-unavailable.ts';

/** An event of a streamed response. */
export interface AgentsEvent {
  readonly type: string;
  readonly delta?: string;
  readonly event?: unknown;
  readonly response?: unknown;
}

/** L3: the limit of tokens, or a filter. The request caused it, and the SDK has an error for it. */
const INCOMPLETE: ModelVerdict = { outcome: 'ignored', category: 'invalid_input', next: 'never', status: undefined };

/** The SDK's error for an answer that ended too early has no code. */
export const judgedError = (error: unknown): unknown =>
  /terminal state "(?:response\.)?incomplete"/.test(`${readText(error, 'message')}`)
    ? new JudgedError(error, INCOMPLETE)
    : error;

/** The events, with their errors judged. */
export async function* judgedEvents(events: AsyncIterable<unknown>): AsyncGenerator<AgentsEvent> {
  try {
    yield* events as AsyncIterable<AgentsEvent>;
  } catch (error) {
    throw judgedError(error);
  }
}

const choiceOf = (raw: unknown): unknown => {
  const choices = read(raw, 'choices');
  return Array.isArray(choices) ? choices[0] : undefined;
};

const hasOutput = (response: unknown): boolean => {
  const output = read(response, 'output');
  return Array.isArray(output) && output.length > 0;
};

/** What a whole response says of itself. Throws unless it is a complete response: chat models give all that a provider sends. */
export const responseFacts = (response: unknown, model: string): AnswerFacts => {
  const raw = read(response, 'providerData');
  const choice = choiceOf(raw);
  if (choice !== undefined && typeof read(choice, 'finish_reason') !== 'string') {
    throw new JudgedError(new ModelStreamError(model, 'stopped before its answer was complete.'), CUT);
  }
  if (choice === undefined && !hasOutput(response) && read(raw, 'status') !== 'completed') {
    throw new JudgedError(new ModelStreamError(model, 'gave an answer that cannot be read.'), EMPTY);
  }
  return factsOf(response, raw);
};

const factsOf = (response: unknown, raw: unknown): AnswerFacts => {
  const usage = read(response, 'usage');
  const [inputTokens, outputTokens, responseModel] = [
    read(usage, 'inputTokens'),
    read(usage, 'outputTokens'),
    read(raw, 'model'),
  ];
  return {
    inputTokens: typeof inputTokens === 'number' ? inputTokens : undefined,
    cacheReadTokens: cachedOf(read(usage, 'inputTokensDetails')),
    outputTokens: typeof outputTokens === 'number' ? outputTokens : undefined,
    responseModel: typeof responseModel === 'string' ? responseModel : undefined,
  };
};

/** A list has one entry for each request that the usage sums up. */
const cachedOf = (details: unknown): number | undefined => {
  const all = (Array.isArray(details) ? details : [details]).map((one) => read(one, 'cached_tokens'));
  const counts = all.filter((count) => typeof count === 'number');
  return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0);
};

/** L4: fields of a chat model's delta that can be seen. */
const SEEN = ['content', 'reasoning', 'reasoning_content', 'refusal', 'tool_calls'];

/** Whether the provider's own event has something visible. The SDK passes it on. */
const isVisible = (raw: unknown): boolean => {
  if (/^response\..+\.delta$/.test(`${readText(raw, 'type')}`)) return Boolean(read(raw, 'delta'));
  const delta = read(choiceOf(raw), 'delta');
  return SEEN.some((key) => {
    const value = read(delta, key);
    return Array.isArray(value) ? value.length > 0 : Boolean(value);
  });
};

/** The events of one stream. */
export const eventFormat = (): PartFormat<AgentsEvent> => {
  let raw: unknown;
  let isChat = false;
  let isFinished = false;
  const readRaw = (event: unknown): PartMeaning => {
    if (isPing(event)) return 'ping';
    raw ??= event;
    const choice = choiceOf(event);
    isChat ||= choice !== undefined;
    isFinished ||= typeof read(choice, 'finish_reason') === 'string';
    const type = read(event, 'type');
    if (type === 'error' || read(event, 'error')) return { error: event };
    if (type === 'response.failed') return { error: event };
    return isVisible(event) ? 'visible' : 'held';
  };
  return {
    mustFinish: true,
    meaning: ({ type, delta, event, response }): PartMeaning => {
      if (type === 'model') return readRaw(event);
      if (type === 'output_text_delta') return delta === '' ? 'held' : 'visible';
      if (type !== 'response_done') return 'held';
      // A chat model says that it is done even if the connection was cut, or had nothing in it.
      const isCut = isChat ? !isFinished : raw === undefined && !hasOutput(response);
      const facts = factsOf(response, read(response, 'providerData') ?? raw);
      return { facts, end: isCut ? 'cut' : 'complete', goesOn: true }; // A raw event may follow.
    },
    finished: (part) => part,
    failed: () => undefined,
  };
};
