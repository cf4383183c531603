import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { createAdmission } from './admission.ts';
import { closeServer, limitedServer, listening } from './limited-server.ts';
import type { Certificate } from './securing.ts';

let tls: Certificate;
beforeAll(() => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-tls-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'];
  execFileSync('openssl', [...made, '-keyout', key, '-out', cert], { stdio: 'pipe' });
  tls = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
  rmSync(folder, { recursive: true });
});

const started = async (silentMs?: number) => {
  const admission = createAdmission({ unknown: 150, known: 8 });
  const raws: Socket[] = [];
  const server = limitedServer({
    admission,
    tls,
    silentMs,
    mostWaiting: 4,
    listener: async (request, response) => {
      admission.recognize(request.socket, 'ada');
      const { length } = await text(request);
      response.end(`${request.socket.remoteAddress} ${length}`);
    },
  });
  server.on('connection', (raw) => raws.push(raw));
  const { port } = (await listening(server, { host: '127.0.0.1', port: 0 })) as AddressInfo;
  onTestFinished(() => closeServer(server));
  const open = async (): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    return socket;
  };
  const ask = (body: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const options = { port, method: 'POST', rejectUnauthorized: false, agent: false };
      const asking = request(options, (response) => resolve(text(response)));
      asking.on('error', reject).end(body);
    });
  return { server, port, raws, open, ask };
};

/** What a client sends first. */
const hello = async (): Promise<Buffer> => {
  const server = createServer();
  const { port } = (await listening(server, { host: '127.0.0.1', port: 0 })) as AddressInfo;
  const client = connectTls({ port, host: '127.0.0.1' }).on('error', () => {});
  const [socket] = await once(server, 'connection');
  const [bytes] = await once(socket, 'data');
  client.destroy();
  server.close();
  return bytes;
};

test('A5: over TLS a request arrives whole, with the address of its client', async () => {
  const { ask } = await started();
  expect(await ask('breaker '.repeat(100_000))).toBe('127.0.0.1 800000');
});

test('A5: of a thousand requests that come at once over TLS, few are parsed, and the connection is closed', async () => {
  const { server, port } = await started();
  let parsed = 0;
  server.on('request', () => {
    parsed += 1;
  });
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }).on('error', () => {});
  socket.resume().write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1_000));
  await once(socket, 'close');
  expect(parsed).toBeGreaterThan(4);
  expect(parsed).toBeLessThan(60);
});

test('A5: when a hundred handshakes begin at once, other work has its turn between a few of them', async () => {
  const { raws, open } = await started();
  const first = await hello();
  const sockets = await Promise.all(Array.from({ length: 120 }, open));
  await vi.waitUntil(() => raws.length === 120);
  for (const socket of sockets) socket.write(first);
  const answered = (): number => raws.filter(({ bytesWritten }) => bytesWritten > 0).length;
  let most = 0;
  for (let before = 0; before < 120; before = answered()) {
    await turn();
    most = Math.max(most, answered() - before);
  }
  expect(most).toBeLessThan(60);
});

test('A5: a handshake that does not end is closed in time, and one that makes no sense at once', async () => {
  const { open, ask } = await started(200);
  const first = await hello();
  const silent = [await open(), await open()];
  silent[1]?.write(first.subarray(0, 40));
  const closed = silent.map((socket) => once(socket, 'close'));
  for (const bytes of ['GET / HTTP/1.1\r\n\r\n', Buffer.alloc(40_000, 0x16), Buffer.concat([first, Buffer.alloc(9)])]) {
    const socket = await open();
    socket.resume().write(bytes);
    await once(socket, 'close');
  }
  const gone = await open();
  gone.write(first);
  gone.resetAndDestroy();
  await Promise.all(closed);
  expect(await ask('')).toBe('127.0.0.1 0');
});

test('A5: a server that closes waits for no handshake', async () => {
  const { server, raws, open } = await started();
  await open();
  await vi.waitUntil(() => raws.length === 1);
  await closeServer(server);
});
