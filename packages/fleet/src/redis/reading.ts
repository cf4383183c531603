import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { inPieces } from '@breakerbox/listen';
import { partCounter } from './parts.ts';

/** Bytes that may come between two whole answers. The scripts give 9 MB at most. */
const MOST_BYTES = 16 * 1024 * 1024;
/** Parts that may come between two whole answers. A client makes a value of each. The scripts give a few thousand, and a large cluster lists its nodes. */
const MOST_PARTS = 20_000;

/** What one connection of the fleet's own may receive: a client keeps an answer that has no end, and fills the memory. */
export interface Reading {
  /** @throws Error if so many bytes or parts more are too many. */
  take(bytes: number, parts: number): void;
  /** An answer or a message was whole. */
  answered(): void;
}

export const limitedReading = (): Reading => {
  let left = { bytes: MOST_BYTES, parts: MOST_PARTS };
  return {
    take: (bytes, parts) => {
      left = { bytes: left.bytes - bytes, parts: left.parts - parts };
      if (left.bytes < 0) throw new Error(`Redis sent more than ${MOST_BYTES} bytes without the end of an answer.`);
      if (left.parts < 0) throw new Error(`Redis sent more than ${MOST_PARTS} parts without the end of an answer.`);
    },
    answered: () => {
      left = { bytes: MOST_BYTES, parts: MOST_PARTS };
    },
  };
};

const watched = new WeakSet<Socket>();

/** Reads from a socket in turns, counts what comes, and ends the socket if a listener cannot read that. */
export const watchReads = (socket: Socket, reading: Reading): void => {
  if (watched.has(socket)) return;
  watched.add(socket);
  inPieces(socket);
  const emit = socket.emit.bind(socket) as (event: string | symbol, ...given: unknown[]) => boolean;
  const partsIn = partCounter();
  socket.emit = (event: string | symbol, ...given: unknown[]): boolean => {
    if (event !== 'data') return emit(event, ...given);
    const [bytes] = given as [Buffer];
    try {
      reading.take(bytes.length, partsIn(bytes));
      emit(event, bytes);
    } catch (cause) {
      socket.destroy(new Error('Redis sent what its client cannot read.', { cause }));
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
