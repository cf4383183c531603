/** `breakerbox mcp http://…` before a server that is a process: it is killed, hangs, starts again or is not there yet. */
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as after } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../packages/demo/src/child.ts';
import { startServer } from './mcp-server-process.ts';
import { newFolder } from './outages/clients.ts';
import { isAlive } from './processes.ts';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const RELAY = ['--conditions=breakerbox-source', path('../packages/cli/src/main.ts'), 'mcp'];
const SERVER = path('mcp-relay-server.mjs');
const PATIENT = { timeout: 30_000 };
const COOLDOWN_MS = 2_000;

const started = async (port?: number) => {
  const server = await startServer(SERVER, port);
  onTestFinished(() => server.kill());
  return server;
};

interface Answer {
  readonly id: unknown;
  readonly result?: { readonly content?: readonly { text: string }[]; readonly isError?: boolean };
  readonly error?: { readonly message: string };
}

/** A relay with a cooldown that a test can wait for, and a client that writes messages itself. */
const relayTo = async (url: string) => {
  const settings = join(await newFolder(), 'breakerbox.yaml');
  const cooldown = `{ cooldownMs: ${COOLDOWN_MS} }`;
  await writeFile(settings, `defaults: ${cooldown}\ngroups: { relay-test: ${cooldown} }`);
  const child = spawn(process.execPath, [...RELAY, '--config', settings, url], { stdio: ['pipe', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const write = (text: string | Buffer): void => void child.stdin.write(text);
  const answerTo = async (id: unknown): Promise<Answer> => {
    const find = () => lines.map((line) => JSON.parse(line) as Answer).find((one) => one.id === id);
    await expect.poll(find, PATIENT).toBeDefined();
    return find() as Answer;
  };
  let ids = 0;
  const request = (method: string, params: object): number => {
    ids += 1;
    write(`${JSON.stringify({ jsonrpc: '2.0', id: ids, method, params })}\n`);
    return ids;
  };
  const connect = async (): Promise<Answer> => {
    const answer = await answerTo(request('initialize', HANDSHAKE));
    write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    return answer;
  };
  const begin = (name: string, input: object): number => request('tools/call', { name, arguments: input });
  const textTo = async (id: number): Promise<string> => (await answerTo(id)).result?.content?.[0]?.text ?? '';
  const call = (name: string, input: object = {}): Promise<string> => textTo(begin(name, { n: ids, ...input }));
  const cancel = (requestId: unknown, reason = 'a person stopped'): void =>
    write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, reason } })}\n`);
  return { child, lines, write, answerTo, request, connect, begin, textTo, call, cancel };
};

const HANDSHAKE = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '0' } };
const UNAVAILABLE = /^Tool '\w+' is unavailable: .*Do not call it now/;

test('M3, M4, M5: a server that is killed costs one call, and one probe finds that it is back', async () => {
  const server = await started();
  const { connect, begin, textTo, call, request, answerTo } = await relayTo(server.url);
  await connect();
  await answerTo(request('tools/list', {}));
  const calls = [begin('never', { n: 1 }), begin('never', { n: 2 })];
  expect(await call('echo', { text: 'before' })).toBe('before');
  await server.kill();
  for (const id of calls) expect(await textTo(id)).toMatch(/^The connection to the MCP server \(127\.0\.0\.1:\d+\)/);
  for (const tool of ['echo', 'pid', 'never', 'echo']) expect(await call(tool, { text: 'x' })).toMatch(UNAVAILABLE);

  await started(Number(new URL(server.url).port));
  await after(COOLDOWN_MS);
  expect(await call('echo', { text: 'back' })).toBe('back');
  expect(await call('pid')).toMatch(/^\d+$/);
});

test('M3, M5: a server that hangs costs three timeouts, and one probe finds that it goes on', async () => {
  const server = await started();
  const { connect, begin, cancel, call } = await relayTo(server.url);
  await connect();
  expect(await call('echo', { text: 'before' })).toBe('before');
  process.kill(server.pid, 'SIGSTOP');
  onTestFinished(() => void (isAlive(server.pid) && process.kill(server.pid, 'SIGCONT')));
  for (let n = 0; n < 3; n += 1) {
    const id = begin('echo', { n });
    await after(200);
    cancel(id, 'McpError: MCP error -32001: Request timed out');
  }
  expect(await call('echo')).toMatch(/^Tool 'echo' is unavailable: the last calls failed \(timeout\)/);

  process.kill(server.pid, 'SIGCONT');
  await after(COOLDOWN_MS);
  expect(await call('echo', { text: 'on' })).toBe('on');
});

test('M1, M4: a server that is not there yet rejects the handshake, and takes the next one when it has started', async () => {
  const port = await freePort();
  const { connect, call } = await relayTo(`http://127.0.0.1:${port}/mcp`);
  expect((await connect()).error?.message).toContain('ECONNREFUSED');
  await started(port);
  expect((await connect()).error).toBeUndefined();
  expect(await call('echo', { text: 'here' })).toBe('here');
});

test('M1, M2: 10 MB, 200 calls at once, and lines that are split and joined', async () => {
  const server = await started();
  const { connect, call, write, answerTo } = await relayTo(server.url);
  await connect();
  const big = 'x€'.repeat(2_500_000);
  expect((await call('echo', { text: big })) === big).toBe(true);
  const line = (id: string, text: string): string =>
    `{"jsonrpc":"2.0","id":"${id}","method":"tools/call","params":{"name":"echo","arguments":{"text":"${text}"}}}\n`;
  write(Array.from({ length: 200 }, (_, n) => line(`j${n}`, `joined ${n}`)).join(''));
  const split = Buffer.from(line('split', 'split €'));
  for (let at = 0; at < split.length; at += 7) {
    write(split.subarray(at, at + 7));
    await after(1);
  }
  for (let n = 0; n < 200; n += 1) {
    const { result } = await answerTo(`j${n}`);
    expect(result?.content?.[0]?.text).toBe(`joined ${n}`);
  }
  expect((await answerTo('split')).result?.content?.[0]?.text).toBe('split €');
});

test('M6: cancellation in every position leaves the tools as they were', async () => {
  const server = await started();
  const { connect, begin, textTo, call, cancel, lines, request, answerTo } = await relayTo(server.url);
  cancel(99); // Before everything else.
  await connect();
  for (let n = 0; n < 4; n += 1) {
    const id = begin('never', { n });
    if (n % 2 === 0) await after(100); // Otherwise before the request has left.
    cancel(id);
    cancel(id); // And once more.
  }
  const done = begin('echo', { text: 'done' });
  expect(await textTo(done)).toBe('done');
  cancel(done); // After its answer.
  for (const id of [1_000, '1', null]) cancel(id); // Of no request.
  const list = request('tools/list', {});
  cancel(list); // Of a request that is not a call. It may have an answer or not.
  expect(await call('echo', { text: 'works' })).toBe('works');
  expect(lines.every((line) => !line.includes('unavailable'))).toBe(true);
  await answerTo(request('ping', {}));
});

test.each(['SIGKILL', 'SIGTERM'] as const)('M7: no relay is left after %s of its client', async (signal) => {
  const server = await started();
  const script = `const { spawn } = require('node:child_process');
    const relay = spawn(process.execPath, ${JSON.stringify([...RELAY, server.url])}, { stdio: ['pipe', 'pipe', 'ignore'] });
    relay.stdout.once('data', () => console.log(relay.pid));
    relay.stdin.write(${JSON.stringify(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: HANDSHAKE })}\n`)});`;
  const client = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  const pid = Number(await new Promise((resolve) => client.stdout.once('data', (text) => resolve(`${text}`))));
  expect(isAlive(pid)).toBe(true);
  client.kill(signal);
  await expect.poll(() => isAlive(pid), PATIENT).toBe(false);
  expect(isAlive(server.pid)).toBe(true);
});
