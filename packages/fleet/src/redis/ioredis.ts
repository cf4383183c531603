import type { Socket } from 'node:net';
import {
  CONNECT_MS,
  channelsOf,
  type IoredisClient,
  ignore,
  lastError,
  type RedisConnection,
  repeat,
  unreferenced,
} from './connection.ts';
import type { Fit } from './frames.ts';
import { limitedReading, type Reading, watchReads } from './reading.ts';

type Call = (...args: unknown[]) => Promise<unknown>;
type Duplicate = (...args: unknown[]) => IoredisClient;

interface Internals {
  readonly isCluster?: boolean;
  readonly stream?: Socket;
  readonly commandQueue?: { readonly length: number };
  /** With sentinels, it makes clients to ask them. */
  readonly connector?: { connectToSentinel?: (...given: unknown[]) => IoredisClient };
  readonly options?: { readonly keyPrefix?: unknown; readonly redisOptions?: object };
}

/** Of a connection of the fleet's own. The fleet itself connects it again, because ioredis would keep the process alive meanwhile. */
const TIMES = { connectTimeout: CONNECT_MS, disconnectTimeout: 100 };
const OWN = { ...TIMES, lazyConnect: true, retryStrategy: null, replyMapping: 'legacy' };

const ownOf = (client: IoredisClient, reading: Reading, fit: Fit, more: object = {}): IoredisClient => {
  const duplicate = client.duplicate.bind(client) as unknown as Duplicate;
  const { isCluster, options } = client as Internals;
  if (!isCluster) return watched(duplicate({ ...OWN, ...more }), reading, fit);
  const redisOptions = { ...options?.redisOptions, ...TIMES, replyMapping: 'legacy' };
  const own = duplicate([], { lazyConnect: true, clusterRetryStrategy: null, redisOptions, ...more });
  own.on('+node', (node) => void watched(node as IoredisClient, reading, 'answers'));
  return own;
};

/** ioredis makes an error of each confirmation without a question. For a thousand of them it takes 40 ms. */
const UNASKED = /^Command queue state error/;

/** Those that listen for a new master have options of their own. */
const watchSentinels = (connector: NonNullable<Internals['connector']>): void => {
  const connect = connector.connectToSentinel?.bind(connector);
  if (connect === undefined) return;
  connector.connectToSentinel = (endpoint, listening) => {
    const [reading, fit] = [limitedReading(), listening === undefined ? 'answers' : 'messages'] as const;
    const sentinel = watched(connect(endpoint, listening), reading, fit);
    sentinel.on('message', reading.answered);
    return sentinel;
  };
};

const watched = (client: IoredisClient, reading: Reading, fit: Fit): IoredisClient => {
  const { connector } = client as Internals;
  if (connector !== undefined) watchSentinels(connector);
  const commands = (): number => (client as Internals).commandQueue?.length ?? Number.POSITIVE_INFINITY;
  const streamOf = (): Socket | undefined => (client as Internals).stream;
  client.on('error', (error) => {
    if (error instanceof Error && UNASKED.test(error.message)) streamOf()?.destroy();
  });
  client.on('connect', () => {
    const stream = streamOf();
    reading.answered();
    if (stream === undefined) return;
    watchReads(stream, reading, { fit, commands });
    stream.on('data', ignore); // ioredis adds its listener with prependListener, after which Node reads ahead without turns.
  });
  return client;
};

/** Connects without waiting, and again whenever the connection is lost. Returns a function that closes it. */
const keepOpen = (client: IoredisClient, onTry: () => void = ignore, onError = ignore): (() => void) => {
  client.on('error', onError);
  client.on('connect', () => unreferenced((client as Internals).stream));
  const stop = repeat(() => {
    if (['wait', 'end', 'close'].includes(client.status)) client.connect().catch(onError);
    onTry();
  });
  return () => {
    stop();
    client.disconnect();
  };
};

/** Adapts a client or a cluster of `ioredis`. */
export const ioredisConnection = (given: IoredisClient): RedisConnection => {
  const { isCluster, options } = given as Internals;
  const reading = limitedReading();
  const client = ownOf(given, reading, 'answers');
  const last = lastError();
  const close = keepOpen(client, ignore, last.note);
  const call: Call = (client.call as unknown as Call).bind(client);
  const prefix = typeof options?.keyPrefix === 'string' ? options.keyPrefix : '';
  return {
    closesAll: isCluster !== true,
    send: async ([name, ...args]) => {
      if (client.status !== 'ready') throw last.error();
      last.forget();
      return call(name, args).finally(reading.answered);
    },
    subscribe: (listener) => {
      // The scripts see keys with the client's prefix, and so publish to that name.
      const heard = limitedReading();
      const subscriber = ownOf(given, heard, 'messages', {
        keyPrefix: '',
        ...(isCluster && { shardedSubscribers: true }),
      });
      const [ssubscribe, sunsubscribe] = [subscriber.ssubscribe, subscriber.sunsubscribe].map(
        (one) => one.bind(subscriber) as Call,
      );
      const channels = channelsOf(
        () => subscriber.status === 'ready',
        async (channel) => ssubscribe?.(prefix + channel),
        async (channel) => sunsubscribe?.(prefix + channel),
      );
      subscriber.on('smessage', () => {
        heard.answered();
        listener();
      });
      subscriber.on('ready', channels.update);
      for (const event of ['end', 'close']) subscriber.on(event, channels.lost);
      return { to: channels.to, hears: channels.hears, close: keepOpen(subscriber, channels.update) };
    },
    close,
  };
};
