import { StoreError } from '../reasons.ts';
import { type IoredisClient, ignore, type RedisConnection, repeat, unreferenced } from './connection.ts';

type Call = (...args: unknown[]) => Promise<unknown>;

interface Internals {
  readonly isCluster?: boolean;
  readonly stream?: object;
  readonly options?: { readonly keyPrefix?: unknown };
}

/**
 * Connects without waiting, and again where the client has given up. The socket does not keep the process alive. Returns a function that
 * closes it.
 */
const keepOpen = (client: IoredisClient, onTry: () => void = ignore): (() => void) => {
  client.on('connect', () => unreferenced((client as Internals).stream));
  const stop = repeat(() => {
    if (client.status === 'wait' || client.status === 'end') client.connect().catch(ignore);
    onTry();
  });
  return () => {
    stop();
    client.disconnect();
  };
};

/** Adapts a client or a cluster of `ioredis`. A client with `lazyConnect` is connected here. */
export const ioredisConnection = (client: IoredisClient): RedisConnection => {
  const { isCluster, options } = client as Internals;
  client.on('error', ignore);
  const close = client.status === 'wait' ? keepOpen(client) : ignore;
  const call: Call = (client.call as unknown as Call).bind(client);
  const prefix = typeof options?.keyPrefix === 'string' ? options.keyPrefix : '';
  return {
    send: async ([name, ...args]) => {
      if (client.status !== 'ready') throw new StoreError('disconnected', 'The Redis client is not connected.');
      return call(name, args);
    },
    subscribe: (channel, listener) => {
      const duplicate = client.duplicate.bind(client) as unknown as (...args: unknown[]) => IoredisClient;
      // The scripts see keys with the client's prefix, and so publish to that name.
      const own = isCluster
        ? duplicate([], { shardedSubscribers: true, keyPrefix: '', lazyConnect: true })
        : duplicate({ keyPrefix: '', lazyConnect: true });
      const ssubscribe: Call = (own.ssubscribe as unknown as Call).bind(own);
      let isSubscribed = false;
      // Once it has subscribed, the client subscribes again by itself when it connects again.
      const subscribe = (): void => {
        if (isSubscribed || own.status !== 'ready') return;
        isSubscribed = true;
        ssubscribe(prefix + channel).catch(() => {
          isSubscribed = false;
        });
      };
      own.on('error', ignore);
      own.on('smessage', () => listener());
      own.on('ready', subscribe);
      own.on('end', () => {
        isSubscribed = false;
      });
      return keepOpen(own, subscribe);
    },
    close,
  };
};
