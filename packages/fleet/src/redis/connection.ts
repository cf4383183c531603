import { reasonOf, StoreError, wordOf } from '../reasons.ts';

/**
 * What the fleet uses of a Redis client. Each call rejects if the client is not connected: nothing waits in a queue, because a claim
 * that arrives late is worthless.
 */
export interface RedisConnection {
  /** Whether `close` also ends a connection that is still being made. Clients of a cluster leave it open. */
  readonly closesAll: boolean;
  /** Sends a command about one key. The client may stop after `timeoutMs`; the store has its own time limit beside it. */
  send(command: readonly [name: string, ...args: string[]], key: string, timeoutMs: number): Promise<unknown>;
  /** Listens on sharded channels of one slot, over a connection of its own. */
  subscribe(listener: () => void): Subscription;
  /** Closes what the adapter has opened. The client of the caller stays as it is. */
  close(): void;
}

export interface Subscription {
  /** Listens on these channels from now on, and on no others. */
  to(channels: readonly string[]): void;
  /** Whether Redis has confirmed the channel, on the connection that is open now. */
  hears(channel: string): boolean;
  close(): void;
}

type Listener = (error?: unknown) => void;

interface Emitter {
  on(event: string, listener: Listener): unknown;
  off(event: string, listener: Listener): unknown;
}

/** A client or cluster of `redis` (node-redis). */
export interface NodeRedisClient extends Emitter {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  connect(): Promise<unknown>;
  destroy(): void;
  duplicate(): unknown;
  sendCommand(...args: never[]): Promise<unknown>;
  sSubscribe(channel: string, listener: (message: string) => void): Promise<unknown>;
  sUnsubscribe(channel: string): Promise<unknown>;
}

/** A client or cluster of `ioredis`. */
export interface IoredisClient extends Emitter {
  readonly status: string;
  connect(): Promise<unknown>;
  disconnect(): void;
  duplicate(...args: never[]): unknown;
  call(...args: never[]): Promise<unknown>;
  asking(...args: never[]): Promise<unknown>;
  ssubscribe(...channels: never[]): Promise<unknown>;
  sunsubscribe(...channels: never[]): Promise<unknown>;
}

/** Swallows what a client says about its connection. The fleet hears of it by the command that fails. */
export const ignore = (_error?: unknown): void => {};

/** Why a client is not connected, as far as it has said so. */
export interface LastError {
  /** An error that says no more than that a connection has ended does not replace one that says why. */
  note(error: unknown): void;
  /** It is connected now. */
  forget(): void;
  /** To reject a command with. */
  error(): StoreError;
}

/** `permission` for a wrong password, for example. A network error is `disconnected`. */
export const lastError = (): LastError => {
  let latest: unknown;
  return {
    note: (error) => {
      const { lastNodeError = error } = (error ?? {}) as { readonly lastNodeError?: unknown };
      if (wordOf(lastNodeError) !== '') latest = lastNodeError;
    },
    forget: () => {
      latest = undefined;
    },
    error: () => {
      const reason = reasonOf(latest);
      const word = wordOf(latest);
      const text = `The Redis client is not connected${word && ` (${word})`}.`;
      return new StoreError(reason === 'error' ? 'disconnected' : reason, text);
    },
  };
};

/** Without Node's reference, a connection does not keep the process alive. */
export const unreferenced = (connection: object | undefined): void => {
  if (connection !== undefined && 'unref' in connection && typeof connection.unref === 'function') connection.unref();
};

/** How often a lost connection is opened again. */
export const RETRY_MS = 1_000;

/** Of one attempt to connect. Between two attempts nothing keeps the process alive. */
export const CONNECT_MS = 2_000;

/** Runs `check` now and then, without keeping the process alive. Returns a function that ends it. */
export const repeat = (check: () => void): (() => void) => {
  const timer = setInterval(check, RETRY_MS);
  timer.unref();
  check();
  return () => clearInterval(timer);
};

/** Channels that a connection should listen to, and those that it does. */
export interface Channels extends Pick<Subscription, 'to' | 'hears'> {
  /** Subscribes and unsubscribes what is due. What fails is tried again. */
  update(): void;
  /** The connection was lost. */
  lost(): void;
}

export const channelsOf = (
  isReady: () => boolean,
  subscribe: (channel: string) => Promise<unknown>,
  unsubscribe: (channel: string) => Promise<unknown>,
): Channels => {
  let wanted: ReadonlySet<string> = new Set();
  /** A client subscribes to these by itself when it connects again. */
  const given = new Set<string>();
  /** On the connection that is open now, and whether Redis has confirmed it. */
  let asked = new Map<string, boolean>();
  const update = (): void => {
    if (!isReady()) return;
    const here = asked;
    for (const channel of wanted) {
      if (here.has(channel)) continue;
      here.set(channel, false);
      given.add(channel);
      subscribe(channel).then(
        () => here.has(channel) && here.set(channel, true),
        () => here.delete(channel),
      );
    }
    for (const channel of given) {
      if (wanted.has(channel)) continue;
      given.delete(channel);
      here.delete(channel);
      unsubscribe(channel).catch(() => given.add(channel));
    }
  };
  return {
    update,
    hears: (channel) => asked.get(channel) === true,
    to: (channels) => {
      wanted = new Set(channels);
      update();
    },
    lost: () => {
      asked = new Map();
    },
  };
};
