import { createBreakerbox } from '@breakerbox/core';
import { boxModels } from '@breakerbox/core/internal';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { guardModels } from './guard-models.ts';
import { type Call, guarded } from './test-support.streams.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

const nested = (depth: number): object => {
  let inner: object = {};
  for (let at = 0; at < depth; at += 1) inner = { inner };
  return inner;
};

const circular: { self?: object } = {};
circular.self = circular;

describe('L3: whatever a model throws is its failure, and the next one is asked', () => {
  test.each([
    [
      'details nested deeply',
      () => Object.assign(new Error('no'), { status: 429, error: { details: [nested(9_000)] } }),
    ],
    ['circular details', () => Object.assign(new Error('no'), { status: 429, error: { details: [circular] } })],
    ['a bigint in details', () => Object.assign(new Error('no'), { status: 429, error: { details: [{ id: 1n }] } })],
    ['a revoked proxy', revoked],
    ['a revoked proxy as its data', () => Object.assign(new Error('no'), { data: revoked() })],
    [
      'a proxy whose traps throw',
      () => new Proxy({}, { getPrototypeOf: () => expect.fail(), has: () => expect.fail() }),
    ],
  ])('%s', async (_, made) => {
    const { ask, two, failures } = guarded(async () => {
      throw made();
    });
    expect(await ask('q')).toBe('two');
    expect(two).toHaveBeenCalledTimes(1);
    expect(failures()).toBe(1);
  });
});

test("L3: an abort rejects with the caller's own reason, whatever it is", async () => {
  for (const reason of ['user left', 42, { why: 'left' }, revoked()]) {
    const { ask, failures } = guarded(() => new Promise(() => {}));
    const controller = new AbortController();
    const asked = ask('q', { signal: controller.signal }).catch((error: unknown) => error === reason);
    controller.abort(reason);
    expect(await asked).toBe(true);
    expect(failures()).toBe(0);
  }
});

test('L4: a stream that cannot be cancelled does not hide that its model has failed', async () => {
  const { ask, failures } = guarded(() => ({
    [Symbol.asyncIterator]: () => {
      let at = 0;
      return {
        next: async () => {
          at += 1;
          if (at === 1) return { done: false, value: 'visible' };
          throw Object.assign(new Error('no'), { status: 503 });
        },
        return: () => {
          throw new TypeError('return is hostile');
        },
      };
    },
  }));
  const answer = (await ask('q')) as AsyncIterable<string>;
  const read = async (): Promise<void> => {
    for await (const _ of answer);
  };
  await expect(read()).rejects.toMatchObject({ status: 503 });
  expect(failures()).toBe(1);
});

test('L4: an abort ends a stream that is not being read', async () => {
  const cancelled = vi.fn();
  const { ask, failures } = guarded((_, { signal }) => {
    signal.addEventListener('abort', cancelled);
    return (async function* () {
      yield 'visible';
      yield 'later';
    })();
  });
  const controller = new AbortController();
  await ask('q', { signal: controller.signal });
  controller.abort();
  expect(cancelled).toHaveBeenCalledTimes(1);
  expect(failures()).toBe(0);
});

test('L4: firstChunkMs counts from the start of the call, also before the first part', async () => {
  const { ask, two } = guarded(
    () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) }),
    { firstChunkMs: 200, firstByteMs: 2_000 },
  );
  const asked = ask('q');
  await vi.advanceTimersByTimeAsync(201);
  expect(two).toHaveBeenCalledTimes(1);
  expect(await asked).toBe('two');
});

test('C9, L5: a probe whose answer takes longer than a lease closes the circuit', async () => {
  const { box, ask } = guarded(
    vi
      .fn<Call>()
      .mockRejectedValueOnce(Object.assign(new Error('no'), { status: 503 }))
      .mockRejectedValueOnce(Object.assign(new Error('no'), { status: 503 }))
      .mockImplementation(async function* () {
        for (let at = 0; at < 10; at += 1) {
          await new Promise((resolve) => setTimeout(resolve, 20_000));
          yield 'part';
        }
      } as unknown as Call),
    { firstByteMs: 90_000 },
  );
  for (let i = 0; i < 2; i += 1) await ask('q');
  await vi.advanceTimersByTimeAsync(60_001);
  const read = async (): Promise<number> => {
    let parts = 0;
    for await (const _ of (await ask('q')) as AsyncIterable<string>) parts += 1;
    return parts;
  };
  const reading = read();
  await vi.advanceTimersByTimeAsync(210_000);
  expect(await reading).toBe(10);
  expect(boxModels(box).session.peek('model:a/one')?.state).toBe('closed');
});

test('L2: a name that the box knows with another key is an error', () => {
  const box = createBreakerbox({ agent: 'tenants' });
  const of = (key: string) => ({ models: [{ name: 'openai/gpt-5', key, call: async (_: string) => key }] });
  guardModels(box, of('tenant-a'));
  expect(() => guardModels(box, of('tenant-b'))).toThrow(
    "has the name 'openai/gpt-5', which this box knows with another",
  );
});

test.each([
  ['axios', { response: { status: 429, headers: { 'Retry-After': 120 } } }],
  ['AWS', { $metadata: { httpStatusCode: 429 }, headers: { 'retry-after': '120' } }],
  ['Ollama', { status_code: 429, headers: new Headers({ 'retry-after': '120' }) }],
])('L3: the status and the wait in an error of %s are read', async (_, facts) => {
  const { ask, box } = guarded(async () => {
    throw Object.assign(new Error('no'), facts);
  });
  for (let i = 0; i < 2; i += 1) await ask('q');
  const { nextProbe, circuits } = boxModels(box).session.explain('model:a/one');
  expect(circuits.find(({ state }) => state === 'open')).toMatchObject({ category: 'rate_limit' });
  expect(nextProbe?.notBeforeMs ?? nextProbe?.ms).toBeGreaterThan(100_000);
});
