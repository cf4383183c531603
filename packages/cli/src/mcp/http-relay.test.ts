import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { setTimeout as after } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { runHttpFront } from './http-front.ts';
import { runHttpRelay } from './http-relay.ts';
import { HttpTarget } from './http-target.ts';
import { createRelay, type RelayParts } from './relay.ts';
import { createRelayBox } from './relay-box.ts';

test('M7: a signal ends the wait for answers that follows the end of input', async () => {
  let asked = (): void => {};
  const isAsked = new Promise<void>((resolve) => (asked = resolve));
  const server = createServer(() => asked()); // It never answers.
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const relay = createRelay({ group: 'server', watchesAll: true, ...createRelayBox({ agent: 'test' }) });
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  let stop = (): void => {};
  const onStop = (listener: () => void) => {
    stop = listener;
    return () => {};
  };
  const hour = 3_600_000;
  const ended = runHttpRelay(
    new HttpTarget({ url: new URL(`http://127.0.0.1:${port}/`), headers: {} }),
    relay,
    { stdin, stdout, onStop },
    hour,
  );
  stdin.end('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}\n');
  await isAsked;
  stop();
  await ended;
  expect(stdout.read()).toBeNull();
  server.closeAllConnections();
  server.close();
});

/** What a server does with the message of a request. */
type Answer = (message: Message, response: ServerResponse, request: IncomingMessage) => unknown;
interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly requestId?: unknown };
}

/** A server behind HTTP, and the messages that have reached it. */
const served = async (answer: Answer) => {
  const seen: Message[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString();
    const message = (text === '' ? {} : JSON.parse(text)) as Message;
    seen.push(message);
    answer(message, response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { seen, server, url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`) };
};

/** How a test gives a message to a relay. It gets the text of the answer. */
type Ask = (message: object, headers?: Record<string, string>, signal?: AbortSignal) => Promise<string>;
type Begin = (url: URL, parts?: Partial<RelayParts>, now?: () => number) => Promise<Ask>;

const relayFor = (parts?: Partial<RelayParts>) =>
  createRelay({ group: 'server', watchesAll: true, ...createRelayBox({ agent: 'test' }), ...parts });

/** Gives the line that answers. */
const onStdio: Begin = async (url, parts, now) => {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const lines: string[] = [];
  let heard = (): void => {};
  createInterface({ input: stdout }).on('line', (line) => {
    lines.push(line);
    heard();
  });
  const ended = runHttpRelay(
    new HttpTarget({ url, headers: {} }, now),
    relayFor(parts),
    { stdin, stdout, onStop: () => () => {} },
    0,
  );
  onTestFinished(() => {
    stdin.end();
    return ended;
  });
  return async (message) => {
    stdin.write(`${JSON.stringify(message)}\n`);
    const { id } = message as Message;
    const answer = (): string | undefined => lines.find((line) => JSON.parse(line).id === id);
    while (id !== undefined && answer() === undefined) await new Promise<void>((resolve) => (heard = resolve));
    return answer() ?? '';
  };
};

const EVENTS = 'text/event-stream';

/** The first bytes of a stream that goes on. */
const firstPart = async ({ body }: Response): Promise<string> => {
  const reader = body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return Buffer.from(value ?? []).toString();
};

/** Gives the status and the body of each answer. With EVENTS as `accept` it opens a stream, and gives its first bytes. */
const onHttp: Begin = async (url, parts, now) => {
  let stop = (): void => {};
  const onStop = (listener: () => void) => {
    stop = listener;
    return () => {};
  };
  const relay = relayFor(parts);
  let ended = Promise.resolve();
  const at = await new Promise<string>((onListening) => {
    const listen = { host: '127.0.0.1', port: 0 };
    ended = runHttpFront({ target: new HttpTarget({ url, headers: {} }, now), relay, listen, onStop, onListening });
  });
  onTestFinished(() => {
    stop();
    return ended;
  });
  return async (message, headers = {}, signal) => {
    if (headers.accept === EVENTS) return firstPart(await fetch(at, { headers }));
    const type = { 'content-type': 'application/json' };
    const body = JSON.stringify(message);
    const response = await fetch(at, {
      method: 'POST',
      headers: { ...type, ...headers },
      body,
      ...(signal && { signal }),
    });
    return `${response.status} ${await response.text()}`;
  };
};

const call = (id: number, name = 'a') => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: { id } },
});
const send = (response: ServerResponse, body: object): unknown =>
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
const fine = (response: ServerResponse, { id }: Message): unknown =>
  send(response, { jsonrpc: '2.0', id, result: { content: [] } });

/** What a number of calls are answered. */
const answersTo = async (ask: Ask, calls: number, name?: string): Promise<string[]> => {
  const texts: string[] = [];
  for (let id = 1; id <= calls; id += 1) texts.push(await ask(call(id, name)));
  return texts;
};
const UNAVAILABLE = /Tool 'a' is unavailable/;

describe.each([
  ['stdio', onStdio],
  ['HTTP', onHttp],
])('a client over %s', (_, begin) => {
  test('M1: a server that redirects each request serves all of them', async () => {
    const { url } = await served((message, response, request) => {
      if (request.url === '/mcp/') fine(response, message);
      else response.writeHead(307, { location: '/mcp/' }).end();
    });
    const ask = await begin(url);
    for (const id of [1, 2, 3]) expect(await ask(call(id))).toContain('"content":[]');
  });

  test('M1: one redirect does not change the address of the server', async () => {
    const { url } = await served((message, response, request) => {
      if (request.url === '/maintenance') response.writeHead(503).end();
      else if (message.id === 1) response.writeHead(307, { location: '/maintenance' }).end();
      else fine(response, message);
    });
    const ask = await begin(url);
    expect(await ask(call(1))).toContain('503');
    expect(await ask(call(2))).toContain('"content":[]');
  });

  test.each([
    ['HTML', 'text/html', '<html></html>'],
    ['JSON that is cut off', 'application/json', '{"jsonrpc":"2.0","id":'],
    ['an answer to another request', 'application/json', '{"jsonrpc":"2.0","id":999,"result":{}}'],
  ])('M3: a server that answers with %s costs three calls', async (_name, type, body) => {
    const { url, seen } = await served((_message, response) => response.setHeader('content-type', type).end(body));
    const texts = await answersTo(await begin(url), 5);
    expect(texts[0]).toMatch(/"isError":true/);
    expect(texts.at(-1)).toMatch(UNAVAILABLE);
    expect(seen.length).toBeLessThanOrEqual(3);
  });

  test.each([302, 404, 405, 406, 410])(
    'M3: an address without an MCP server, which answers %d, costs three calls',
    async (status) => {
      const { url } = await served((_message, response) => response.writeHead(status).end('<html></html>'));
      const texts = await answersTo(await begin(url), 5);
      expect(texts[0]).toContain(`${status}`);
      expect(texts.at(-1)).toMatch(UNAVAILABLE);
    },
  );

  test('M3: a server that rejects requests with a message opens no circuit', async () => {
    const rpc = '{"jsonrpc":"2.0","error":{"code":-32000,"message":"Not Acceptable"},"id":null}';
    const { url, seen } = await served((_message, response) => response.writeHead(406).end(rpc));
    await answersTo(await begin(url), 5);
    expect(seen).toHaveLength(5);
  });

  test.each([
    ['just used', 0, 3],
    ['idle', 2_000, 4],
  ])('M3: a tool that ends its server opens its circuit, on connections that were %s', async (_name, idleMs, calls) => {
    let ms = 0;
    const { url, seen } = await served((message, response, request) => {
      if (message.params?.name === 'a') request.socket.destroy();
      else fine(response, message);
    });
    const ask = await begin(url, {}, () => ms);
    for (let id = 1; id <= 8; id += 1) {
      for (const message of [call(100 + id, 'good'), call(id)]) {
        await ask(message);
        ms += idleMs;
      }
    }
    expect(seen.filter(({ params }) => params?.name === 'good')).toHaveLength(8);
    expect(seen.filter(({ params }) => params?.name === 'a')).toHaveLength(calls);
  });
});

test('M3: over stdio, a route that is gone costs three calls also in a session', async () => {
  let isGone = false;
  const { url } = await served((message, response) => {
    if (isGone) return response.writeHead(404).end();
    response.setHeader('mcp-session-id', 's');
    return send(response, { jsonrpc: '2.0', id: message.id, result: { protocolVersion: '2025-11-25' } });
  });
  const ask = await onStdio(url);
  await ask({ jsonrpc: '2.0', id: 0, method: 'initialize', params: {} });
  isGone = true;
  expect((await answersTo(ask, 5)).at(-1)).toMatch(UNAVAILABLE);
});

test('M4: an event stream with a length may get an event of the relay', async () => {
  const { url } = await served((_message, response) => {
    const body = 'data: {"jsonrpc":"2.0","method":"x"}\n\n';
    response.writeHead(200, { 'content-type': 'text/event-stream', 'content-length': body.length }).end(body);
  });
  const ask = await onHttp(url);
  expect(await ask(call(1))).toMatch(/"method":"x"[\s\S]*"id":1,"result":.*"isError":true/);
});

test('M1: a tool whose declaration of a header was repaired may be called again', async () => {
  let header: string | undefined = 'not a token';
  const { url } = await served((message, response) => {
    if (message.method === 'tools/call') return fine(response, message);
    const property = { type: 'string', ...(header !== undefined && { 'x-mcp-header': header }) };
    const tools = [{ name: 'a', inputSchema: { properties: { property } } }];
    return send(response, { jsonrpc: '2.0', id: message.id, result: { tools } });
  });
  const ask = await onStdio(url);
  const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
  const list = (id: number) => ask({ jsonrpc: '2.0', id, method: 'tools/list', params: { _meta } });
  const use = (id: number) => ask({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'a', _meta } });
  await list(1);
  expect(await use(2)).toContain('x-mcp-header');
  header = undefined;
  await list(3);
  expect(await use(4)).toContain('"content":[]');
});

test("M6: timeouts of a client over HTTP that has no session open the tool's circuit", async () => {
  const { url, seen } = await served((message, response) => {
    if (message.id === undefined) response.writeHead(202).end(); // It never answers calls.
  });
  const ask = await onHttp(url);
  for (let id = 1; id <= 3; id += 1) {
    const stop = new AbortController();
    const given = ask(call(id), {}, stop.signal).catch(() => 'stopped');
    await expect.poll(() => seen.some((message) => message.id === id)).toBe(true);
    const params = { requestId: id, reason: 'McpError: MCP error -32001: Request timed out' };
    await ask({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
    stop.abort();
    expect(await given).toBe('stopped');
  }
  expect(seen.filter(({ params }) => params?.requestId !== undefined)).toHaveLength(3);
  expect(await ask(call(4))).toMatch(UNAVAILABLE);
});

test('M6: a server that hangs keeps no connection of a cancelled call', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { url, server, seen } = await served(() => {}); // It never answers.
  const ask = await onStdio(url);
  ask(call(1));
  await expect.poll(() => seen.length).toBe(1);
  await ask({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
  await expect.poll(() => seen.length).toBe(2);
  vi.advanceTimersByTime(10_000);
  const connections = () => new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
  await expect.poll(connections).toBe(0);
});

test.each([
  ['is open', 0],
  ['is opened later', 400],
])(
  'M6: over HTTP, a call whose stream has ended with an event id times out, and a stream that %s has the answer',
  async (_, waitMs) => {
    const { url, seen } = await served((message, response) => {
      if (message.method === undefined) response.writeHead(200, { 'content-type': EVENTS }).flushHeaders();
      else if (message.id === undefined) response.writeHead(202).end();
      else response.writeHead(200, { 'content-type': EVENTS }).end('id: 1\ndata:\n\n');
    });
    const ask = await onHttp(url, { timeouts: { all: 200, byTool: new Map() } });
    const session = { 'mcp-session-id': 's' };
    expect(await ask(call(1), session)).toBe('200 id: 1\ndata:\n\n');
    await after(waitMs);
    const text = await ask({}, { ...session, accept: EVENTS });
    expect(text).toMatch(/^event: message\ndata: .*"id":1,"result".*did not answer within 0\.2 s.*\n\n$/);
    await expect.poll(() => seen.some(({ params }) => params?.requestId === 1)).toBe(true);
  },
);
