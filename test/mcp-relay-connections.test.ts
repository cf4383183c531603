/** Connections of `breakerbox mcp https://…`: TLS, idle ones that are closed, sides that do not read, and messages that are too long. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { listening, stopped } from './mcp-http-servers.ts';
import { callOf, PATIENT, piped, textIn } from './mcp-relay-pipes.ts';

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

const started = (args: string[], env?: Record<string, string>) => {
  const relay = piped(args, env);
  undo.push(() => relay.child.kill('SIGKILL'));
  return relay;
};

test('M1: a server with a certificate that the environment names, and without it none', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-tls-'));
  undo.push(() => rmSync(folder, { recursive: true }));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, '-days', '2', '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  });
  const server = createSecureServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json').end('{"jsonrpc":"2.0","id":1,"result":{}}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  undo.push(() => server.closeAllConnections());
  undo.push(() => server.close());
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const trusted = started([url], { NODE_EXTRA_CA_CERTS: cert });
  trusted.send(callOf(1, 'a'));
  expect(await trusted.line(0)).toBe('{"jsonrpc":"2.0","id":1,"result":{}}');
  const other = started([url]);
  other.send(callOf(1, 'a'));
  expect(textIn(await other.line(0))).toMatch(
    /The connection to the MCP server .* failed \(DEPTH_ZERO_SELF_SIGNED_CERT\)/,
  );
});

test('M3: an idle connection that the server closes opens no circuit', async () => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    let requests = 0;
    socket.on('error', () => {});
    socket.on('data', (data) => {
      if (!data.includes('"id":')) return; // The headers alone.
      requests += 1;
      if (requests > 1) return socket.resetAndDestroy();
      const body = `{"jsonrpc":"2.0","id":${/"id":(\d+)/.exec(`${data}`)?.[1]},"result":{"content":[]}}`;
      return socket.write(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  undo.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  const { send, line } = started([`http://127.0.0.1:${port}/mcp`]);
  const texts: string[] = [];
  for (let n = 0; n < 8; n += 1) {
    if (n % 2 === 1) await after(1_100); // The connection is idle.
    send(callOf(n, 'a', { n }));
    texts.push(await line(n));
  }
  expect(texts.filter((_, n) => n % 2 === 0).every((text) => text.includes('"content":[]'))).toBe(true);
  for (const text of texts.filter((_, n) => n % 2 === 1))
    expect(textIn(text)).toContain('was closed at the moment of the request');
  // Other requests are sent again.
  for (const id of [8, 9, 10]) {
    send(`{"jsonrpc":"2.0","method":"resources/list","id":${id}}`);
    expect(JSON.parse(await line(id))).toEqual({ jsonrpc: '2.0', id, result: { content: [] } });
  }
  expect(connections).toBeGreaterThan(8);
});

/** Waits until a number does not grow any more. */
const settled = async (count: () => number): Promise<number> => {
  let before = -1;
  const isStill = (): boolean => {
    const is = count() > 0 && count() === before;
    before = count();
    return is;
  };
  await expect.poll(isStill, { ...PATIENT, interval: 700 }).toBe(true);
  return count();
};

test('M2: a client that does not read slows the server down, and gets everything later', async () => {
  const event = `data: {"jsonrpc":"2.0","method":"x","params":"${'y'.repeat(1e6)}"}\n\n`;
  const all = 150;
  let sent = 0;
  const { server, url } = await listening((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const more = (): void => {
      while (sent < all) {
        sent += 1;
        if (!response.write(event)) return;
      }
      response.end('data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n');
    };
    response.on('drain', more);
    more();
  });
  undo.push(() => stopped(server));
  const { child, send } = started([url]);
  child.stdout?.removeAllListeners('data').pause();
  send(callOf(1, 'a'));
  expect(await settled(() => sent)).toBeLessThan(100);
  let bytes = 0;
  child.stdout?.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  child.stdout?.resume();
  await expect.poll(() => bytes, PATIENT).toBeGreaterThan(all * 1e6);
});

test('M2: a server that does not read slows the client down', async () => {
  const { server, url } = await listening((request) => request.pause());
  undo.push(() => stopped(server));
  const { child } = started([url]);
  // More than the buffers of a socket may take: each message has a socket of its own.
  const note = Buffer.from(`{"jsonrpc":"2.0","method":"x","params":"${'y'.repeat(1e7)}"}\n`);
  let taken = 0;
  for (let n = 0; n < 15; n += 1)
    child.stdin?.write(note, () => {
      taken += 1;
    });
  expect(await settled(() => taken)).toBeLessThan(12);
});

const LONG = 65 * 1024 * 1024;
const longCall = (): string => callOf(1, 'a', { text: 'x'.repeat(LONG) });
const longAnswer = (id: number): string => `{"jsonrpc":"2.0","result":{"x":"${'x'.repeat(LONG)}"},"id":${id}}`;

test('M2: messages above 64 MiB are answered over HTTP, and the next ones pass', async () => {
  const seen: number[] = [];
  const { server, url } = await listening(async (request, response) => {
    let length = 0;
    for await (const part of request) length += (part as Buffer).length;
    seen.push(length);
    const isJson = seen.length === 1;
    response.setHeader('content-type', isJson ? 'application/json' : 'text/event-stream');
    if (seen.length === 3) return response.end('data: {"jsonrpc":"2.0","id":4,"result":{}}\n\n');
    return response.end(isJson ? longAnswer(2) : `data: ${longAnswer(3)}\n\n`);
  });
  undo.push(() => stopped(server));
  const { send, line } = started([url]);
  send(longCall());
  expect(textIn(await line(0))).toBe('The request is longer than 64 MiB, so breakerbox mcp did not forward it.');
  for (const id of [2, 3]) {
    send(callOf(id, 'a', { id }));
    expect(textIn(await line(id - 1))).toBe('The answer is longer than 64 MiB, so breakerbox mcp did not forward it.');
  }
  send(callOf(4, 'a'));
  expect(await line(3)).toBe('{"jsonrpc":"2.0","id":4,"result":{}}');
  expect(seen).toHaveLength(3);
});

test('M2: and over stdio', async () => {
  const script = `
    const lines = require('node:readline').createInterface({ input: process.stdin });
    lines.on('line', (line) => {
      const { id } = JSON.parse(line);
      console.log(id === 2 ? '{"result":{"x":"' + 'x'.repeat(${LONG}) + '"},"id":2}' : '{"id":3,"result":{"bytes":' + line.length + '}}');
    });`;
  const { send, line } = started(['--', process.execPath, '-e', script]);
  send(longCall());
  expect(textIn(await line(0))).toBe('The request is longer than 64 MiB, so breakerbox mcp did not forward it.');
  send(callOf(2, 'a'));
  expect(textIn(await line(1))).toBe('The answer is longer than 64 MiB, so breakerbox mcp did not forward it.');
  send(callOf(3, 'a'));
  expect(JSON.parse(await line(2))).toMatchObject({ id: 3 });
});
