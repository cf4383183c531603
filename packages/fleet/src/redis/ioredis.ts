import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import {
  CONNECT_MS,
  channelsOf,
  type IoredisClient,
  ignore,
  lastError,
  RETRY_MS,
  type RedisConnection,
  repeat,
  unreferenced,
} from './connection.ts';
import type { Fit } from './frames.ts';
import { type Expected, watchReads } from './reading.ts';

type Call = (...args: unknown[]) => Promise<unknown>;
type Duplicate = (...args: unknown[]) => IoredisClient;

type Connect = (...given: unknown[]) => Promise<Socket>;
type Connector = new (...given: never[]) => { readonly connect: Connect; disconnect(): void };
type Callback = (error: unknown, answer?: unknown) => void;

interface Internals {
  readonly isCluster?: boolean;
  readonly stream?: Socket;
  readonly commandQueue?: { readonly length: number };
  readonly connector?: {
    readonly constructor: Connector;
    /** With sentinels, it makes clients to ask them. */
    connectToSentinel?: (endpoint: unknown, options?: object) => IoredisClient;
    check?: (info: unknown) => boolean;
  };
  readonly options?: {
    readonly keyPrefix?: unknown;
    readonly redisOptions?: object;
    /** Undefined: its own. */
    Connector?: Connector | undefined;
  };
  duplicate?: unknown;
  cluster?: unknown;
  asking?: unknown;
  /** Of a cluster: what it does after a command has failed. */
  handleError?: HandleError;
  refreshSlotsCache?(): void;
  info?: unknown;
}

type Redirect = (slot: string, address: string) => void;
interface Handlers {
  readonly moved: Redirect;
  readonly ask: Redirect;
  /** The command fails with the error. */
  readonly defaults: () => void;
}
type HandleError = (error: Error, ttl: object, handlers: Handlers) => void;

/**
 * Of each connection of the fleet's own. The fleet itself subscribes again, because ioredis does not catch it if Redis refuses that. The
 * process would end.
 */
const EVERY = { connectTimeout: CONNECT_MS, disconnectTimeout: 100, autoResubscribe: false, replyMapping: 'legacy' };
/** The fleet itself connects again, because ioredis would keep the process alive meanwhile, and so would sentinels that it listens to. */
const ALONE = { lazyConnect: true, retryStrategy: null, sentinelRetryStrategy: null, failoverDetector: false };

const ownOf = (client: IoredisClient, fit: Fit, more: object = {}): IoredisClient => {
  const duplicate = client.duplicate.bind(client) as unknown as Duplicate;
  const { isCluster, options } = client as Internals;
  if (!isCluster) return neverWaiting(watched(duplicate({ ...EVERY, ...ALONE, ...more }), fit));
  const redisOptions = { ...options?.redisOptions, ...EVERY };
  const alone = { lazyConnect: true, clusterRetryStrategy: null, clusterNodeRetryStrategy: null };
  const own = duplicate([], { ...alone, redisOptions, ...more });
  const subscribers = new Set<Socket>();
  const turn = turns();
  watchRedirects(own);
  own.on('+node', (node) => watchNode(node as IoredisClient, subscribers, turn));
  own.on('nodeError', (error) => {
    if (isUnasked(error)) for (const stream of subscribers) stream.destroy();
  });
  return own;
};

/** While Redis loads its data, ioredis waits with a timer that keeps the process alive. The fleet connects again instead. */
const neverWaiting = (own: IoredisClient): IoredisClient => {
  const internals = own as Internals;
  const info = (internals.info as Call).bind(own);
  internals.info = (callback: Callback) =>
    info((error: unknown, text: unknown) => {
      const isLoading = typeof text === 'string' && /^loading:1/m.test(text);
      callback(error ?? (isLoading ? new Error('LOADING Redis is loading its data.') : null), text);
    });
  return own;
};

/** ioredis makes an error of each confirmation without a question. For a thousand of them it takes 40 ms. */
const isUnasked = (error: unknown): boolean =>
  error instanceof Error && /^Command queue state error/.test(error.message);

/** To nodes that the slots do not name. A cluster connects to each, and keeps it until it reads the slots again. */
const MOST_REDIRECTS = 16;

const hasAddress = (redirect: string): boolean => {
  const [, , address = ''] = redirect.split(' ');
  const colon = address.lastIndexOf(':');
  const port = Number(address.slice(colon + 1));
  return colon >= 0 && port > 0 && port < 65_536;
};

/** A cluster follows a node to any number of addresses, and throws where no other code can catch it if a redirect has no address. */
const watchRedirects = (own: IoredisClient): void => {
  const internals = own as Internals;
  const handle = internals.handleError?.bind(own);
  if (handle === undefined) return;
  const followed = new Set<string>();
  own.on('refresh', () => followed.clear());
  internals.handleError = (error, ttl, handlers) => {
    const { defaults } = handlers;
    if (/^(?:MOVED|ASK)\b/.test(error.message) && !hasAddress(error.message)) return defaults();
    const within =
      (follow: Redirect): Redirect =>
      (slot, address) => {
        if (followed.size < MOST_REDIRECTS) followed.add(address);
        if (followed.has(address)) return follow(slot, address);
        internals.refreshSlotsCache?.();
        defaults();
      };
    handle(error, ttl, { ...handlers, moved: within(handlers.moved), ask: within(handlers.ask) });
  };
};

const watchStream = (stream: Socket, expected: Expected): void => {
  watchReads(stream, expected);
  stream.on('data', ignore); // ioredis adds its listener with prependListener, after which Node reads ahead without turns.
};

const isSlots = (answer: unknown): boolean =>
  Array.isArray(answer) && answer.every((range) => Array.isArray(range) && range.slice(2).every(Array.isArray));

/** A cluster asks each node for its slots over a copy, and throws where no other code can catch it if they do not fit. */
const watchSlots = (copy: IoredisClient): IoredisClient => {
  const internals = watched(copy, 'answers', true) as Internals;
  const cluster = (internals.cluster as Call).bind(copy);
  internals.cluster = (command: string, callback: Callback) =>
    cluster(command, (error: unknown, answer: unknown) => {
      callback(error ?? (isSlots(answer) ? null : new Error('The slots of the cluster do not fit.')), answer);
    });
  return copy;
};

/** Waits until the last turn was a second ago. */
const turns = (): (() => Promise<unknown>) => {
  let nextMs = 0;
  return () => {
    const nowMs = performance.now();
    const atMs = Math.max(nowMs, nextMs);
    nextMs = atMs + RETRY_MS;
    return atMs === nowMs ? Promise.resolve() : setTimeout(atMs - nowMs, undefined, { ref: false });
  };
};

/** A node, and the connections that a cluster makes to it without showing them: copies, and subscribers, which take its options. */
const watchNode = (node: IoredisClient, subscribers: Set<Socket>, turn: () => Promise<unknown>): void => {
  const internals = watched(node, 'answers') as Internals;
  const asking = node.asking.bind(node) as Call;
  internals.asking = () => asking().catch(ignore); // A cluster does not look at how it ends. The command after it fails too.
  const { connector, options } = internals;
  if (connector === undefined || options === undefined) return;
  const duplicate = node.duplicate.bind(node) as unknown as Duplicate;
  const own = options.Connector;
  internals.duplicate = (overrides: object) => watchSlots(duplicate({ ...overrides, Connector: own }));
  const { constructor: Base } = connector;
  options.Connector = class extends Base {
    #isEnded = false;
    override disconnect(): void {
      this.#isEnded = true;
      super.disconnect();
    }
    override connect: Connect = async (...given) => {
      await turn(); // A cluster replaces a subscriber that has ended at once.
      if (this.#isEnded) throw new Error('The subscriber is not needed any more.');
      const stream = await Base.prototype.connect.apply(this, given);
      watchStream(stream, { fit: 'messages' });
      subscribers.add(stream);
      stream.once('close', () => subscribers.delete(stream));
      return stream;
    };
  };
};

const watchSentinels = (connector: NonNullable<Internals['connector']>): void => {
  const connect = connector.connectToSentinel?.bind(connector);
  const check = connector.check?.bind(connector);
  if (connect === undefined || check === undefined) return;
  connector.connectToSentinel = (endpoint) => {
    const sentinel = watched(connect(endpoint, EVERY), 'answers');
    return sentinel.on('connect', () => {
      const { stream } = sentinel as Internals;
      unreferenced(stream?.setTimeout(CONNECT_MS, () => stream.destroy())); // It may hang. Then the next one is asked.
    }) as IoredisClient;
  };
  connector.check = (info) => check(info ?? {}); // It throws where no other code can catch it.
};

const watched = (client: IoredisClient, fit: Fit, hasSlots = false): IoredisClient => {
  const { connector } = client as Internals;
  if (connector !== undefined) watchSentinels(connector);
  const commands = (): number => (client as Internals).commandQueue?.length ?? Number.POSITIVE_INFINITY;
  const streamOf = (): Socket | undefined => (client as Internals).stream;
  client.on('error', (error) => {
    if (isUnasked(error)) streamOf()?.destroy();
  });
  client.on('connect', () => {
    const stream = streamOf();
    if (stream !== undefined) watchStream(stream, { fit, hasSlots, commands });
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
  const client = ownOf(given, 'answers');
  const last = lastError();
  const close = keepOpen(client, ignore, last.note);
  const call: Call = (client.call as unknown as Call).bind(client);
  const prefix = typeof options?.keyPrefix === 'string' ? options.keyPrefix : '';
  return {
    closesAll: isCluster !== true,
    send: async ([name, ...args]) => {
      if (client.status !== 'ready') throw last.error();
      last.forget();
      return call(name, args);
    },
    subscribe: (listener) => {
      // The scripts see keys with the client's prefix, and so publish to that name.
      const subscriber = ownOf(given, 'messages', {
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
      subscriber.on('smessage', () => listener());
      subscriber.on('ready', channels.update);
      for (const event of ['end', 'close']) subscriber.on(event, channels.lost);
      return { to: channels.to, hears: channels.hears, close: keepOpen(subscriber, channels.update) };
    },
    close,
  };
};
