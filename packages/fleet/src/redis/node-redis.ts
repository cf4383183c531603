import { StoreError } from '../reasons.ts';
import { ignore, type NodeRedisClient, type RedisConnection, repeat, unreferenced } from './connection.ts';

type Send = (...args: unknown[]) => Promise<unknown>;

const isCluster = (client: object): client is { readonly masters: Iterable<{ readonly client?: object }> } =>
  'nodeByAddress' in client && 'masters' in client;

/**
 * Connects without waiting, and again where the client has given up, such as after a wrong password. Its sockets do not keep the process
 * alive. Returns a function that closes it.
 */
const keepOpen = (client: NodeRedisClient, onTry: () => void = ignore): (() => void) => {
  if (isCluster(client)) {
    const { masters } = client;
    client.on('node-ready', () => {
      for (const node of masters) unreferenced(node.client);
    });
  }
  unreferenced(client);
  const stop = repeat(() => {
    if (!client.isOpen) client.connect().catch(ignore);
    onTry();
  });
  return () => {
    stop();
    try {
      client.destroy();
    } catch {
      // It was closed already.
    }
  };
};

/** Adapts a client or a cluster of `redis`. It is connected here if it is not open. */
export const nodeRedisConnection = (client: NodeRedisClient): RedisConnection => {
  client.on('error', ignore);
  const close = client.isOpen ? ignore : keepOpen(client);
  const send: Send = (client.sendCommand as unknown as Send).bind(client);
  return {
    send: async (command, key, timeout) => {
      if (!client.isReady) throw new StoreError('disconnected', 'The Redis client is not connected.');
      const options = { timeout, typeMapping: {} };
      return isCluster(client) ? send(key, false, command, options) : send(command, options);
    },
    subscribe: (channel, listener) => {
      const own = client.duplicate() as NodeRedisClient;
      let isSubscribed = false;
      // Once it has subscribed, the client subscribes again by itself when it connects again.
      const subscribe = (): void => {
        if (isSubscribed || !own.isReady) return;
        isSubscribed = true;
        own
          .sSubscribe(channel, () => listener())
          .catch(() => {
            isSubscribed = false;
          });
      };
      own.on('error', ignore);
      own.on(isCluster(own) ? 'connect' : 'ready', subscribe);
      own.on('end', () => {
        isSubscribed = false;
      });
      return keepOpen(own, subscribe);
    },
    close,
  };
};
