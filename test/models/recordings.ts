/** Answers of model providers as they go over the wire, by wire format. */

/** The wire formats of `L3`. */
export const FORMATS = ['chat', 'responses', 'messages', 'gemini'] as const;
export type WireFormat = (typeof FORMATS)[number];

/** The text of every recorded answer, in the pieces of its stream. */
export const PIECES = ['Hello, ', 'wörld! ', 'The answer ', 'is 42.'] as const;
export const TEXT = PIECES.join('');

const event = (data: object | string, name?: string): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;

const chunk = (delta: object, finish_reason: string | null = null) =>
  event({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_800_000_000,
    model: 'wire-model',
    choices: [{ index: 0, delta, finish_reason }],
  });

const chatUsage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };

const responseOf = (status: string, output: readonly object[]) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1_800_000_000,
  status,
  error: null,
  incomplete_details: null,
  model: 'wire-model',
  output,
  usage: status === 'completed' ? { input_tokens: 11, output_tokens: 7, total_tokens: 18 } : null,
});

const outputText = (text: string) => ({ type: 'output_text', text, annotations: [] });
const message = (status: string, content: readonly object[]) => ({
  id: 'msg_1',
  type: 'message',
  status,
  role: 'assistant',
  content,
});

const typed = (data: { readonly type: string } & Record<string, unknown>) => event(data, data.type);

const messageStart = {
  id: 'msg_01',
  type: 'message',
  role: 'assistant',
  model: 'wire-model',
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: { input_tokens: 11, output_tokens: 1 },
};

const candidate = (text: string, finishReason?: string) => ({
  candidates: [{ content: { parts: [{ text }], role: 'model' }, index: 0, ...(finishReason && { finishReason }) }],
  modelVersion: 'wire-model',
  ...(finishReason && { usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 } }),
});

/** A whole answer without a stream. */
export const WHOLE: Readonly<Record<WireFormat, object>> = {
  chat: {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_800_000_000,
    model: 'wire-model',
    choices: [{ index: 0, message: { role: 'assistant', content: TEXT }, finish_reason: 'stop' }],
    usage: chatUsage,
  },
  responses: responseOf('completed', [message('completed', [outputText(TEXT)])]),
  messages: {
    ...messageStart,
    content: [{ type: 'text', text: TEXT }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 11, output_tokens: 7 },
  },
  gemini: candidate(TEXT, 'STOP'),
};

/** The events of the same answer as a stream. */
export const EVENTS: Readonly<Record<WireFormat, readonly string[]>> = {
  chat: [
    chunk({ role: 'assistant', content: '' }),
    ...PIECES.map((content) => chunk({ content })),
    chunk({}, 'stop'),
    event({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1_800_000_000,
      model: 'wire-model',
      choices: [],
      usage: chatUsage,
    }),
    event('[DONE]'),
  ],
  responses: [
    typed({ type: 'response.created', sequence_number: 0, response: responseOf('in_progress', []) }),
    typed({ type: 'response.in_progress', sequence_number: 1, response: responseOf('in_progress', []) }),
    typed({
      type: 'response.output_item.added',
      sequence_number: 2,
      output_index: 0,
      item: message('in_progress', []),
    }),
    typed({
      type: 'response.content_part.added',
      sequence_number: 3,
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      part: outputText(''),
    }),
    ...PIECES.map((delta, index) =>
      typed({
        type: 'response.output_text.delta',
        sequence_number: 4 + index,
        item_id: 'msg_1',
        output_index: 0,
        content_index: 0,
        delta,
        logprobs: [],
      }),
    ),
    typed({
      type: 'response.output_item.done',
      sequence_number: 9,
      output_index: 0,
      item: message('completed', [outputText(TEXT)]),
    }),
    typed({
      type: 'response.completed',
      sequence_number: 10,
      response: responseOf('completed', [message('completed', [outputText(TEXT)])]),
    }),
  ],
  messages: [
    typed({ type: 'message_start', message: messageStart }),
    typed({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    typed({ type: 'ping' }),
    ...PIECES.map((text) => typed({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
    typed({ type: 'content_block_stop', index: 0 }),
    typed({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 7 },
    }),
    typed({ type: 'message_stop' }),
  ],
  gemini: PIECES.map((text, index) => event(candidate(text, index === PIECES.length - 1 ? 'STOP' : undefined))),
};

/** The number of events before the first visible one. */
export const HEAD: Readonly<Record<WireFormat, number>> = { chat: 1, responses: 4, messages: 3, gemini: 0 };

/** The body of an error, as each provider writes it. */
export const errorBody = (
  format: WireFormat,
  status: number,
  code: string,
  text: string,
  details?: object[],
): object => {
  if (format === 'messages') return { type: 'error', error: { type: code, message: text }, request_id: 'req_1' };
  if (format === 'gemini') return { error: { code: status, message: text, status: code, ...(details && { details }) } };
  return { error: { message: text, type: code, param: null, code } };
};

/** The event of an error within a stream. */
export const errorEvent = (format: WireFormat, code: string, text: string): string => {
  if (format === 'messages') return typed({ type: 'error', error: { type: code, message: text } });
  if (format === 'responses') {
    return typed({ type: 'error', sequence_number: 3, code, message: text, param: null });
  }
  return event(errorBody(format, 503, code, text));
};

/** OpenAI's event of a response that failed. */
export const failedResponse = (code: string): string =>
  typed({
    type: 'response.failed',
    sequence_number: 3,
    response: { ...responseOf('failed', []), error: { code, message: 'The model failed.' } },
  });

/** With the id of an answer before the others. LangGraph keeps one message of an id. */
const earlier = (text: string): string => text.replaceAll('chatcmpl-1', 'chatcmpl-0').replaceAll('resp_1', 'resp_0');

/** An answer that calls a tool, whole and as a stream. */
export const toolCall = (
  format: WireFormat,
  name: string,
  input: object,
): { readonly whole: object; readonly events: readonly string[] } => {
  const text = JSON.stringify(input);
  const usage = { input_tokens: 11, output_tokens: 7 };
  if (format === 'chat') {
    const calls = [{ index: 0, id: 'call_1', type: 'function', function: { name, arguments: text } }];
    const called = { role: 'assistant', content: null, tool_calls: calls };
    const choice = { index: 0, message: called, finish_reason: 'tool_calls' };
    return {
      whole: { ...WHOLE.chat, id: 'chatcmpl-0', choices: [choice] },
      events: [chunk(called), chunk({}, 'tool_calls'), event('[DONE]')].map(earlier),
    };
  }
  if (format === 'responses') {
    const item = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name, arguments: text, status: 'completed' };
    const at = { output_index: 0, item_id: 'fc_1' };
    return {
      whole: { ...responseOf('completed', [item]), id: 'resp_0' },
      events: [
        typed({ type: 'response.created', sequence_number: 0, response: responseOf('in_progress', []) }),
        typed({
          type: 'response.output_item.added',
          sequence_number: 1,
          output_index: 0,
          item: { ...item, arguments: '' },
        }),
        typed({ type: 'response.function_call_arguments.delta', sequence_number: 2, ...at, delta: text }),
        typed({ type: 'response.function_call_arguments.done', sequence_number: 3, ...at, name, arguments: text }),
        typed({ type: 'response.output_item.done', sequence_number: 4, output_index: 0, item }),
        typed({ type: 'response.completed', sequence_number: 5, response: responseOf('completed', [item]) }),
      ].map(earlier),
    };
  }
  if (format === 'messages') {
    const block = { type: 'tool_use', id: 'toolu_1', name, input };
    const delta = { stop_reason: 'tool_use', stop_sequence: null };
    return {
      whole: { ...messageStart, content: [block], stop_reason: 'tool_use', usage },
      events: [
        typed({ type: 'message_start', message: messageStart }),
        typed({ type: 'content_block_start', index: 0, content_block: { ...block, input: {} } }),
        typed({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: text } }),
        typed({ type: 'content_block_stop', index: 0 }),
        typed({ type: 'message_delta', delta, usage: { output_tokens: 7 } }),
        typed({ type: 'message_stop' }),
      ],
    };
  }
  const parts = [{ functionCall: { name, args: input } }];
  const called = {
    candidates: [{ content: { parts, role: 'model' }, index: 0, finishReason: 'STOP' }],
    modelVersion: 'wire-model',
    usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 },
  };
  return { whole: called, events: [event(called)] };
};
