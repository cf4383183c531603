import { execFileSync } from 'node:child_process';
import { Cluster, Redis } from 'ioredis';
import { createClient, createCluster } from 'redis';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type FleetStore, NOWHERE } from '../protocol.ts';
import { connectionOf } from './recognize.ts';
import { fleetKey, redisStore } from './redis-store.ts';
import { freePort, openConnection, type RedisServer, startRedis } from './test-support.redis-server.ts';

const until = async (check: () => unknown, ms = 10_000): Promise<void> => {
  for (let waited = 0; waited < ms; waited += 20) {
    if ((await check()) === true) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('It did not happen in time.');
};

const open: (() => void)[] = [];

const storeOf = (client: object, name = 'agent', commandTimeoutMs = 1_000): FleetStore => {
  const connection = connectionOf(client)?.();
  if (connection === undefined) throw new Error('The client is not recognized.');
  open.push(() => connection.close());
  return redisStore(connection, { prefix: 'breakerbox', name, commandTimeoutMs });
};

const answers = (store: FleetStore) => () =>
  store.read(NOWHERE).then(
    () => true,
    () => false,
  );

const report = (id: string, process: string) =>
  ({ id, process, category: 'server', waitMs: 1_000, quorum: 2, windowMs: 60_000, generation: 0, ageMs: 0 }) as const;

/** Three masters on loopback that share all slots. */
const startCluster = async (): Promise<{
  readonly servers: readonly RedisServer[];
  readonly ports: readonly number[];
}> => {
  const servers: RedisServer[] = [];
  for (let node = 0; node < 3; node += 1) {
    const bus = await freePort();
    servers.push(await startRedis(['--cluster-enabled', 'yes', '--cluster-port', String(bus)]));
  }
  const nodes = servers.map(({ port }) => `127.0.0.1:${port}`);
  execFileSync('redis-cli', ['--cluster', 'create', ...nodes, '--cluster-yes'], { stdio: 'pipe' });
  return { servers, ports: servers.map(({ port }) => port) };
};

let server: RedisServer;
let cluster: Awaited<ReturnType<typeof startCluster>>;

beforeAll(async () => {
  server = await startRedis();
  cluster = await startCluster();
});
afterAll(async () => {
  for (const close of open) close();
  await server.stop();
  for (const node of cluster.servers) await node.stop();
});

const CLIENTS: readonly (readonly [string, () => object])[] = [
  ['redis', () => createClient({ url: server.url })],
  ['redis with buffers', () => createClient({ url: server.url, commandOptions: { typeMapping: { 36: Buffer } } })],
  ['ioredis', () => new Redis(server.port, '127.0.0.1', { lazyConnect: true })],
  ['ioredis with keyPrefix', () => new Redis(server.port, '127.0.0.1', { lazyConnect: true, keyPrefix: 'app:' })],
  [
    'redis, cluster',
    () => createCluster({ rootNodes: cluster.ports.map((port) => ({ url: `redis://127.0.0.1:${port}` })) }),
  ],
  [
    'ioredis, cluster',
    () =>
      new Cluster(
        cluster.ports.map((port) => ({ host: '127.0.0.1', port })),
        { lazyConnect: true },
      ),
  ],
];

describe.each(CLIENTS)('G10: the client %s', (name, make) => {
  test('G10: all calls, hints to other processes, and their number', async () => {
    const [one, two] = [storeOf(make(), name), storeOf(make(), name)];
    let hints = 0;
    const first = one.listen(() => {});
    const second = two.listen(() => {
      hints += 1;
    });
    await until(answers(one));
    await until(answers(two));
    await until(async () => (await one.read(NOWHERE)).processes === 2);
    expect(await one.report(report('c', 'p1'))).toMatchObject({ state: 'pending', seenBy: 1 });
    expect(await two.report(report('c', 'p2'))).toMatchObject({ state: 'open', generation: 1 });
    await until(() => hints > 0);
    const { position, circuits } = await one.read(NOWHERE);
    expect(circuits).toMatchObject([{ id: 'c', state: 'open', category: 'server', waitMs: 1_000 }]);
    expect(await one.claim('c', 'p1', 1, 't', 1_000, false)).toBeUndefined();
    await until(async () => ((await one.read(NOWHERE)).circuits[0]?.ageMs ?? 0) >= 1_000);
    const grant = await one.claim('c', 'p1', 1, 't', 1_000, false);
    expect(grant).toEqual({ epoch: position.epoch, generation: 1, token: 't' });
    expect(await two.claim('c', 'p2', 1, 'u', 1_000, false)).toBeUndefined();
    if (grant !== undefined) expect(await one.settle('c', 'p1', grant, { result: 'success' })).toBe('done');
    expect((await two.read(position)).circuits).toMatchObject([{ state: 'closed', generation: 2 }]);
    const applied = async (id: string) => (await one.read(position, ['x', 'y'])).topics.get(id);
    const action = { key: 'k', id: 'x', body: '{}', leftMs: 60_000, keptMs: 60_000, ageMs: 0, after: 0 };
    expect(await two.control(action)).toMatchObject({ key: 'k', id: 'x' });
    expect(await applied('x')).toBe(0);
    first.to(new Set(['x', 'y']));
    second.to(new Set(['x']));
    await until(async () => (await applied('x')) === 2 && (await applied('y')) === 1);
    first.to(new Set(['y']));
    await until(async () => (await applied('x')) === 1 && (await applied('y')) === 1);
    second.stop();
    await until(async () => (await applied('x')) === 0 && (await one.read(NOWHERE)).processes === 1);
    first.stop();
    await until(async () => (await one.read(NOWHERE)).processes === undefined);
  });
});

describe('G10: connections', () => {
  test('G10: Redis forgets its scripts, and the next call loads them', async () => {
    const store = storeOf(createClient({ url: server.url }), 'flushed');
    await until(answers(store));
    execFileSync('redis-cli', ['-p', String(server.port), 'SCRIPT', 'FLUSH']);
    expect((await store.read(NOWHERE)).whole).toBe(true);
  });

  test('G9: each write renews the life of the hash: an hour, or four times the longest wait', async () => {
    const store = storeOf(createClient({ url: server.url }), 'life');
    await until(answers(store));
    const life = () =>
      Number(execFileSync('redis-cli', ['-p', String(server.port), 'PTTL', fleetKey('breakerbox', 'life')]));
    await store.report(report('c', 'p1'));
    expect(life()).toBeGreaterThan(3_590_000);
    await store.report({ ...report('d', 'p1'), waitMs: 3_600_000 });
    expect(life()).toBeGreaterThan(4 * 3_590_000);
    await store.report(report('c', 'p2'));
    expect(life()).toBeGreaterThan(4 * 3_590_000);
  });

  test('G9: names with braces and colons are escaped, so that the whole key is the hash tag', () => {
    expect(fleetKey('my:app', '{a} b%')).toBe('{my%3Aapp:1:%7Ba%7D b%25}');
  });

  test.each([
    ['redis', (port: number) => createClient({ url: `redis://127.0.0.1:${port}` })],
    ['ioredis', (port: number) => new Redis(port, '127.0.0.1', { lazyConnect: true })],
  ] as const)(
    'G7: %s rejects within the time limit where Redis is stopped or hangs, and answers when it is back',
    async (name, make) => {
      const own = await startRedis();
      const store = storeOf(make(own.port), name, 200);
      let hints = 0;
      store.listen(() => {
        hints += 1;
      });
      await until(answers(store));
      own.child.kill('SIGSTOP');
      const startMs = performance.now();
      await expect(store.read(NOWHERE)).rejects.toThrow();
      await expect(store.report(report('c', 'p1'))).rejects.toThrow();
      expect(performance.now() - startMs).toBeLessThan(2_000);
      own.child.kill('SIGCONT');
      await until(answers(store));
      await own.stop();
      await until(async () => !(await answers(store)()));
      await expect(store.read(NOWHERE)).rejects.toMatchObject({ reason: 'disconnected' });
      const again = await startRedis([], own.port);
      await until(answers(store));
      await until(async () => (await store.read(NOWHERE)).processes === 1);
      const before = hints;
      await store.report({ ...report('d', 'p1'), quorum: 1 });
      await until(() => hints > before);
      await again.stop();
    },
  );
});

describe('G8: topics that a process leaves while its subscription is lost', () => {
  test.each([
    ['redis', () => createClient({ url: server.url })],
    ['ioredis', () => new Redis(server.port, '127.0.0.1', { lazyConnect: true })],
  ] as const)('G8: %s does not listen to them again', async (name, make) => {
    const client = make();
    const store = storeOf(client, `left-${name}`);
    const listening = store.listen(() => {});
    await until(answers(store));
    listening.to(new Set(['x', 'y']));
    const topics = async () => [...(await store.read(NOWHERE, ['x', 'y'])).topics.values()].join();
    await until(async () => (await topics()) === '1,1' && listening.isCounted());
    execFileSync('redis-cli', ['-p', String(server.port), 'CLIENT', 'KILL', 'TYPE', 'pubsub']);
    await until(() => !listening.isCounted());
    listening.to(new Set(['y']));
    await until(async () => listening.isCounted() && (await topics()) === '0,1');
  });

  test.each([
    ['redis', () => createClient({ url: server.url }), 'sendCommand', 'isReady', true],
    ['ioredis', () => new Redis(server.port, '127.0.0.1', { lazyConnect: true }), 'call', 'status', 'ready'],
  ] as const)('G10: a fleet does not use the connection of the caller: %s', async (_, make, send, field, isOpen) => {
    const client = make();
    client.on('error', () => {});
    await client.connect();
    const used = vi.spyOn(client as unknown as Record<typeof send, () => void>, send);
    const connection = await openConnection(client);
    connection.close();
    expect([used.mock.calls, client.listenerCount('error')]).toEqual([[], 1]);
    expect(client).toHaveProperty(field, isOpen);
    if ('destroy' in client) client.destroy();
    else client.disconnect();
  });
});

describe('G10: a Redis with a password', () => {
  test.each([
    ['redis', (port: number, password: string) => createClient({ url: `redis://:${password}@127.0.0.1:${port}` })],
    ['ioredis', (port: number, password: string) => new Redis(port, '127.0.0.1', { lazyConnect: true, password })],
  ] as const)('G7: %s with a wrong password rejects, and connects once it is right', async (name, make) => {
    const own = await startRedis(['--requirepass', 'right']);
    const store = storeOf(make(own.port, 'wrong'), name, 200);
    store.listen(() => {});
    await new Promise((resolve) => setTimeout(resolve, 500));
    const error = await store.read(NOWHERE).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ reason: 'permission', message: 'The Redis client is not connected (WRONGPASS).' });
    const set = ['-p', String(own.port), '-a', 'right', 'CONFIG', 'SET', 'requirepass', 'wrong'];
    execFileSync('redis-cli', set, { stdio: 'pipe' });
    await until(answers(store), 15_000);
    await until(async () => (await store.read(NOWHERE)).processes === 1, 15_000);
    await own.stop();
  });
});
