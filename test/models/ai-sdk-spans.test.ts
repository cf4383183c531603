import { OpenTelemetry } from '@ai-sdk/otel';
import { guardModels } from '@breakerbox/instrumentation/ai-sdk';
import { context, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { generateText, streamText } from 'ai';
import { generateText as generateText6, streamText as streamText6 } from 'ai-6';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { loopbackProvider, refuses, sends } from './loopback-provider.ts';
import { modelOf, newBox, OLDER } from './providers.ts';
import { EVENTS, errorBody, HEAD, TEXT } from './recordings.ts';

/* The AI SDK's own spans, made by its own package. */

vi.stubGlobal('AI_SDK_LOG_WARNINGS', false);

const overloaded = refuses(529, errorBody('messages', 529, 'overloaded_error', 'Overloaded'));
let exporter: InMemorySpanExporter;

beforeEach(() => {
  exporter = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }));
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterEach(() => {
  trace.disable();
  context.disable();
});

const start = async () => {
  const [primary, fallback] = await Promise.all([loopbackProvider(), loopbackProvider()]);
  const models = [modelOf('messages', primary), modelOf('chat', fallback, 'fallback')];
  const model = guardModels(newBox(), { models });
  const telemetry = { integrations: [new OpenTelemetry()] };
  return { primary, call: { model, prompt: 'Hi', maxRetries: 0, telemetry } };
};

const names = () => exporter.getFinishedSpans().map(({ name }) => name);
const spanOf = (name: string): ReadableSpan =>
  exporter.getFinishedSpans().find((span) => span.name === name) ?? expect.fail(`no ${name} in ${names()}`);

const TRIED = {
  'gen_ai.tool.name': 'anthropic/primary',
  'breakerbox.result': 'failed',
  'error.type': 'server',
  'http.response.status_code': 529,
};
const ANSWERER = {
  'gen_ai.provider.name': 'openai',
  'gen_ai.request.model': 'fallback',
  'gen_ai.response.model': 'wire-model',
  'breakerbox.model.position': 'fallback',
};

test.each([
  ['generateText', async (call: Awaited<ReturnType<typeof start>>['call']) => (await generateText(call)).text],
  ['streamText', async (call: Awaited<ReturnType<typeof start>>['call']) => streamText(call).text],
])('L7: the chat span of @ai-sdk/otel names the answerer and who was tried: %s', async (_, ask) => {
  const { call, primary } = await start();
  primary.behave(overloaded);
  expect(await ask(call)).toBe(TEXT);
  expect(names()).toEqual(['chat fallback', 'step 1', 'invoke_agent primary']); // No span of our own beside it.
  const { attributes, events } = spanOf('chat fallback');
  expect(attributes).toMatchObject({ ...ANSWERER, 'gen_ai.operation.name': 'chat', 'gen_ai.usage.output_tokens': 7 });
  expect(events.map((event) => [event.name, event.attributes])).toEqual([['breakerbox.model.tried', TRIED]]);
});

test('L7: the chat span of @ai-sdk/otel is that of the primary while it answers, and failed if its stream is cut', async () => {
  const { call, primary } = await start();
  await generateText(call);
  expect(spanOf('chat primary').attributes).toMatchObject({
    'gen_ai.provider.name': 'anthropic',
    'gen_ai.request.model': 'primary',
    'breakerbox.model.position': 'primary',
  });
  expect(spanOf('chat primary').events).toEqual([]);
  exporter.reset();
  primary.behave(sends(EVENTS.messages.slice(0, HEAD.messages + 2).join(''), 'end'));
  await streamText({ ...call, onError: () => {} }).consumeStream();
  expect(spanOf('chat primary').status.code).toBe(SpanStatusCode.ERROR);
});

test('L7: without a model left, the chat span of @ai-sdk/otel says who was tried', async () => {
  const primary = await loopbackProvider();
  primary.behave(overloaded);
  const telemetry = { integrations: [new OpenTelemetry()] };
  const model = guardModels(newBox(), { models: [modelOf('messages', primary)] });
  await expect(generateText({ model, prompt: 'Hi', maxRetries: 0, telemetry })).rejects.toThrow();
  const { attributes, events, status } = spanOf('chat primary');
  expect(attributes['gen_ai.response.model']).toBeUndefined();
  expect(events.find(({ name }) => name === 'breakerbox.model.tried')?.attributes).toEqual(TRIED);
  expect(status.code).toBe(SpanStatusCode.ERROR);
});

test('L7: the spans of the AI SDK 6 name the answerer, in their older attributes too', async () => {
  const [primary, fallback] = await Promise.all([loopbackProvider(), loopbackProvider()]);
  primary.behave(overloaded);
  const models = [OLDER[6].messages(primary.url, 'primary'), OLDER[6].chat(fallback.url, 'fallback')];
  const model = guardModels(newBox(), { models: models as never[] }) as never;
  const call = { model, prompt: 'Hi', maxRetries: 0, experimental_telemetry: { isEnabled: true } };
  await generateText6(call);
  await streamText6(call).text;
  expect(names()).not.toContain('chat fallback');
  for (const name of ['ai.generateText.doGenerate', 'ai.streamText.doStream']) {
    const older = { 'ai.model.provider': 'openai', 'ai.model.id': 'fallback', 'gen_ai.system': 'openai' };
    expect(spanOf(name).attributes).toMatchObject({ ...ANSWERER, ...older });
    expect(spanOf(name).events[0]?.attributes).toEqual(TRIED);
  }
});
