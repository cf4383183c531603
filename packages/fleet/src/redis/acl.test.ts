/** The rights that docs/fleet.md gives to the user of a fleet. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { NOWHERE } from '../protocol.ts';
import { withoutAddress } from '../reasons.ts';
import { connectionOf } from './recognize.ts';
import { fleetKey, redisStore } from './redis-store.ts';
import { openConnection, type RedisServer, startRedis } from './test-support.redis-server.ts';

const PAGE = readFileSync(`${import.meta.dirname}/../../../../docs/fleet.md`, 'utf8');
const [SET_USER = expect.fail('docs/fleet.md has no ACL SETUSER')] = /^redis-cli ACL SETUSER .*$/m.exec(PAGE) ?? [];

let server: RedisServer;
let url: string;
beforeAll(async () => {
  server = await startRedis();
  const command = SET_USER.replace('redis-cli', `redis-cli -e -p ${server.port}`);
  await promisify(execFile)('sh', ['-c', command]);
  url = server.url.replace('redis://', 'redis://breakerbox:PASSWORD@');
});
afterAll(() => server.stop());

/** The arguments after the name of the user, without its password. */
const rights = (): readonly string[] =>
  [...SET_USER.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '').slice(5);

const ioredis = () => {
  const client = new Redis(url, { lazyConnect: true });
  return { client, close: () => client.disconnect() };
};
const nodeRedis = () => {
  const client = createClient({ url });
  return { client, close: () => client.destroy() };
};

/** Everything that has been refused so far. */
const refused = async (): Promise<string> => {
  const { stdout } = await promisify(execFile)('redis-cli', ['-p', `${server.port}`, 'ACL', 'LOG']);
  return stdout.trim();
};

describe('the user of docs/fleet.md', () => {
  test.each([
    ['redis', nodeRedis],
    ['ioredis', ioredis],
  ])('may do all that a fleet does, with the client %s', async (name, connect) => {
    const { client } = connect();
    const connection = connectionOf(client)?.() ?? expect.fail('the client is not recognized');
    const store = redisStore(connection, { prefix: 'breakerbox', name, commandTimeoutMs: 5_000 });
    onTestFinished(() => store.close());
    const hint = vi.fn();
    const listening = store.listen(hint);
    await vi.waitFor(() => store.read(NOWHERE), 10_000);
    await vi.waitFor(async () => expect((await store.read(NOWHERE)).processes).toBe(1), 10_000);
    const report = { id: 'web_search', process: 'p', category: 'network', waitMs: 0, windowMs: 1_000 } as const;
    expect(await store.report({ ...report, quorum: 1, generation: 0, ageMs: 0 })).toMatchObject({ state: 'open' });
    await vi.waitFor(() => expect(hint).toHaveBeenCalled(), 10_000);
    const grant = (await store.claim('web_search', 'p', 1, 'token', 1_000, false)) ?? expect.fail('no grant');
    expect(await store.settle('web_search', 'p', grant, { result: 'failure', category: 'network', waitMs: 0 })).toBe(
      'done',
    );
    expect(await store.end('web_search', 2)).toBe(true);
    const action = { key: 'k', id: 'a', body: '{}', leftMs: 60_000, keptMs: 60_000, ageMs: 0, after: 0 };
    expect(await store.control(action)).toMatchObject({ key: 'k', id: 'a' });
    listening.to(new Set(['a']));
    await vi.waitFor(
      async () => expect((await store.read(NOWHERE, ['a'])).topics).toEqual(new Map([['a', 1]])),
      10_000,
    );
    listening.to(new Set());
    await vi.waitFor(
      async () => expect((await store.read(NOWHERE, ['a'])).topics).toEqual(new Map([['a', 0]])),
      10_000,
    );
    expect(await refused()).toBe('');
  });

  const COMMANDS = [
    'evalsha',
    'eval',
    'time',
    'hlen',
    'hstrlen',
    'hmget',
    'hget',
    'hkeys',
    'hset',
    'hdel',
    'pttl',
    'pexpire',
    'unlink',
  ];

  test.each(COMMANDS)('G7: a user without %s gets an error that names it', async (missing) => {
    const admin = createClient({ url: server.url });
    onTestFinished(() => admin.destroy());
    await admin.connect();
    await admin.sendCommand(['SCRIPT', 'FLUSH']);
    const user = `without-${missing}`;
    await admin.sendCommand(['ACL', 'SETUSER', user, ...rights(), `-${missing}`, '>PASSWORD', 'on']);
    const connection = await openConnection(
      createClient({ url: server.url.replace('redis://', `redis://${user}:PASSWORD@`) }),
    );
    onTestFinished(() => connection.close());
    const store = redisStore(connection, { prefix: 'breakerbox', name: user, commandTimeoutMs: 5_000 });
    // A hash without an epoch, which is replaced, and an action that is over.
    const key = fleetKey('breakerbox', user);
    await admin.hSet(key, { v: '1', 'a:old': '1 {"i":"i","b":"b","m":0,"o":0,"u":0}' });
    const action = { key: 'k', id: 'a', body: '{}', leftMs: 60_000, keptMs: 60_000, ageMs: 0, after: 0 };
    const all = async () => {
      await store.control(action);
      await admin.hSet(key, { 'a:old': '1 {"i":"i","b":"b","m":0,"o":0,"u":0}' });
      await store.control({ ...action, key: 'l', id: 'b' });
      await store.read(NOWHERE);
    };
    const thrown = await all().catch((error: unknown) => withoutAddress(error));
    expect(thrown).toMatchObject({
      reason: 'permission',
      message: expect.stringContaining(`may not run ${missing.toUpperCase()}.`),
    });
  });

  const LOSSES = ['redis', 'ioredis'].flatMap((name) =>
    ['resetchannels', '-ssubscribe'].map((lost) => [name, lost] as const),
  );

  test.each(LOSSES)('G7: %s neither ends nor is deaf for ever after a change of rights: %s', async (name, lost) => {
    const user = `lost-${name}${lost}`;
    const admin = async (...args: readonly string[]): Promise<void> => {
      await promisify(execFile)('redis-cli', ['-e', '-p', `${server.port}`, ...args]);
    };
    await admin('ACL', 'SETUSER', user, ...rights(), '>PASSWORD', 'on');
    const own = server.url.replace('redis://', `redis://${user}:PASSWORD@`);
    const client = name === 'redis' ? createClient({ url: own }) : new Redis(own, { lazyConnect: true });
    const connection = await openConnection(client.on('error', () => {}));
    onTestFinished(() => connection.close());
    const subscription = connection.subscribe(() => {});
    onTestFinished(() => subscription.close());
    const channel = '{breakerbox:1:a}';
    const hears = (is: boolean) => vi.waitUntil(() => subscription.hears(channel) === is, 10_000);
    subscription.to([channel]);
    await hears(true);
    await admin('ACL', 'SETUSER', user, lost);
    await admin('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await hears(false);
    await setTimeout(2_500); // It connects again within a second.
    expect(subscription.hears(channel)).toBe(false);
    await admin('ACL', 'SETUSER', user, ...rights());
    await hears(true);
  });

  test.each([
    [['GET', 'other']],
    [['HGET', 'other', 'x']],
    [['HGET', '{breakerbox:2:a}', 'x']],
    [['EVAL', "return redis.call('HGET', 'other', 'x')", '0']],
    [['KEYS', '*']],
    [['FLUSHALL']],
    [['CONFIG', 'GET', '*']],
    [['ACL', 'LIST']],
    [['CLIENT', 'LIST']],
    [['SSUBSCRIBE', 'other']],
    [['SCRIPT', 'FLUSH']],
  ])('may not do anything else: %j', async (command) => {
    const { client, close } = nodeRedis();
    onTestFinished(close);
    await client.connect();
    await expect(client.sendCommand(command)).rejects.toThrow(/NOPERM|user executing the script can't/);
  });
});
