/** Servers in the place of Redis that send what no client expects. An error that is thrown or rejected without a listener fails the test. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { createBreakerbox } from '@breakerbox/core';
import { Cluster, Redis } from 'ioredis';
import { createClient, createCluster } from 'redis';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { createFleet } from '../fleet.ts';
import type { IoredisClient, NodeRedisClient } from './connection.ts';
import { connectionOf } from './recognize.ts';
import { freePort, type RedisServer, startRedis } from './test-support.redis-server.ts';

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

type Lie = (socket: Socket, asked: string) => void;

/** A way to Redis. While it lies, each connection gets something else. */
const liar = async (port = 0, upstreamPort = redis.port, tls?: TlsOptions) => {
  let lie: Lie | undefined;
  let falsify: ((asked: string) => string | undefined) | undefined;
  const open = new Set<Socket>();
  const pass = (client: Socket): void => {
    const upstream = connect(upstreamPort, '127.0.0.1');
    for (const socket of [client, upstream])
      socket.on('error', () => {}).on('close', () => [client, upstream].forEach((one) => void one.destroy()));
    open.add(client);
    client.on('close', () => open.delete(client));
    let asked = '';
    client.on('data', (data) => {
      asked = String(data).toLowerCase();
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      client.write(falsify?.(asked) ?? data);
      lie?.(client, asked);
    });
  };
  const server = tls === undefined ? createServer(pass) : createTlsServer(tls, pass);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  return {
    port: (server.address() as AddressInfo).port,
    lies: (what: typeof lie) => {
      lie = what;
    },
    /** Gives other answers. */
    falsifies: (what: typeof falsify) => {
      falsify = what;
    },
    drop: () => {
      for (const socket of open) socket.destroy();
    },
  };
};

/** A lie that goes on until the connection is closed, and then says how many bytes were sent. */
const endless = (head: string, part: Uint8Array, closed: (sent: number) => void) => (socket: Socket) => {
  let sent = 0;
  socket.once('close', () => closed(sent));
  socket.write(head);
  const more = (): void => {
    while (!socket.destroyed) {
      sent += part.length;
      if (!socket.write(part)) return void socket.once('drain', more);
    }
  };
  more();
};

const CLIENTS = [
  ['redis', (port: number) => createClient({ url: `redis://127.0.0.1:${port}` })],
  ['ioredis', (port: number) => new Redis(port, '127.0.0.1', { lazyConnect: true })],
] as const;

const joining = (client: IoredisClient | NodeRedisClient) => {
  client.on('error', () => {});
  const fleet = createFleet({ client });
  onTestFinished(() => fleet.close());
  createBreakerbox({ agent: 'lied-to', scope: 'process', fleet, tools: { search: { share: 'fleet' } } });
  return fleet;
};

const joined = async (make: (port: number) => IoredisClient | NodeRedisClient, port: number) => {
  const fleet = joining(make(port));
  await vi.waitUntil(() => fleet.status().mode === 'up', { timeout: 10_000 });
  return fleet;
};

const moving = (...more: string[]): string => `>4\r\n$6\r\nMOVING\r\n:1\r\n:0\r\n${more.join('')}`;

const MOVES = [
  moving('_\r\n'),
  moving('$11\r\n127.0.0.1:1\r\n'), // No server is there.
];
/** What cannot be parsed, is no message, or is an answer to nothing. */
const MORE_LIES = ['>1\r\n_\r\n', '>2\r\n_\r\n_\r\n', '*1\r\n_\r\n', '$-7\r\n', '_\r\n', '+OK\r\n'.repeat(5_000)];

test.each(CLIENTS)('G7: what %s does not expect does not end the process', { timeout: 40_000 }, async (_, make) => {
  const lieTo = async (text: string): Promise<void> => {
    const { port, lies } = await liar();
    const fleet = await joined(make, port);
    let told = 0;
    lies((socket) => {
      told += 1;
      socket.write(text);
    });
    await vi.waitUntil(() => told >= 2, { timeout: 15_000 });
    lies(undefined);
    await vi.waitUntil(() => fleet.status().mode === 'up', { timeout: 15_000 });
  };
  await Promise.all([...MOVES, ...MORE_LIES].map(lieTo));
});

const ENDLESS = [
  ['a string', '$500000000\r\n', Buffer.alloc(65_536, 'x'), 40_000_000],
  ['a list of empty lists', '*900000000\r\n', Buffer.from('*0\r\n'.repeat(16_384)), 14_000_000],
  ['a status', '+', Buffer.alloc(65_536, 'x'), 14_000_000],
  ['a number', '(', Buffer.alloc(65_536, '9'), 14_000_000],
] as const;
const LIARS = CLIENTS.flatMap(([name, make]) => ENDLESS.map((answer) => [...answer, name, make] as const));

test.each(LIARS)('G7: of %s without an end, a client keeps little', { timeout: 40_000 }, async (...given) => {
  const [, head, part, most, , make] = given;
  const { port, lies } = await liar();
  const fleet = await joined(make, port);
  const sent = await new Promise<number>((closed) => {
    lies((socket) => {
      lies(undefined);
      endless(head, part, closed)(socket);
    });
  });
  expect(sent).toBeLessThan(most); // The system keeps some megabytes for each connection.
  await vi.waitUntil(() => fleet.status().mode === 'up', { timeout: 15_000 });
});

/** A cluster of one node, behind a liar. */
const clusterLiar = async () => {
  const port = await freePort();
  const announced = ['--cluster-announce-ip', '127.0.0.1', '--cluster-announce-port', String(port)];
  const bus = ['--cluster-port', String(await freePort())];
  const node = await startRedis(['--cluster-enabled', 'yes', ...bus, ...announced]);
  onTestFinished(() => node.stop());
  execFileSync('redis-cli', ['-p', String(node.port), 'cluster', 'addslotsrange', '0', '16383'], { stdio: 'pipe' });
  return liar(port, node.port);
};

const CLUSTERS = [
  ['redis', (port: number) => createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${port}` }] })],
  ['ioredis', (port: number) => new Cluster([{ host: '127.0.0.1', port }], { lazyConnect: true })],
] as const;

const KINDS = [
  ['commands', 'evalsha'],
  ['subscriptions', 'ssubscribe'],
] as const;
const CLUSTER_KINDS = CLUSTERS.flatMap(([name, make]) => KINDS.map((kind) => [...kind, name, make] as const));

test.each(CLUSTER_KINDS)(
  'G7: the connections for %s (%s) of a cluster of %s are checked, whenever they are made',
  {
    timeout: 60_000,
  },
  async (_, command, __, make) => {
    const { port, lies, drop } = await clusterLiar();
    const fleet = await joined(make, port);
    const oftenLied = async (lie: Lie, times: number): Promise<void> => {
      let left = times;
      lies((socket, asked) => {
        if (!asked.includes(command)) return;
        left -= 1;
        if (left <= 0) lies(undefined);
        lie(socket, asked);
      });
      drop();
      await vi.waitUntil(() => left <= 0, { timeout: 30_000 });
    };
    for (const text of [...MORE_LIES, ...MOVES]) await oftenLied((socket) => void socket.write(text), 1);
    const sent = await new Promise<number>((closed) => {
      void oftenLied(endless('$500000000\r\n', Buffer.alloc(65_536, 'x'), closed), 1);
    });
    expect(sent).toBeLessThan(40_000_000);
    await vi.waitUntil(() => fleet.status().mode === 'up', { timeout: 15_000 });
  },
);

const MOST = Number.MAX_SAFE_INTEGER;
const SLOTS = [
  '$-1\r\n',
  '*1\r\n$-1\r\n',
  '*1\r\n*3\r\n:0\r\n:16383\r\n$-1\r\n',
  `*1\r\n*3\r\n:0\r\n:${MOST}\r\n*2\r\n$9\r\n127.0.0.1\r\n:1\r\n`,
  `*1\r\n*3\r\n$1\r\n0\r\n$16\r\n${MOST}\r\n*2\r\n$9\r\n127.0.0.1\r\n:1\r\n`,
  `*2\r\n${'*3\r\n:0\r\n:1\r\n*2\r\n$9\r\n127.0.0.1\r\n:1\r\n'}${'*3\r\n:2\r\n:3\r\n*2\r\n%1\r\n+a\r\n+b\r\n:1\r\n'}`,
  `*20\r\n${'*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:1\r\n'.repeat(20)}`,
];

test.each(CLUSTERS)(
  'G7: slots of a cluster that do not fit neither end the process of %s nor keep it',
  {
    timeout: 60_000,
  },
  async (_, make) => {
    const { port, falsifies } = await clusterLiar();
    for (const slots of SLOTS) {
      let told = 0;
      falsifies((asked) => {
        if (!/\nslots\r/.test(asked)) return undefined;
        told += 1;
        return slots;
      });
      const fleet = joining(make(port));
      await vi.waitUntil(() => told > 0, { timeout: 15_000 });
      falsifies(undefined);
      await vi.waitUntil(() => fleet.status().mode === 'up', { timeout: 15_000 });
      await fleet.close();
    }
  },
);

test('G7: a sentinel or master that lies to ioredis does not end the process, nor fill the memory', {
  timeout: 40_000,
}, async () => {
  const asked: ((socket: Socket) => void)[] = [];
  const sent = new Promise<number>((closed) => {
    asked.push(
      (socket) => void socket.write('>2\r\n_\r\n_\r\n'),
      endless('$500000000\r\n', Buffer.alloc(65_536, 'x'), closed),
    );
  });
  const sentinel = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (data) => {
      for (const [, name] of String(data).matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)) {
        if (name === 'hello') socket.write('%1\r\n$5\r\nproto\r\n:3\r\n');
        else if (name !== 'sentinel') socket.write('-ERR unknown command\r\n');
        else if (String(data).includes('get-master-addr-by-name')) {
          const lie = asked.shift();
          if (lie !== undefined) return lie(socket);
          socket.write(`*2\r\n$9\r\n127.0.0.1\r\n$${String(redis.port).length}\r\n${redis.port}\r\n`);
        } else socket.write('*0\r\n');
      }
    });
  });
  await new Promise<void>((resolve) => sentinel.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void sentinel.close());
  const { port } = sentinel.address() as AddressInfo;
  const sentinels = [{ host: '127.0.0.1', port }];
  const fleet = joining(new Redis({ sentinels, name: 'm', lazyConnect: true }));
  expect(await sent).toBeLessThan(40_000_000);
  await vi.waitUntil(() => fleet.status().mode === 'up', { timeout: 15_000 });
});

const certificate = (): TlsOptions => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-tls-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'];
  execFileSync('openssl', [...made, '-keyout', key, '-out', cert], { stdio: 'pipe' });
  const texts = { cert: readFileSync(cert), key: readFileSync(key) };
  rmSync(folder, { recursive: true });
  return texts;
};

const TLS = { rejectUnauthorized: false };
const OVER_TLS = [
  ['redis', (port: number) => createClient({ url: `rediss://127.0.0.1:${port}`, socket: { tls: true, ...TLS } })],
  ['ioredis', (port: number) => new Redis(port, '127.0.0.1', { lazyConnect: true, tls: TLS })],
] as const;

test.each(OVER_TLS)(
  'G7: of a string without an end, %s keeps little over TLS',
  { timeout: 40_000 },
  async (_, make) => {
    const { port, lies } = await liar(0, redis.port, certificate());
    const fleet = await joined(make, port);
    for (const _try of [1, 2]) {
      const sent = await new Promise<number>((closed) => {
        lies((socket) => {
          lies(undefined);
          endless('$500000000\r\n', Buffer.alloc(65_536, 'x'), closed)(socket);
        });
      });
      expect(sent).toBeLessThan(40_000_000);
      await vi.waitUntil(() => fleet.status().mode === 'up', { timeout: 15_000 });
    }
  },
);

const MESSAGE = '>3\r\n$8\r\nsmessage\r\n$1\r\nc\r\n$1\r\nx\r\n';
const MESSAGES = 200_000;

test.each(CLIENTS)(
  'G7: while messages flood %s, other work has its turn between some of them',
  async (_, make) => {
    const { port, lies } = await liar();
    const connection = connectionOf(make(port))?.() ?? expect.fail('not recognized');
    onTestFinished(() => connection.close());
    let heard = 0;
    const subscription = connection.subscribe(() => {
      heard += 1;
    });
    onTestFinished(() => subscription.close());
    subscription.to(['c']);
    await vi.waitUntil(() => subscription.hears('c'), { timeout: 10_000 });
    lies((socket) => void socket.write(MESSAGE.repeat(MESSAGES)));
    await connection.send(['SPUBLISH', 'c', 'x'], 'c', 5_000).catch(() => {});
    let most = 0;
    for (let before = 0; before < MESSAGES; before = heard) {
      await new Promise(setImmediate);
      most = Math.max(most, heard - before);
    }
    expect(most).toBeLessThan(20_000);
  },
  40_000,
);
