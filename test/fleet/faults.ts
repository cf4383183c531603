import { setTimeout as wait } from 'node:timers/promises';
import type { FleetOrders, RedisAddress } from './agent-process.ts';
import { breakTool, repairTool } from './course.ts';
import { type Forwarder, startForwarder } from './forwarder.ts';
import { type Redis, type RedisOptions, startCluster, startRedis } from './redis.ts';
import { addressOf, until, type World } from './world.ts';

/** The servers of a scenario. */
export interface Stage {
  readonly servers: readonly Redis[];
  readonly address: RedisAddress;
  readonly forwarder?: Forwarder;
}

/** Something that happens to Redis while the shared tool is dead. */
export interface Fault {
  readonly title: string;
  /** Default: one server. */
  readonly stage?: () => Promise<Stage>;
  readonly orders?: (number: number, address: RedisAddress) => Partial<FleetOrders>;
  /** Before the tool fails. */
  readonly prepare?: (stage: Stage, world: World) => Promise<void>;
  /** Lets it happen, and lets it end. Without it the scenario is another setting, and no fault. */
  readonly happen?: (stage: Stage, world: World) => Promise<void>;
}

/** Of the fleet that agent-program.ts names. */
export const FLEET_KEY = '{breakerbox:1:agents}';

/** Longer than the time after which a process says that it is degraded. */
const LONG_MS = 5_000;

const single =
  (options: RedisOptions = {}, more: Partial<RedisAddress> = {}) =>
  async (): Promise<Stage> => {
    const servers = [await startRedis(options)];
    return { servers, address: { ...addressOf(servers), ...more } };
  };

const first = ({ servers }: Stage): Redis => {
  const [redis] = servers;
  if (redis === undefined) throw new Error('a stage has a server');
  return redis;
};

/** Two servers behind one address, of which the second copies the first. */
const replicated = async (): Promise<Stage> => {
  const main = await startRedis();
  const copy = await startRedis({ args: ['--replicaof', '127.0.0.1', `${main.port}`] });
  await until('the replica is in step', async () => (await copy.cli('INFO', 'replication')).includes('link_status:up'));
  const forwarder = await startForwarder(main.port);
  return { servers: [main, copy], address: { library: 'redis', ports: [forwarder.port] }, forwarder };
};

const both = ({ servers: [main, copy], forwarder }: Stage) => {
  if (main === undefined || copy === undefined || forwarder === undefined) throw new Error('a stage has two servers');
  return { main, copy, forwarder };
};

/** The database has no key of the fleet any more. */
const evict = async (redis: Redis): Promise<void> => {
  await redis.cli('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-random');
  await redis.cli('CONFIG', 'SET', 'maxmemory', '3mb');
  const fill = "for i = 1, 500 do redis.call('SET', 'other:' .. ARGV[1] .. ':' .. i, string.rep('x', 500)) end";
  for (let round = 0; (await redis.cli('EXISTS', FLEET_KEY)) === '1'; round += 1)
    await redis.cli('EVAL', fill, '0', `${round}`);
  await redis.cli('CONFIG', 'SET', 'maxmemory', '0');
};

const hung =
  (stop: (redis: Redis) => unknown, go: (redis: Redis) => unknown) =>
  async (stage: Stage): Promise<void> => {
    await stop(first(stage));
    await wait(LONG_MS);
    await go(first(stage));
  };

const killed = async (stage: Stage): Promise<void> => {
  await first(stage).kill();
  await wait(LONG_MS);
  await first(stage).start();
};

/** Each thing that may happen to Redis, and each other way to run it. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  none: { title: 'nothing' },
  frozen: {
    title: 'Redis hangs for 5 s (SIGSTOP)',
    happen: hung(
      (redis) => redis.freeze(),
      (redis) => redis.thaw(),
    ),
  },
  paused: {
    title: 'CLIENT PAUSE of 5 s',
    happen: hung(
      (redis) => redis.cli('CLIENT', 'PAUSE', `${LONG_MS}`, 'ALL'),
      () => undefined,
    ),
  },
  sleeping: {
    title: 'DEBUG SLEEP of 5 s',
    happen: (stage) =>
      first(stage)
        .cli('DEBUG', 'SLEEP', `${LONG_MS / 1_000}`)
        .then(() => undefined),
  },
  killed: { title: 'kill -9 without AOF, back after 5 s', happen: killed },
  'killed-aof': {
    title: 'kill -9 with AOF, back after 5 s',
    stage: single({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] }),
    happen: killed,
  },
  flushed: {
    title: 'FLUSHALL',
    happen: (stage) =>
      first(stage)
        .cli('FLUSHALL')
        .then(() => undefined),
  },
  'no-scripts': {
    title: 'SCRIPT FLUSH',
    happen: (stage) =>
      first(stage)
        .cli('SCRIPT', 'FLUSH')
        .then(() => undefined),
  },
  evicted: { title: 'maxmemory evicts the key', happen: (stage) => evict(first(stage)) },
  full: {
    title: 'maxmemory, and every write is refused for 5 s',
    happen: hung(
      (redis) => redis.cli('CONFIG', 'SET', 'maxmemory', '1'),
      (redis) => redis.cli('CONFIG', 'SET', 'maxmemory', '0'),
    ),
  },
  failover: {
    title: 'FAILOVER to a replica',
    stage: replicated,
    happen: async (stage) => {
      const { main, copy, forwarder } = both(stage);
      await main.cli('FAILOVER');
      await until('the replica is the main server', async () => (await copy.cli('ROLE')).startsWith('master'));
      forwarder.to(copy.port);
    },
  },
  'lost-writes': {
    title: 'a failover that loses the opening',
    stage: replicated,
    // The replica knows an outage that is over, and never hears of the next one.
    prepare: async (stage, world) => {
      await breakTool(world);
      await repairTool(world);
      await both(stage).copy.cli('REPLICAOF', 'NO', 'ONE');
    },
    happen: async (stage) => {
      const { main, copy, forwarder } = both(stage);
      await main.kill();
      forwarder.to(copy.port);
    },
  },
  cluster: {
    title: 'a cluster of three, and its SCRIPT FLUSH',
    stage: async () => {
      const servers = await startCluster();
      return { servers, address: addressOf(servers) };
    },
    happen: async ({ servers }) => {
      for (const node of servers) await node.cli('SCRIPT', 'FLUSH');
    },
  },
  'cluster-ioredis': {
    title: 'a cluster of three, with ioredis',
    stage: async () => {
      const servers = await startCluster();
      return { servers, address: addressOf(servers, 'ioredis') };
    },
  },
  'cluster-password': {
    title: 'a cluster of three with a wrong password for 5 s',
    stage: async () => {
      const servers = await startCluster('wrong');
      return { servers, address: { ...addressOf(servers), password: 'right' } };
    },
    happen: async ({ servers }) => {
      await wait(LONG_MS);
      for (const node of servers) await node.cli('CONFIG', 'SET', 'requirepass', 'right');
    },
  },
  password: {
    title: 'a wrong password for 5 s',
    stage: single({ password: 'wrong' }, { password: 'right' }),
    happen: async (stage) => {
      await wait(LONG_MS);
      await first(stage).cli('CONFIG', 'SET', 'requirepass', 'right');
    },
  },
  tls: { title: 'TLS', stage: single({ tls: true }) },
  'tls-ioredis': { title: 'TLS, with ioredis', stage: single({ tls: true }, { library: 'ioredis' }) },
  clocks: { title: 'wall clocks an hour apart', orders: (number) => ({ wallClockMs: (number - 2) * 3_600_000 }) },
  ioredis: {
    title: 'redis and ioredis in one fleet, and Redis hangs for 5 s',
    orders: (number, address) => ({ redis: { ...address, library: number % 2 === 0 ? 'redis' : 'ioredis' } }),
    happen: hung(
      (redis) => redis.freeze(),
      (redis) => redis.thaw(),
    ),
  },
};
