/** What happens while a client is connected: tools come and go, calls are cancelled and timed out. */

import { Client as ClientOfSdk2, InMemoryTransport as PairOfSdk2 } from '@modelcontextprotocol/client';
import { Client as ClientOfSdk1 } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport as PairOfSdk1 } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterEach, describe, expect, test } from 'vitest';
import type { TestClient } from '../test-support/mcp-servers.ts';
import { watchedSession } from '../test-support/watched-session.ts';
import { guardMcpClient } from './mcp.ts';

const undo: (() => unknown)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

const who = { name: 'breakerbox-test', version: '0.0.0' };

/** Connects to a server in this process. `onTools` is told of the tools whenever the server says that they have changed. */
const sdks = {
  'SDK 1': async (server: McpServer, onTools: (tools: readonly { name: string }[] | null) => void) => {
    const [near, far] = PairOfSdk1.createLinkedPair();
    await server.connect(far);
    const onChanged = (_: Error | null, tools: readonly { name: string }[] | null) => onTools(tools);
    const client = new ClientOfSdk1(who, { listChanged: { tools: { onChanged, debounceMs: 0 } } });
    await client.connect(near);
    return client as TestClient;
  },
  'SDK 2': async (server: McpServer, onTools: (tools: readonly { name: string }[] | null) => void) => {
    const [near, far] = PairOfSdk2.createLinkedPair();
    await server.connect(far as Transport);
    const onChanged = (_: Error | null, tools: readonly { name: string }[] | null) => onTools(tools);
    const client = new ClientOfSdk2(who, { listChanged: { tools: { onChanged, debounceMs: 0 } } });
    await client.connect(near);
    return client as TestClient;
  },
};

const found = async () => ({ content: [{ type: 'text' as const, text: 'found' }] });

describe.each(Object.entries(sdks))('with %s', (sdk, connectTo) => {
  const connect = async (server: McpServer, onTools: Parameters<typeof connectTo>[1] = () => {}) => {
    const client = await connectTo(server, onTools);
    undo.push(() => client.close());
    return client;
  };
  const withOptions = (options: object) => (sdk === 'SDK 1' ? [undefined, options] : [options]) as never[];
  /** A server whose tool `search` never answers. */
  const hanging = (onCall: (signal: AbortSignal) => void = () => {}) => {
    const server = new McpServer(who);
    server.registerTool('search', {}, ({ signal }) => {
      onCall(signal);
      return new Promise<never>(() => {});
    });
    return server;
  };

  test('a new tool of the server has its circuit, even if the SDK fetched the list without the guard', async () => {
    const server = new McpServer(who);
    server.registerTool('search', {}, found);
    let told = (_: readonly { name: string }[] | null): void => {};
    const changed = new Promise<readonly { name: string }[] | null>((resolve) => (told = resolve));
    const { session, outcomes } = watchedSession();
    const guarded = guardMcpClient(await connect(server, told), session);
    await guarded.listTools();

    server.registerTool('news', {}, found); // which tells its clients: tools/list_changed
    expect((await changed)?.map(({ name }) => name)).toEqual(['search', 'news']);
    expect(session.peek('news')).toBeUndefined();
    await guarded.callTool({ name: 'news' });
    expect(session.peek('news')?.state).toBe('closed');
    expect(outcomes).toEqual(['news: success']);
  });

  test('a tool that the server has removed costs nothing', async () => {
    const server = new McpServer(who);
    server.registerTool('search', {}, found);
    const news = server.registerTool('news', {}, found);
    const { session, outcomes } = watchedSession();
    const guarded = guardMcpClient(await connect(server), session);
    await guarded.listTools();
    news.remove();
    expect(await guarded.callTool({ name: 'news' })).toMatchObject({ isError: true });
    expect(outcomes).toEqual(['news: ignored, invalid_input']);
    expect(session.peek('news')?.state).toBe('closed');
  });

  test('timeouts of the SDK are timeouts, with or without progress', async () => {
    const server = hanging();
    server.registerTool('busy', {}, async ({ _meta, requestId, sendNotification, signal }) => {
      const progressToken = _meta?.progressToken ?? requestId;
      for (let progress = 1; !signal.aborted; progress += 1) {
        await sendNotification({ method: 'notifications/progress', params: { progressToken, progress } });
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      return { content: [] };
    });
    const { session, outcomes } = watchedSession();
    const guarded = guardMcpClient(await connect(server), session);
    await expect(guarded.callTool({ name: 'search' }, ...withOptions({ timeout: 20 }))).rejects.toThrow('timed out');
    const total = { timeout: 1_000, maxTotalTimeout: 40, resetTimeoutOnProgress: true, onprogress: () => {} };
    await expect(guarded.callTool({ name: 'busy' }, ...withOptions(total))).rejects.toThrow('Maximum total timeout');
    expect(outcomes).toEqual(['search: failure, timeout', 'busy: failure, timeout']);
  });

  test("O10: the end of the caller's time costs the tool nothing, nor any other abort; the server is notified of both", async () => {
    const stopped: string[] = [];
    const caller = new AbortController();
    const server = hanging((signal) => {
      signal.addEventListener('abort', () => stopped.push(String(signal.reason)));
      if (stopped.length === 1) caller.abort();
    });
    const { session, outcomes } = watchedSession();
    const guarded = guardMcpClient(await connect(server), session);
    const call = (signal: AbortSignal) => guarded.callTool({ name: 'search' }, ...withOptions({ signal }));
    await expect(call(AbortSignal.timeout(10))).rejects.toMatchObject({ name: 'TimeoutError' });
    await expect.poll(() => stopped).toHaveLength(1);
    const leaving = call(caller.signal);
    await expect(leaving).rejects.toMatchObject({ name: 'AbortError' });
    expect(outcomes).toEqual(['search: ignored, cancelled', 'search: ignored, cancelled']);
    await expect
      .poll(() => stopped)
      .toEqual([expect.stringContaining('TimeoutError'), expect.stringContaining('AbortError')]);
  });

  test('an answer of the server to its own cancellation is an answer; a closed connection is an outage', async () => {
    const server: McpServer = hanging(() => server.close());
    server.registerTool('cancelled', {}, () => {
      throw new Error('The request was cancelled');
    });
    const { session, outcomes } = watchedSession();
    const guarded = guardMcpClient(await connect(server), session);
    await guarded.callTool({ name: 'cancelled' });
    await expect(guarded.callTool({ name: 'search' })).rejects.toThrow('Connection closed');
    expect(outcomes).toEqual(['cancelled: ignored, tool_error', 'search: failure, network']);
  });
});
