import { getEventListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Answers, inMemory } from '../test-support/mcp-servers.ts';
import { watchedSession } from '../test-support/watched-session.ts';
import { guardMcpClient } from './mcp.ts';

const never = (): Promise<never> => new Promise(() => {});
const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] });
const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

describe.each(Object.entries(inMemory))('with %s', (_, connect) => {
  const tool = (name: string) => ({ name, inputSchema: { type: 'object' as const } });
  const answers: Answers = {
    list: async () => ({ tools: [{ ...tool('search'), outputSchema: { type: 'object' } }, tool('other')] }),
    call: async (name) => text(`${name} found it`),
  };

  test('a tool that breaks its output schema works as it does on the client', async () => {
    const client = await connect(answers);
    const { session } = watchedSession();
    const guarded = guardMcpClient(client, session);
    const plain = await client.callTool({ name: 'search' });
    expect(await guarded.callTool({ name: 'search' })).toEqual(plain);
    expect(await guarded.callTool({ name: 'search' })).toEqual(plain);
    await guarded.callTool({ name: 'made_up' });
    expect(session.view().circuits.map(({ tool }) => tool)).toEqual(['group:breakerbox-test', 'search']);
    await client.close();
  });

  test('a list request that has ended is not cancelled later', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    // The fake timers leave this one as it is.
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(), ms);
      return controller.signal;
    });
    try {
      const client = await connect(answers);
      await guardMcpClient(client, watchedSession().session).callTool({ name: 'search' });
      const { transport } = client;
      if (transport === undefined) throw new Error('not connected');
      expect(vi.getTimerCount()).toBe(0);
      const sent = vi.spyOn(transport, 'send');
      await vi.advanceTimersByTimeAsync(60_000);
      expect(sent).not.toHaveBeenCalled();
      await client.close();
    } finally {
      timeout.mockRestore();
      vi.useRealTimers();
    }
  });
});

describe('a list that never arrives', () => {
  const request = vi.fn(never);
  const callTool = vi.fn<(params: { name: string }, ...rest: unknown[]) => Promise<unknown>>();
  const client = { callTool, request, listTools: never, getServerCapabilities: () => ({}) };
  /** What has come of a promise by now. */
  const now = async (promise: Promise<unknown>): Promise<unknown> => {
    const result = promise.catch((error) => error);
    for (let turn = 0; turn < 3; turn += 1) await setImmediate();
    return Promise.race([result, Promise.resolve('waiting')]);
  };

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    request.mockReset().mockImplementation(never);
    callTool.mockReset().mockImplementation(async ({ name }) => text(name));
  });

  afterEach(() => vi.useRealTimers());

  const fresh = (options?: Parameters<typeof guardMcpClient>[2], config?: Parameters<typeof watchedSession>[0]) => {
    const own = { ...client };
    const watched = watchedSession(config);
    return { ...watched, own, guarded: guardMcpClient(own, watched.session, options) };
  };

  test('delays the first call by 5 s, and no other call', async () => {
    const { guarded, session } = fresh();
    const call = guarded.callTool({ name: 'search' });
    await vi.advanceTimersByTimeAsync(4_999);
    expect(await now(call)).toBe('waiting');
    await vi.advanceTimersByTimeAsync(1);
    expect(await now(call)).toEqual(text('search'));
    expect(await now(guarded.callTool({ name: 'other' }))).toEqual(text('other'));
    expect(session.view().circuits.map(({ tool }) => tool)).toEqual(['search', 'other']);
    expect(request).toHaveBeenCalledTimes(1);
  });

  test('is requested again after 30 s, but never for a tool that the session knows', async () => {
    const { guarded, own, session } = fresh();
    const call = guarded.callTool({ name: 'search' });
    await vi.advanceTimersByTimeAsync(5_000);
    await call;
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await now(guarded.callTool({ name: 'search' }))).toEqual(text('search'));
    expect(request).toHaveBeenCalledTimes(1);
    const second = guardMcpClient(own, watchedSession().session);
    const asking = second.callTool({ name: 'search' });
    expect(await now(asking)).toBe('waiting');
    expect(request).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await now(asking)).toEqual(text('search'));
    expect(session.peek('search')).toBeDefined();
  });

  test('does not delay calls with a short timeout twice either', async () => {
    const { guarded } = fresh({ timeoutMs: 2_000 });
    const call = guarded.callTool({ name: 'search' });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await now(call)).toEqual(text('search'));
    expect(await now(guarded.callTool({ name: 'other' }))).toEqual(text('other'));
  });

  test('with endless pages is not followed after 5 s', async () => {
    const { guarded } = fresh();
    const page = { tools: [], nextCursor: 'again' } as never;
    request.mockImplementation(() => new Promise<never>((resolve) => setTimeout(() => resolve(page), 2_000)));
    const call = guarded.callTool({ name: 'search' });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await now(call)).toEqual(text('search'));
    expect(request).toHaveBeenCalledTimes(3);
  });

  test('is used if it arrives late', async () => {
    const { guarded, session } = fresh({ timeoutMs: 2_000 });
    let answer: (list: unknown) => void = () => {};
    request.mockImplementationOnce(() => new Promise<never>((resolve) => (answer = resolve as typeof answer)));
    const call = guarded.callTool({ name: 'search' });
    await vi.advanceTimersByTimeAsync(1_000);
    await call;
    answer({ tools: [{ name: 'search' }] });
    await now(never());
    request.mockResolvedValueOnce({ tools: [{ name: 'search' }] } as never);
    expect(await now(guarded.callTool({ name: 'made_up' }))).toEqual(text('made_up'));
    expect(session.peek('made_up')).toBeUndefined();
  });

  test('does not delay a skip of an open circuit', async () => {
    const { guarded, session } = fresh(undefined, { tools: { search: { failureThreshold: 1 } } });
    session.acquire('search').settle({ error: refused });
    expect(await now(guarded.callTool({ name: 'search' }))).toMatchObject({ isError: true });
    expect(request).not.toHaveBeenCalled();
  });

  test('takes half of timeoutMs, and the call has the rest', async () => {
    const { guarded, outcomes } = fresh({ timeoutMs: 1_000 });
    callTool.mockImplementation(never);
    const call = guarded.callTool({ name: 'search' });
    await vi.advanceTimersByTimeAsync(500);
    expect(callTool).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(499);
    expect(await now(call)).toBe('waiting');
    await vi.advanceTimersByTimeAsync(1);
    expect(await now(call)).toMatchObject({ name: 'TimeoutError', message: 'No answer within 1000 ms' });
    expect(outcomes).toEqual(['search: failure, timeout']);
  });

  test('lets the caller leave, without a failure of the server', async () => {
    const { guarded, decisions } = fresh();
    const caller = new AbortController();
    const call = guarded.callTool({ name: 'search' }, undefined, { signal: caller.signal });
    const reason = new Error('the user left');
    caller.abort(reason);
    expect(await now(call)).toBe(reason);
    expect(decisions).toEqual([]);
    expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
    expect(await now(guarded.callTool({ name: 'search' }))).toBe('waiting');
  });

  test('leaves no listeners on a signal that calls share', async () => {
    const { guarded } = fresh();
    const { signal } = new AbortController();
    const call = guarded.callTool({ name: 'search' }, undefined, { signal });
    await vi.advanceTimersByTimeAsync(5_000);
    await call;
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe("a client that is not the SDK's own", () => {
  const page = { tools: [{ name: 'fs_read' }] };

  test('is asked by its own listTools, so its names are used', async () => {
    const { session } = watchedSession();
    const plain = { listTools: async () => page, callTool: async ({ name }: { name: string }) => text(name) };
    const guarded = guardMcpClient(plain, session);
    for (const name of ['made_up', 'fs_read']) await guarded.callTool({ name });
    expect(session.view().circuits.map(({ tool }) => tool)).toEqual(['fs_read']);
  });

  test.each(Object.entries(inMemory))(
    'is asked too if it is a subclass that renames the tools of %s',
    async (_, connect) => {
      const client = await connect({
        list: async () => ({ tools: [{ name: 'read', inputSchema: { type: 'object' } }] }),
        call: async () => text('read it'),
      });
      const renaming = Object.create(client, {
        listTools: { value: async () => page },
        callTool: { value: () => client.callTool({ name: 'read' }) },
      }) as typeof client;
      const { session } = watchedSession();
      await guardMcpClient(renaming, session).callTool({ name: 'fs_read' });
      expect(session.peek('fs_read')?.state).toBe('closed');
      await client.close();
    },
  );

  test('passes an invalid name on to the server', async () => {
    const { session } = watchedSession();
    const deaf = {
      listTools: async () => Promise.reject(refused),
      callTool: async (_: { name: string }) => text('no such tool'),
    };
    expect(await guardMcpClient(deaf, session).callTool({ name: ' ' })).toEqual(text('no such tool'));
    expect(session.view().circuits).toEqual([]);
  });
});
