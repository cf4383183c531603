import { eventStream, type ScriptedApi, serveOnLoopback } from './loopback.ts';
import { playScript, type ScriptedStep, type Turn } from './script.ts';

/** Anthropic's Messages API in place of a model: what it is asked goes nowhere. */
export interface ScriptedMessages {
  /** For `new Anthropic({ apiKey: 'none', fetch })`. */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  /** The texts of all tool results in the last request that the script answered, in order; what is no text as JSON. */
  heard(): readonly string[];
}

/** Answers by a script whatever the model's client asks: streaming or not, with the whole history or a stored thread. */
export const scriptedModel = (steps: readonly ScriptedStep[]): ScriptedMessages => {
  const { answer, heard } = messagesApi(steps);
  return {
    fetch: async (input, init) => {
      const request = new Request(input, init);
      request.signal.throwIfAborted();
      return answer(new URL(request.url).pathname, await request.text());
    },
    heard,
  };
};

/** The same on loopback; `url` is for `ANTHROPIC_BASE_URL`. */
export const startMessagesApi = async (steps: readonly ScriptedStep[]): Promise<ScriptedApi> => {
  const { answer, heard } = messagesApi(steps);
  const { url, stop } = await serveOnLoopback(({ path, body }) => answer(path.replace(/\?.*/, ''), body));
  return { url, heard, stop };
};

const messagesApi = (steps: readonly ScriptedStep[]) => {
  const nextTurn = playScript(steps);
  /** What a thread holds, by the message that it ended with. */
  const threads = new Map<string, readonly Message[]>();
  let told: readonly Message[] = [];

  const reply = (request: MessagesRequest): Response => {
    if (isAside(request)) return send(request, messageOf('msg_aside', { text: '{}', calls: [] }, request.model));
    const { thread } = request;
    const before = thread?.type === 'continue' ? threads.get(thread.previous_message_id ?? '') : [];
    if (before === undefined) return refuse('no such thread', { error_code: 'thread_not_found' });
    told = [...before, ...request.messages];
    const message = messageOf(`msg_${threads.size + 1}`, nextTurn(), request.model);
    threads.set(message.id, [...told, message]);
    return send(request, message);
  };

  return {
    answer: (path: string, body: string): Response => {
      if (path === '/v1/messages') return reply(JSON.parse(body) as MessagesRequest);
      if (path === '/v1/messages/count_tokens') return Response.json({ input_tokens: 1 });
      return new Response(null, { status: 404 });
    },
    heard: (): readonly string[] => told.flatMap(resultsIn),
  };
};

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly content?: string | readonly Block[];
}

interface Message {
  readonly role: string;
  readonly content: string | readonly Block[];
}

interface MessagesRequest {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly stream?: boolean;
  readonly tools?: readonly unknown[];
  readonly thread?: { readonly type: string; readonly previous_message_id?: string };
}

/** What Claude Code asks besides, such as for a title, is no turn of an agent: agents have tools, or threads that know them. */
const isAside = ({ tools = [], thread }: MessagesRequest): boolean => tools.length === 0 && thread?.type !== 'continue';

const resultsIn = ({ content }: Message): readonly string[] =>
  typeof content === 'string' ? [] : content.filter(({ type }) => type === 'tool_result').map(textOf);

const textOf = ({ content = '' }: Block): string =>
  typeof content === 'string'
    ? content
    : content.map((block) => (block.type === 'text' ? block.text : JSON.stringify(block))).join('\n');

const messageOf = (id: string, { text, calls }: Turn, model: string) => ({
  id,
  type: 'message',
  role: 'assistant',
  model,
  content: [
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...calls.map(({ id, tool, input }) => ({ type: 'tool_use' as const, id, name: tool, input })),
  ],
  stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
});

type Reply = ReturnType<typeof messageOf>;

const send = ({ stream }: MessagesRequest, message: Reply): Response =>
  stream ? eventStream(eventsOf(message)) : Response.json(message);

const refuse = (message: string, details: object): Response =>
  Response.json({ type: 'error', error: { type: 'invalid_request_error', message, details } }, { status: 400 });

/** A message as a stream tells of it. */
const eventsOf = ({ content, stop_reason, stop_sequence, ...message }: Reply): readonly object[] => [
  { type: 'message_start', message: { ...message, content: [], stop_reason: null, stop_sequence } },
  ...content.flatMap((block, index) => {
    const { start, delta } = piecesOf(block);
    return [
      { type: 'content_block_start', index, content_block: start },
      { type: 'content_block_delta', index, delta },
      { type: 'content_block_stop', index },
    ];
  }),
  { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
];

const piecesOf = (block: Reply['content'][number]) =>
  block.type === 'text'
    ? { start: { ...block, text: '' }, delta: { type: 'text_delta', text: block.text } }
    : {
        start: { ...block, input: {} },
        delta: { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
      };
