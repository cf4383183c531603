import { setTimeout as sleep } from 'node:timers/promises';
import { createOpenAI } from '@ai-sdk/openai';
import { createBreakerbox } from '@breakerbox/core';
import { boxModels } from '@breakerbox/core/internal';
import { guardModels, guardTools, ModelsUnavailableError } from '@breakerbox/instrumentation/ai-sdk';
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { generateObject, generateText, stepCountIs, streamText, tool } from 'ai';
import { generateText as generateText5, streamText as streamText5 } from 'ai-5';
import { generateText as generateText6, streamText as streamText6 } from 'ai-6';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { costOf, PRICES } from './frames.ts';
import { answers, cached, hangs, loopbackProvider, refuses, SSE, sends } from './loopback-provider.ts';
import { modelOf, newBox, OLDER, pairOf } from './providers.ts';
import { EVENTS, errorBody, FORMATS, HEAD, TEXT } from './recordings.ts';

vi.stubGlobal('AI_SDK_LOG_WARNINGS', false);

const overloaded = refuses(529, errorBody('messages', 529, 'overloaded_error', 'Overloaded'));

afterEach(() => {
  trace.disable();
  context.disable();
});

describe.each(FORMATS)('L5: %s', (format) => {
  test('4 requests in an outage of the primary are 4 answers, with at most 6 calls of providers, then 1 each', async () => {
    const { model, primary, fallback } = await pairOf(format);
    primary.behave(overloaded);
    for (let request = 0; request < 4; request += 1) {
      expect((await generateText({ model, prompt: 'Hi', maxRetries: 0 })).text).toBe(TEXT);
    }
    expect(primary.calls.length + fallback.calls.length).toBe(6);
    for (let request = 0; request < 3; request += 1) await streamText({ model, prompt: 'Hi', maxRetries: 0 }).text;
    expect(primary.calls.length).toBe(2);
    expect(fallback.calls.length).toBe(7);
  });
});

test('L7: the result says who answered, and who was tried', async () => {
  const { model, primary } = await pairOf('messages');
  primary.behave(overloaded);
  const whole = await generateText({ model, prompt: 'Hi', maxRetries: 0 });
  const tried = [{ model: 'anthropic/primary', why: 'failed', category: 'server', status: 529 }];
  const answer = { model: 'anthropic/fallback', position: 'fallback', tried };
  expect(whole.providerMetadata?.breakerbox).toEqual(answer);
  expect(whole.response.modelId).toBe('wire-model');
  const streamed = streamText({ model, prompt: 'Hi', maxRetries: 0 });
  expect(await streamed.text).toBe(TEXT);
  expect((await streamed.providerMetadata)?.breakerbox).toEqual(answer);
});

test('L5, L6, L8: without a model left, the call fails at once with an error that the AI SDK does not retry', async () => {
  const { model, primary, fallback } = await pairOf('messages');
  for (const provider of [primary, fallback]) provider.behave(overloaded);
  const ask = () => generateText({ model, prompt: 'My secret', maxRetries: 5 }).catch((error: unknown) => error);
  const first = (await ask()) as ModelsUnavailableError;
  expect(first).toBeInstanceOf(ModelsUnavailableError);
  expect(first.cause).toMatchObject({ statusCode: 529 });
  for (let more = 0; more < 4; more += 1) await ask();
  const last = (await ask()) as ModelsUnavailableError;
  expect(primary.calls.length + fallback.calls.length).toBe(2 + 5);
  expect(last.message).toMatch(
    /anthropic\/primary is unavailable: its provider answers with errors\. It is skipped until \d{4}-/,
  );
  expect(last.models).toMatchObject([{ why: 'skipped' }, { why: 'skipped', untilUnixMs: expect.any(Number) }]);
  expect(last.message + JSON.stringify(last.models)).not.toMatch(/secret|Overloaded|test-key/); // L8
});

test('L5: a probe that fails costs its user time and no answer', async () => {
  let ms = 1_000;
  const box = createBreakerbox({ agent: 'probed', clock: { now: () => ms, unixNow: () => ms } });
  const [primary, fallback] = await Promise.all([loopbackProvider(), loopbackProvider()]);
  const models = [modelOf('messages', primary), { model: modelOf('messages', fallback, 'fallback'), key: 'second' }];
  const model = guardModels(box, { models, attemptMs: 1_500 });
  primary.behave(overloaded);
  for (let request = 0; request < 3; request += 1) await generateText({ model, prompt: 'Hi', maxRetries: 0 });
  expect(primary.calls.length).toBe(2);
  ms += 60_000;
  primary.behave(hangs);
  const began = performance.now();
  expect((await generateText({ model, prompt: 'Hi', maxRetries: 0 })).text).toBe(TEXT);
  expect(primary.calls.length).toBe(3);
  expect(performance.now() - began).toBeLessThan(1_500); // A third of the limit, because another model can answer.
});

test('L1, L2: a name makes another provider, and neither it nor another key gets the headers of a call', async () => {
  const [first, second, third] = await Promise.all([loopbackProvider(), loopbackProvider(), loopbackProvider()]);
  const box = newBox();
  const model = guardModels(box, {
    models: [
      modelOf('chat', first),
      { model: modelOf('chat', second, 'other'), key: 'second' },
      { model: modelOf('chat', third, 'theirs'), name: 'acme/theirs' },
    ],
  });
  first.behave(refuses(401, errorBody('chat', 401, 'invalid_api_key', 'Incorrect API key provided')));
  second.behave(refuses(503, errorBody('chat', 503, 'server_error', 'down')));
  const options = { headers: { 'x-secret': 's' }, providerOptions: { openai: { user: 'u' } } };
  await generateText({ model, prompt: 'Hi', maxRetries: 0, ...options });
  const calls = [first, second, third].map((one) => one.calls[0]);
  expect(calls.map((call) => call?.headers['x-secret'])).toEqual(['s', undefined, undefined]);
  expect(calls.map((call) => call?.body.user)).toEqual(['u', 'u', undefined]);
  const groups = ['openai', 'openai/second', 'acme'].map((name) => boxModels(box).session.peek(`group:model:${name}`));
  expect(groups.map((group) => group?.state)).toEqual(['open', 'closed', 'closed']);
});

test('L1: headers and provider options of the call go to models of the first provider only', async () => {
  const [first, second, third] = await Promise.all([loopbackProvider(), loopbackProvider(), loopbackProvider()]);
  const model = guardModels(newBox(), {
    models: [
      modelOf('messages', first),
      { model: modelOf('messages', second, 'other'), headers: { 'x-own': 'yes' } },
      modelOf('chat', third),
    ],
  });
  for (const provider of [first, second]) provider.behave(overloaded);
  await generateText({ model, prompt: 'Hi', maxRetries: 0, headers: { 'x-secret': 's' } });
  const headers = [first, second, third].map(({ calls }) => calls[0]?.headers ?? {});
  expect(headers.map((one) => one['x-secret'])).toEqual(['s', 's', undefined]);
  expect(headers.map((one) => one['x-own'])).toEqual([undefined, 'yes', undefined]);
});

test('L1, L2: providers whose ids begin alike have circuits of their own, and get no header of each other', async () => {
  const [first, second] = await Promise.all([loopbackProvider(), loopbackProvider()]);
  const box = newBox();
  const vertex = createOpenAI({ name: 'google.vertex', baseURL: `${second.url}/v1`, apiKey: 'k' }).chat('gemini-3');
  const model = guardModels(box, { models: [modelOf('gemini', first, 'gemini-3') as typeof vertex, vertex] });
  const reasons = [{ reason: 'API_KEY_INVALID' }];
  first.behave(refuses(400, errorBody('gemini', 400, 'INVALID_ARGUMENT', 'API key not valid.', reasons)));
  const ask = () => generateText({ model, prompt: 'Hi', maxRetries: 0, headers: { 'x-secret': 's' } });
  for (const _ of [1, 2]) expect((await ask()).providerMetadata?.breakerbox?.model).toBe('google.vertex/gemini-3');
  expect(second.calls.map(({ headers }) => headers['x-secret'])).toEqual([undefined, undefined]);
});

test.each([
  ['google.vertex', 'google.google_search'],
  ['vertex.anthropic', 'anthropic.web_search_20250305'],
  ['azure', 'openai.web_search'],
] as const)('L1: a model of %s carries the tool %s', async (name, id) => {
  const provider = await loopbackProvider();
  const given = createOpenAI({ name, baseURL: `${provider.url}/v1`, apiKey: 'k' }).chat('one');
  const model = guardModels(newBox(), { models: [given] });
  const own = { type: 'provider' as const, id, name: 'own', args: {} };
  await model.doGenerate({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }], tools: [own] });
  expect(provider.calls.length).toBe(1);
});

test("L1: a model that cannot carry a provider's own tool is skipped", async () => {
  const [first, second] = await Promise.all([loopbackProvider(), loopbackProvider()]);
  first.behave(overloaded);
  const model = guardModels(newBox(), { models: [modelOf('responses', first), modelOf('messages', second)] });
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi' }] }];
  const own = { type: 'provider' as const, id: 'openai.web_search' as const, name: 'web_search', args: {} };
  const error = await Promise.resolve(model.doGenerate({ prompt, tools: [own] })).catch((thrown: unknown) => thrown);
  expect((error as ModelsUnavailableError).models.map(({ why }) => why)).toEqual(['failed', 'unsupported']);
  expect(second.calls).toEqual([]);
});

test('L1: names and mixed versions are refused, with the fix', () => {
  const box = newBox();
  const six = OLDER[6].chat('http://localhost', 'm');
  const mixed = [modelOf('chat', {}), six] as never;
  expect(() => guardModels(box, { models: mixed })).toThrow(/wrapLanguageModel\(\{ model, middleware: \[\] \}\)/);
  expect(() => guardModels(box, { models: ['openai/gpt-5'] as never })).toThrow(/has a name in place of a model/);
  expect(() => guardModels(box, { models: [] })).toThrow(/Give at least one/);
  const twice = [modelOf('chat', {}), modelOf('chat', {})];
  expect(() => guardModels(box, { models: twice })).toThrow(/Set name and, if it has another key/);
  expect(() => guardModels(box, { models: [modelOf('chat', {})], stallMS: 1 } as never)).toThrow(/is not an option/);
});

test("L3: an abort of the caller is the caller's, and blames no model", async () => {
  const { model, box, primary, fallback } = await pairOf('messages');
  primary.behave(hangs);
  const left = AbortSignal.timeout(200);
  const error = await generateText({ model, prompt: 'Hi', maxRetries: 0, abortSignal: left }).catch((one) => one);
  expect(error).toMatchObject({ name: 'TimeoutError' });
  expect(fallback.calls).toEqual([]);
  expect(boxModels(box).session.peek('model:anthropic/primary')?.failures).toBe(0);
});

test('L4: a reader that leaves stops the provider, and blames no model', async () => {
  const { model, box, primary } = await pairOf('messages');
  const closed = new Promise<void>((resolve) => {
    primary.behave((call) => {
      call.response.on('close', resolve);
      sends(EVENTS.messages.slice(0, HEAD.messages + 1).join(''), 'hang')(call);
    });
  });
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi' }] }];
  const { stream } = await model.doStream({ prompt });
  const reader = stream.getReader();
  await reader.read();
  await reader.cancel();
  await closed;
  expect(boxModels(box).session.peek('model:anthropic/primary')?.failures).toBe(0);
});

test('L4: a slow stream that makes progress is not stopped', async () => {
  const { model, primary } = await pairOf('messages', { stallMs: 300, firstByteMs: 300 });
  primary.behave(async ({ response }) => {
    response.writeHead(200, SSE);
    for (const event of EVENTS.messages) {
      await sleep(60);
      response.write(event);
    }
    response.end();
  });
  expect(await streamText({ model, prompt: 'Hi', maxRetries: 0 }).text).toBe(TEXT);
  expect(primary.calls.length).toBe(1);
});

describe('L1: the AI SDK 5 and 6', () => {
  test.each([
    [5, generateText5, streamText5],
    [6, generateText6, streamText6],
  ] as const)('version %i', async (version, generate, stream) => {
    const [primary, fallback] = await Promise.all([loopbackProvider(), loopbackProvider()]);
    const models = [OLDER[version].messages(primary.url, 'one'), OLDER[version].chat(fallback.url, 'two')];
    const model = guardModels(newBox(), { models: models as never[] }) as never;
    expect((await (generate as typeof generateText6)({ model, prompt: 'Hi', maxRetries: 0 })).text).toBe(TEXT);
    primary.behave(overloaded);
    const result = await (generate as typeof generateText6)({ model, prompt: 'Hi', maxRetries: 0 });
    expect(result.text).toBe(TEXT);
    expect(result.providerMetadata?.breakerbox).toMatchObject({ model: 'openai/two', position: 'fallback' });
    primary.behave(sends(EVENTS.messages.slice(0, HEAD.messages + 2).join(''), 'end'));
    const errors: unknown[] = [];
    const cut = (stream as typeof streamText6)({
      model: guardModels(newBox(), { models: models as never[] }) as never,
      prompt: 'Hi',
      maxRetries: 0,
      onError: ({ error }) => void errors.push(error),
    });
    expect(await cut.text).not.toBe(TEXT);
    expect(await cut.finishReason).toBe('error');
    expect(errors).toMatchObject([{ name: 'ModelStreamError' }]);
  });

  test.each([
    [5, 'chat', generateText5, streamText5],
    [5, 'messages', generateText5, streamText5],
    [6, 'chat', generateText6, streamText6],
    [6, 'messages', generateText6, streamText6],
  ] as const)('L7: the price of answers in version %i, %s', async (version, format, generate, stream) => {
    const primary = await loopbackProvider();
    primary.behave(cached);
    const box = newBox({ models: PRICES });
    const given = OLDER[version][format](primary.url, 'primary');
    const call = { model: guardModels(box, { models: [given] }) as never, prompt: 'Hi', maxRetries: 0 };
    await (generate as typeof generateText6)(call);
    await (stream as typeof streamText6)(call).text;
    expect(costOf(box)).toEqual([{ currency: 'USD', millionths: 2 * (60 * 2 + 40 * 0.5 + 7 * 10) }]);
  });
});

test('L5: a loop of tools changes models in the middle, and ends well', async () => {
  const { model, box, primary, fallback } = await pairOf('messages');
  const call = { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Bern' } };
  let asked = 0;
  primary.behave((one) => {
    asked += 1;
    if (asked > 1) return overloaded(one);
    const answer = {
      id: 'msg',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [call],
      stop_reason: 'tool_use',
    };
    return refuses(200, { ...answer, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } })(one);
  });
  const tools = { weather: tool({ inputSchema: z.object({ city: z.string() }), execute: async () => 'sunny' }) };
  const session = box.session();
  const result = await generateText({
    model,
    prompt: 'Weather?',
    maxRetries: 0,
    tools: guardTools(tools, session),
    stopWhen: stepCountIs(3),
  });
  expect(result.text).toBe(TEXT);
  expect(JSON.stringify(fallback.calls[0]?.body)).toContain('sunny');
  expect(result.steps.map(({ providerMetadata }) => providerMetadata?.breakerbox?.model)).toEqual([
    'anthropic/primary',
    'anthropic/fallback',
  ]);
});

test('L1: generateObject reads the answer of the fallback', async () => {
  const { model, primary, fallback } = await pairOf('chat');
  primary.behave(overloaded);
  const choice = { index: 0, message: { role: 'assistant', content: '{"sum":42}' }, finish_reason: 'stop' };
  fallback.behave(refuses(200, { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [choice] }));
  const { object } = await generateObject({
    model,
    prompt: 'Hi',
    maxRetries: 0,
    schema: z.object({ sum: z.number() }),
  });
  expect(object).toEqual({ sum: 42 });
});

test('L7, L8: a span of its own names the answerer and the failed attempts, and has no content', async () => {
  const exporter = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }));
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const { model, primary } = await pairOf('messages');
  primary.behave(overloaded);
  await generateText({ model, prompt: 'My secret', maxRetries: 0 });
  const streamed = streamText({ model, prompt: 'My secret', maxRetries: 0 });
  await streamed.text;
  const spans = exporter.getFinishedSpans();
  expect(spans.map(({ name }) => name)).toEqual(['chat fallback', 'chat fallback']);
  expect(spans[0]?.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'anthropic',
    'gen_ai.request.model': 'fallback',
    'gen_ai.response.model': 'wire-model',
    'gen_ai.usage.output_tokens': 7,
    'breakerbox.model.position': 'fallback',
  });
  expect(spans[0]?.events[0]?.attributes).toMatchObject({
    'gen_ai.tool.name': 'anthropic/primary',
    'error.type': 'server',
    'http.response.status_code': 529,
  });
  expect(JSON.stringify(spans.map(({ attributes, events }) => [attributes, events]))).not.toMatch(
    /secret|wörld|test-key|Overl/,
  );
});

test('L2: another agent of the process has circuits of its own', async () => {
  const provider = await loopbackProvider();
  provider.behave(overloaded);
  const [one, other] = [newBox(), newBox()].map((box) => guardModels(box, { models: [modelOf('messages', provider)] }));
  for (let i = 0; i < 5; i += 1)
    await generateText({ model: one as never, prompt: 'Hi', maxRetries: 0 }).catch(() => {});
  provider.behave(answers);
  await expect(generateText({ model: one as never, prompt: 'Hi', maxRetries: 0 })).rejects.toThrow(/No model answered/);
  expect((await generateText({ model: other as never, prompt: 'Hi', maxRetries: 0 })).text).toBe(TEXT);
});
