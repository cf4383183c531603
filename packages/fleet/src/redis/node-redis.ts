import {
  CONNECT_MS,
  channelsOf,
  ignore,
  lastError,
  type NodeRedisClient,
  type RedisConnection,
  repeat,
  unreferenced,
} from './connection.ts';
import { watchedSocket } from './reading.ts';

type Send = (...args: unknown[]) => Promise<unknown>;
type Duplicate = (overrides?: object) => NodeRedisClient;

const isCluster = (client: object): client is { readonly masters: Iterable<{ readonly client?: object }> } =>
  'nodeByAddress' in client && 'masters' in client;

/**
 * What a server says of its maintenance would move the connection to any address, and a failure of that would end the process. The fleet
 * connects again by itself.
 */
const STAY = { maintNotifications: 'disabled' };

interface Options {
  readonly socket?: object;
  readonly defaults?: Options;
}

/**
 * A connection of the fleet's own, with the options of the client. The fleet itself connects it again, because the timers of the client
 * would keep the process alive while Redis is away. A cluster finds its nodes by its own rules.
 */
const ownOf = (client: NodeRedisClient): NodeRedisClient => {
  const duplicate = client.duplicate.bind(client) as Duplicate;
  const { options = {}, _options = options } = client as { readonly options?: Options; readonly _options?: Options };
  if (isCluster(client)) {
    const { defaults } = _options;
    const socket = { ...defaults?.socket, ...watchedSocket({ fit: 'any', hasSlots: true }) };
    return duplicate({ ...STAY, defaults: { ...defaults, ...STAY, socket } });
  }
  const own = { reconnectStrategy: false, connectTimeout: CONNECT_MS, ...watchedSocket({ fit: 'any' }) };
  const socket = { ...options.socket, ...own };
  return duplicate({ ...STAY, socket });
};

/** Connects without waiting, and again whenever the connection is lost. Returns a function that closes it. */
const keepOpen = (client: NodeRedisClient, onTry: () => void = ignore, onError = ignore): (() => void) => {
  client.on('error', onError);
  if (isCluster(client)) {
    const { masters } = client;
    client.on('node-error', onError);
    client.on('node-ready', () => {
      for (const node of masters) unreferenced(node.client);
    });
  }
  unreferenced(client);
  const stop = repeat(() => {
    if (!client.isOpen) client.connect().catch(onError);
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

/** Adapts a client or a cluster of `redis`. */
export const nodeRedisConnection = (given: NodeRedisClient): RedisConnection => {
  const client = ownOf(given);
  const last = lastError();
  const close = keepOpen(client, ignore, last.note);
  const send: Send = (client.sendCommand as unknown as Send).bind(client);
  return {
    closesAll: !isCluster(given),
    send: async (command, key, timeout) => {
      if (!client.isReady) throw last.error();
      last.forget();
      const options = { timeout, typeMapping: {} };
      return isCluster(client) ? send(key, false, command, options) : send(command, options);
    },
    subscribe: (listener) => {
      const subscriber = ownOf(given);
      const channels = channelsOf(
        () => subscriber.isReady,
        (channel) => subscriber.sSubscribe(channel, () => listener()),
        (channel) => subscriber.sUnsubscribe(channel),
      );
      subscriber.on(isCluster(subscriber) ? 'connect' : 'ready', channels.update);
      if (!isCluster(subscriber))
        for (const event of ['end', 'error', 'terminated']) subscriber.on(event, channels.lost);
      return { to: channels.to, hears: channels.hears, close: keepOpen(subscriber, channels.update) };
    },
    close,
  };
};
