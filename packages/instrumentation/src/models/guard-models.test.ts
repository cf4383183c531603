import { createBreakerbox } from '@breakerbox/core';
import { boxModels } from '@breakerbox/core/internal';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { guardModels } from './guard-models.ts';
import { ModelStreamError, ModelsUnavailableError } from './models-unavailable.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const status = (code: number, headers: Record<string, string> = {}) =>
  Object.assign(new Error('no'), { status: code, headers });

type Call = (request: string, options: { signal: AbortSignal }) => unknown;

const guardTwo = (one: Call, two: Call = async () => 'two', options: object = {}) => {
  const box = createBreakerbox({ agent: 'functions' });
  const models = [
    { name: 'a/one', call: one },
    { name: 'b/two', call: two },
  ];
  return { box, ask: guardModels(box, { models, ...options }), models: boxModels(box).session };
};

const fails =
  (code: number, headers?: Record<string, string>): Call =>
  async () => {
    throw status(code, headers);
  };

const parts = async (answer: unknown): Promise<string[]> => {
  const read: string[] = [];
  for await (const part of answer as AsyncIterable<string>) read.push(part);
  return read;
};

test('L5: the first model answers while it can, and the next one while it cannot', async () => {
  const one = vi.fn<Call>().mockResolvedValueOnce('one').mockRejectedValue(status(503));
  const { ask, models } = guardTwo(one);
  expect(await ask('q')).toBe('one');
  for (let i = 0; i < 5; i += 1) expect(await ask('q')).toBe('two');
  expect(one).toHaveBeenCalledTimes(3);
  expect(models.acquire('model:a/one').decision).toBe('skip');
});

test('L5: a model that is due is probed by a real call, and closes', async () => {
  const one = vi
    .fn<Call>()
    .mockRejectedValueOnce(status(503))
    .mockRejectedValueOnce(status(503))
    .mockResolvedValue('one');
  const { ask } = guardTwo(one);
  for (let i = 0; i < 3; i += 1) await ask('q');
  vi.advanceTimersByTime(60_001);
  expect(await ask('q')).toBe('one');
  expect(await ask('q')).toBe('one');
});

test('L3: what is about the request is no failure, and no other model is asked', async () => {
  const two = vi.fn<Call>();
  const { ask, models } = guardTwo(fails(400), two);
  for (let i = 0; i < 4; i += 1) await expect(ask('q')).rejects.toMatchObject({ status: 400 });
  expect(two).not.toHaveBeenCalled();
  expect(models.acquire('model:a/one').decision).toBe('call');
});

test("L3: a fallback that refuses the request says nothing: the first model's error is the cause", async () => {
  const { ask, models } = guardTwo(fails(503), fails(400));
  const error = await ask('q').catch((one: unknown) => one);
  expect(error).toBeInstanceOf(ModelsUnavailableError);
  expect(error).toMatchObject({ cause: { status: 503 }, models: [{ status: 503 }, { status: 400 }] });
  expect(models.peek('model:b/two')?.failures).toBe(0);
});

test('L3: a prompt that is too long goes to the next model only if you say so', async () => {
  const tooLong: Call = async () => {
    throw Object.assign(status(400), { error: { code: 'context_length_exceeded' } });
  };
  await expect(guardTwo(tooLong).ask('q')).rejects.toMatchObject({ status: 400 });
  expect(await guardTwo(tooLong, undefined, { onContextTooLong: 'next' }).ask('q')).toBe('two');
});

test('L3: a dead key opens the provider at once, and a missing model only itself', async () => {
  const box = createBreakerbox({ agent: 'keys' });
  const names = ['a/one', 'a/two', 'b/three'];
  const calls: Record<string, ReturnType<typeof vi.fn<Call>>> = {};
  const models = names.map((name) => {
    const call = vi.fn<Call>().mockImplementation(name === 'a/one' ? fails(401) : async () => name);
    calls[name] = call;
    return { name, call };
  });
  const ask = guardModels(box, { models });
  expect(await ask('q')).toBe('b/three');
  expect(await ask('q')).toBe('b/three');
  expect([calls['a/one']?.mock.calls.length, calls['a/two']?.mock.calls.length]).toEqual([1, 0]);
  const gone = guardTwo(fails(404));
  await gone.ask('q');
  expect(gone.models.acquire('model:a/one').decision).toBe('skip');
});

test('L3: the wait that the provider asks for is kept', async () => {
  const one = vi.fn<Call>().mockImplementation(fails(429, { 'retry-after': '900' }));
  const { ask } = guardTwo(one);
  for (let i = 0; i < 3; i += 1) await ask('q');
  vi.advanceTimersByTime(899_000);
  await ask('q');
  expect(one).toHaveBeenCalledTimes(2);
  vi.advanceTimersByTime(2_000);
  await ask('q');
  expect(one).toHaveBeenCalledTimes(3);
});

test("L5: with prefer: 'cache', a model that is only rate-limited for a moment is waited for", async () => {
  const one = vi
    .fn<Call>()
    .mockRejectedValueOnce(status(429, { 'retry-after': '4' }))
    .mockResolvedValue('one');
  const { ask } = guardTwo(one, undefined, { prefer: 'cache' });
  const answer = ask('q');
  await vi.advanceTimersByTimeAsync(3_900);
  expect(one).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(200);
  expect(await answer).toBe('one');
});

test.each([
  ['too long', 429, '11'],
  ['not said', 429, undefined],
  ['of an outage', 503, '1'],
])("L5: with prefer: 'cache', a wait that is %s is not waited for", async (_, code, seconds) => {
  const { ask } = guardTwo(fails(code, seconds === undefined ? {} : { 'retry-after': seconds }), undefined, {
    prefer: 'cache',
  });
  expect(await ask('q')).toBe('two');
});

test("L5: with prefer: 'cache', a request waits for maxWaitMs in all, also for a circuit that is open", async () => {
  const one = vi.fn<Call>().mockImplementation(fails(429, { 'retry-after': '4' }));
  const { ask } = guardTwo(one, undefined, { prefer: 'cache', maxWaitMs: 5_000 });
  const first = ask('q');
  await vi.advanceTimersByTimeAsync(4_100);
  expect(await first).toBe('two'); // The second wait would be too long.
  expect(one).toHaveBeenCalledTimes(2);
  one.mockResolvedValue('one');
  const second = ask('q');
  await vi.advanceTimersByTimeAsync(4_100);
  expect(await second).toBe('two'); // The circuit waits for 60 s.
  await vi.advanceTimersByTimeAsync(52_000);
  const third = ask('q');
  await vi.advanceTimersByTimeAsync(4_100);
  expect(await third).toBe('one');
});

test('L5: a caller who leaves during such a wait has its own error', async () => {
  const { ask } = guardTwo(fails(429, { 'retry-after': '4' }), undefined, { prefer: 'cache' });
  const controller = new AbortController();
  const answer = ask('q', { signal: controller.signal });
  await vi.advanceTimersByTimeAsync(100);
  controller.abort();
  await expect(answer).rejects.toBe(controller.signal.reason);
});

describe('tenants with keys of their own', () => {
  const guardTenants = (code: number) => {
    const box = createBreakerbox({ agent: 'tenants' });
    const called: string[] = [];
    const models = [
      {
        name: 'a/one',
        call: async ({ tenant }: { readonly tenant: string }) => {
          called.push(tenant);
          if (tenant === 'bad') throw status(code);
          return 'one';
        },
      },
      { name: 'b/two', call: async () => 'two' },
    ];
    const ask = guardModels(box, { models, tenant: ({ tenant }) => tenant });
    const circuits = () =>
      boxModels(box)
        .session.view()
        .circuits.filter(({ state }) => state !== 'closed')
        .map(({ tool }) => tool);
    return { ask, called, circuits };
  };

  test.each([401, 402, 403, 429])('L2: an answer %i blames the key of the tenant alone', async (code) => {
    const { ask, called, circuits } = guardTenants(code);
    for (let i = 0; i < 4; i += 1) expect(await ask({ tenant: 'bad' })).toBe('two');
    expect(called).toEqual(['bad', 'bad']);
    expect(await ask({ tenant: 'good' })).toBe('one');
    expect(circuits()).toEqual([]);
  });

  test('L2: an outage is that of the model, for all tenants', async () => {
    const { ask, called, circuits } = guardTenants(503);
    for (let i = 0; i < 3; i += 1) expect(await ask({ tenant: 'bad' })).toBe('two');
    expect(await ask({ tenant: 'good' })).toBe('two');
    expect(called).toEqual(['bad', 'bad']);
    expect(circuits()).toEqual(['model:a/one']);
  });

  test('L2, L5: without another model, the error says that it is the key of this tenant', async () => {
    const box = createBreakerbox({ agent: 'tenant' });
    const ask = guardModels(box, { models: [{ name: 'a/one', call: fails(401) }], tenant: () => 'bad' });
    for (let i = 0; i < 5; i += 1) await expect(ask('q')).rejects.toMatchObject({ status: 401 });
    await expect(ask('q')).rejects.toThrow(/a\/one is unavailable for this tenant: its key was refused/);
  });
});

test.each([
  ['eu.openai.azure.com/gpt-5', 'eu.api.mistral.ai/large'],
  ['gpt-5.1', 'gpt-5.2'],
])('L2: %s and %s are models of two providers, because a name is taken as it is written', async (first, second) => {
  const models = [
    { name: first, call: fails(401) },
    { name: second, call: async () => 'two' },
  ];
  const ask = guardModels(createBreakerbox({ agent: 'dots' }), { models });
  for (let i = 0; i < 2; i += 1) expect(await ask('q')).toBe('two');
});

test('L2: behind a router, an outage of one provider opens no other', async () => {
  const box = createBreakerbox({ agent: 'router' });
  const down = new Set(['openrouter/anthropic/opus', 'openrouter/anthropic/sonnet']);
  const models = [...down, 'openrouter/openai/gpt-5'].map((name) => ({
    name,
    call: async () => {
      if (down.has(name)) throw status(503);
      return name;
    },
  }));
  const ask = guardModels(box, { models });
  for (let i = 0; i < 4; i += 1) expect(await ask('q')).toBe('openrouter/openai/gpt-5');
  const states = boxModels(box)
    .session.view()
    .circuits.map(({ tool, state }) => `${tool} ${state}`);
  expect(states).toContain('group:model:openrouter/anthropic open');
  expect(states).toContain('model:openrouter/openai/gpt-5 closed');
});

test('L2: behind a router, a refused key opens the circuit of one provider, and each finds it out once', async () => {
  const box = createBreakerbox({ agent: 'router key' });
  const called: string[] = [];
  const models = ['openrouter/anthropic/opus', 'openrouter/anthropic/sonnet', 'openrouter/openai/gpt-5'].map(
    (name) => ({
      name,
      call: async () => {
        called.push(name);
        throw status(401);
      },
    }),
  );
  const ask = guardModels(box, { models });
  for (let i = 0; i < 3; i += 1) await expect(ask('q')).rejects.toThrow(/its key is missing, wrong or not allowed/);
  expect(called).toEqual(['openrouter/anthropic/opus', 'openrouter/openai/gpt-5']);
});

test('L4: a stream that fails before its first visible part is replaced, and one that fails after it is an error', async () => {
  const before: Call = async function* () {
    yield '';
    throw status(503);
  };
  const after: Call = async function* () {
    yield 'half ';
    throw status(503);
  };
  const whole: Call = async function* () {
    yield '';
    yield 'whole';
  };
  expect(await parts(await guardTwo(before, whole).ask('q'))).toEqual(['', 'whole']);
  const { ask, models } = guardTwo(after, whole);
  const read: string[] = [];
  const answer = (await ask('q')) as AsyncIterable<string>;
  await expect(
    (async () => {
      for await (const part of answer) read.push(part);
    })(),
  ).rejects.toMatchObject({ status: 503 });
  expect(read).toEqual(['half ']);
  expect(models.peek('model:a/one')?.failures).toBe(1);
});

test('L3: with isLast, a stream that ends too early is an error', async () => {
  const cut: Call = async function* () {
    yield 'half ';
  };
  const { ask } = guardTwo(cut, undefined, { isLast: (part: unknown) => part === 'end' });
  await expect(parts(await ask('q'))).rejects.toBeInstanceOf(ModelStreamError);
});

test('L4: the limits of streams and calls stop a model that is silent, and the next one answers', async () => {
  const never = () => new Promise<never>(() => {});
  const aborted: boolean[] = [];
  const silent: Call = (_, { signal }) => {
    signal.addEventListener('abort', () => aborted.push(true));
    return never();
  };
  const whole = guardTwo(silent);
  const answer = whole.ask('q');
  await vi.advanceTimersByTimeAsync(300_001);
  expect(await answer).toBe('two');
  expect(aborted).toEqual([true]);
  expect(whole.models.peek('model:a/one')?.failures).toBe(1);

  const stalls: Call = async function* () {
    yield 'half ';
    await never();
  };
  const stream = (await guardTwo(stalls).ask('q')) as AsyncIterable<string>;
  const read = parts(stream).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(120_001);
  expect(await read).toMatchObject({ name: 'ModelStreamError', model: 'a/one' });
});

test('L4: a reader that takes its time is not a silent model', async () => {
  const one: Call = async function* () {
    yield 'a';
    yield 'b';
  };
  const iterator = ((await guardTwo(one).ask('q')) as AsyncIterable<string>)[Symbol.asyncIterator]();
  expect((await iterator.next()).value).toBe('a');
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect((await iterator.next()).value).toBe('b');
  expect((await iterator.next()).done).toBe(true);
});

test('L3: a time limit of the caller blames a model that was silent for 5 s, and a person who leaves blames none', async () => {
  const never: Call = () => new Promise(() => {});
  const failuresAfter = async (reason: unknown, ms: number) => {
    const { ask, models } = guardTwo(never);
    const controller = new AbortController();
    const answer = ask('q', { signal: controller.signal }).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(ms);
    controller.abort(reason);
    expect(await answer).toBe(controller.signal.reason);
    return models.peek('model:a/one')?.failures;
  };
  const timeout = new DOMException('time is over', 'TimeoutError');
  expect(await failuresAfter(timeout, 6_000)).toBe(1);
  expect(await failuresAfter(timeout, 1_000)).toBe(0);
  expect(await failuresAfter(undefined, 60_000)).toBe(0);
});

test('L5: one model alone is a circuit: its error is unchanged, and an open circuit says until when', async () => {
  const box = createBreakerbox({ agent: 'single' });
  const ask = guardModels(box, { models: [{ name: 'a/one', call: fails(500) }] });
  for (let i = 0; i < 5; i += 1) await expect(ask('q')).rejects.toMatchObject({ status: 500 });
  const error = (await ask('q').catch((one: unknown) => one)) as ModelsUnavailableError;
  expect(error.message).toMatch(
    /^No model answered\. a\/one is unavailable: its provider answers with errors\. It is skipped until /,
  );
  expect(error.cause).toBeUndefined();
});

test('E6: wrong options are faults', () => {
  const box = createBreakerbox({ agent: 'options' });
  expect(() => guardModels(box, { models: [{ name: '', call: async () => 1 }] })).toThrow(/has no valid model at 0/);
  expect(() => guardModels(box, {} as never)).toThrow(/models: is null/);
  const models = [{ name: 'a', call: async () => 1 }];
  expect(() => guardModels(box, { models, session: {} as never })).toThrow(
    /session: is of type object, and no session/,
  );
  expect(() => guardModels(box, { models, session: box.session() })).not.toThrow();
  expect(() => guardModels({} as never, { models: [{ name: 'a', call: async () => 1 }] })).toThrow(/is not a box/);
});
