import type { Socket } from 'node:net';
import { inPieces } from '@breakerbox/listen';
import { type Fit, frameChecker } from './frames.ts';

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

/** What a client expects of its connection. */
export interface Expected {
  readonly fit: Fit;
  /** Commands without an answer. */
  commands(): number;
}

const ANYTHING: Expected = { fit: 'any', commands: () => Number.POSITIVE_INFINITY };

const watched = new WeakSet<Socket>();

/** Reads from a socket in turns, checks what comes before the client sees it, and ends the socket if that cannot be read. */
export const watchReads = (socket: Socket, reading: Reading, expected = ANYTHING): void => {
  if (watched.has(socket)) return;
  watched.add(socket);
  inPieces(socket);
  const emit = socket.emit.bind(socket) as (event: string | symbol, ...given: unknown[]) => boolean;
  const framesIn = frameChecker(expected.fit);
  socket.emit = (event: string | symbol, ...given: unknown[]): boolean => {
    if (event !== 'data') return emit(event, ...given);
    const [bytes] = given as [Buffer];
    try {
      const { parts, answers } = framesIn(bytes);
      reading.take(bytes.length, parts);
      if (answers > expected.commands()) throw new Error('Redis sent an answer without a command.');
      emit(event, bytes);
    } catch (cause) {
      socket.destroy(new Error('Redis sent what its client cannot read.', { cause }));
    }
    return true;
  };
};

/**
 * Options of each socket that a client makes which does not show its sockets: Node calls `construct` of a new stream. Sockets of TLS do
 * not have it: there, the certificate of the server was checked.
 */
export const watchedSocket = (reading: Reading): object => ({
  construct(this: Socket, made: () => void): void {
    watchReads(this, reading);
    made();
  },
});
