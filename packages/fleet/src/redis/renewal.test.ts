import { execFileSync } from 'node:child_process';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { Cluster, Redis } from 'ioredis';
import { createClient, createCluster } from 'redis';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { NOWHERE } from '../protocol.ts';
import type { RedisConnection } from './connection.ts';
import { connectionOf } from './recognize.ts';
import { redisStore } from './redis-store.ts';
import { type RedisServer, startRedis } from './test-support.redis-server.ts';

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

/** The way between a client and Redis. `spoil` changes one answer of an open connection, and `drop` loses all that comes later. */
const startNetwork = async () => {
  let port = redis.port;
  let spoilt: string | undefined;
  const open = new Set<{ isDropped: boolean; readonly sockets: readonly Socket[] }>();
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    const link = { isDropped: false, sockets: [client, upstream] };
    open.add(link);
    for (const socket of link.sockets)
      socket.on('error', () => {}).on('close', () => link.sockets.forEach((one) => void one.destroy()));
    client.on('data', (data) => link.isDropped || upstream.write(data));
    upstream.on('data', (data) => {
      if (link.isDropped) return;
      // The answer to a read has its epoch, which is empty in a store without data.
      const isSpoilt = spoilt !== undefined && data.includes('$0\r\n\r\n');
      client.write(isSpoilt ? (spoilt ?? '') : data);
      if (isSpoilt) spoilt = undefined;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    for (const { sockets } of open) for (const socket of sockets) socket.destroy();
  });
  return {
    port: (server.address() as { port: number }).port,
    spoil: (answer: string) => {
      spoilt = answer;
    },
    isSpoilt: () => spoilt === undefined,
    /** Later connections. */
    leadsTo: (other: number) => {
      port = other;
    },
    drop: () => {
      for (const link of open) link.isDropped = true;
    },
  };
};

const cli = (port: number, ...args: string[]): string =>
  execFileSync('redis-cli', ['-p', String(port), ...args], { encoding: 'utf8' }).trim();

const CLIENTS = [
  ['redis', (port: number) => createClient({ url: `redis://127.0.0.1:${port}` })],
  ['ioredis', (port: number) => new Redis(port, '127.0.0.1', { lazyConnect: true })],
] as const;

const started = async (
  make: (port: number) => (typeof CLIENTS)[number][1] extends (port: number) => infer C ? C : never,
  isOpen: boolean,
) => {
  const network = await startNetwork();
  const client = make(network.port);
  client.on('error', () => {});
  if (isOpen) await client.connect();
  const connection = connectionOf(client)?.(600) ?? expect.fail('not recognized');
  onTestFinished(() => {
    connection.close();
    if (isOpen) 'destroy' in client ? client.destroy() : client.disconnect();
  });
  const store = redisStore(connection, { prefix: 'breakerbox', name: 'renewed', commandTimeoutMs: 200 });
  const listening = store.listen(() => {});
  const answers = () => vi.waitFor(() => store.read(NOWHERE), { timeout: 8_000, interval: 50 });
  await answers();
  return { network, store, listening, answers };
};

describe.each(CLIENTS)('G7: %s', (_, make) => {
  test.each([
    ['half of one', '*5\r\n:1\r\n'],
    ['one that nests 100,000 lists', `${'*1\r\n'.repeat(100_000)}:1\r\n`],
    ['one of a kind that does not exist', '@\r\n'],
  ])('G7: answers again after an answer that no client can read: %s', async (_what, answer) => {
    const { network, store, answers } = await started(make as never, false);
    network.spoil(answer);
    await expect(store.read(NOWHERE)).rejects.toThrow();
    expect(network.isSpoilt()).toBe(true);
    await answers();
  });

  test('G7: answers and listens again after a network that dropped its open connections, be they of the caller', async () => {
    const { network, store, listening, answers } = await started(make as never, true);
    network.drop();
    await expect(store.read(NOWHERE)).rejects.toThrow();
    await answers();
    await vi.waitFor(() => expect(listening.isCounted()).toBe(true), { timeout: 5_000, interval: 50 });
    await vi.waitFor(async () => expect((await store.read(NOWHERE)).processes).toBeGreaterThan(0), 5_000);
  });
});

test.each(CLIENTS)(
  'G7: %s follows a name to the new main while the old one lives on as a replica',
  { timeout: 30_000 },
  async (_, make) => {
    const { network, store, answers } = await started(make as never, false);
    const next = await startRedis();
    onTestFinished(() => next.stop());
    const report = { id: 'c', process: 'p', category: 'server', waitMs: 0, quorum: 1, windowMs: 1_000 } as const;
    const write = () => store.report({ ...report, generation: 0, ageMs: 0 });
    onTestFinished(() => void cli(redis.port, 'REPLICAOF', 'NO', 'ONE'));
    cli(redis.port, 'REPLICAOF', '127.0.0.1', String(next.port));
    network.leadsTo(next.port);
    await vi.waitUntil(() => cli(redis.port, 'INFO', 'replication').includes('link_status:up'), 10_000);
    await answers(); // The replica can be read.
    await vi.waitFor(write, { timeout: 10_000, interval: 50 });
    expect(cli(next.port, 'DBSIZE')).toBe('1');
  },
);

/** Takes connections, and answers nothing. */
const startSilent = async () => {
  const open = new Set<Socket>();
  let made = 0;
  const server = createServer((socket) => {
    made += 1;
    open.add(socket.resume());
    socket.on('error', () => {}).on('close', () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  return { port: (server.address() as { port: number }).port, open, made: () => made };
};

const askFor = async (connection: RedisConnection, ms: number): Promise<void> => {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs) {
    await connection.send(['PING'], 'key', 50).catch(() => {});
    await wait(20);
  }
};

test.each(CLIENTS)('G7: %s opens no connection after it was closed, and leaves none open', async (_, make) => {
  const { port, open, made } = await startSilent();
  const connection = connectionOf(make(port))?.(100) ?? expect.fail('not recognized');
  await askFor(connection, 700);
  expect(made()).toBeGreaterThan(2);
  const late = connection.send(['PING'], 'key', 200).catch(() => {});
  connection.close();
  await late;
  await vi.waitFor(() => expect(open.size).toBe(0), { timeout: 3_000, interval: 50 });
});

test.each([
  ['redis', (port: number) => createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${port}` }] })],
  ['ioredis', (port: number) => new Cluster([{ host: '127.0.0.1', port }], { lazyConnect: true })],
] as const)('G7: a cluster of %s that has never answered is not opened again and again', async (_, make) => {
  const { port, made } = await startSilent();
  const connection = connectionOf(make(port))?.(100) ?? expect.fail('not recognized');
  onTestFinished(() => connection.close());
  await askFor(connection, 700);
  expect(made()).toBeLessThan(4);
});
