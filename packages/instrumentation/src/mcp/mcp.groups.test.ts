/** C13: an MCP server is a group, and what the end of its transport means. */
import { afterEach, describe, expect, test } from 'vitest';
import { type Answers, inMemory } from '../test-support/mcp-servers.ts';
import { groupOf, watchedSession } from '../test-support/watched-session.ts';
import { serverNameOf } from './connection.ts';
import { type GuardMcpOptions, guardMcpClient } from './mcp.ts';

/** What the tests need of both SDKs' clients. */
interface AnyClient {
  readonly transport?: { close(): Promise<void> } | undefined;
  callTool(params: { name: string; arguments?: unknown }, ...rest: never[]): Promise<unknown>;
  listTools(): Promise<unknown>;
  close(): Promise<void>;
}

const undo: (() => unknown)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] });
const call = (name: string, q = 'x') => ({ name, arguments: { q } });

/** The name that the servers in memory give themselves. */
const SERVER = 'breakerbox-test';

describe.each(Object.entries(inMemory))('with %s', (_, connectTo) => {
  const connect = async (answer: Answers['call'] = async (name) => text(name)): Promise<AnyClient> => {
    const tools = ['search', 'news'].map((name) => ({ name, inputSchema: { type: 'object' as const } }));
    const client = (await connectTo({ list: async () => ({ tools }), call: answer })) as AnyClient;
    undo.push(() => client.close());
    return client;
  };

  test.each<[string, GuardMcpOptions, string, string | undefined]>([
    ['the name that the server gives itself', {}, 'search', SERVER],
    ['the prefix, which is yours', { prefix: 'web.' }, 'web.search', 'web'],
    ['the name where the prefix has no letters', { prefix: '__' }, '__search', SERVER],
    ['the option before both', { prefix: 'web.', group: 'internet' }, 'web.search', 'internet'],
  ])('the group is %s', async (_, options, tool, group) => {
    const { session } = watchedSession();
    await guardMcpClient(await connect(), session, options).listTools();
    expect(groupOf(session, tool)).toBe(group);
  });

  test('two servers with one name are one group; with two names, two', async () => {
    const { session } = watchedSession();
    for (const prefix of ['a.', 'b.', 'c.']) {
      const group = prefix === 'c.' ? 'other' : 'same';
      await guardMcpClient(await connect(), session, { prefix, group }).listTools();
    }
    const tools = ['a.search', 'b.search', 'c.search'];
    expect(tools.map((tool) => groupOf(session, tool))).toEqual(['same', 'same', 'other']);
  });

  test('a server that ends during a call opens its group at once; other servers continue', async () => {
    const watched = watchedSession();
    const { session, outcomes } = watched;
    const client = await connect((name) => (name === 'search' ? new Promise(() => {}) : Promise.resolve(text(name))));
    const guarded = guardMcpClient(client, session);
    const other = guardMcpClient(await connect(), session, { prefix: 'other.' });
    await guarded.listTools();
    const calling = guarded.callTool(call('search'));
    await new Promise(setImmediate);
    await client.transport?.close();
    await expect(calling).rejects.toThrow('Connection closed');

    expect(outcomes).toEqual(['search: failure, network']);
    expect(session.view().circuits).toContainEqual(expect.objectContaining({ tool: `group:${SERVER}`, state: 'open' }));
    expect(session.peek('search')?.state).toBe('closed');
    const rejection = {
      isError: true,
      content: [{ type: 'text', text: expect.stringContaining("'news' is unavailable") }],
    };
    expect(await guarded.callTool(call('news'))).toEqual(rejection);
    expect(await other.callTool(call('news'))).toMatchObject(text('news'));
  });

  test('so does a server that ends between two calls; the probe of an absent server opens it again', async () => {
    const { session, outcomes } = watchedSession();
    const client = await connect();
    const guarded = guardMcpClient(client, session);
    await guarded.callTool(call('search'));
    await client.transport?.close();
    await expect(guarded.callTool(call('search'))).rejects.toThrow('Not connected');
    for (let turn = 0; turn < 3; turn += 1) session.step();
    await expect(guarded.callTool(call('news'))).rejects.toThrow('Not connected');
    expect(session.acquire('search').reason).toBe('group_open');
    expect(outcomes).toEqual(['search: success', 'search: failure, network', 'news: failure, network']);
  });

  test.each(['client', 'guarded client'])(
    'closing by the %s cancels the calls in progress; later calls count only for their tool',
    async (which) => {
      const { session, outcomes } = watchedSession();
      const client = await connect((name) => (name === 'search' ? new Promise(() => {}) : Promise.resolve(text(name))));
      const guarded = guardMcpClient(client, session);
      await guarded.listTools();
      const calling = guarded.callTool(call('search'));
      await new Promise(setImmediate);
      await (which === 'client' ? client : guarded).close();
      await expect(calling).rejects.toThrow('Connection closed');
      await expect(guarded.callTool(call('news'))).rejects.toThrow('Not connected');
      expect(outcomes).toEqual(['search: ignored, cancelled', 'news: failure, network']);
      expect(session.acquire('search')).toMatchObject({ decision: 'call', reason: 'closed' });
    },
  );

  test('a server that reports a closed connection of its own has not ended', async () => {
    const { session, outcomes } = watchedSession();
    const upstream = Object.assign(new Error('Connection closed'), { code: -32_000 });
    const client = await connect(async (name) => (name === 'search' ? Promise.reject(upstream) : text(name)));
    const guarded = guardMcpClient(client, session);
    await guarded.listTools();
    await expect(guarded.callTool(call('search'))).rejects.toThrow('Connection closed');
    expect(outcomes).toEqual(['search: failure, network']);
    expect(session.acquire('news')).toMatchObject({ decision: 'call', reason: 'closed' });
  });
});

describe('a client of another library', () => {
  const lost = Object.assign(new Error('gone'), { code: 'CONNECTION_CLOSED' });
  /** Shows no transport. */
  const clientOf = (answers: (() => Promise<unknown>)[]) => ({
    listTools: async () => ({ tools: [{ name: 'search' }, { name: 'news' }] }),
    callTool: async (_: { readonly name: string }) => answers.shift()?.(),
    close: async () => {},
  });
  const failing = () => Promise.reject(lost);

  test('is judged only by its errors', async () => {
    const { session } = watchedSession();
    const guarded = guardMcpClient(clientOf([failing]), session, { group: 'own' });
    await expect(guarded.callTool(call('search'))).rejects.toMatchObject({ cause: lost });
    expect(session.acquire('search').reason).toBe('group_open');
  });

  test('counts as closed by the caller until it answers again', async () => {
    const { session, outcomes } = watchedSession();
    const guarded = guardMcpClient(clientOf([failing, async () => text('found'), failing]), session, { group: 'own' });
    await guarded.close();
    await expect(guarded.callTool(call('search', 'a'))).rejects.toBe(lost);
    await guarded.callTool(call('search', 'b'));
    await expect(guarded.callTool(call('search', 'c'))).rejects.toMatchObject({ cause: lost });
    expect(outcomes).toEqual(['search: ignored, cancelled', 'search: success', 'search: failure, network']);
    expect(session.acquire('search').reason).toBe('group_open');
  });

  test('is guarded even if it is frozen or was never connected', async () => {
    const { session, outcomes } = watchedSession();
    const frozen = guardMcpClient(Object.freeze(clientOf([async () => text('found')])), session, { group: 'own' });
    expect(await frozen.callTool(call('search'))).toEqual(text('found'));
    const never = { ...clientOf([() => Promise.reject(new Error('Not connected'))]), transport: undefined };
    const guarded = guardMcpClient(never, session, { prefix: 'never.' });
    await expect(guarded.callTool(call('search'))).rejects.toThrow('Not connected');
    expect(outcomes).toEqual(['search: success', 'never.search: failure, network']);
    expect(session.acquire('never.news').reason).not.toBe('group_open');
  });

  test('with two sessions has one watcher on `close`, which is called with the client', async () => {
    const closed: unknown[] = [];
    const client = {
      ...clientOf([]),
      close(this: unknown, ...given: unknown[]) {
        closed.push(this, ...given);
        return Promise.resolve();
      },
    };
    const [first, second] = [watchedSession(), watchedSession()].map(({ session }) => guardMcpClient(client, session));
    await second?.close('now');
    expect(closed).toEqual([client, 'now']);
    expect(first).not.toBe(second);
  });
});

test('the group of tools that are declared before the client connects is known at their first call', async () => {
  const { session } = watchedSession();
  const client = {
    server: undefined as { name: string } | undefined,
    getServerVersion: () => client.server,
    listTools: async () => ({ tools: [] }),
    callTool: async (_: { readonly name: string }) => text('found'),
  };
  const guarded = guardMcpClient(client, session, { tools: ['search'] });
  expect(groupOf(session, 'search')).toBeUndefined();
  client.server = { name: 'late' };
  await guarded.callTool(call('search'));
  expect(groupOf(session, 'search')).toBe('late');
});

test('E5: of the name that a server gives itself, 512 characters are read', () => {
  const name = 'x'.repeat(1_000_000);
  expect(serverNameOf({ getServerVersion: () => ({ name }) })).toBe(name.slice(0, 512));
});
