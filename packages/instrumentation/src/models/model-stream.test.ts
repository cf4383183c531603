import { createBreakerbox } from '@breakerbox/core';
import { boxModels } from '@breakerbox/core/internal';
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type AiModel, guardAiModels } from '../ai-sdk/guard-ai-models.ts';
import { guardModels } from './guard-models.ts';
import { type Call, guarded } from './test-support.streams.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  trace.disable();
  context.disable();
});

const never = () => new Promise<never>(() => {});

const read = async (answer: unknown): Promise<unknown[]> => {
  const parts: unknown[] = [];
  for await (const part of answer as AsyncIterable<unknown>) parts.push(part);
  return parts;
};

const iteratorOf = async (answer: Promise<unknown>) =>
  ((await answer) as AsyncIterable<unknown>)[Symbol.asyncIterator]();

describe('a reader', () => {
  test('L4: that asks for several parts at once gets them in their order', async () => {
    const { ask } = guarded(async function* () {
      yield* ['a', 'b', 'c'];
    });
    const iterator = await iteratorOf(ask('q'));
    const all = await Promise.all([iterator.next(), iterator.next(), iterator.next(), iterator.next()]);
    expect(all.map(({ value, done }) => (done ? 'end' : value))).toEqual(['a', 'b', 'c', 'end']);
  });

  test('L4: that asks for several parts of a silent model gets one error, and then the end', async () => {
    const { ask, failures } = guarded(async function* () {
      yield 'a';
      await never();
    });
    const iterator = await iteratorOf(ask('q'));
    await iterator.next();
    const both = Promise.allSettled([iterator.next(), iterator.next()]);
    await vi.advanceTimersByTimeAsync(120_001);
    expect(await both).toMatchObject([
      { reason: { name: 'ModelStreamError' } },
      { value: { done: true, value: undefined } },
    ]);
    expect(failures()).toBe(1);
  });

  test('L4: that leaves while it waits has its end, and blames no model', async () => {
    const { ask, failures } = guarded(async function* () {
      yield 'a';
      await never();
    });
    const iterator = await iteratorOf(ask('q'));
    await iterator.next();
    const waiting = iterator.next();
    await iterator.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(failures()).toBe(0);
  });

  test('L4: gets a web stream from a function that gives one', async () => {
    const { ask } = guarded(async () => ReadableStream.from(['a', 'b']));
    const answer = await ask('q');
    expect(answer).toBeInstanceOf(ReadableStream);
    expect(await read(answer)).toEqual(['a', 'b']);
  });
});

describe('pings', () => {
  const pings = async function* () {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 10_000));
      yield { type: 'ping' };
    }
  };

  test('L4: before the first part are silence: the next model answers after firstByteMs', async () => {
    const { ask, failures } = guarded(pings);
    const answer = ask('q');
    await vi.advanceTimersByTimeAsync(30_001);
    expect(await answer).toBe('two');
    expect(failures()).toBe(1);
  });

  test('L4: after a part are silence: the stream fails after stallMs', async () => {
    const { ask, failures } = guarded(async function* () {
      yield 'a';
      yield* pings();
    });
    const error = ask('q')
      .then(read)
      .catch((thrown: unknown) => thrown);
    await vi.advanceTimersByTimeAsync(120_001);
    expect(await error).toMatchObject({ name: 'ModelStreamError', message: expect.stringMatching(/ 12000\d ms/) });
    expect(failures()).toBe(1);
  });

  test('L4: between parts are no fault, also for a reader that takes its time', async () => {
    const { ask } = guarded(async function* () {
      yield* ['a', { type: 'ping' }, { type: 'keepalive' }, 'b'];
    });
    const iterator = await iteratorOf(ask('q'));
    for (let part = 0; part < 4; part += 1) {
      expect((await iterator.next()).done).toBe(false);
      await vi.advanceTimersByTimeAsync(130_000);
    }
    expect((await iterator.next()).done).toBe(true);
  });
});

describe('with isLast', () => {
  const isLast = (part: unknown) => part === 'end';

  test('L3: parts that follow the last visible one, such as the usage, arrive', async () => {
    const { ask } = guarded(
      async function* () {
        yield* ['a', 'end', 'usage'];
      },
      { isLast },
    );
    expect(await read(await ask('q'))).toEqual(['a', 'end', 'usage']);
  });

  test.each([
    ['fails', () => Promise.reject(new Error('reset'))],
    ['hangs', never],
  ])('L3: a connection that %s after the answer is whole is no failure', async (_, after) => {
    const { ask, failures } = guarded(
      async function* () {
        yield* ['a', 'end'];
        await after();
      },
      { isLast },
    );
    const parts = read(await ask('q'));
    await vi.advanceTimersByTimeAsync(5_001);
    expect(await parts).toEqual(['a', 'end']);
    expect(failures()).toBe(0);
  });

  test.each(['isLast', 'isVisible'] as const)("L3: an error of %s is the caller's", async (name) => {
    const fault = new TypeError('part.choices is undefined');
    const { ask, two, failures } = guarded(
      async function* () {
        yield 'a';
      },
      {
        [name]: () => {
          throw fault;
        },
      },
    );
    await expect(ask('q')).rejects.toBe(fault);
    expect(two).not.toHaveBeenCalled();
    expect(failures()).toBe(0);
  });
});

test('L4: a stream that comes after its call was stopped is closed', async () => {
  let closed = false;
  const late = async function* () {
    try {
      yield 'late';
      yield 'later';
    } finally {
      closed = true;
    }
  };
  let give: (answer: unknown) => void = () => {};
  const { ask } = guarded(() => new Promise((resolve) => (give = resolve)), { attemptMs: 1_000 });
  const answer = ask('q');
  await vi.advanceTimersByTimeAsync(1_001);
  expect(await answer).toBe('two');
  const stream = late();
  await stream.next();
  give(stream);
  await vi.advanceTimersByTimeAsync(1);
  expect(closed).toBe(true);
});

test('L4: the wait for the headers is part of the wait for the first part', async () => {
  const modelOf = (provider: string, doStream: () => Promise<{ stream: ReadableStream }>): AiModel => ({
    specificationVersion: 'v3',
    provider,
    modelId: 'm',
    supportedUrls: {},
    doGenerate: never,
    doStream,
  });
  const slow = modelOf('a', async () => {
    await new Promise((resolve) => setTimeout(resolve, 20_000));
    return { stream: new ReadableStream() };
  });
  const parts = [
    { type: 'text-delta', delta: 'two' },
    { type: 'finish', finishReason: 'stop', usage: {} },
  ];
  const fast = modelOf('b', async () => ({ stream: ReadableStream.from(parts) }));
  const model = guardAiModels(createBreakerbox({ agent: 'headers' }), { models: [slow, fast] });
  const answer = model.doStream({} as never);
  await vi.advanceTimersByTimeAsync(30_001);
  expect(await read((await answer).stream)).toMatchObject([{ delta: 'two' }, { type: 'finish' }]);
});

test('L5: the error says that an operator forced a circuit open, and takes times from the clock of the box', async () => {
  const box = createBreakerbox({ agent: 'clocks', clock: { now: () => 1_000, unixNow: () => 1_000_000 } });
  const call: Call = async () => {
    throw Object.assign(new Error('no'), { status: 503 });
  };
  const ask = guardModels(box, {
    models: [
      { name: 'a/one', call },
      { name: 'b/two', call },
    ],
  });
  boxModels(box).session.control('model:a/one', 'forced_open');
  for (let i = 0; i < 5; i += 1) await ask('q').catch(() => {});
  await expect(ask('q')).rejects.toMatchObject({
    models: [{ isForced: true }, { untilUnixMs: 1_060_000 }],
    message: expect.stringMatching(
      /a\/one is unavailable: its circuit is forced open by an operator or a setting\. b\/two .* until 1970-01-01T00:17:40/,
    ),
  });
});

describe('spans', () => {
  const exporter = new InMemorySpanExporter();
  const tracing = () => {
    exporter.reset();
    const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
    trace.setGlobalTracerProvider(provider);
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    return provider.getTracer('app');
  };

  test("L7: the application's own span is left alone, also if its name begins with chat", async () => {
    const tracer = tracing();
    const { ask } = guarded(async () => 'one');
    await tracer.startActiveSpan('chat window', async (span) => {
      await ask('q');
      span.end();
    });
    const [call, app] = exporter.getFinishedSpans();
    expect(call?.name).toBe('chat one');
    expect(app).toMatchObject({ name: 'chat window', attributes: {} });
  });

  test('L7: a fallback that fails after its first visible part has its name on the span', async () => {
    tracing();
    const { ask } = guarded(async () => {
      throw Object.assign(new Error('no'), { status: 503 });
    }, {});
    expect(await ask('q')).toBe('two');
    const late = guarded(async function* () {
      yield 'a';
      throw Object.assign(new Error('no'), { status: 503 });
    });
    await expect(late.ask('q').then(read)).rejects.toMatchObject({ status: 503 });
    const failing = guardModels(createBreakerbox({ agent: 'late' }), {
      models: [
        { name: 'a/one', call: (() => Promise.reject(Object.assign(new Error('no'), { status: 503 }))) as Call },
        {
          name: 'b/two',
          call: async function* () {
            yield 'a';
            throw Object.assign(new Error('no'), { status: 500 });
          },
        },
      ],
    });
    await expect(failing('q').then(read)).rejects.toMatchObject({ status: 500 });
    const spans = exporter.getFinishedSpans();
    expect(spans.map(({ name }) => name)).toEqual(['chat two', 'chat one', 'chat two']);
    expect(spans[2]?.attributes).toMatchObject({
      'gen_ai.provider.name': 'b',
      'breakerbox.model.position': 'fallback',
      'error.type': 'server',
    });
  });
});
