/** `breakerbox mcp --restart` and `--call-timeout` in front of processes that end or hang. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client as ClientOfSdk2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioOfSdk2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientOfSdk1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioOfSdk1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterEach, describe, expect, test } from 'vitest';
import { callOf, PATIENT, piped, relayTo, textIn } from './mcp-relay-pipes.ts';

const MORTAL = fileURLToPath(new URL('mcp-mortal-server.mjs', import.meta.url));
const REAL = fileURLToPath(new URL('mcp-relay-server.mjs', import.meta.url));
const HELLO =
  '{"jsonrpc":"2.0", "id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t"}}}';
const READY = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'breakerbox-relay-'));
  undo.push(() => rmSync(path, { recursive: true }));
  return path;
};

/** A file with which the server's circuit waits only shortly. */
const impatient = (): string => {
  const path = join(folder(), 'breakerbox.json');
  const quick = { cooldownMs: 300 };
  writeFileSync(path, JSON.stringify({ defaults: quick, groups: { mortal: quick, 'relay-test': quick } }));
  return path;
};

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** A relay in front of the mortal server, with the handshake of its client. */
const mortal = async (...options: string[]) => {
  const log = join(folder(), 'log');
  writeFileSync(log, '');
  const relay = piped([...options, '--', process.execPath, MORTAL], { RELAY_LOG: log });
  undo.push(() => relay.child.kill('SIGKILL'));
  relay.send(HELLO);
  await relay.line(1);
  relay.send(READY);
  /** What each process of the server has got. */
  const got = (): string[][] => {
    const byPid = new Map<string, string[]>();
    for (const one of readFileSync(log, 'utf8').split('\n').filter(Boolean)) {
      const at = one.indexOf(' ');
      byPid.set(one.slice(0, at), [...(byPid.get(one.slice(0, at)) ?? []), one.slice(at + 1)]);
    }
    return [...byPid.values()];
  };
  const lines = (): string[] => relay.texts.out.split('\n').filter(Boolean);
  return { ...relay, got, lines };
};

describe('a server that ends', () => {
  test('M7: is started again with the handshake of the client, byte for byte', async () => {
    const { send, got, line, lines, texts } = await mortal('--restart');
    send(callOf(1, 'never'));
    send(callOf(2, 'die'));
    const ended = textIn(await line(2));
    expect(ended).toMatch(/^The MCP server has ended \(exit code 9\)\. breakerbox mcp starts it again\.\n<breakerbox>/);
    expect(JSON.parse(await line(3))).toMatchObject({ id: 2, result: { isError: true } });
    send(callOf(3, 'pid'));
    expect(textIn(await line(4))).toContain("the tools of group 'mortal' failed (network)");
    send('{"jsonrpc":"2.0","id":4,"method":"ping"}');
    expect(JSON.parse(await line(5))).toMatchObject({ id: 4, error: { code: -32_000 } });
    await expect.poll(() => got()[1], PATIENT).toEqual([HELLO, READY]);
    await expect.poll(() => lines().at(-1), PATIENT).toMatch(/"data":"started \d+"/);
    send('{"jsonrpc":"2.0","id":5,"method":"ping"}');
    expect(JSON.parse(await line(7))).toEqual({ jsonrpc: '2.0', id: 5, result: {} });
    expect(lines()).toHaveLength(8);
    expect(texts.err).toBe('breakerbox mcp: the MCP server has ended: exit code 9. It is started again in 1 s.\n');
  });

  test('M7: while no call is under way, costs nothing', async () => {
    const { send, line } = await mortal('--restart');
    send(callOf(1, 'pid'));
    const pid = Number(textIn(await line(2)));
    process.kill(pid, 'SIGKILL');
    await line(3); // The next server has started.
    send(callOf(2, 'pid'));
    expect(Number(textIn(await line(4)))).not.toBe(pid);
  });

  test('M7: a call before the next server has started is answered, and opens the circuit', async () => {
    const { send, line, texts } = await mortal('--restart', '--config', impatient());
    send(callOf(1, 'pid'));
    process.kill(Number(textIn(await line(2))), 'SIGKILL');
    await expect.poll(() => texts.err, PATIENT).toContain('has ended: signal SIGKILL');
    send(callOf(2, 'pid'));
    expect(textIn(await line(3))).toContain('The MCP server has ended (signal SIGKILL)');
    send(callOf(3, 'pid'));
    expect(textIn(await line(4))).toContain("the tools of group 'mortal' failed (network)");
    await line(5);
    send(callOf(4, 'pid'));
    expect(Number(textIn(await line(6)))).toBeGreaterThan(0);
  });

  test('M7: again and again waits longer each time, and every call has one answer', async () => {
    const { send, line, lines, texts, got } = await mortal('--restart', '--config', impatient());
    let at = 1;
    for (let n = 0; n < 2; n += 1) {
      send(callOf(n, n === 0 ? 'half' : 'die'));
      at += 1;
      expect(JSON.parse(await line(at))).toMatchObject({ id: n, result: { isError: true } });
      at += 1;
      await line(at); // The next one has started.
    }
    expect(texts.err.match(/in \d+ s/g)).toEqual(['in 1 s', 'in 2 s']);
    expect(lines()).toHaveLength(at + 1);
    expect(got()).toHaveLength(3);
  });

  test('M7: its questions are withdrawn, and late answers do not reach the next server', async () => {
    const { send, line, lines, got } = await mortal('--restart');
    send(callOf(1, 'ask'));
    expect(JSON.parse(await line(2))).toMatchObject({ id: 's', method: 'elicitation/create' });
    send(callOf(2, 'die'));
    await expect.poll(() => lines().at(-1), PATIENT).toMatch(/"data":"started/);
    expect(lines().some((one) => one.includes('"notifications/cancelled","params":{"requestId":"s"'))).toBe(true);
    send('{"jsonrpc":"2.0","id":"s","result":{"action":"accept"}}');
    send('{"jsonrpc":"2.0","id":3,"method":"ping"}');
    await expect.poll(() => got()[1]?.at(-1), PATIENT).toContain('ping');
    expect(got()[1]).toHaveLength(3);
  });

  test.each([
    ['says nothing', 'exit 3'],
    ['prints its help', 'echo "Usage: server [options]"; exit 3'],
    ['sends a notification', `echo '{"jsonrpc":"2.0","method":"notifications/message","params":{}}'; exit 3`],
    ['answers with an error', `read -r line; echo '{"jsonrpc":"2.0","id":0,"error":{"code":-32602}}'; exit 3`],
  ])('M7: that has given no result and %s is not started again', async (_, script) => {
    const relay = piped(['--restart', '--', 'sh', '-c', script]);
    undo.push(() => relay.child.kill('SIGKILL'));
    relay.send(HELLO);
    await expect.poll(() => relay.child.exitCode, { timeout: 20_000 }).toBe(3);
  });

  test('M7: that cannot be started is not started again', async () => {
    const missing = piped(['--restart', '--', '/no/such/command']);
    expect(await missing.ended).toBe(127);
  });

  test('M7: is not started again after the client has closed, also while the relay waits', async () => {
    const working = await mortal('--restart');
    working.child.stdin?.end();
    expect(await working.ended).toBe(0);
    const waiting = await mortal('--restart');
    waiting.send(callOf(1, 'die'));
    await expect.poll(() => waiting.texts.err, PATIENT).toContain('started again in 1 s');
    waiting.child.stdin?.end();
    expect(await waiting.ended).toBe(9);
    expect(waiting.got()).toHaveLength(1);
    const told = await mortal('--restart');
    told.send(callOf(1, 'die'));
    await expect.poll(() => told.texts.err, PATIENT).toContain('started again in 1 s');
    told.child.kill('SIGTERM');
    expect(await told.ended).toBe(9);
  });
});

/** More than a pipe and the streams of Node hold. */
const MANY = `${'{"jsonrpc":"2.0","method":"notifications/x"}\n'.repeat(20_000)}`;

describe('the end of input is seen while the server does not read', () => {
  test('M7: and the relay ends', async () => {
    const { child, ended } = piped(['--', 'sleep', '300']);
    undo.push(() => child.kill('SIGKILL'));
    child.stdin?.end(MANY);
    await expect.poll(() => child.signalCode ?? child.exitCode, { timeout: 20_000 }).not.toBeNull();
    expect(await ended).toBe(143);
  });

  test('M7: and so it does while the next server hangs in the handshake', async () => {
    const mark = join(folder(), 'begun');
    const script = `if [ -e "$0" ]; then exec sleep 300; fi; touch "$0"
      read -r line; echo '{"jsonrpc":"2.0","id":0,"result":{}}'; read -r line; exit 9`;
    const { child, ended, send, line, texts } = piped(['--restart', '--', 'sh', '-c', script, mark]);
    undo.push(() => child.kill('SIGKILL'));
    send(HELLO);
    await line(0);
    send(READY);
    await expect.poll(() => texts.err, PATIENT).toContain('started again in 1 s');
    await new Promise((resolve) => setTimeout(resolve, 1_500)); // The next one has started.
    child.stdin?.end(MANY);
    await expect.poll(() => child.exitCode, { timeout: 20_000 }).toBe(143);
    await ended;
  });
});

type Result = { content: { text: string }[]; isError?: boolean };
const who = { name: 'relay-test', version: '0.0.0' };

const CLIENTS = {
  'SDK 1': async (args: string[]) => {
    const client = new ClientOfSdk1(who);
    undo.push(() => client.close());
    await client.connect(new StdioOfSdk1({ command: process.execPath, args, stderr: 'ignore' }));
    return { call: (name: string): Promise<Result> => client.callTool({ name, arguments: {} }) as Promise<Result> };
  },
  'SDK 2': async (args: string[]) => {
    const client = new ClientOfSdk2(who);
    undo.push(() => client.close());
    await client.connect(new StdioOfSdk2({ command: process.execPath, args, stderr: 'ignore' }));
    return { call: (name: string): Promise<Result> => client.callTool({ name, arguments: {} }) as Promise<Result> };
  },
};

describe.each(Object.entries(CLIENTS))('with %s', (_, connect) => {
  test('M7: a killed server costs its call, and one probe finds the next one', async () => {
    const { call } = await connect(relayTo('--restart', '--config', impatient(), '--', process.execPath, REAL));
    const pid = Number((await call('pid')).content[0]?.text);
    const under = call('never');
    await call('pid'); // The server has got the call before.
    process.kill(pid, 'SIGKILL');
    expect((await under).content[0]?.text).toContain('The MCP server has ended (signal SIGKILL)');
    await expect.poll(async () => Number((await call('pid')).content[0]?.text) > 0, PATIENT).toBe(true);
    expect(isRunning(pid)).toBe(false);
  });

  test('M6: a server that hangs costs three calls with --call-timeout', async () => {
    const { call } = await connect(relayTo('--call-timeout', '300ms', '--', process.execPath, REAL));
    const pid = Number((await call('pid')).content[0]?.text);
    process.kill(pid, 'SIGSTOP');
    undo.push(() => isRunning(pid) && process.kill(pid, 'SIGCONT'));
    const texts: string[] = [];
    for (let n = 0; n < 5; n += 1) texts.push((await call('pid')).content[0]?.text ?? '');
    expect(texts.filter((text) => text.includes('did not answer within 0.3 s'))).toHaveLength(3);
    expect(texts.at(-1)).toContain('the last calls failed (timeout)');
  });
});

test('M6: a call that has timed out is cancelled at the server', async () => {
  const { send, got, line, lines } = await mortal('--call-timeout', 'never=200ms');
  send(callOf(7, 'never'));
  expect(textIn(await line(2))).toContain("Tool 'never' did not answer within 0.2 s");
  await expect
    .poll(() => got()[0]?.at(-1), PATIENT)
    .toContain('"method":"notifications/cancelled","params":{"requestId":7');
  expect(lines()).toHaveLength(3);
});
