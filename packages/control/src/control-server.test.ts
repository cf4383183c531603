import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createBreakerbox } from '@breakerbox/core';
import { expect, onTestFinished, test } from 'vitest';
import { readState } from './client.ts';
import { startConsole } from './console/console-server.ts';
import { createToken, startControl } from './index.ts';

const folderOf = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-listen-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
};

const onPort = async (tls?: { cert: string; key: string }) => {
  const folder = folderOf();
  const tokens = join(folder, 'tokens.json');
  const [ada, eve] = [await createToken(tokens, 'ada', 'operate'), await createToken(tokens, 'eve', 'view')];
  const box = createBreakerbox({ agent: 'a', tools: { search: {} } });
  const audit = join(folder, 'audit.jsonl');
  const control = await startControl({ boxes: [box], listen: { port: 0, tokens, tls }, audit });
  onTestFinished(() => control.close());
  return { url: control.url, port: Number(new URL(control.url).port), ada, eve };
};

const opened = async (port: number): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
};

/** More than there are places. */
const MANY = 300;

test('A5: 300 clients without a token, each with a request, do not keep an operator out', async () => {
  const { url, port, ada } = await onPort();
  const sockets = await Promise.all(Array.from({ length: MANY }, () => opened(port)));
  const closed = sockets.map((socket) => once(socket.resume(), 'close'));
  const hosts = ['localhost', 'a@b']; // The other one is not even a request for the app.
  for (const [index, socket] of sockets.entries()) socket.write(`GET / HTTP/1.1\r\nHost: ${hosts[index % 2]}\r\n\r\n`);
  expect(await readState({ url, token: ada })).toMatchObject({ role: 'operate' });
  await Promise.all(closed);
});

test('A5: 300 connections that never begin a TLS handshake do not keep an operator out', async () => {
  const folder = folderOf();
  const [key, cert] = [join(folder, 'k.pem'), join(folder, 'c.pem')];
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync('openssl', [...made, '-keyout', key, '-out', cert, '-subj', '/CN=localhost'], { stdio: 'pipe' });
  const { port, ada } = await onPort({ cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') });
  for (let count = 0; count < MANY; count += 1) await opened(port);
  const options = { port, path: '/v1/state', ca: readFileSync(cert), headers: { authorization: `Bearer ${ada}` } };
  const sent = request({ ...options, host: 'localhost', family: 4 }).end();
  const [response] = await once(sent, 'response');
  expect(response.statusCode).toBe(200);
  response.resume();
});

test('A2, A5: a token has at most 8 streams, is told so, and keeps no other token out', async () => {
  const { url, port, ada, eve } = await onPort();
  const begin = async (token: string): Promise<string> => {
    const socket = await opened(port);
    socket.write(`GET /v1/changes HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    return String(await once(socket, 'data')).slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length);
  };
  const statuses: string[] = [];
  for (let count = 0; count < 10; count += 1) statuses.push(await begin(eve));
  expect(statuses).toEqual([...Array.from({ length: 8 }, () => '200'), '429', '429']);
  expect(await begin(ada)).toBe('200');
  expect(await readState({ url, token: eve })).toMatchObject({ role: 'view' });
});

test('A8: 300 browsers that are not signed in do not keep a signed-in one out', async () => {
  const page = fileURLToPath(new URL('../console', import.meta.url));
  const { url, close } = await startConsole({ targets: [], page });
  onTestFinished(close);
  const token = new URL(url).hash.slice('#token='.length);
  const headers = { 'content-type': 'application/json' };
  const signIn = await fetch(new URL('/api/sign-in', url), {
    method: 'POST',
    headers,
    body: JSON.stringify({ token }),
  });
  const cookie = signIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  const ask = (path: string): Promise<Response> =>
    fetch(new URL(path, url), { headers: { cookie }, signal: AbortSignal.timeout(5_000) });
  const stream = await ask('/api/changes');
  for (let count = 0; count < MANY; count += 1) {
    const socket = await opened(Number(new URL(url).port));
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  }
  expect((await ask('/api/state')).status).toBe(200);
  expect(stream.status).toBe(200);
  await stream.body?.cancel();
});

test('A1: of three that start at once on a socket that was left behind, one listens', async () => {
  const folder = folderOf();
  const [socket, made] = [join(folder, 'a.sock'), join(folder, 'made.sock')];
  const ended = createServer().listen(made);
  await once(ended, 'listening');
  renameSync(made, socket); // What it removes at its end is no longer there.
  ended.close();
  const start = async (): Promise<string> => {
    const control = await startControl({ boxes: [], listen: { socket } });
    onTestFinished(() => control.close());
    return 'listens';
  };
  const said = await Promise.all([start(), start(), start()].map((one) => one.catch(({ message }) => message)));
  const taken = `Another process listens on ${socket}. Stop it, or set listen.socket (BREAKERBOX_CONTROL_LISTEN) to another path.`;
  expect(said.toSorted()).toEqual([taken, taken, 'listens']);
  expect(await readState({ url: `unix:${socket}` })).toMatchObject({ pid: process.pid });
});

test('A1: one that starts while another one replaces the socket waits for it', async () => {
  const socket = join(folderOf(), 'a.sock');
  writeFileSync(`${socket}.lock`, '');
  const starting = startControl({ boxes: [], listen: { socket } });
  starting.then(
    ({ close }) => onTestFinished(close),
    () => {},
  );
  await Promise.race([starting.catch(() => {}), setTimeout(200)]);
  const other = createServer().listen(socket);
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  rmSync(`${socket}.lock`);
  await expect(starting).rejects.toThrow(`Another process listens on ${socket}.`);
});
