import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Session } from '@breakerbox/core';
import { context, createContextKey, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { jsonSchema, type Tool } from 'ai';
import { afterEach, expect, test, vi } from 'vitest';
import { guardTools } from './ai-sdk.ts';
import { guard } from './index.ts';
import { startTracing, stopTracing } from './test-support/tracing.ts';
import { watchedSession } from './test-support/watched-session.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' });

type Pieces = (input: unknown, options: { abortSignal: AbortSignal }) => AsyncIterable<unknown>;

/** Calls a guarded tool that answers piece by piece. */
const call = (session: Session, pieces: Pieces, signal?: AbortSignal, timeoutMs = 60_000): AsyncIterable<unknown> => {
  const search = { inputSchema: jsonSchema({}), execute: pieces } as unknown as Required<Tool<unknown, unknown>>;
  const guarded = guardTools({ search }, session, { timeoutMs });
  const options = { toolCallId: 'call-1', messages: [], context: {}, ...(signal && { abortSignal: signal }) };
  return guarded.search.execute({}, options) as AsyncIterable<unknown>;
};

afterEach(stopTracing);

test('each piece is made in the context of the decision', async () => {
  const traced = startTracing();
  const pieces = call(watchedSession().session, async function* () {
    for (const name of ['first', 'second']) {
      await Promise.resolve();
      trace.getTracer('test').startSpan(name).end();
      yield name;
    }
  });
  const seen: unknown[] = [];
  for await (const piece of pieces) seen.push(piece);
  expect(seen).toEqual(['first', 'second']);
  expect(traced.paths()).toEqual([
    'execute_tool search > first',
    'execute_tool search > second',
    'execute_tool search',
  ]);
});

test.each([
  ['guard', (session: Session, pieces: Pieces) => guard(session, 'search', (_: string) => pieces({}, {} as never))('')],
  ['an adapter', call],
] as const)('without a tracer too, whoever reads them: by %s', async (_, run) => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const key = createContextKey('user');
  const as = <Value>(user: string, part: () => Value): Value => context.with(ROOT_CONTEXT.setValue(key, user), part);
  const pieces = await as('caller', () =>
    run(watchedSession().session, async function* () {
      yield context.active().getValue(key);
      yield context.active().getValue(key);
    }),
  );
  const seen: unknown[] = [];
  await as('reader', async () => {
    for await (const piece of pieces) seen.push(piece);
  });
  expect(seen).toEqual(['caller', 'caller']);
});

test('the last piece is what the tool answered', async () => {
  const { session, outcomes } = watchedSession();
  const pieces = call(session, async function* () {
    yield { error: 'searching' };
    yield { error: 'HTTP 503' };
  });
  for await (const _ of pieces) expect(outcomes).toEqual([]);
  expect(outcomes).toEqual(['search: failure, server']);
});

test('a consumer that stops early cancels the call, and the tool cleans up', async () => {
  const { session, outcomes } = watchedSession();
  const seen: string[] = [];
  const pieces = call(session, async function* (_, { abortSignal }) {
    abortSignal.addEventListener('abort', () => seen.push('told'));
    try {
      yield 1;
      yield 2;
    } finally {
      seen.push('cleaned up');
    }
  });
  for await (const _ of pieces) break;
  expect(outcomes).toEqual(['search: ignored, cancelled']);
  expect(seen).toEqual(['told', 'cleaned up']);
});

test('a tool that hangs between pieces ends by time-out and by abort, and cleans up when it comes to', async () => {
  const { session, outcomes } = watchedSession();
  const caller = new AbortController();
  const cleanedUp = vi.fn();
  const hanging: Pieces = async function* (_, { abortSignal }) {
    try {
      yield 1;
      await new Promise((resolve) => abortSignal.addEventListener('abort', resolve));
      yield 2;
    } finally {
      cleanedUp();
    }
  };

  const slow = call(session, hanging, caller.signal, 20)[Symbol.asyncIterator]();
  expect(await slow.next()).toEqual({ done: false, value: 1 });
  await expect(slow.next()).rejects.toMatchObject({ name: 'TimeoutError' });
  const aborted = call(session, hanging, caller.signal)[Symbol.asyncIterator]();
  await aborted.next();
  const next = aborted.next();
  caller.abort(new Error('the user left'));
  await expect(next).rejects.toThrow('the user left');

  await vi.waitFor(() => expect(cleanedUp).toHaveBeenCalledTimes(2));
  expect(outcomes).toEqual(['search: failure, timeout', 'search: ignored, cancelled']);
  expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
});

test('a source that gives no iterator has failed', () => {
  const { session, outcomes } = watchedSession();
  const broken = {
    [Symbol.asyncIterator]: () => {
      throw refused;
    },
  };
  expect(() => call(session, () => broken)).toThrow(refused);
  expect(outcomes).toEqual(['search: failure, network']);
});

test('a source that can not be stopped is left alone', async () => {
  const { session, outcomes } = watchedSession();
  const endless = { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: false, value: 1 }) }) };
  for await (const _ of call(session, () => endless)) break;
  expect(outcomes).toEqual(['search: ignored, cancelled']);
});

test('pieces that were read are not kept until the end', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const made: WeakRef<object>[] = [];
  const pieces = call(watchedSession().session, async function* () {
    while (true) {
      const piece = {};
      made.push(new WeakRef(piece));
      yield piece;
    }
  })[Symbol.asyncIterator]();
  for (let piece = 0; piece < 100; piece += 1) await pieces.next();
  // What a WeakRef has shown is kept until the task ends.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  // The last piece is kept: it is the answer. Its generator may still hold the one before.
  expect(made.filter((piece) => piece.deref() !== undefined).length).toBeLessThanOrEqual(2);
  await pieces.return?.();
});

test('all who wait for a piece hear of a stop, and those who come after it', async () => {
  const caller = new AbortController();
  const next = vi.fn(() => new Promise<never>(() => {}));
  const pieces = call(watchedSession().session, () => ({ [Symbol.asyncIterator]: () => ({ next }) }), caller.signal);
  const iterator = pieces[Symbol.asyncIterator]();
  const waiting = [iterator.next(), iterator.next()];
  caller.abort(new Error('the user left'));
  for (const one of [...waiting, iterator.next()]) await expect(one).rejects.toThrow('the user left');
  expect(next).toHaveBeenCalledTimes(2);
});

test('F1: a label comes as one piece more, once, however it is asked for', async () => {
  const { session } = watchedSession({ tools: { search: { labelFreshness: true } } });
  const pieces = async function* () {
    yield 'found';
  };
  for await (const _ of call(session, pieces)) expect(_).toBe('found');
  const again = call(session, pieces)[Symbol.asyncIterator]();
  const asked = await Promise.all([again.next(), again.next(), again.next()]);
  expect(asked.map(({ done, value }) => [done, value])).toEqual([
    [false, 'found'],
    [false, expect.stringMatching(/^\[cached: .*\]\nfound$/)],
    [true, undefined],
  ]);
  expect(await again.next()).toEqual({ done: true, value: undefined });
});

test('F1: what gave no piece gets no label', async () => {
  const { session } = watchedSession({ tools: { search: { labelFreshness: true } } });
  const none = async function* () {};
  for (let time = 0; time < 2; time += 1) {
    for await (const piece of call(session, none)) expect.unreachable(`${piece}`);
  }
});
