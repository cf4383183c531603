import { type IoredisClient, ignore, once, type RedisConnection, unreferenced } from './connection.ts';

type Call = (...args: unknown[]) => Promise<unknown>;

interface Internals {
  readonly isCluster?: boolean;
  readonly stream?: object;
  readonly options?: { readonly keyPrefix?: unknown };
}

/** Adapts a client or a cluster of `ioredis`. A client with `lazyConnect` is connected here. */
export const ioredisConnection = (client: IoredisClient): RedisConnection => {
  const { isCluster, options } = client as Internals;
  const isOurs = client.status === 'wait';
  client.on('error', ignore);
  if (isOurs) client.connect().catch(ignore);
  const call: Call = (client.call as unknown as Call).bind(client);
  const prefix = typeof options?.keyPrefix === 'string' ? options.keyPrefix : '';
  return {
    send: async ([name, ...args]) => {
      if (client.status !== 'ready') throw new Error('The Redis client is not connected.');
      return call(name, args);
    },
    subscribe: (channel, listener) => {
      const duplicate = client.duplicate.bind(client) as unknown as (...args: unknown[]) => IoredisClient;
      // The scripts see keys with the client's prefix, and so publish to that name.
      const own = isCluster
        ? duplicate([], { shardedSubscribers: true, keyPrefix: '', lazyConnect: true })
        : duplicate({ keyPrefix: '', lazyConnect: true });
      own.on('error', ignore);
      own.on('connect', () => unreferenced((own as Internals).stream));
      own.on('smessage', () => listener());
      const subscribe = once(() => (own.ssubscribe as unknown as Call).call(own, prefix + channel).catch(ignore));
      own.on('ready', subscribe);
      own.connect().catch(ignore);
      return () => own.disconnect();
    },
    close: () => {
      if (isOurs) client.disconnect();
    },
  };
};
