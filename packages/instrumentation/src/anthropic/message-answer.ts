import { read } from '@breakerbox/core/internal';
import { sourceOf } from '../models/guard-models.ts';
import { JudgedError, type ModelAttempt } from '../models/model-attempt.ts';
import { isPing, openStream, type PartFormat, type PartMeaning } from '../models/model-stream.ts';
import { CUT, UNREADABLE } from '../models/model-verdict.ts';
import { ModelStreamError } from '../models/models-unavailable.ts';

/** An event of a stream, as it came and as it was read. */
interface MessageEvent {
  readonly raw: string;
  readonly data: unknown;
}

/** An answer without a stream, after it was read. */
export const answeredWhole = async (response: Response, attempt: ModelAttempt): Promise<Response> => {
  const left = Math.max(1, attempt.limits.attemptMs - attempt.ranMs);
  const text = await attempt.wait(response.text(), left);
  const message = JSON.parse(text) as unknown;
  const { model } = attempt.candidate;
  if (read(message, 'type') === 'error') throw message;
  if (!Array.isArray(read(message, 'content'))) {
    throw new JudgedError(new ModelStreamError(model, 'gave an answer that is no message.'), UNREADABLE);
  }
  if (typeof read(message, 'stop_reason') !== 'string') {
    throw new JudgedError(new ModelStreamError(model, 'stopped before its answer was complete.'), CUT);
  }
  const usage = read(message, 'usage');
  attempt.succeeded({ ...factsOf(usage, usage), responseModel: nameOf(message) });
  return new Response(text, { status: response.status, headers: headersOf(response, attempt) });
};

/** A stream whose first visible event is there. An abort of `signal` breaks it off, as it does with any response. */
export const answeredStream = async (
  response: Response,
  attempt: ModelAttempt,
  signal: AbortSignal | undefined,
): Promise<Response> => {
  const opened = await openStream(sourceOf(eventsOf(response)), eventFormat(signal), attempt, attempt.ranMs);
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await opened.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value.raw));
      },
      cancel: opened.cancel,
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { status: response.status, headers: headersOf(response, attempt) });
};

/** L7: who answered. */
const headersOf = (response: Response, { candidate }: ModelAttempt): Headers => {
  const headers = new Headers(response.headers);
  for (const name of ['content-encoding', 'content-length']) headers.delete(name);
  headers.set('breakerbox-model', candidate.model);
  headers.set('breakerbox-position', candidate.index === 0 ? 'primary' : 'fallback');
  return headers;
};

const nameOf = (message: unknown): string | undefined => {
  const model = read(message, 'model');
  return typeof model === 'string' ? model : undefined;
};

const count = (usage: unknown, key: string): number | undefined => {
  const tokens = read(usage, key);
  return typeof tokens === 'number' ? tokens : undefined;
};

/** This format counts the tokens of the cache apart. */
const factsOf = (first: unknown, last: unknown) => {
  const cacheReadTokens = count(first, 'cache_read_input_tokens');
  const cacheWriteTokens = count(first, 'cache_creation_input_tokens');
  const input = count(first, 'input_tokens');
  return {
    inputTokens: input === undefined ? undefined : input + (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0),
    cacheReadTokens,
    cacheWriteTokens,
    outputTokens: count(last, 'output_tokens'),
  };
};

/** The events of a body, split where the format separates them. */
async function* eventsOf({ body }: Response): AsyncGenerator<MessageEvent> {
  if (body === null) return;
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(bytes, { stream: true });
    const events = text.split(/(?<=\r?\n\r?\n)/);
    text = events.pop() ?? '';
    if (/\n\r?\n$/.test(text)) {
      events.push(text);
      text = '';
    }
    for (const raw of events) yield { raw, data: dataOf(raw) };
  }
}

/** Undefined for a comment. */
const dataOf = (raw: string): unknown => {
  const data = [...raw.matchAll(/^data: ?(.*?)\r?$/gm)].map(([, line]) => line).join('\n');
  if (data === '') return undefined;
  try {
    return JSON.parse(data) as unknown;
  } catch (error) {
    return { type: 'error', error };
  }
};

const eventFormat = (signal: AbortSignal | undefined): PartFormat<MessageEvent> => {
  let first: unknown;
  let last: unknown;
  let stopReason: unknown;
  return {
    mustFinish: true,
    meaning: ({ data }): PartMeaning => {
      const type = read(data, 'type');
      if (data === undefined || isPing(data)) return 'ping';
      if (type === 'error') return { error: data };
      if (type === 'content_block_start') return blockMeaning(read(data, 'content_block'), BLOCKS);
      if (type === 'content_block_delta') return blockMeaning(read(data, 'delta'), DELTAS);
      if (type === 'message_start') first = read(data, 'message');
      if (type === 'message_delta') {
        last = read(data, 'usage');
        stopReason = read(read(data, 'delta'), 'stop_reason');
      }
      if (type !== 'message_stop') return 'held';
      const facts = { ...factsOf(read(first, 'usage'), last), responseModel: nameOf(first) };
      return { facts, end: typeof stopReason === 'string' ? 'complete' : 'cut' };
    },
    finished: (part) => part,
    failed: (error) => (signal?.aborted === true ? undefined : errorEvent(error)),
  };
};

/** L4: what cannot be seen while it is empty, and where it is then. Signatures cannot be seen at all. */
const BLOCKS: Readonly<Record<string, string>> = { text: 'text', thinking: 'thinking' };
const DELTAS: Readonly<Record<string, string>> = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  signature_delta: '',
  input_json_delta: 'partial_json',
};

const blockMeaning = (block: unknown, texts: Readonly<Record<string, string>>): PartMeaning => {
  const key = texts[`${read(block, 'type')}`];
  return key === undefined || read(block, key) ? 'visible' : 'held';
};

/** The SDK is silent where a stream only ends, so an event says it. What the provider said of an error is passed on. */
const errorEvent = (error: unknown): MessageEvent => {
  const said = read(error, 'cause');
  const isEvent = read(said, 'type') === 'error' && !(read(said, 'error') instanceof Error);
  const message = `${read(error, 'message')}`;
  const data = isEvent ? said : { type: 'error', error: { type: 'api_error', message } };
  return { raw: `event: error\ndata: ${JSON.stringify(data)}\n\n`, data };
};
