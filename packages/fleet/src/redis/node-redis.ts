import { ignore, type NodeRedisClient, once, type RedisConnection, unreferenced } from './connection.ts';

type Send = (...args: unknown[]) => Promise<unknown>;

const isCluster = (client: object): client is { readonly masters: Iterable<{ readonly client?: object }> } =>
  'nodeByAddress' in client && 'masters' in client;

/** Connects without waiting. The client tries again by itself, by its own strategy. Its sockets do not keep the process alive. */
const connectSoon = (client: NodeRedisClient): void => {
  client.on('error', ignore);
  if (isCluster(client)) {
    const { masters } = client;
    client.on('node-ready', () => [...masters].forEach((node) => void unreferenced(node.client)));
  }
  unreferenced(client);
  client.connect().catch(ignore);
};

const closeNow = (client: NodeRedisClient): void => {
  try {
    client.destroy();
  } catch {
    // It was closed already.
  }
};

/** Adapts a client or a cluster of `redis`. It is connected here if it is not open. */
export const nodeRedisConnection = (client: NodeRedisClient): RedisConnection => {
  const isOurs = !client.isOpen;
  client.on('error', ignore);
  if (isOurs) connectSoon(client);
  const send: Send = (client.sendCommand as unknown as Send).bind(client);
  return {
    send: async (command, key, timeout) => {
      if (!client.isReady) throw new Error('The Redis client is not connected.');
      const options = { timeout, typeMapping: {} };
      return isCluster(client) ? send(key, false, command, options) : send(command, options);
    },
    subscribe: (channel, listener) => {
      const own = client.duplicate() as NodeRedisClient;
      // It subscribes again by itself when it connects again.
      const subscribe = once(() => void own.sSubscribe(channel, () => listener()).catch(ignore));
      own.on(isCluster(own) ? 'connect' : 'ready', subscribe);
      connectSoon(own);
      return () => closeNow(own);
    },
    close: () => {
      if (isOurs) closeNow(client);
    },
  };
};
