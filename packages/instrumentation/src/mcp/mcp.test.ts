import { BreakerboxConfigError, BreakerboxUsageError } from '@breakerbox/core';
import { describe, expect, test, vi } from 'vitest';
import { watchedSession } from '../test-support/watched-session.ts';
import { guardMcpClient } from './mcp.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

/** A client like that of SDK 1, with a private field. */
class FakeClient {
  readonly #name = 'fake';
  readonly pages: { tools: unknown[]; nextCursor?: string }[] = [{ tools: [{ name: 'search' }] }];
  onclose: (() => void) | undefined;
  lists = 0;

  get name(): string {
    return this.#name;
  }

  set title(_: string) {
    this.onclose = () => void this.#name;
  }

  whoami(): string {
    return this.#name;
  }

  /** By which an SDK's client is told. */
  getServerCapabilities(): object {
    return {};
  }

  async callTool({ name }: { name: string; arguments?: unknown }, ..._rest: unknown[]): Promise<unknown> {
    return { content: [{ type: 'text', text: `${this.#name} ${name}` }] };
  }

  async listTools(params?: { cursor?: string }): Promise<unknown> {
    return this.request({ method: 'tools/list', params }, { safeParse: (data) => ({ data }) });
  }

  async request(
    { params }: { method: string; params?: { cursor?: string } | undefined },
    schema: { safeParse: (data: unknown) => { data: unknown } },
  ): Promise<unknown> {
    this.lists += 1;
    return schema.safeParse(this.pages[Number(params?.cursor ?? 0)]).data;
  }
}

describe('the guarded client', () => {
  test('behaves like the client in all else, private fields included, and does not change it', async () => {
    const client = new FakeClient();
    const guarded = guardMcpClient(client, watchedSession().session);
    expect(guarded).toBeInstanceOf(FakeClient);
    expect(guarded.constructor).toBe(FakeClient);
    expect([guarded.name, guarded.whoami()]).toEqual(['fake', 'fake']);
    expect(guarded.whoami).toBe(guarded.whoami);
    guarded.title = 'set through a private setter';
    const onclose = () => {};
    guarded.onclose = onclose;
    expect(guarded.onclose).toBe(onclose);
    expect(client.onclose).toBe(onclose);
    expect(Object.keys(client)).toEqual(['pages', 'onclose', 'lists']);
    expect(await client.callTool({ name: 'search' })).toEqual(await guarded.callTool({ name: 'search' }));
  });

  test('can be one of several on the same client, each with its session', async () => {
    const client = new FakeClient();
    const one = watchedSession({ defaults: { failureThreshold: 1 } });
    const two = watchedSession();
    const [first, second] = [guardMcpClient(client, one.session), guardMcpClient(client, two.session)];
    const callTool = vi.spyOn(client, 'callTool').mockRejectedValueOnce(refused);
    await expect(first.callTool({ name: 'search' })).rejects.toMatchObject({ cause: refused });
    expect(await first.callTool({ name: 'search' })).toMatchObject({ isError: true });
    expect(await second.callTool({ name: 'search' })).toMatchObject({ content: [{ text: 'fake search' }] });
    expect(callTool).toHaveBeenCalledTimes(2);
    expect(client.lists).toBe(1);
  });

  test('passes on parameters, result schema and options unchanged, except the signal', async () => {
    const client = new FakeClient();
    const spy = vi.spyOn(client, 'callTool');
    const params = { name: 'search', arguments: { q: 1 } };
    const schema = {};
    const guarded = guardMcpClient(client, watchedSession().session);
    await guarded.callTool(params, schema, { timeout: 5 });
    await guarded.callTool(params);
    const signal = expect.any(AbortSignal);
    expect(spy.mock.calls).toEqual([
      [params, schema, { timeout: 5, signal }],
      [params, undefined, { signal }],
    ]);
    expect(spy.mock.calls[0]?.[1]).toBe(schema);
  });

  test('O4: reads the cost of a call from its result and its error', async () => {
    const { box, session } = watchedSession();
    const spent: unknown[] = [];
    box.on('outcome', ({ tokens }) => spent.push(tokens));
    const client = new FakeClient();
    vi.spyOn(client, 'callTool')
      .mockResolvedValueOnce({ content: [], _meta: { tokens: 12 } })
      .mockRejectedValueOnce(refused);
    const guarded = guardMcpClient(client, session, {
      tokens: ({ result, error }) => (error === refused ? 7 : (result as { _meta: { tokens: number } })._meta.tokens),
    });
    await guarded.callTool({ name: 'search' });
    await expect(guarded.callTool({ name: 'search' })).rejects.toBe(refused);
    expect(spent).toEqual([12, 7]);
  });
});

describe('tools get their circuits', () => {
  test('when lists pass, page by page', async () => {
    const client = new FakeClient();
    client.pages.splice(
      0,
      1,
      { tools: [{ name: 'one' }], nextCursor: '1' },
      { tools: [{ name: 'two' }, { name: ' ' }] },
    );
    const { box, session } = watchedSession();
    const guarded = guardMcpClient(client, session, { prefix: 'fake.' });
    expect(await guarded.listTools()).toBe(client.pages[0]);
    expect(box.tools).toEqual(['fake.one']);
    await guarded.listTools({ cursor: '1' });
    expect(box.tools).toEqual(['fake.one', 'fake.two']);
  });

  test('from all pages of a list that is requested once, for parallel calls too', async () => {
    const client = new FakeClient();
    client.pages.splice(0, 1, { tools: [{ name: 'one' }], nextCursor: '1' }, { tools: [{ name: 'two' }] });
    const { session } = watchedSession();
    const guarded = guardMcpClient(client, session);
    await Promise.all(['two', 'one', 'two'].map((name) => guarded.callTool({ name })));
    expect(client.lists).toBe(2);
    expect(['one', 'two'].map((name) => session.peek(name)?.state)).toEqual(['closed', 'closed']);
  });

  test('but not for unlisted names, which are requested once each', async () => {
    const client = new FakeClient();
    const { session, decisions } = watchedSession();
    const guarded = guardMcpClient(client, session);
    for (const name of ['made', 'made', 'up', 'made']) await guarded.callTool({ name });
    expect(client.lists).toBe(2);
    expect(session.view().circuits).toEqual([]);
    expect(decisions).toEqual(['made: call', 'made: call', 'up: call', 'made: call']);
    client.pages.push({ tools: [] });
    client.pages[0]?.tools.push({ name: 'up' });
    await guarded.listTools();
    await guarded.callTool({ name: 'up' });
    expect(session.peek('up')?.state).toBe('closed');
  });

  test('when the server adds them, even if the name was invented before: lists expire after 30 s', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const client = new FakeClient();
      const { session } = watchedSession();
      const guarded = guardMcpClient(client, session);
      await guarded.callTool({ name: 'news' });
      client.pages[0]?.tools.push({ name: 'news' });
      vi.advanceTimersByTime(29_999);
      await guarded.callTool({ name: 'news' });
      expect(session.peek('news')).toBeUndefined();
      vi.advanceTimersByTime(1);
      await guarded.callTool({ name: 'news' });
      expect(session.peek('news')?.state).toBe('closed');
      expect(client.lists).toBe(2);
    } finally {
      vi.useRealTimers();
    }
  });

  test('from the list of an early SDK 1 too, which parses differently', async () => {
    const client = new FakeClient();
    const early = async (_: unknown, { parse }: { parse: (data: unknown) => unknown }) => parse(client.pages[0]);
    vi.spyOn(client, 'request').mockImplementation(early as never);
    const { session } = watchedSession();
    const guarded = guardMcpClient(client, session);
    for (const name of ['made_up', 'search']) await guarded.callTool({ name });
    expect(session.view().circuits.map(({ tool }) => tool)).toEqual(['search']);
  });

  test('even if the list is unavailable, invalid or endless', async () => {
    for (const list of [
      () => Promise.reject(refused),
      () => {
        throw refused;
      },
      async () => null,
      async () => ({ tools: [], nextCursor: 'again' }),
    ]) {
      const client = new FakeClient();
      vi.spyOn(client, 'request').mockImplementation(list);
      const { session } = watchedSession();
      await guardMcpClient(client, session).callTool({ name: 'search' });
      expect(session.peek('search')?.state).toBe('closed');
    }
  });

  test('from `tools` if it is given: the list is not requested', async () => {
    const client = new FakeClient();
    const { box, session } = watchedSession();
    client.pages[0]?.tools.push({ name: 'other' });
    const guarded = guardMcpClient(client, session, { tools: ['search'], prefix: 'fake.' });
    expect(box.tools).toEqual(['fake.search']);
    await guarded.callTool({ name: 'search' });
    await guarded.callTool({ name: 'other' });
    await guarded.listTools();
    expect(client.lists).toBe(1);
    expect(box.tools).toEqual(['fake.search']);
    expect(session.view().circuits.map(({ tool }) => tool)).toEqual(['group:fake', 'fake.search']);
  });
});

test('invalid arguments are rejected', () => {
  const { session } = watchedSession();
  const client = new FakeClient();
  expect(() => guardMcpClient(client, {} as never)).toThrow(BreakerboxUsageError);
  expect(() => guardMcpClient({} as never, session)).toThrow(/without callTool and listTools/);
  expect(() => guardMcpClient(client, session, { timeoutMs: -1 })).toThrow(BreakerboxConfigError);
  expect(() => guardMcpClient(client, session, { tool: [] } as never)).toThrow(/options\.tool: is not an option/);
  expect(() => guardMcpClient(client, session, { tools: [''] })).toThrow(BreakerboxConfigError);
  expect(() => guardMcpClient(client, session, { tools: 'search' } as never)).toThrow(/options\.tools/);
  expect(() => guardMcpClient(client, session, { prefix: 5 } as never)).toThrow(/options\.prefix/);
  expect(() => guardMcpClient(client, session, { tokens: 5 } as never)).toThrow(/options\.tokens/);
});
