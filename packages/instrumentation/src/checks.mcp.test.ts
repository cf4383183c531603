import { BreakerboxConfigError, BreakerboxUsageError, type Precheck } from '@breakerbox/core';
import { Client as ClientOfSdk2 } from '@modelcontextprotocol/client';
import { Client as ClientOfSdk1 } from '@modelcontextprotocol/sdk/client/index.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { diag } from '@opentelemetry/api';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { mcpPing } from './checks.ts';
import { guardMcpClient } from './mcp/mcp.ts';
import { listenToDiag } from './test-support/diagnosed.ts';
import { inMemory, sdks } from './test-support/mcp-servers.ts';
import { watchedSession } from './test-support/watched-session.ts';

const undo: (() => unknown)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

describe.each(Object.entries(sdks))('K4: an MCP server answers a ping, with %s over stdio', (sdk, { create }) => {
  const connect = async () => {
    const { client, start } = create();
    undo.push(() => client.close());
    return { client, pid: await start({ name: 'everything', args: ['stdio'] }) };
  };

  test('K4: a working server is available, through a guarded client and through a function too', async () => {
    const { client } = await connect();
    const guarded = guardMcpClient(client as ClientOfSdk1, watchedSession().session);
    const checks: Precheck[] = [mcpPing(client), mcpPing(guarded), mcpPing(() => client)];
    expect(await Promise.all(checks.map((check) => check('echo')))).toEqual(Array(3).fill('available'));
  });

  test('K4: a server that hangs is unavailable, and available when it continues', async () => {
    const { client, pid } = await connect();
    process.kill(pid, 'SIGSTOP');
    undo.push(() => process.kill(pid, 'SIGCONT'));
    expect(await mcpPing(client, { timeoutMs: 50 })('echo')).toBe('unavailable');
    process.kill(pid, 'SIGCONT');
    expect(await mcpPing(client, { timeoutMs: 20_000 })('echo')).toBe('available');
  });

  test('K4: a killed server is unavailable, during a ping and later', async () => {
    const { client, pid } = await connect();
    process.kill(pid, 'SIGSTOP'); // It can't answer first.
    const check = mcpPing(client, { timeoutMs: 20_000 });
    const asked = check('echo');
    process.kill(pid, 'SIGKILL');
    expect(await asked).toBe('unavailable');
    expect(await check('echo')).toBe('unavailable');
  });

  test('K4: a function finds the client that replaced a dead one', async () => {
    const [dead, alive] = [await connect(), await connect()];
    let current = dead.client;
    const check = mcpPing(() => current, { timeoutMs: 20_000 });
    await dead.client.close();
    expect(await check('echo')).toBe('unavailable');
    current = alive.client;
    expect(await check('echo')).toBe('available');
  });

  test('K4: a client that was never connected is unavailable', async () => {
    const who = { name: 'breakerbox-test', version: '0.0.0' };
    expect(await mcpPing(sdk === 'SDK 1' ? new ClientOfSdk1(who) : new ClientOfSdk2(who))('echo')).toBe('unavailable');
  });
});

test.each(Object.entries(inMemory))('K4: the server has 3 s by default, with %s', async (_, connect) => {
  const client = await connect({ list: async () => ({ tools: [] }), call: async () => ({ content: [] }) });
  undo.push(() => client.close());
  const asked = vi.spyOn(client, 'ping');
  expect(await mcpPing(client)('echo')).toBe('available');
  expect(asked.mock.calls).toEqual([[{ timeout: 3_000 }]]);
});

describe('K4: unusual clients', () => {
  test('K4, E5: a function that returns a promise gives no client, and its rejection does not end the process', async () => {
    const heard = listenToDiag();
    undo.push(() => diag.disable());
    const check = mcpPing((async () => Promise.reject(new Error('not connected'))) as never);
    expect(() => check('echo')).toThrow(BreakerboxUsageError);
    await vi.waitFor(() => expect(heard).toHaveLength(1));
    expect(heard[0]?.[1]).toMatchObject({ message: 'not connected' });
  });

  test('K4: a server that does not know ping has answered, so it is available', async () => {
    const ping = async () => {
      throw new McpError(ErrorCode.MethodNotFound, 'Method not found');
    };
    expect(await mcpPing({ ping })('echo')).toBe('available');
  });

  test.each<[string, () => Promise<unknown>]>([
    ['throws', () => fails('broken')],
    ['rejects with nothing', () => Promise.reject(undefined)],
    ['minds no time limit', () => new Promise(() => {})],
  ])('K4: a client that %s is unavailable', async (_, ping) => {
    expect(await mcpPing({ ping }, { timeoutMs: 5 })('echo')).toBe('unavailable');
  });

  test('K2: a client function that throws or returns no client says nothing about the server', () => {
    expect(() => mcpPing(() => fails('not connected yet'))('echo')).toThrow('not connected yet');
    const check = mcpPing(() => undefined as never);
    expect(() => check('echo')).toThrow(BreakerboxUsageError);
    expect(() => check('echo')).toThrow('the client function given to mcpPing(): got a value of type undefined');
  });
});

describe('E6: invalid arguments are rejected', () => {
  test.each([
    [null, 'got null, which has no function ping'],
    [{}, 'got a value of type object, which has no function ping'],
    ['x', 'of type string'],
  ])('E6: %j', (client, message) => {
    expect(() => mcpPing(client as never)).toThrow(BreakerboxUsageError);
    expect(() => mcpPing(client as never)).toThrow(message);
  });

  test.each<[unknown, string]>([
    [{ timeoutMs: -1 }, 'mcpPing() options.timeoutMs: is -1. Set milliseconds above 0'],
    [
      { timeoutMS: 1 },
      'mcpPing() options.timeoutMS: is not an option. Correct its name or remove it. The options are timeoutMs',
    ],
  ])('E6: %j', (options, message) => {
    const make = () => mcpPing({ ping: async () => {} }, options as never);
    expect(make).toThrow(BreakerboxConfigError);
    expect(make).toThrow(message);
  });
});

const fails = (message: string): never => {
  throw new Error(message);
};
