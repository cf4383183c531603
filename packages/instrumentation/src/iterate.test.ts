import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Session } from '@breakerbox/core';
import { context, createContextKey, ROOT_CONTEXT } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { jsonSchema, type Tool } from 'ai';
import { afterEach, expect, test } from 'vitest';
import { guardTools } from './ai-sdk/ai-sdk.ts';
import { guard } from './index.ts';
import { stopTracing } from './test-support/tracing.ts';
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

test.each([
  ['guard', (session: Session, pieces: Pieces) => guard(session, 'search', (_: string) => pieces({}, {} as never))('')],
  ['an adapter', call],
] as const)('settles without a tracer too, however the pieces are read: by %s', async (_, run) => {
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

test('a source without an iterator has failed', () => {
  const { session, outcomes } = watchedSession();
  const broken = {
    [Symbol.asyncIterator]: () => {
      throw refused;
    },
  };
  expect(() => call(session, () => broken)).toThrow(refused);
  expect(outcomes).toEqual(['search: failure, network']);
});

test('a source that cannot be stopped is not touched', async () => {
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
