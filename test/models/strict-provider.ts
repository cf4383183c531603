import { answers, type Behaviour, refuses } from './loopback-provider.ts';
import { errorBody, type WireFormat } from './recordings.ts';

type Json = Readonly<Record<string, unknown>>;
/** What a provider says of a history that it refuses. */
interface Objection {
  readonly status: number;
  readonly code: string;
  readonly text: string;
}

const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value : []);

const badRequest = (text: string, code = 'invalid_request_error'): Objection => ({ status: 400, code, text });

/** OpenAI's Chat Completions. */
function* chatObjections(body: Json): Generator<Objection> {
  const called = new Set<unknown>();
  for (const [at, message] of listOf(body.messages).entries()) {
    for (const key of ['reasoning', 'reasoning_content']) {
      if (key in message) yield badRequest(`Unknown parameter: 'messages[${at}].${key}'.`, 'unknown_parameter');
    }
    for (const { type } of listOf(message.content)) {
      if (type !== 'text') yield badRequest(`Invalid value: '${type}'. Supported values are: 'text', 'image_url'.`);
    }
    for (const [index, { id }] of listOf(message.tool_calls).entries()) {
      called.add(id);
      if (`${id}`.length <= 40) continue;
      yield badRequest(`Invalid 'messages[${at}].tool_calls[${index}].id': string too long. Expected at most 40.`);
    }
    if (message.role === 'tool' && !called.has(message.tool_call_id))
      yield badRequest("messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.");
  }
}

const PREFIXES: Readonly<Record<string, string>> = { message: 'msg', function_call: 'fc', reasoning: 'rs' };

/** OpenAI's Responses. */
function* responsesObjections(body: Json): Generator<Objection> {
  const called = new Set<unknown>();
  for (const [at, item] of listOf(body.input).entries()) {
    const { type = 'message', id, call_id } = item;
    const prefix = PREFIXES[`${type}`];
    if (id !== undefined && prefix !== undefined && !`${id}`.startsWith(prefix))
      yield badRequest(`Invalid 'input[${at}].id': '${id}'. Expected an ID that begins with '${prefix}'.`);
    // It stores what this provider and key made, which is nothing.
    if (type === 'reasoning' || type === 'item_reference')
      yield { status: 404, code: 'not_found', text: `Item with id '${id}' not found.` };
    if (type === 'function_call') called.add(call_id);
    if (type === 'function_call_output' && !called.has(call_id))
      yield badRequest(`No tool call found for function call output with call_id ${call_id}.`);
    if (`${call_id ?? ''}`.length > 64) yield badRequest(`Invalid 'input[${at}].call_id': string too long.`);
  }
}

const BLOCKS: ReadonlySet<unknown> = new Set(['text', 'image', 'tool_use', 'tool_result', 'thinking']);

/** Anthropic's Messages. */
function* messagesObjections(body: Json): Generator<Objection> {
  const called = new Set<unknown>();
  const isThinking = (body.thinking as Json | undefined)?.type === 'enabled';
  for (const [at, { role, content }] of listOf(body.messages).entries()) {
    for (const [index, block] of listOf(content).entries()) {
      const where = `messages.${at}.content.${index}`;
      const id = block.type === 'tool_use' ? block.id : block.tool_use_id;
      if (block.type === 'tool_use') called.add(id);
      if (id !== undefined && !/^[a-zA-Z0-9_-]+$/.test(`${id}`))
        yield badRequest(`${where}.${block.type}.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
      if (block.type === 'tool_result' && !called.has(id))
        yield badRequest(`${where}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}.`);
      if (block.type === 'thinking') yield badRequest(`${where}: Invalid \`signature\` in \`thinking\` block`);
      if (!BLOCKS.has(block.type))
        yield badRequest(
          `${where}: Input tag '${block.type}' found using 'type' does not match any of the expected tags`,
        );
      if (isThinking && role === 'assistant' && index === 0 && block.type === 'tool_use')
        yield badRequest(
          `${where}.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`tool_use\`. To avoid this requirement, disable \`thinking\`.`,
        );
    }
  }
}

const UNSIGNED =
  'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.';

/** The first call of each step needs a signature, and the others have none. */
const isSigned = (calls: readonly (string | undefined)[]): boolean =>
  calls.every((signature, at) => (at === 0) === (signature !== undefined));

/** Gemini 3. */
function* geminiObjections(body: Json): Generator<Objection> {
  for (const { parts } of listOf(body.contents)) {
    const calls = listOf(parts).filter(({ functionCall }) => functionCall !== undefined);
    if (!isSigned(calls.map(({ thoughtSignature }) => thoughtSignature as string | undefined)))
      yield badRequest(UNSIGNED, 'INVALID_ARGUMENT');
  }
}

/** The endpoint of Gemini 3 that is compatible with OpenAI's Chat Completions. */
function* compatibleObjections(body: Json): Generator<Objection> {
  for (const { tool_calls } of listOf(body.messages)) {
    const calls = listOf(tool_calls) as readonly { extra_content?: { google?: { thought_signature?: string } } }[];
    if (!isSigned(calls.map(({ extra_content }) => extra_content?.google?.thought_signature)))
      yield badRequest(UNSIGNED, 'INVALID_ARGUMENT');
  }
}

/** It answers errors as a list of one. */
export const strictGemini: Behaviour = (call) => {
  const [objection] = compatibleObjections(call.body);
  if (objection === undefined) return answers(call);
  refuses(objection.status, [errorBody('gemini', objection.status, objection.code, objection.text)])(call);
};

const OBJECTIONS: Readonly<Record<WireFormat, (body: Json) => Generator<Objection>>> = {
  chat: chatObjections,
  responses: responsesObjections,
  messages: messagesObjections,
  gemini: geminiObjections,
};

/** Refuses a history as the real provider does that has made none of it. It answers the rest. */
export const strict =
  (then: Behaviour = answers): Behaviour =>
  (call) => {
    const [objection] = OBJECTIONS[call.format](call.body);
    if (objection === undefined) return then(call);
    const { status, code, text } = objection;
    refuses(status, errorBody(call.format, status, code, text))(call);
  };

/** The same answer with thinking before it, and with an id of its call that other providers refuse. */
export const foreign = (format: WireFormat, whole: object): object => {
  const text = JSON.stringify(whole).replaceAll(/"(?:call_1|toolu_1)"/g, '"functions.weather:0"');
  const answer = JSON.parse(text) as Record<string, unknown>;
  if (format === 'chat') {
    const [choice] = answer.choices as [{ message: object }];
    choice.message = { ...choice.message, reasoning_content: 'Hm.', reasoning: 'Hm.' };
  }
  if (format === 'responses') {
    const summary = [{ type: 'summary_text', text: 'Hm.' }];
    answer.output = [{ type: 'reasoning', id: 'rs_1', summary }, ...(answer.output as object[])];
  }
  if (format === 'messages') {
    answer.content = [{ type: 'thinking', thinking: 'Hm.', signature: 'sig-1' }, ...(answer.content as object[])];
  }
  return answer;
};
