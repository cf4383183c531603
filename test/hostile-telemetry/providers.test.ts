/** SDKs of the application that throw or never return, in every place that core calls (E5). */
import {
  type ContextManager,
  context,
  diag,
  logs,
  metrics,
  ROOT_CONTEXT,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import {
  BatchSpanProcessor,
  TracerProvider as SdkTracerProvider,
  SimpleSpanProcessor,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { workThrough } from './work.ts';

/** OpenTelemetry's ExportResultCode. */
const FAILED = 1;

const refuse = (): never => {
  throw new Error('telemetry is broken');
};
/** A value of which every method throws. */
const broken = <Thing>(): Thing => new Proxy({}, { get: () => refuse }) as Thing;

let undisturbed: readonly string[];
beforeAll(async () => {
  undisturbed = await workThrough();
});

const rejections: unknown[] = [];
const note = (reason: unknown): void => void rejections.push(reason);
process.on('unhandledRejection', note);
afterAll(() => void process.off('unhandledRejection', note));

afterEach(() => {
  for (const api of [trace, metrics, logs, context, diag]) api.disable();
});

const expectUndisturbed = async (): Promise<void> => {
  expect(await workThrough()).toEqual(undisturbed);
  await new Promise((resolve) => setImmediate(resolve));
  expect(rejections).toEqual([]);
};

describe('E5: a provider that throws', () => {
  test.each<[string, TracerProvider]>([
    ['at getTracer', { getTracer: refuse }],
    ['at startSpan', { getTracer: () => ({ startSpan: refuse, startActiveSpan: refuse }) }],
    ['in every method of a span', { getTracer: () => ({ startSpan: broken, startActiveSpan: refuse }) }],
    ['with no span', { getTracer: () => ({ startSpan: () => undefined as never, startActiveSpan: refuse }) }],
  ])('E5: of traces, %s', async (_, provider) => {
    trace.setGlobalTracerProvider(provider);
    await expectUndisturbed();
  });

  test('E5: of metrics', async () => {
    metrics.setGlobalMeterProvider({ getMeter: refuse });
    await expectUndisturbed();
    metrics.disable();
    metrics.setGlobalMeterProvider({ getMeter: broken });
    await expectUndisturbed();
  });

  test('E5: of logs', async () => {
    logs.setGlobalLoggerProvider({ getLogger: refuse });
    await expectUndisturbed();
    logs.disable();
    logs.setGlobalLoggerProvider({ getLogger: broken });
    await expectUndisturbed();
  });

  test('E5: of context', async () => {
    const silent = { active: refuse, bind: refuse, enable: refuse, disable: () => silent, with: refuse };
    context.setGlobalContextManager(silent as ContextManager);
    await expectUndisturbed();
    context.disable();
    const inert = { active: () => ROOT_CONTEXT, bind: refuse, enable: () => inert, disable: () => inert, with: refuse };
    context.setGlobalContextManager(inert as ContextManager);
    await expectUndisturbed();
  });

  test('E5: of diagnostics, if all the others throw too', async () => {
    trace.setGlobalTracerProvider({ getTracer: refuse });
    metrics.setGlobalMeterProvider({ getMeter: refuse });
    logs.setGlobalLoggerProvider({ getLogger: refuse });
    diag.setLogger({ error: refuse, warn: refuse, info: refuse, debug: refuse, verbose: refuse });
    await expectUndisturbed();
  });
});

const processor = (parts: Partial<SpanProcessor>): SpanProcessor => ({
  onStart: () => {},
  onEnd: () => {},
  forceFlush: async () => {},
  shutdown: async () => {},
  ...parts,
});
/** Works only with this processor: OpenTelemetry refuses a second global provider while the first is set. */
const working = (spanProcessor: SpanProcessor): Promise<void> => {
  trace.disable();
  expect(trace.setGlobalTracerProvider(new SdkTracerProvider({ spanProcessors: [spanProcessor] }))).toBe(true);
  return expectUndisturbed();
};

describe("E5: the SDK's own provider", () => {
  test.each<[string, SpanProcessor]>([
    ['throws when a span starts', processor({ onStart: refuse })],
    ['throws when a span ends', processor({ onEnd: refuse })],
  ])('E5: with a processor that %s', async (_, spanProcessor) => {
    await working(spanProcessor);
  });

  describe.each<[string, (exporter: SpanExporter) => SpanProcessor]>([
    ['one by one', (exporter) => new SimpleSpanProcessor({ exporter })],
    // The next batch waits for the one before, by default for up to half a minute.
    [
      'in batches',
      (exporter) => new BatchSpanProcessor({ exporter, scheduledDelayMillis: 1, exportTimeoutMillis: 50 }),
    ],
  ])('%s', (_, processorOf) => {
    test.each<[string, SpanExporter['export']]>([
      ['throws', refuse],
      ['says that it failed', (_, done) => done({ code: FAILED, error: new Error('no') })],
      ['never returns', () => {}],
    ])('E5: with an exporter that %s', async (_, send) => {
      const exported = vi.fn(send);
      const goesOn = (before: number): Promise<void> =>
        vi.waitFor(() => expect(exported.mock.calls.length).toBeGreaterThan(before), { timeout: 20_000 });
      await working(processorOf({ export: exported, shutdown: async () => {} }));
      await goesOn(0);
      const before = exported.mock.calls.length;
      await expectUndisturbed();
      await goesOn(before);
      expect(rejections).toEqual([]);
    });
  });
});
