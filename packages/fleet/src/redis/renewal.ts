import { StoreError, wordOf } from '../reasons.ts';
import type { RedisConnection, Subscription } from './connection.ts';

/** Opens what an adapter needs. */
export type Opener = () => RedisConnection;

/** A fleet that has had no answer for so long opens its connections again. */
const SILENT_MS = 10_000;

interface Listening {
  readonly listener: () => void;
  subscription: Subscription;
  channels: readonly string[];
}

/**
 * A connection that can become useless while it is open: a firewall has dropped it, an answer that the client could not read has shifted
 * all later ones, or its Redis has become a replica of another one. It is replaced then.
 */
export const renewedConnection = (open: Opener, silentMs = SILENT_MS): RedisConnection => {
  let current = open();
  let openedMs = performance.now();
  let silentSinceMs: number | undefined;
  let isClosed = false;
  let hasAnswered = false;
  const all = new Set<Listening>();

  const renew = (): void => {
    current.close();
    current = open();
    openedMs = performance.now();
    silentSinceMs = undefined;
    hasAnswered = false;
    for (const one of all) {
      one.subscription.close();
      one.subscription = current.subscribe(one.listener);
      one.subscription.to(one.channels);
    }
  };

  const answered = (): void => {
    silentSinceMs = undefined;
    hasAnswered = true;
  };

  const noteSilence = (sentMs: number): void => {
    silentSinceMs ??= sentMs;
    if (isClosed || performance.now() - silentSinceMs < silentMs || !(hasAnswered || current.closesAll)) return;
    renew();
  };

  /** After a failover the name of the main, or its sentinels, lead to another server. */
  const noteReplica = (): void => {
    if (!isClosed && performance.now() - openedMs >= silentMs) renew();
  };

  return {
    closesAll: true,
    send: async (command, key, timeoutMs) => {
      const used = current;
      const sentMs = performance.now();
      try {
        const answer = await within(timeoutMs, used.send(command, key, timeoutMs));
        if (used === current) answered();
        return answer;
      } catch (error) {
        if (used !== current) throw error;
        if (isSilence(error)) {
          noteSilence(sentMs);
        } else {
          answered();
          if (wordOf(error) === 'READONLY') noteReplica();
        }
        throw error;
      }
    },
    subscribe: (listener) => {
      const one: Listening = { listener, subscription: current.subscribe(listener), channels: [] };
      all.add(one);
      return {
        to: (channels) => {
          one.channels = channels;
          one.subscription.to(channels);
        },
        hears: (channel) => one.subscription.hears(channel),
        close: () => {
          all.delete(one);
          one.subscription.close();
        },
      };
    },
    close: () => {
      isClosed = true;
      current.close();
    },
  };
};

const isSilence = (error: unknown): boolean =>
  error instanceof StoreError && (error.reason === 'timeout' || error.reason === 'disconnected');

/** Rejects when the time is over, whatever the client does. The timer does not keep the process alive. */
const within = async <Answer>(ms: number, answer: Promise<Answer>): Promise<Answer> => {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new StoreError('timeout', `Redis did not answer within ${ms} ms.`)), ms);
    timer.unref();
  });
  try {
    return await Promise.race([answer, limit]);
  } finally {
    clearTimeout(timer);
  }
};
