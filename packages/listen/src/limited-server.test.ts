import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createAdmission } from './admission.ts';
import { closeServer, limitedServer, listening } from './limited-server.ts';

interface Options {
  readonly mostBody?: number;
  readonly unreadMs?: number;
  readonly onBody?: (request: IncomingMessage) => void;
}

const started = async ({ onBody, ...options }: Options = {}) => {
  const admission = createAdmission({ unknown: 8, known: 2 });
  const seen: string[] = [];
  const server = limitedServer({
    admission,
    mostWaiting: 4,
    ...options,
    listener: async (request, response) => {
      if (request.url === '/quick') return void response.end('well');
      if (request.url === '/large') return void response.end(Buffer.alloc(50_000_000));
      if (request.url === '/stream') return void response.write('begin');
      if (onBody !== undefined) return onBody(request);
      seen.push(await text(request));
      response.end('well');
    },
  });
  let parsed = 0;
  server.on('request', () => {
    parsed += 1;
  });
  const { port } = (await listening(server, { host: '127.0.0.1', port: 0 })) as AddressInfo;
  onTestFinished(() => closeServer(server));
  const open = promisify(server.getConnections.bind(server));
  return { port, seen, parsed: () => parsed, open };
};

test('A5: of a thousand requests that come at once, few are parsed, and the connection is closed', async () => {
  const { port, parsed } = await started();
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.resume();
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1_000));
  await once(socket, 'close');
  expect(parsed()).toBeGreaterThan(4);
  expect(parsed()).toBeLessThan(60);
});

test('A5: a body of many pieces arrives whole', async () => {
  const { port, seen } = await started();
  const body = 'breaker '.repeat(20_000);
  const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body });
  expect([response.status, await response.text(), seen]).toEqual([200, 'well', [body]]);
});

test('A5: a client that has stopped reading is disconnected, and one whose stream is silent is not', async () => {
  const { port, open } = await started({ unreadMs: 200 });
  const [unread, silent] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
  for (const socket of [unread, silent]) onTestFinished(() => void socket.destroy());
  unread.write('GET /large HTTP/1.1\r\nHost: a\r\n\r\n');
  silent.resume().write('GET /stream HTTP/1.1\r\nHost: a\r\n\r\n');
  await vi.waitUntil(async () => (await open()) === 2);
  await vi.waitUntil(async () => (await open()) === 1, 5_000);
  await setTimeout(300);
  expect(await open()).toBe(1);
  expect(silent.closed).toBe(false);
});

test('A5: an expectation that the server does not meet closes the connection', async () => {
  const { port } = await started();
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  let answer = '';
  socket.on('data', (text) => {
    answer += text;
  });
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nExpect: nonsense\r\n\r\n');
  await once(socket, 'close');
  expect(answer).toMatch(/^HTTP\/1\.1 417 /);
});

test.each([
  ['chunks of one byte', 'transfer-encoding: chunked', Buffer.from('1\r\na\r\n'.repeat(10_000))],
  ['a length that is too large', 'content-length: 99999999999', Buffer.alloc(60_000)],
])('A5: a body of %s is not read, and its connection is closed', async (_, header, part) => {
  const { port } = await started({ mostBody: 100 });
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  socket.resume();
  const closed = new Promise((resolve) => void socket.once('close', resolve));
  socket.write(`GET /quick HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n`);
  const more = (): void => {
    while (!socket.destroyed && socket.write(part));
    if (!socket.destroyed) socket.once('drain', more);
  };
  more();
  await closed; // Otherwise it would be read for ever.
});

test('A5: while many connections send chunks of one byte, other work has its turn between a few of them', async () => {
  let chunks = 0;
  const onBody = (request: IncomingMessage): void => {
    request.on('data', () => {
      chunks += 1;
    });
    request.on('error', () => {}); // The client is gone.
  };
  const { port } = await started({ onBody });
  const part = Buffer.from('1\r\na\r\n'.repeat(10_000));
  const sending = Array.from({ length: 30 }, () => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.write('POST / HTTP/1.1\r\nHost: a\r\ntransfer-encoding: chunked\r\n\r\n');
    for (let count = 0; count < 10; count += 1) socket.write(part);
    return socket;
  });
  let most = 0;
  let isOver = false;
  const turns = async (): Promise<void> => {
    while (!isOver) {
      const before = chunks;
      await setImmediate();
      most = Math.max(most, chunks - before);
    }
  };
  const watching = turns();
  await vi.waitUntil(() => chunks > 300_000, { timeout: 20_000 });
  const response = await fetch(`http://127.0.0.1:${port}/quick`);
  isOver = true;
  await watching;
  for (const socket of sending) socket.destroy();
  expect(response.status).toBe(200);
  expect(most).toBeLessThan(100_000); // 300,000 if each connection is read to its end.
}, 30_000);
