import type { IoredisClient, NodeRedisClient, RedisConnection } from './connection.ts';
import { ioredisConnection } from './ioredis.ts';
import { nodeRedisConnection } from './node-redis.ts';
import { type Opener, renewedConnection } from './renewal.ts';

const has = (client: object, ...methods: readonly string[]): boolean =>
  methods.every((name) => typeof (client as Record<string, unknown>)[name] === 'function');

/** How to talk to this client, once it is called. Undefined if it is a client of neither `redis` nor `ioredis`. */
export const connectionOf = (client: object): ((silentMs?: number) => RedisConnection) | undefined => {
  const open = openerOf(client);
  return open && ((silentMs) => renewedConnection(open, silentMs));
};

const openerOf = (client: object): Opener | undefined => {
  // `redis` 4 has no `destroy`, and a sentinel of `redis` sends commands in another way.
  if (has(client, 'sSubscribe', 'sendCommand', 'duplicate', 'destroy') && !has(client, 'getMasterNode'))
    return () => nodeRedisConnection(client as NodeRedisClient);
  if (has(client, 'ssubscribe', 'call', 'duplicate')) return () => ioredisConnection(client as IoredisClient);
  return undefined;
};
