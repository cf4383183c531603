import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { diag } from '@opentelemetry/api';
import { afterEach, expect, test, vi } from 'vitest';
import { scrapeBody } from './scrape-body.ts';
import { openScrapeServer } from './scrape-server.ts';
import { collectDiag } from './test-support/diag-messages.ts';

const address = { host: '127.0.0.1', port: 0, endpoint: '/metrics' };

afterEach(() => {
  diag.disable();
  vi.useRealTimers();
});

async function serve(
  render: () => Promise<string>,
): Promise<{ url: string; [Symbol.asyncDispose]: () => Promise<void> }> {
  const server = openScrapeServer(address, render);
  await server.ready;
  return { url: server.url() ?? '', [Symbol.asyncDispose]: server.close };
}

test('serves the metrics in the text format of Prometheus, and nothing else', async () => {
  await using server = await serve(async () => 'up 1\n');
  const response = await fetch(`${server.url}?name[]=up`);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(await response.text()).toBe('up 1\n');
  expect((await fetch(new URL('/other', server.url))).status).toBe(404);
  expect((await fetch(server.url, { method: 'POST' })).status).toBe(405);
});

test('answers requests through a proxy', async () => {
  await using server = await serve(async () => 'up 1\n');
  const socket = await connected(server.url);
  socket.write(`GET ${server.url}?a HTTP/1.1\r\nhost: x\r\n\r\n`);
  expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 200 OK/);
  socket.destroy();
});

test('answers 500 when the metrics cannot be written, and works again afterwards', async () => {
  const messages = collectDiag();
  const answers = [() => JSON.stringify(1n), () => 'up 1\n'];
  await using server = await serve(async () => answers.shift()?.() ?? '');
  const failed = await fetch(server.url);
  expect(failed.status).toBe(500);
  expect(await failed.text()).not.toContain('BigInt');
  expect(messages).toEqual([expect.stringContaining('BigInt')]);
  expect((await fetch(server.url)).status).toBe(200);
});

test('names the address if it does not belong to this machine', async () => {
  const messages = collectDiag();
  // 192.0.2.0/24 is set aside for documentation.
  const server = openScrapeServer({ ...address, host: '192.0.2.1' }, async () => '');
  await server.ready;
  expect(server.url()).toBeUndefined();
  expect(messages).toEqual([expect.stringMatching(/192\.0\.2\.1:0 \(EADDRNOTAVAIL\).*OTEL_EXPORTER_PROMETHEUS_HOST/)]);
  await server.close();
});

/** More than the system keeps for a client that doesn't read. */
const LARGE = 'x'.repeat(2 ** 25);

/** Asks, and doesn't read. */
const askOnly = async (url: string): Promise<Socket> => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').pause();
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write('GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n');
  return socket;
};

test('writes the text once for all requests that arrive while it is being written, and again afterwards', async () => {
  const waiting: ((text: string) => void)[] = [];
  const render = vi.fn(() => new Promise<string>((resolve) => waiting.push(resolve)));
  const body = scrapeBody(render);
  const first = [body.take(), body.take(), body.take()];
  waiting[0]?.('up 1\n');
  const texts = await Promise.all(first);
  expect(new Set(texts).size).toBe(1);
  expect(render).toHaveBeenCalledOnce();
  const next = body.take();
  waiting[1]?.('up 2\n');
  expect(String(await next)).toBe('up 2\n');
});

test('writes no text for each of many clients that do not read', async () => {
  const render = vi.fn(async () => LARGE);
  await using server = await serve(render);
  const sockets: Socket[] = [];
  // One after the other, so that none finds a text that is being written.
  for (let count = 0; count < 20; count += 1) {
    const socket = await askOnly(server.url);
    sockets.push(socket);
    await once(socket, 'readable');
  }
  // Five who may be honest, and then one a second.
  expect(render.mock.calls.length).toBeLessThan(15);
  for (const socket of sockets) socket.destroy();
});

test('hangs up on a client that does not read its answer', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  await using server = await serve(async () => LARGE);
  const socket = await askOnly(server.url);
  await once(socket, 'readable');
  vi.advanceTimersByTime(10_000);
  let read = 0;
  socket.on('data', (chunk: Buffer) => {
    read += chunk.length;
  });
  socket.resume();
  await once(socket, 'close');
  expect(read).toBeLessThan(LARGE.length);
});

const connected = async (url: string): Promise<Socket> => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
};

test('closes a connection that asks again and again without waiting for answers, and serves others', async () => {
  let written = 0;
  await using server = await serve(async () => {
    written += 1;
    return 'up 1\n';
  });
  const flood = await connected(server.url);
  flood.write('HEAD /metrics HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(1_000));
  await once(flood.on('error', () => {}).resume(), 'close');
  expect(written).toBeLessThan(50);
  const asking = await connected(server.url);
  for (let count = 0; count < 20; count += 1) {
    asking.write('GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(String(await once(asking, 'data'))).toContain('200 OK');
  }
  asking.destroy();
});

test('accepts at most 50 connections', async () => {
  await using server = await serve(async () => LARGE);
  const sockets = await Promise.all(Array.from({ length: 50 }, () => askOnly(server.url)));
  await Promise.all(sockets.map((socket) => once(socket, 'readable')));
  const refused = connect(Number(new URL(server.url).port), '127.0.0.1');
  refused.on('error', () => {}).resume();
  await once(refused, 'close');
  expect(sockets.filter(({ destroyed }) => destroyed)).toEqual([]);
  for (const socket of sockets) socket.destroy();
});

test.each([
  ['say nothing', ''],
  ['ask for what is not there', 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'],
])('serves others while 50 connections %s, and closes the oldest of them', async (_, bytes) => {
  await using server = await serve(async () => 'up 1\n');
  const sockets: Socket[] = [];
  for (let count = 0; count < 50; count += 1) {
    const socket = await connected(server.url);
    if (bytes !== '') socket.write(bytes);
    if (bytes.endsWith('\r\n\r\n')) await once(socket.resume(), 'data');
    sockets.push(socket);
  }
  const closed = sockets.slice(0, 2).map((socket) => once(socket.resume(), 'close'));
  const asking = await connected(server.url);
  asking.write('GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n');
  expect(String(await once(asking, 'data'))).toContain('up 1');
  const another = await connected(server.url);
  await Promise.all(closed);
  expect(sockets.slice(2).filter(({ destroyed }) => destroyed)).toEqual([]);
  for (const socket of [...sockets, asking, another]) socket.destroy();
});

test('does not count a closed connection', async () => {
  await using server = await serve(async () => 'up 1\n');
  const first = await connected(server.url);
  for (let count = 0; count < 60; count += 1) {
    const socket = await connected(server.url);
    const closed = once(socket, 'close');
    socket.end('GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n').resume();
    await closed;
  }
  first.write('GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n');
  expect(String(await once(first, 'data'))).toContain('up 1');
  first.destroy();
});

/** The status of a request for a host, by its name in the Host header. */
const statusFor = async (url: string, host: string): Promise<number> => {
  const socket = await connected(url);
  socket.write(`GET /metrics HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
  const [, status] = /^HTTP\/1\.1 (\d+)/.exec(String(await once(socket, 'data'))) ?? [];
  socket.destroy();
  return Number(status);
};

test('rejects a request for a public name that is not configured, as a web page sends it that points its name here', async () => {
  const server = openScrapeServer({ ...address, allowedHosts: ['agents.example.com'] }, async () => 'up 1\n');
  await server.ready;
  const url = server.url() ?? '';
  const own = [
    '127.0.0.1:9464',
    '[::1]:9464',
    'localhost',
    'demo-agents:9464',
    'a.ns.svc.cluster.local',
    'Agents.Example.com:1',
  ];
  for (const host of own) expect(await statusFor(url, host), host).toBe(200);
  for (const host of ['evil.example', 'localhost.evil.example:9464', 'evil.example.'])
    expect(await statusFor(url, host), host).toBe(403);
  const refused = await connected(url);
  refused.write('GET /metrics HTTP/1.1\r\nhost: evil.example\r\n\r\n');
  expect(String(await once(refused, 'data'))).toContain('allowedHosts');
  refused.destroy();
  await server.close();
});

test('compresses the text for clients that read gzip, and lets no browser guess its type', async () => {
  await using server = await serve(async () => 'up 1\n'.repeat(10_000));
  const ask = (coding: string) => fetch(server.url, { headers: { 'accept-encoding': coding } });
  const zipped = await ask('gzip;q=0.5, identity');
  expect(zipped.headers.get('content-encoding')).toBe('gzip');
  expect(Number(zipped.headers.get('content-length'))).toBeLessThan(1_000);
  expect(await zipped.text()).toBe('up 1\n'.repeat(10_000));
  for (const coding of ['identity', 'gzip;q=0', 'br']) {
    const plain = await ask(coding);
    expect(plain.headers.get('content-encoding'), coding).toBeNull();
    expect(plain.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await plain.text()).toHaveLength(50_000);
  }
});

test('clients that ask in a loop get the same large text for a while, and a small one is always new', async () => {
  const render = vi.fn(async () => 'up 1\n'.repeat(1_000_000));
  await using server = await serve(render);
  for (let ask = 0; ask < 5; ask += 1) await (await fetch(server.url)).text();
  expect(render.mock.calls.length).toBeLessThanOrEqual(2);
  render.mockClear();
  await using small = await serve(render.mockImplementation(async () => 'up 1\n'));
  for (let ask = 0; ask < 5; ask += 1) await (await fetch(small.url)).text();
  expect(render).toHaveBeenCalledTimes(5);
});
