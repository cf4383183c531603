/** Servers that hang or lose the session of a client, and clients that connect again. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { watchedSession } from '../test-support/watched-session.ts';
import { guardMcpClient } from './mcp.ts';

const FINE = { content: [{ type: 'text', text: 'fine' }] };

/** A client with the parts of both SDKs that a guard uses. */
const clientOf = (call: (given: { signal: AbortSignal; onprogress?: () => void }) => Promise<unknown>) => {
  const client = {
    transport: { sessionId: 's1' } as object,
    pings: 0,
    answersPings: true,
    wake: () => {},
    getServerVersion: () => ({ name: 'files', version: '1' }),
    listTools: async () => ({ tools: [{ name: 'a' }, { name: 'b' }] }),
    callTool: (_params: object, _schema: unknown, options: never) => call(options),
    ping: async () => {
      client.pings += 1;
      return client.answersPings ? {} : new Promise<void>((resolve) => (client.wake = resolve));
    },
  };
  return client;
};

const guardedWith = async (client: ReturnType<typeof clientOf>) => {
  const { session, outcomes } = watchedSession();
  const guarded = guardMcpClient(client as never, session) as unknown as {
    listTools(): Promise<unknown>;
    callTool(params: object, schema?: undefined, options?: object): Promise<{ content: { text: string }[] }>;
  };
  await guarded.listTools();
  const call = (name: string, options?: object) => guarded.callTool({ name, arguments: {} }, undefined, options);
  const state = () => session.view().circuits.find(({ tool }) => tool === 'group:files')?.state;
  return { session, outcomes, call, state };
};

describe('C13: a session that the server has lost', () => {
  const http = (code: number, message: string) => Object.assign(new Error(message), { code });
  test.each([
    http(404, 'Streamable HTTP error: Error POSTing to endpoint: '),
    http(400, 'Streamable HTTP error: Error POSTing to endpoint: Bad Request: Server not initialized'),
    http(401, 'Streamable HTTP error: Error POSTing to endpoint: Unauthorized: Session not found'),
    http(-32_600, 'MCP error -32600: Session not found'),
    http(400, 'Bad Request: Mcp-Session-Id header is required'),
    http(400, 'Bad Request: Session does not exist'),
    http(403, 'Forbidden: session does not belong to you'),
    Object.assign(new Error('Session not found'), { code: 'CLIENT_HTTP_NOT_IMPLEMENTED', data: { status: 503 } }),
  ])('C13: opens the group, and the next call after a new connection is the probe: %s', async (error) => {
    let isLost = true;
    const client = clientOf(async () => (isLost ? Promise.reject(error) : FINE));
    const { call, state, outcomes } = await guardedWith(client);
    await expect(call('a')).rejects.toThrow(error.message);
    expect(state()).toBe('open');
    expect((await call('b')).content[0]?.text).toContain("the tools of group 'files' failed (server)");
    isLost = false;
    client.transport = { sessionId: 's2' };
    expect(await call('b')).toEqual(FINE);
    expect(state()).toBe('closed');
    expect(outcomes).toEqual(['a: failure, server', 'b: success']);
  });

  test.each([
    [http(400, 'Streamable HTTP error: Error POSTing to endpoint: q is required'), 's1'],
    [http(404, 'Streamable HTTP error: Error POSTing to endpoint: '), undefined],
    [http(-32_602, 'MCP error -32602: unknown session of the museum'), undefined],
  ])('C13: other errors concern their tool alone: %s', async (error, sessionId) => {
    const client = clientOf(() => Promise.reject(error));
    client.transport = { sessionId };
    const { call, state } = await guardedWith(client);
    await expect(call('a')).rejects.toThrow(error.message);
    expect(state()).toBe('closed');
  });
});

describe('O10: a server that hangs', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** A call that its caller gives up. */
  const givenUp = async (client: ReturnType<typeof clientOf>, afterMs: number, onWay?: () => void) => {
    const parts = await guardedWith(client);
    const controller = new AbortController();
    const calling = parts.call('a', { signal: controller.signal, onprogress: () => {} }).catch(() => {});
    await vi.advanceTimersByTimeAsync(25_000);
    onWay?.();
    await vi.advanceTimersByTimeAsync(afterMs - 25_000);
    controller.abort('caller cancelled');
    await calling;
    return parts;
  };
  let progress: (() => void) | undefined;
  const hanging = () =>
    clientOf(({ signal, onprogress }) => {
      progress = onprogress;
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });

  test('O10: a call that is given up after 30 s is a timeout of the group, if a ping has no answer', async () => {
    const client = hanging();
    client.answersPings = false;
    const { outcomes, state, session } = await givenUp(client, 31_000);
    expect(client.pings).toBe(1);
    expect(outcomes).toEqual(['a: failure, timeout']);
    expect(state()).toBe('open');
    expect(session.acquire('b').decision).toBe('skip');
    client.wake();
    await vi.advanceTimersByTimeAsync(0);
    expect(session.acquire('b').decision).toBe('probe');
  });

  test('O10: it is cancelled if the server answers the ping, or reports progress, or less than 30 s have passed', async () => {
    for (const [answers, ms, onWay] of [
      [true, 31_000, undefined],
      [false, 31_000, () => progress?.()],
      [false, 26_000, undefined],
    ] as const) {
      const client = hanging();
      client.answersPings = answers;
      expect((await givenUp(client, ms, onWay)).outcomes).toEqual(['a: ignored, cancelled']);
    }
    expect(vi.getTimerCount()).toBe(0);
  });

  test("O10: so is a call that ends by the SDK's own time limit", async () => {
    const error = Object.assign(new Error('MCP error -32001: Request timed out'), { code: -32_001 });
    const client = clientOf(() => new Promise((_, reject) => void setTimeout(() => reject(error), 60_000)));
    client.answersPings = false;
    const { call, state, outcomes } = await guardedWith(client);
    const calling = call('a').catch((one) => one);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(String(await calling)).toContain('Request timed out');
    expect(outcomes).toEqual(['a: failure, timeout']);
    expect(state()).toBe('open');
  });

  test('O10: a call that is answered leaves no timer', async () => {
    const client = clientOf(async () => FINE);
    const { call } = await guardedWith(client);
    expect(await call('a')).toEqual(FINE);
    expect(vi.getTimerCount()).toBe(0);
  });
});
