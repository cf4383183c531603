import { eventStream, type ScriptedApi, serveOnLoopback } from './loopback.ts';
import { completionEvents, completionOf, resultsInMessages } from './openai-completions.ts';
import { playScript, type ScriptedStep, type Turn } from './script.ts';

/** OpenAI's Responses API and its Chat Completions, streaming or not; `url` is for `OPENAI_BASE_URL`. */
export const startOpenAiApi = async (steps: readonly ScriptedStep[]): Promise<ScriptedApi> => {
  const nextTurn = playScript(steps);
  /** What was said by the end of each response: a client may send what is new alone. */
  const conversations = new Map<string, readonly Item[]>();
  let completions = 0;
  let heard: readonly string[] = [];

  const respond = ({ model, stream, input, previous_response_id: previous }: ResponsesRequest): Response => {
    const items = [...(conversations.get(previous ?? '') ?? []), ...(typeof input === 'string' ? [] : input)];
    heard = items.flatMap((item) => (item.type === 'function_call_output' ? [textOf(item.output)] : []));
    const response = responseOf(`resp_${conversations.size + 1}`, nextTurn(), model);
    conversations.set(response.id, items);
    return stream ? eventStream(responseEvents(response)) : Response.json(response);
  };

  const complete = ({ model, stream, messages }: CompletionsRequest): Response => {
    heard = resultsInMessages(messages);
    completions += 1;
    const id = `chatcmpl_${completions}`;
    const turn = nextTurn();
    return stream ? eventStream(completionEvents(id, turn, model)) : Response.json(completionOf(id, turn, model));
  };

  const { url, stop } = await serveOnLoopback(({ path, body }) => {
    if (path === '/v1/responses') return respond(JSON.parse(body) as ResponsesRequest);
    if (path === '/v1/chat/completions') return complete(JSON.parse(body) as CompletionsRequest);
    return Response.json(
      { error: { message: `no such path: ${path}`, type: 'invalid_request_error' } },
      { status: 404 },
    );
  });
  return { url: `${url}/v1`, heard: () => heard, stop };
};

interface Item {
  readonly type?: string;
  readonly output?: unknown;
}

interface ResponsesRequest {
  readonly model: string;
  readonly stream?: boolean;
  readonly input: string | readonly Item[];
  readonly previous_response_id?: string;
}

interface CompletionsRequest {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: Parameters<typeof resultsInMessages>[0];
}

const textOf = (output: unknown): string => (typeof output === 'string' ? output : JSON.stringify(output));

const messageOf = (id: string, text: string) => ({
  type: 'message' as const,
  id: `msg_${id}`,
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
});

const responseOf = (id: string, { text, calls }: Turn, model: string) => ({
  id,
  object: 'response',
  created_at: 1_800_000_000,
  status: 'completed',
  model,
  output: [
    ...(text === '' ? [] : [messageOf(id, text)]),
    ...calls.map((call) => ({
      type: 'function_call' as const,
      id: `fc_${call.id}`,
      call_id: call.id,
      name: call.tool,
      arguments: JSON.stringify(call.input),
      status: 'completed',
    })),
  ],
  parallel_tool_calls: true,
  tool_choice: 'auto',
  tools: [],
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: {},
  usage: {
    input_tokens: 1,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 1,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 2,
  },
});

type Reply = ReturnType<typeof responseOf>;

/** A response as a stream tells of it. */
const responseEvents = (response: Reply) => {
  const begun = { ...response, status: 'in_progress', output: [], usage: null };
  const events = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...response.output.flatMap(itemEvents),
    { type: 'response.completed', response },
  ];
  return events.map((event, index) => ({ ...event, sequence_number: index }));
};

const itemEvents = (item: Reply['output'][number], output_index: number): readonly object[] => {
  const place = { output_index, item_id: item.id };
  const added = (begun: object) => ({ type: 'response.output_item.added', output_index, item: begun });
  const done = { type: 'response.output_item.done', output_index, item };
  if (item.type === 'function_call') {
    const { arguments: input } = item;
    return [
      added({ ...item, arguments: '', status: 'in_progress' }),
      { type: 'response.function_call_arguments.delta', ...place, delta: input },
      { type: 'response.function_call_arguments.done', ...place, arguments: input },
      done,
    ];
  }
  const [part] = item.content;
  const inside = { ...place, content_index: 0 };
  return [
    added({ ...item, content: [], status: 'in_progress' }),
    { type: 'response.content_part.added', ...inside, part: { ...part, text: '' } },
    { type: 'response.output_text.delta', ...inside, delta: part?.text, logprobs: [] },
    { type: 'response.output_text.done', ...inside, text: part?.text, logprobs: [] },
    { type: 'response.content_part.done', ...inside, part },
    done,
  ];
};
