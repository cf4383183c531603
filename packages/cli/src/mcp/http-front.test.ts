/** `--listen`: pings, cookies, streams without an end, and connections that are not made. Between real HTTP servers and clients. */
import { createServer, type IncomingMessage, request as requestHttp, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer as createSocketServer, type Server } from 'node:net';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { runHttpFront } from './http-front.ts';
import { HttpTarget } from './http-target.ts';
import { createRelay } from './relay.ts';
import { createRelayBox } from './relay-box.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
afterEach(() => void vi.useRealTimers());

/** Lets real sockets do their work, until something is so. */
const until = async (isSo: () => unknown): Promise<void> => {
  for (let turn = 0; turn < 20_000; turn += 1) {
    if (await isSo()) return;
    await new Promise(setImmediate);
  }
  throw new Error('It does not become so.');
};

const pass = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1_000);

const listening = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};

interface Seen {
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
}

/** A relay that listens before a server. `call` answers calls of tools, and `ping` pings. */
const started = async (
  call: (id: unknown, response: ServerResponse) => void,
  ping: (id: unknown, response: ServerResponse) => void = (id, response) => answer(id, response, {}),
) => {
  const seen: Seen[] = [];
  let later = (_event: string): void => {};
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    const { method = request.method ?? '', id } = text === '' ? {} : JSON.parse(text);
    seen.push({ method, headers: request.headers });
    if (method === 'GET') {
      later = (event) => void response.write(event);
      return response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': open\n\n');
    }
    if (method === 'initialize') {
      response.setHeader('mcp-session-id', 's1').setHeader('set-cookie', 'backend=1; Path=/');
      return answer(id, response, { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'slow' } });
    }
    return method === 'ping' ? ping(id, response) : call(id, response);
  });
  const target = `http://127.0.0.1:${await listening(server)}/mcp`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { ...(await relayTo(target)), seen, server, later: (event: string) => later(event) };
};

const relayTo = async (target: string) => {
  const clock = { now: () => Date.now(), unixNow: () => Date.now() };
  const { session, ...rules } = createRelayBox({ agent: 'test', budget: false, clock });
  const relay = createRelay({ group: 'slow', watchesAll: true, session, ...rules });
  let stop = (): void => {};
  const url = await new Promise<string>((resolve) => {
    const onStop = (listener: () => void) => {
      stop = listener;
      return () => {};
    };
    const listen = { host: '127.0.0.1', port: 0 };
    void runHttpFront({
      target: new HttpTarget({ url: new URL(target), headers: {} }),
      relay,
      listen,
      onStop,
      onListening: resolve,
    });
  });
  onTestFinished(() => stop());
  let last = 0;
  /** Sends a message as a client with a session. Gives the text that its model reads. */
  const post = (method: string, headers: Record<string, string> = { 'mcp-session-id': 's1' }) =>
    new Promise<string>((resolve, reject) => {
      last += 1;
      const params = method === 'tools/call' ? { name: 'a', arguments: { last } } : {};
      const request = requestHttp(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers } });
      request.on('error', reject).on('response', async (response) => {
        let text = '';
        for await (const part of response) text += part;
        resolve(JSON.parse(text).result?.content?.[0]?.text ?? text);
      });
      request.end(JSON.stringify({ jsonrpc: '2.0', id: last, method, params }));
    });
  return { url, post };
};

const answer = (id: unknown, response: ServerResponse, result: object): void =>
  void response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, result }));
const BROKEN = { isError: true, content: [{ type: 'text', text: 'connect ECONNREFUSED 127.0.0.1:5432' }] };
const broken = (id: unknown, response: ServerResponse): void => answer(id, response, BROKEN);
const streamed = (id: unknown, response: ServerResponse, result: object): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(': first\n\nevent: mess');
  response.end(`age\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
};

/** What a client gets for a call, as the server has framed it. */
const textOf = async (url: string, id: number): Promise<string> => {
  const params = { name: 'a', arguments: { id } };
  const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params });
  const headers = { 'content-type': 'application/json', 'mcp-session-id': 's1' };
  return (await fetch(url, { method: 'POST', headers, body })).text();
};

const fine = (id: unknown, response: ServerResponse): void =>
  answer(id, response, { content: [{ type: 'text', text: 'fine' }] });

test('M6: a server that answers neither calls nor pings hangs, and the next client is told', async () => {
  const { post, seen } = await started(
    () => {},
    () => {},
  );
  await post('initialize', {});
  const giveUp = (): void => {}; // The relay ends before the answers.
  post('tools/call').catch(giveUp);
  await until(() => seen.some(({ method }) => method === 'tools/call'));
  await pass(10);
  await until(() => seen.some(({ method }) => method === 'ping'));
  expect(seen.find(({ method }) => method === 'ping')?.headers).toMatchObject({ 'mcp-session-id': 's1' });
  post('tools/call').catch(giveUp);
  await until(() => seen.filter(({ method }) => method === 'tools/call').length === 2);
  await pass(15);
  expect(await post('tools/call')).toContain("the tools of group 'slow' failed (timeout)");
});

test('M6: a slow tool of a server that answers pings is called again', async () => {
  let late: (() => void) | undefined;
  const { post, seen } = await started((id, response) => {
    late = () => fine(id, response);
  });
  await post('initialize', {});
  post('tools/call').catch(() => {});
  await until(() => late);
  for (let seconds = 0; seconds < 90; seconds += 5) {
    await pass(5);
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
  }
  expect(seen.filter(({ method }) => method === 'ping').length).toBeGreaterThan(1);
  const next = post('tools/call');
  await until(() => seen.filter(({ method }) => method === 'tools/call').length === 2);
  late?.();
  expect(await next).toBe('fine');
});

test('M1: cookies of the server are kept for a client that keeps none, and only for it', async () => {
  const { post, seen } = await started(fine);
  await post('initialize', {});
  await post('tools/call');
  expect(seen.at(-1)?.headers.cookie).toBe('backend=1');
  await post('tools/call', { 'mcp-session-id': 's1', cookie: 'own=2' });
  expect(seen.at(-1)?.headers.cookie).toBe('own=2');
  await post('tools/call', { 'mcp-session-id': 's2' });
  expect(seen.at(-1)?.headers.cookie).toBeUndefined();
});

test('M2: streams that clients open and leave again and again leave no connection to the server', async () => {
  const { url, post, seen, server } = await started(fine);
  await post('initialize', {});
  for (let n = 1; n <= 100; n += 1) {
    const headers = { accept: 'text/event-stream', 'mcp-session-id': 's1' };
    const request = requestHttp(url, { headers }).on('error', () => {});
    request.on('response', (response) => response.once('data', () => request.destroy()).on('error', () => {})).end();
    await until(() => request.destroyed);
  }
  expect(seen.filter(({ method }) => method === 'GET')).toHaveLength(100);
  const connections = () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));
  await until(async () => (await connections()) <= 1); // The one that is kept for the next request.
  expect(await post('tools/call')).toBe('fine');
});

test('M1: a connection that is not made within 10 s fails, and opens the group', async () => {
  // It takes connections and says nothing, as a firewall between.
  let taken = 0;
  const silent = createSocketServer(() => {
    taken += 1;
  });
  const { post } = await relayTo(`https://127.0.0.1:${await listening(silent)}/mcp`);
  onTestFinished(() => void silent.close());
  const calling = post('tools/call', {});
  await until(() => taken === 1);
  await pass(9.9);
  expect(await Promise.race([calling, new Promise((resolve) => setImmediate(resolve, 'waiting'))])).toBe('waiting');
  await pass(0.2);
  expect(await calling).toContain('failed (ETIMEDOUT)');
  expect(await post('tools/call', {})).toContain("the tools of group 'slow' failed (network)");
});

test('M1: a connection that asks again and again without waiting for answers is closed, and others are served', async () => {
  const { post, seen, url } = await started(fine);
  const { port } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write('GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(2_000));
  await closed;
  expect(await post('tools/call', {})).toBe('fine');
  expect(seen.length).toBeLessThan(30);
});

test.each([
  ['JSON', broken],
  ['an event stream', (id: unknown, response: ServerResponse) => streamed(id, response, BROKEN)],
])('R5: the advice comes with the third failure, in %s', async (_, call) => {
  const { url } = await started(call);
  const texts: string[] = [];
  for (let n = 0; n < 3; n += 1) texts.push(await textOf(url, n));
  expect(texts[1]).toContain('ECONNREFUSED');
  expect(texts[1]).not.toContain('<breakerbox>');
  expect(texts[2]).toMatch(/ECONNREFUSED[\s\S]*<breakerbox>Tool 'a' is not available now/);
});

test('M1: a body in chunks of one byte closes its connection, and others are served', async () => {
  const { url } = await started(fine);
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
  const closed = new Promise((resolve) => void socket.once('close', resolve));
  socket.write('POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n');
  for (let count = 0; count < 50; count += 1) socket.write('1\r\n \r\n'.repeat(10_000));
  await closed;
  expect(await textOf(url, 1)).toContain('fine');
});

test('M2: a batch of more than 1,000 messages is refused, and others are served', async () => {
  const { url, seen } = await started((_, response) => response.writeHead(202).end());
  const send = async (count: number) => {
    const ids = Array.from({ length: count }, (_, id) => id);
    const messages = ids.map((id) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'a,[b' } }));
    const response = await fetch(url, { method: 'POST', body: JSON.stringify(messages) });
    return { status: response.status, text: await response.text() };
  };
  const { status, text } = await send(1_001);
  expect([status, JSON.parse(text).error.message]).toEqual([413, 'The batch has more than 1000 messages.']);
  expect(seen).toHaveLength(0);
  expect((await send(1_000)).status).toBe(200);
  expect(seen).toHaveLength(1);
});

test.each([
  ['values', '400000', `[${'[],'.repeat(200_000)}1]`],
  ['members', '100000', `[{${'"id":1,'.repeat(100_000)}"a":1}]`],
])('M2: a call with too many %s is refused, and others are served', async (what, most, list) => {
  const { url, seen } = await started(fine);
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"list":${list}}}}`;
  const response = await fetch(url, { method: 'POST', body });
  const { error } = (await response.json()) as { error: { message: string } };
  expect([response.status, error.message]).toEqual([413, `The message has more than ${most} ${what}.`]);
  expect(await textOf(url, 1)).toContain('fine');
  expect(seen).toHaveLength(1);
});

test.each([
  ['ask for nothing', ''],
  [
    'never send their bodies',
    'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n{',
  ],
  ['hold streams', 'GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n'],
])('M1: connections that %s give way to a client that calls', async (_, sent) => {
  const { url, post } = await started(fine);
  const port = Number(new URL(url).port);
  const open = () =>
    new Promise<void>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => (sent === '' ? resolve() : socket.write(sent)));
      socket.on('error', () => {}).on('data', () => resolve());
      onTestFinished(() => void socket.destroy());
    });
  for (let count = 0; count < 1_000; count += 1) await open();
  expect(await post('tools/call', {})).toBe('fine');
});

test('M2: an answer under the id as a string has the id of its request, over HTTP too', async () => {
  const { url } = await started((id, response) => streamed(`${id}`, response, { content: [] }));
  expect(await textOf(url, 7)).toContain('"id":7,');
});

test('M1: a call that is accepted with 202 is answered in the stream of messages, if the client has one', async () => {
  let accepted: unknown;
  const { url, post, seen, later } = await started((id, response) => {
    accepted = id;
    response.writeHead(202).end();
  });
  await post('initialize', {});
  expect(await textOf(url, 5)).toContain('ended before the answer');
  let text = '';
  const stream = requestHttp(url, { headers: { accept: 'text/event-stream', 'mcp-session-id': 's1' } });
  const read = (part: Buffer): void => {
    text += part;
  };
  stream.on('error', () => {}).on('response', (response) => response.on('data', read));
  stream.end();
  onTestFinished(() => void stream.destroy());
  await until(() => text.includes('open'));
  expect(await textOf(url, 6)).toBe('');
  expect(accepted).toBe(6);
  later(`data: ${JSON.stringify({ jsonrpc: '2.0', id: '6', result: { content: [] } })}\n\n`);
  await until(() => text.includes('"id":6'));
  expect(seen.every(({ headers }) => headers['accept-encoding'] === 'identity')).toBe(true);
});

test('M3, C13: once a server that could not be reached answers anything, the next call is the probe', async () => {
  const { post, server, url, seen } = await started(fine);
  await post('initialize', {});
  const { port } = server.address() as AddressInfo;
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  expect(await post('tools/call')).toContain('failed (ECONN');
  expect(await post('tools/call')).toContain('is unavailable');
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  expect(await post('tools/call')).toContain('is unavailable');
  const stream = requestHttp(url, { headers: { accept: 'text/event-stream', 'mcp-session-id': 's1' } });
  stream.on('error', () => {}).end();
  onTestFinished(() => void stream.destroy());
  await until(() => seen.some(({ method }) => method === 'GET'));
  await until(async () => (await post('tools/call')) === 'fine');
});
