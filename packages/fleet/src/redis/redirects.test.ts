/** Nodes of a cluster that send their clients elsewhere. An error that is thrown or rejected without a listener fails the test. */
import { execFileSync } from 'node:child_process';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { createBreakerbox } from '@breakerbox/core';
import { Cluster } from 'ioredis';
import { createCluster } from 'redis';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createFleet } from '../fleet.ts';
import type { IoredisClient, NodeRedisClient } from './connection.ts';
import { fleetKey } from './redis-store.ts';
import { freePort, openConnection, startRedis } from './test-support.redis-server.ts';

const CLUSTERS = [
  ['redis', (port: number) => createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${port}` }] })],
  ['ioredis', (port: number) => new Cluster([{ host: '127.0.0.1', port }], { lazyConnect: true })],
] as const;

const AGENT = 'redirected';

const joined = async (client: IoredisClient | NodeRedisClient) => {
  client.on('error', () => {});
  const fleet = createFleet({ client });
  onTestFinished(() => fleet.close());
  createBreakerbox({ agent: AGENT, scope: 'process', fleet, tools: { search: { share: 'fleet' } } });
  await vi.waitUntil(() => fleet.status().mode === 'up', 10_000);
  return fleet;
};

const CLUSTERED = ['--cluster-enabled', 'yes', '--cluster-require-full-coverage', 'no'];

const startNode = async () => {
  const bus = String(await freePort());
  const node = await startRedis([...CLUSTERED, '--cluster-port', bus]);
  onTestFinished(() => node.stop());
  const cli = (...args: string[]): string =>
    execFileSync('redis-cli', ['-p', String(node.port), 'cluster', ...args], { encoding: 'utf8' }).trim();
  return { node, cli, address: ['127.0.0.1', String(node.port), bus] as const };
};

test.each(CLUSTERS)(
  'G7: a node that ends while the slot moves to it does not end a process with %s',
  {
    timeout: 40_000,
  },
  async (_, make) => {
    const [from, to] = [await startNode(), await startNode()];
    from.cli('addslotsrange', '1', '16383');
    to.cli('addslots', '0');
    from.cli('meet', ...to.address);
    const slot = from.cli('keyslot', fleetKey('breakerbox', AGENT));
    await vi.waitUntil(() => [from, to].every(({ cli }) => cli('info').includes('slots_ok:16384')), 20_000);
    to.cli('setslot', slot, 'importing', from.cli('myid'));
    from.cli('setslot', slot, 'migrating', to.cli('myid'));
    const fleet = await joined(make(from.node.port));
    await to.node.stop();
    await vi.waitUntil(() => fleet.status().mode === 'degraded', 15_000);
    from.cli('setslot', slot, 'stable');
    await vi.waitUntil(() => fleet.status().mode === 'up', 15_000);
  },
);

/** A node that claims all slots, and answers scripts with `redirect`. */
const startLiar = async (redirect: () => string | undefined, hasSlots = () => true) => {
  let subscribed = 0;
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
    socket.on('data', (data) => {
      for (const [, name = ''] of String(data).matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)) socket.write(answerTo(name));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const answerTo = (name: string): string => {
    if (/^evalsha$/i.test(name)) return `-${redirect() ?? 'ERR'}\r\n`;
    if (/^ssubscribe$/i.test(name)) {
      subscribed += 1;
      return '$-1\r\n';
    }
    if (/^info$/i.test(name)) return '$9\r\nloading:0\r\n';
    if (/^cluster$/i.test(name) && hasSlots())
      return `*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:${port}\r\n`;
    return /^cluster$/i.test(name) ? '-ERR\r\n' : '+OK\r\n';
  };
  onTestFinished(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  return { port, open, subscribed: () => subscribed };
};

/** Sends a script as long as `isOver` is not true. */
const sendTo = async (port: number, isOver: () => boolean): Promise<void> => {
  const connection = await openConnection(new Cluster([{ host: '127.0.0.1', port }], { lazyConnect: true }));
  onTestFinished(() => connection.close());
  while (!isOver()) await expect(connection.send(['EVALSHA', 'x', '1', 'key'], 'key', 500)).rejects.toThrow();
};

test('G7: a subscription of ioredis that is answered with garbage is tried again each second', async () => {
  const { port, subscribed } = await startLiar(() => undefined);
  const connection = await openConnection(new Cluster([{ host: '127.0.0.1', port }], { lazyConnect: true }));
  onTestFinished(() => connection.close());
  const subscription = connection.subscribe(() => {});
  subscription.to(['key']);
  await setTimeout(3_000);
  subscription.close();
  expect(subscribed()).toBeGreaterThan(1);
  expect(subscribed()).toBeLessThan(8);
});

const MALFORMED = ['MOVED', 'MOVED 1', 'MOVED 1 host', 'MOVED 1 host:0', 'MOVED 1 host:99999', 'MOVED __proto__ h:1'];

test('G7: redirects without an address do not end a process with ioredis', async () => {
  const left = [...MALFORMED, ...MALFORMED.map((text) => text.replace('MOVED', 'ASK'))];
  const { port } = await startLiar(() => left.pop());
  await sendTo(port, () => left.length === 0);
});

test.each(['ASK', 'MOVED'])(
  'G7: nodes that send ioredis to ever more addresses (%s) keep few connections open',
  {
    timeout: 20_000,
  },
  async (kind) => {
    let sent = 0;
    const nodes: Awaited<ReturnType<typeof startLiar>>[] = [];
    const next = (): string => {
      sent += 1;
      return `${kind} 1 127.0.0.1:${nodes[sent % nodes.length]?.port}`;
    };
    for (let count = 0; count < 60; count += 1) nodes.push(await startLiar(next, () => sent === 0));
    let most = 0;
    await sendTo(nodes[0]?.port ?? 0, () => {
      most = Math.max(
        most,
        nodes.reduce((all, { open }) => all + open.size, 0),
      );
      return sent >= 80;
    });
    expect(most).toBeLessThan(30);
  },
);
