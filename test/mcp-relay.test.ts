/** `breakerbox mcp` as a process, between real clients of both SDKs and real servers. The rules are in packages/cli/src/mcp/relay.test.ts. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client as ClientOfSdk2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioOfSdk2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientOfSdk1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioOfSdk1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterEach, describe, expect, test } from 'vitest';
import { COMPILE_CACHE } from './compile-cache.ts';

const MAIN = fileURLToPath(new URL('../packages/cli/src/main.ts', import.meta.url));
const SERVER = fileURLToPath(new URL('mcp-relay-server.mjs', import.meta.url));
const EVERYTHING = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
const relayTo = (...command: string[]) => ['--conditions=breakerbox-source', MAIN, 'mcp', '--', ...command];
const who = { name: 'relay-test', version: '0.0.0' };
const PATIENT = { timeout: 20_000 };

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

type Result = { content: { text: string }[]; isError?: boolean };
interface Connected {
  call(name: string, input: object, options?: object): Promise<Result>;
  list(): Promise<{ tools: { name: string }[] }>;
  pid: number;
}

const CLIENTS = {
  'SDK 1': async (args: string[]): Promise<Connected> => {
    const client = new ClientOfSdk1(who);
    const transport = new StdioOfSdk1({ command: process.execPath, args, env: COMPILE_CACHE, stderr: 'ignore' });
    undo.push(() => client.close());
    await client.connect(transport);
    return {
      call: (name, input, options) =>
        client.callTool({ name, arguments: { ...input } }, undefined, options) as Promise<Result>,
      list: () => client.listTools(),
      pid: transport.pid ?? 0,
    };
  },
  'SDK 2': async (args: string[]): Promise<Connected> => {
    const client = new ClientOfSdk2(who);
    const transport = new StdioOfSdk2({ command: process.execPath, args, env: COMPILE_CACHE, stderr: 'ignore' });
    undo.push(() => client.close());
    await client.connect(transport);
    return {
      call: (name, input, options) => client.callTool({ name, arguments: { ...input } }, options) as Promise<Result>,
      list: () => client.listTools(),
      pid: transport.pid ?? 0,
    };
  },
};

const pidOf = async ({ call }: Connected): Promise<number> => Number((await call('pid', {})).content[0]?.text);

describe.each(Object.entries(CLIENTS))('with %s', (_, connect) => {
  test('M1, M3: a dead backend costs three calls, and the model reads why', async () => {
    const client = await connect(relayTo(process.execPath, SERVER));
    await client.list();
    const texts: string[] = [];
    for (let n = 0; n < 20; n += 1) texts.push((await client.call('broken', { n })).content[0]?.text ?? '');
    expect(texts.filter((text) => text.includes('ECONNREFUSED'))).toHaveLength(3);
    expect(texts.at(-1)).toMatch(
      /^Tool 'broken' is unavailable: the last calls failed \(network\)\. Do not call it now/,
    );
    expect((await client.call('echo', { text: 'still works' })).content[0]?.text).toBe('still works');
  });

  test('a server that hangs costs three timeouts', async () => {
    const client = await connect(relayTo(process.execPath, SERVER));
    const pid = await pidOf(client);
    process.kill(pid, 'SIGSTOP');
    undo.push(() => isRunning(pid) && process.kill(pid, 'SIGCONT'));
    for (let n = 0; n < 3; n += 1)
      await expect(client.call('echo', { text: `${n}` }, { timeout: 200 })).rejects.toThrow(/timed out/i);
    const { isError, content } = await client.call('echo', { text: 'x' }, { timeout: 5_000 });
    expect(isError).toBe(true);
    expect(content[0]?.text).toContain('the last calls failed (timeout)');
  });

  test('M7: a server that is killed during a call ends the relay, and the client sees what it sees without one', async () => {
    const client = await connect(relayTo(process.execPath, SERVER));
    const pid = await pidOf(client);
    const closed = expect(client.call('never', {})).rejects.toThrow('Connection closed');
    expect((await client.call('echo', { text: 'after it' })).content[0]?.text).toBe('after it');
    process.kill(pid, 'SIGKILL');
    await closed;
    await expect.poll(() => isRunning(client.pid), PATIENT).toBe(false);
  });

  test('10 MB and 200 calls at once arrive whole', async () => {
    const client = await connect(relayTo(process.execPath, SERVER));
    const big = 'x€'.repeat(2_500_000); // The SDKs take at most 10 MiB.
    expect((await client.call('echo', { text: big })).content[0]?.text === big).toBe(true);
    const all = await Promise.all(Array.from({ length: 200 }, (_, n) => client.call('echo', { text: `${n}` })));
    expect(all.map(({ content }) => content[0]?.text)).toEqual(Array.from({ length: 200 }, (_, n) => `${n}`));
  });

  test('a cancelled call leaves the tool as it was', async () => {
    const client = await connect(relayTo(process.execPath, SERVER));
    for (let n = 0; n < 4; n += 1) {
      const stop = new AbortController();
      const call = client.call('never', { n }, { signal: stop.signal });
      setTimeout(() => stop.abort('a person stopped'), 20);
      await expect(call).rejects.toThrow();
    }
    expect((await client.call('echo', { text: 'ok' })).content[0]?.text).toBe('ok');
    const stop = new AbortController();
    const call = client.call('never', {}, { signal: stop.signal });
    setTimeout(() => stop.abort('a person stopped'), 50);
    await expect(call).rejects.toThrow();
  });

  test('the everything server works as without a relay', async () => {
    const direct = await connect([EVERYTHING, 'stdio']);
    const relayed = await connect(relayTo(process.execPath, EVERYTHING, 'stdio'));
    expect(await relayed.list()).toEqual(await direct.list());
    const sum = { a: 1, b: 2 };
    expect(await relayed.call('get-sum', sum)).toEqual(await direct.call('get-sum', sum));
  });
});

/** The relay with raw pipes, and both sides' bytes. */
const raw = (...command: string[]) => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-relay-'));
  undo.push(() => rmSync(folder, { recursive: true }));
  const log = join(folder, 'log');
  writeFileSync(log, '');
  const child: ChildProcess = spawn(process.execPath, relayTo(...command), {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, RELAY_LOG: log },
  });
  undo.push(() => child.kill('SIGKILL'));
  let out = Buffer.alloc(0);
  child.stdout?.on('data', (chunk: Buffer) => {
    out = Buffer.concat([out, chunk]);
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  return { child, ended, out: () => out, log: () => readFileSync(log) };
};

describe('processes', () => {
  test('M2: bytes are equal on both sides, however they are cut', async () => {
    const { child, ended, out, log } = raw('sh', '-c', 'tee "$RELAY_LOG"');
    const bytes = Buffer.concat([
      Buffer.from('{"jsonrpc": "2.0", "id": 1.0, "method": "tools/call", "params": {"name": "a"}}\nnot JSON\r\n'),
      Buffer.from([0xff, 0xfe, 0x0a, 0x00]),
      Buffer.from('\n{"id":9007199254740993,"result":{}}\nno line feed at the end'),
    ]);
    for (let at = 0; at < bytes.length; at += 5) child.stdin?.write(bytes.subarray(at, at + 5));
    child.stdin?.end();
    expect(await ended).toBe(0);
    expect(log().equals(bytes)).toBe(true);
    expect(out().equals(bytes)).toBe(true);
  });

  test.each([
    ['its own', 'exit 7', 7],
    ['that of a signal', 'kill -9 $$', 137],
  ])('the exit code is the server: %s', async (_, script, code) => {
    expect(await raw('sh', '-c', script).ended).toBe(code);
  });

  test('M7: a command that does not exist ends with 127', async () => {
    expect(await raw('/no/such/command').ended).toBe(127);
  });

  /** A server that ignores the end of input and SIGTERM, with a process of its own. */
  const STUBBORN = `trap '' TERM HUP INT; sleep 300 & echo "$$ $!"; while :; do sleep 1; done`;

  test.each([
    ['the end of input', (child: ChildProcess) => child.stdin?.end()],
    ['SIGTERM', (child: ChildProcess) => child.kill('SIGTERM')],
    ['SIGINT', (child: ChildProcess) => child.kill('SIGINT')],
    ['SIGHUP', (child: ChildProcess) => child.kill('SIGHUP')],
    ['SIGKILL of the relay', (child: ChildProcess) => child.kill('SIGKILL')],
  ])('no process is left after %s', async (_, stop) => {
    const { child, ended, out } = raw('sh', '-c', STUBBORN);
    await expect.poll(() => out().toString(), PATIENT).toContain('\n');
    const pids = out().toString().trim().split(' ').map(Number);
    expect(pids.every(isRunning)).toBe(true);
    stop(child);
    await ended;
    for (const pid of pids) await expect.poll(() => isRunning(pid), PATIENT).toBe(false);
  });

  test('M7: no process is left after the client was killed', async () => {
    const script = `const { spawn } = require('node:child_process');
      const relay = spawn(process.execPath, ${JSON.stringify(relayTo('sh', '-c', STUBBORN))}, { stdio: ['pipe', 'pipe', 'ignore'] });
      relay.stdout.on('data', (text) => process.stdout.write(relay.pid + ' ' + text));`;
    const client = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
    const line = await new Promise<string>((resolve) => client.stdout.once('data', (text) => resolve(`${text}`)));
    const pids = line.trim().split(' ').map(Number);
    expect(pids).toHaveLength(3);
    client.kill('SIGKILL');
    for (const pid of pids) await expect.poll(() => isRunning(pid), PATIENT).toBe(false);
  });
});
