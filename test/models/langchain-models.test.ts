import {
  breakerMiddleware,
  type GuardChatModelsOptions,
  guardModels,
  ModelsUnavailableError,
} from '@breakerbox/instrumentation/langchain';
import { withSession } from '@breakerbox/instrumentation/session';
import { AIMessage } from '@langchain/core/messages';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent } from 'langchain';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { chatModel, langchainFrame } from './frame-langchain.ts';
import { modelContract, overloaded, pairFor } from './frames.ts';
import { answers, loopbackProvider, refuses, SSE, sends } from './loopback-provider.ts';
import { newBox } from './providers.ts';
import { EVENTS, errorBody, HEAD, TEXT, toolCall } from './recordings.ts';

describe('LangChain', () => modelContract(langchainFrame));

test('L7: the message says who answered, and its tokens', async () => {
  const { model, primary } = await pairFor(langchainFrame, 'chat');
  primary.behave(overloaded('chat'));
  const message = await model.invoke('Hi');
  const tried = [{ model: 'openai/primary', why: 'failed', category: 'server', status: 529 }];
  expect(message.response_metadata.breakerbox).toEqual({ model: 'openai/fallback', position: 'fallback', tried });
  expect(message.usage_metadata).toMatchObject({ input_tokens: 11, output_tokens: 7 });
});

test('L1: an agent streams the tokens of the fallback, each once', async () => {
  const { model, primary } = await pairFor(langchainFrame, 'chat');
  primary.behave(overloaded('chat'));
  const agent = createAgent({ model, tools: [] });
  let text = '';
  for await (const [chunk] of await agent.stream({ messages: 'Hi' }, { streamMode: 'messages' })) {
    text += (chunk as { text: string }).text;
  }
  expect(text).toBe(TEXT);
});

test('D3, L7: an answer of an agent counts once, also as a stream, and its message says who answered', async () => {
  const { box, model } = await pairFor(langchainFrame, 'chat');
  const session = box.session({ limits: { tokens: 1_000 } });
  const agent = createAgent({ model, tools: [], middleware: [breakerMiddleware(session)] });
  const used = () => session.view().limits?.[0]?.used;
  await withSession(session, () => agent.invoke({ messages: 'Hi' }));
  expect(used()).toBe(11 + 7);
  const says = await withSession(session, async () => {
    let answerer: unknown;
    for await (const [chunk] of await agent.stream({ messages: 'Hi' }, { streamMode: 'messages' }))
      answerer ??= (chunk as { response_metadata: { breakerbox?: unknown } }).response_metadata.breakerbox;
    return answerer;
  });
  expect(says).toEqual({ model: 'openai/primary', position: 'primary', tried: [], spent: true });
  expect(used()).toBe(2 * (11 + 7));
});

test.each(['functionCalling', 'jsonSchema'] as const)(
  'L1: withStructuredOutput by %s reads the fallback',
  async (method) => {
    const { model, primary, fallback } = await pairFor(langchainFrame, 'chat');
    primary.behave(overloaded('chat'));
    const asText = completion('{"sum":42}');
    const asCall = toolCall('chat', 'extract', { sum: 42 }).whole;
    fallback.behave(refuses(200, method === 'jsonSchema' ? asText : asCall));
    const schema = z.object({ sum: z.number() });
    expect(await model.withStructuredOutput(schema, { method }).invoke('Hi')).toEqual({ sum: 42 });
    const raw = await model.withStructuredOutput(schema, { method, includeRaw: true }).invoke('Hi');
    expect(raw).toMatchObject({ parsed: { sum: 42 }, raw: { response_metadata: {} } });
  },
);

const completion = (content: string, reason = 'stop') => {
  const choice = { index: 0, message: { role: 'assistant', content }, finish_reason: reason };
  return { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [choice] };
};

test.each([
  ['cut by the limit of tokens', completion('{"su', 'length')],
  ['cut by the content filter', completion('{"su', 'content_filter')],
  ['no JSON', completion('Sure! 42')],
  ['of another schema', completion('{"total":42}')],
])('L3: structured output that is %s is an error of the caller, and says nothing about the model', async (_, whole) => {
  const { model, primary, fallback } = await pairFor(langchainFrame, 'chat');
  primary.behave(refuses(200, whole));
  const structured = model.withStructuredOutput(z.object({ sum: z.number() }), { method: 'jsonSchema' });
  for (let request = 0; request < 3; request += 1) await expect(structured.invoke('Hi')).rejects.toThrow();
  primary.behave(answers);
  expect((await model.invoke('Hi')).response_metadata.breakerbox).toMatchObject({ position: 'primary' });
  expect([primary.calls.length, fallback.calls.length]).toEqual([4, 0]);
});

test('L3: a body that is no JSON is a failure of the model, also with structured output', async () => {
  const { model, primary, fallback } = await pairFor(langchainFrame, 'chat');
  primary.behave(refuses(200, '{"id":"c","choices":[{'));
  fallback.behave(refuses(200, completion('{"sum":42}')));
  const structured = model.withStructuredOutput(z.object({ sum: z.number() }), { method: 'jsonSchema' });
  for (let request = 0; request < 3; request += 1) expect(await structured.invoke('Hi')).toEqual({ sum: 42 });
  expect(primary.calls.length).toBe(2);
});

test('L1: structured output of an agent, by the schema that all models know', async () => {
  const { model, primary, fallback } = await pairFor(langchainFrame, 'chat');
  primary.behave(overloaded('chat'));
  const { whole, events } = toolCall('chat', 'extract', { sum: 42 });
  fallback.behave((call) => {
    const { tools = [] } = call.body as { tools?: { function: { name: string } }[] };
    const name = tools[0]?.function.name ?? '';
    if (call.isStream) call.response.writeHead(200, SSE).end(events.join('').replaceAll('"extract"', `"${name}"`));
    else refuses(200, JSON.stringify(whole).replaceAll('"extract"', `"${name}"`))(call);
  });
  const agent = createAgent({ model, tools: [], responseFormat: z.object({ sum: z.number() }) });
  const { structuredResponse } = await agent.invoke({ messages: 'Hi' });
  expect(structuredResponse).toEqual({ sum: 42 });
});

test('L1: headers of the call go to the first provider only, and a tool of a provider to no other', async () => {
  const [one, two] = await Promise.all([loopbackProvider(), loopbackProvider()]);
  const model = guardModels(newBox(), {
    models: [chatModel(one.url, 'one', false), { model: chatModel(two.url, 'two', false), name: 'groq/two' }],
  });
  one.behave(overloaded('chat'));
  await model.invoke('Hi', { options: { headers: { 'x-secret': 's' } } } as object);
  expect([one, two].map(({ calls }) => calls[0]?.headers['x-secret'])).toEqual(['s', undefined]);
  const bound = model.bindTools?.([{ type: 'web_search_preview' }]);
  const error = await bound?.invoke('Hi').catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ModelsUnavailableError);
  expect((error as ModelsUnavailableError).models.map(({ why }) => why)).toEqual(['failed', 'unsupported']);
});

test('L1, L2: a model with another key gets no headers of the call, and `tenant` gets them', async () => {
  const tenants: unknown[] = [];
  const tenant: NonNullable<GuardChatModelsOptions['tenant']> = ({ options }) => {
    tenants.push(options?.headers?.['x-secret']);
    return 'a';
  };
  const { model, primary, fallback } = await pairFor(langchainFrame, 'chat', { tenant: tenant as never });
  primary.behave(overloaded('chat'));
  await model.invoke('Hi', { options: { headers: { 'x-secret': 's' } } } as object);
  expect(tenants).toEqual(['s']);
  expect([primary, fallback].map(({ calls }) => calls[0]?.headers['x-secret'])).toEqual(['s', undefined]);
});

test('L1, L3: models that never say why an answer ended are asked too', async () => {
  const models = [new FakeListChatModel({ responses: ['whole'] })];
  const model = guardModels(newBox(), { models: [{ model: models[0] as never, name: 'fake/one' }] });
  expect((await model.invoke('Hi')).text).toBe('whole');
  let text = '';
  for await (const chunk of await model.stream('Hi')) text += chunk.text;
  expect(text).toBe('whole');
});

test('L3: a model that has given a reason once must give it again', async () => {
  const [provider, other] = await Promise.all([loopbackProvider(), loopbackProvider()]);
  const one = chatModel(provider.url, 'one', false);
  one.getLsParams = () => ({ ls_provider: 'acme', ls_model_name: 'one', ls_model_type: 'chat' });
  const model = guardModels(newBox(), { models: [one, chatModel(other.url, 'two', false)] });
  const ask = () => langchainFrame.ask(model, true);
  expect(await ask()).toEqual({ text: TEXT, error: undefined });
  provider.behave(sends(EVENTS.chat.slice(0, HEAD.chat + 2).join(''), 'end'));
  expect((await ask()).error).toMatchObject({ name: 'ModelStreamError' });
});

/** Its own `getLsParams` is that of OpenAI's class. */
class ChatDeepSeek extends ChatOpenAI {
  override _llmType(): string {
    return 'deepseek';
  }
}

test.each([
  ['a class made from that of OpenAI', new ChatDeepSeek({ model: 'other', apiKey: 'k' }), 'deepseek/other'],
  [
    "an address that is not OpenAI's",
    new ChatOpenAI({ model: 'other', apiKey: 'k', configuration: { baseURL: 'https://api.groq.com/openai/v1' } }),
    'api-groq-com/other',
  ],
])('L1, L2: a bad key of OpenAI stops no model of %s, which gets no header', async (_, other, name) => {
  const provider = await loopbackProvider();
  provider.behave(refuses(401, errorBody('chat', 401, 'invalid_api_key', 'Incorrect API key provided')));
  const seen: unknown[] = [];
  other.invoke = async (_messages, options) => {
    seen.push(options?.options?.headers);
    return new AIMessage({ content: 'yes', response_metadata: { finish_reason: 'stop' } }) as never;
  };
  const model = guardModels(newBox(), { models: [chatModel(provider.url, 'gpt-5', false), other] });
  for (const _ of [1, 2]) {
    const { response_metadata } = await model.invoke('Hi', { options: { headers: { 'x-secret': 's' } } } as never);
    expect(response_metadata.breakerbox).toMatchObject({ model: name });
  }
  expect(provider.calls.length).toBe(1);
  expect(seen).toEqual([undefined, undefined]);
});

test('L1: what is no chat model is refused, with the fix', () => {
  expect(() => guardModels(newBox(), { models: ['openai:gpt-5'] as never })).toThrow(/Give a chat model, or/);
});
