import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/** Bytes that may come between two whole answers. The scripts give 9 MB at most. */
const MOST_BYTES = 16 * 1024 * 1024;

/** What one connection of the fleet's own may receive: a client keeps an answer that has no end, and fills the memory. */
export interface Reading {
  /** @throws Error if so many bytes more are too many. */
  take(bytes: number): void;
  /** An answer or a message was whole. */
  answered(): void;
}

export const limitedReading = (): Reading => {
  let left = MOST_BYTES;
  return {
    take: (bytes) => {
      left -= bytes;
      if (left < 0) throw new Error(`Redis sent more than ${MOST_BYTES} bytes without the end of an answer.`);
    },
    answered: () => {
      left = MOST_BYTES;
    },
  };
};

/** Bytes that a client parses before it is looked whether the connection is still open. */
const PIECE = 1_024;

const watched = new WeakSet<Socket>();

/** Counts what a socket reads, and ends it if a listener cannot read that. */
export const watchReads = (socket: Socket, reading: Reading): void => {
  if (watched.has(socket)) return;
  watched.add(socket);
  const emit = socket.emit.bind(socket) as (event: string | symbol, ...given: unknown[]) => boolean;
  const end = (cause: unknown): void => {
    socket.destroy(new Error('Redis sent what its client cannot read.', { cause }));
  };
  const read = (bytes: Buffer): void => {
    reading.take(bytes.length);
    for (let from = 0; from < bytes.length && !socket.destroyed; from += PIECE)
      emit('data', bytes.subarray(from, from + PIECE));
  };
  socket.emit = (event: string | symbol, ...given: unknown[]): boolean => {
    if (event !== 'data') return emit(event, ...given);
    try {
      read(given[0] as Buffer);
    } catch (error) {
      end(error);
    }
    return true;
  };
};

const current = new AsyncLocalStorage<Reading>();
/** Node announces each socket that is made, but not those of TLS: there, the certificate of the server was checked. */
const CHANNEL = 'net.client.socket';

const onSocket = (message: unknown): void => {
  const reading = current.getStore();
  if (reading !== undefined) watchReads((message as { readonly socket: Socket }).socket, reading);
};

/** Connects a client that does not show its socket, and watches what it reads. */
export const connectWatched = (reading: Reading, connect: () => Promise<unknown>): Promise<unknown> => {
  subscribe(CHANNEL, onSocket);
  return current.run(reading, connect).finally(() => unsubscribe(CHANNEL, onSocket));
};
