import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OpenTelemetry } from '@ai-sdk/otel';
import { createBreakerbox, type LimitsOptions } from '@breakerbox/core';
import { breakerPrepareStep, guardModels, guardTools } from '@breakerbox/instrumentation/ai-sdk';
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { generateText, isStepCount, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { replayCommand } from '../../packages/cli/src/replay/replay-command.ts';
import type { ReplayReport } from '../../packages/cli/src/replay/replay-report.ts';
import { runCommand } from '../../packages/cli/src/test-support-command.ts';
import { answers, loopbackProvider, refuses } from './loopback-provider.ts';
import { modelOf, pairOf } from './providers.ts';
import { errorBody, TEXT } from './recordings.ts';

vi.stubGlobal('AI_SDK_LOG_WARNINGS', false);

afterEach(() => {
  trace.disable();
  context.disable();
});

const overloaded = refuses(529, errorBody('messages', 529, 'overloaded_error', 'Overloaded'));

const record = (): InMemorySpanExporter => {
  const exporter = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }));
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  return exporter;
};

const writtenValue = (value: unknown) =>
  typeof value === 'number'
    ? { intValue: value }
    : { stringValue: typeof value === 'string' ? value : JSON.stringify(value) };

const attributesOf = (attributes: object) =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: writtenValue(value) }));

const nanos = ([seconds, rest]: readonly [number, number], apartMs: number): string =>
  `${BigInt(seconds) * 1_000_000_000n + BigInt(rest) + BigInt(apartMs) * 1_000_000n}`;

/** OTLP JSON of spans, each trace so many milliseconds after the one before it. */
const otlp = (spans: readonly ReadableSpan[], stepMs: number): string => {
  const traces = [...new Set(spans.map((span) => span.spanContext().traceId))];
  const written = spans.map((span) => {
    const { traceId, spanId } = span.spanContext();
    const apartMs = traces.indexOf(traceId) * stepMs;
    const parentSpanId = span.parentSpanContext?.spanId;
    return {
      ...{ traceId, spanId, name: span.name, status: span.status, ...(parentSpanId && { parentSpanId }) },
      startTimeUnixNano: nanos(span.startTime, apartMs),
      endTimeUnixNano: nanos(span.endTime, apartMs),
      attributes: attributesOf(span.attributes),
      events: span.events.map(({ name, time, attributes = {} }) => ({
        ...{ name, timeUnixNano: nanos(time, apartMs), attributes: attributesOf(attributes) },
      })),
    };
  });
  return JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: written }] }] });
};

const newFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'breakerbox-replay-models-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
};

const replay = async (content: string, ...flags: readonly string[]) => {
  const folder = await newFolder();
  await writeFile(join(folder, 'traces.jsonl'), `${content}\n`);
  return runCommand((io) => replayCommand(io), [join(folder, 'traces.jsonl'), ...flags], 160);
};

test('T9: a recording of the AI SDK without a guard says what circuits and failover would have done', async () => {
  const exporter = record();
  const primary = await loopbackProvider();
  const ask = () =>
    generateText({
      model: modelOf('messages', primary),
      prompt: 'My secret',
      maxRetries: 0,
      telemetry: { integrations: [new OpenTelemetry()] },
    }).catch(() => undefined);
  await ask();
  primary.behave(overloaded);
  for (let request = 0; request < 8; request += 1) await ask();
  primary.behave(answers);
  for (let request = 0; request < 12; request += 1) await ask();
  const content = otlp(exporter.getFinishedSpans(), 10_000); // A request each 10 s.

  const { models } = JSON.parse((await replay(content, '--json')).out) as ReplayReport;
  expect(models?.models).toMatchObject([
    // Two failures open it. The probe after 60 s fails too, and the next one is after 120 s.
    { model: 'anthropic/primary', calls: { success: 13, failure: 8 }, openings: 1, failedOver: 3 },
  ]);
  const [first] = models?.models ?? [];
  expect(first?.skipped.failure).toBe(5);
  expect(first?.skipped.success).toBe(11);
  expect(models?.openings).toMatchObject([{ circuit: 'model:anthropic/primary', category: 'server' }]);

  const { out } = await replay(content);
  expect(out).toMatch(/anthropic\/primary +21 +8 +1 +\d min +3 +5 +11/);
  expect(out).not.toContain('secret');
});

/** Spans of one model, 2 s apart. Each failed with the text that a client of Python puts into the status. */
const ofPython = (message: string): string => {
  const spans = [1, 2, 3, 4].map((at) => ({
    traceId: `${at}`.padStart(32, '0'),
    spanId: `${at}`.padStart(16, '0'),
    name: 'chat gpt-5',
    startTimeUnixNano: `${1_800_000_000 + at * 2}000000000`,
    endTimeUnixNano: `${1_800_000_000 + at * 2}500000000`,
    status: { code: 2, message },
    attributes: attributesOf({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-5',
    }),
  }));
  return JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
};

test.each([
  ["Error code: 401 - {'error': {'message': 'Incorrect API key', 'code': 'invalid_api_key'}}", 'permission'],
  ["openai.AuthenticationError: Error code: 401 - {'error': {'message': 'Incorrect API key'}}", 'permission'],
  ["Error code: 429 - {'error': {'message': 'Quota', 'param': None, 'code': 'insufficient_quota'}}", 'resource'],
  ["400 INVALID_ARGUMENT. {'error': {'code': 400, 'details': [{'reason': 'API_KEY_INVALID'}]}}", 'permission'],
] as const)('L3, T9: %s blames the provider', async (message, category) => {
  const { models } = JSON.parse((await replay(ofPython(message), '--json')).out) as ReplayReport;
  expect(models?.openings).toMatchObject([{ circuit: 'group:model:openai', category }]);
});

test.each([
  ["Error code: 429 - {'error': {'message': 'Slow down', 'code': 'rate_limit_exceeded'}}", 'rate_limit'],
  ["InternalServerError: Error code: 529 - {'type': 'error', 'error': {'type': 'overloaded_error'}}", 'server'],
] as const)('L3, T9: %s blames the model', async (message, category) => {
  const { models } = JSON.parse((await replay(ofPython(message), '--json')).out) as ReplayReport;
  expect(models?.openings).toMatchObject([{ circuit: 'model:openai/gpt-5', category }]);
});

test('T9: the spans of a guard say which models it tried', async () => {
  const exporter = record();
  const { model, primary } = await pairOf('messages');
  primary.behave(overloaded);
  for (let request = 0; request < 3; request += 1) {
    expect((await generateText({ model, prompt: 'Hi', maxRetries: 0 })).text).toBe(TEXT);
  }
  const { models } = JSON.parse((await replay(otlp(exporter.getFinishedSpans(), 1_000), '--json')).out) as ReplayReport;
  expect(models?.models).toMatchObject([
    { model: 'anthropic/primary', calls: { success: 0, failure: 2 }, openings: 1 },
    { model: 'anthropic/fallback', calls: { success: 3, failure: 0 }, openings: 0 },
  ]);
});

/** A run of the AI SDK of 12 turns, whose model uses 15 tokens each. Gives the number of calls that were made. */
const runOf12 = async (limits: LimitsOptions): Promise<number> => {
  const box = createBreakerbox({ agent: 'a', limits });
  const session = box.session();
  const usage = {
    inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 5, text: 5, reasoning: undefined },
  };
  const model = new MockLanguageModelV4({
    doGenerate: async () => ({
      ...{ usage, warnings: [], finishReason: { unified: 'tool-calls', raw: undefined } },
      content: [{ type: 'tool-call', toolCallId: crypto.randomUUID(), toolName: 'list_files', input: '{}' }],
    }),
  });
  let calls = 0;
  const execute = async () => {
    calls += 1;
    return `file-${calls}`;
  };
  await generateText({
    model: guardModels(box, { models: [model], session }),
    tools: guardTools({ list_files: tool({ inputSchema: z.object({}), execute }) }, session),
    prepareStep: breakerPrepareStep(session),
    stopWhen: isStepCount(12),
    telemetry: { integrations: [new OpenTelemetry()] },
    prompt: 'What is there?',
  }).catch(() => undefined); // After the pause of a limit, the model answers once more, and then fails.
  return calls;
};

test('T10: replayed with a limit of tokens, the spans of a run stop where a live run stops', async () => {
  const live = await runOf12({ tokens: 62 });
  expect(live).toBe(4);
  const exporter = record();
  expect(await runOf12({})).toBe(12);
  const config = join(await newFolder(), 'breakerbox.yaml');
  await writeFile(config, 'limits: { tokens: 62 }\n');
  const { out } = await replay(otlp(exporter.getFinishedSpans(), 1_000), '--json', '--config', config);
  const { decisions, recording } = JSON.parse(out) as ReplayReport;
  expect(recording.tokens).toBe(12 * 15);
  expect(decisions?.limits).toMatchObject([{ limit: 'tokens', afterCall: live, calls: 12, pausedCalls: 8 }]);
});
