import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { inPieces } from '@breakerbox/listen';
import { type Fit, frameChecker } from './frames.ts';

/** Bytes that may come before an answer is whole. The scripts give 9 MB at most. */
const MOST_BYTES = 16 * 1024 * 1024;
/** Parts that may come before an answer is whole. A client makes a value of each. The scripts give a few thousand, and a large cluster lists its slots. */
const MOST_PARTS = 100_000;

/** What a client expects of its connection. */
export interface Expected {
  readonly fit: Fit;
  /** Whether it asks a cluster for its slots. */
  readonly hasSlots?: boolean;
  /** Commands without an answer. Default: any number. */
  commands?(): number;
}

const watched = new WeakSet<Socket>();

/**
 * Reads from a socket in turns, checks what comes before the client sees it, and ends the socket if that cannot be read, or has no end: a
 * client keeps such an answer, and fills the memory.
 */
export const watchReads = (socket: Socket, { fit, hasSlots, commands }: Expected): void => {
  if (watched.has(socket)) return;
  watched.add(socket);
  inPieces(socket);
  const emit = socket.emit.bind(socket) as (event: string | symbol, ...given: unknown[]) => boolean;
  const framesIn = frameChecker(fit, hasSlots);
  let bytesLeft = MOST_BYTES;
  let partsLeft = MOST_PARTS;
  const take = (bytes: Buffer): void => {
    const { parts, answers, isWhole } = framesIn(bytes);
    if (isWhole) [bytesLeft, partsLeft] = [MOST_BYTES, MOST_PARTS];
    bytesLeft -= bytes.length;
    partsLeft -= parts;
    if (bytesLeft < 0) throw new Error(`Redis sent more than ${MOST_BYTES} bytes without the end of an answer.`);
    if (partsLeft < 0) throw new Error(`Redis sent more than ${MOST_PARTS} parts without the end of an answer.`);
    if (commands !== undefined && answers > commands()) throw new Error('Redis sent an answer without a command.');
  };
  socket.emit = (event: string | symbol, ...given: unknown[]): boolean => {
    if (event !== 'data') return emit(event, ...given);
    const [bytes] = given as [Buffer];
    try {
      take(bytes);
      emit(event, bytes);
    } catch (cause) {
      socket.destroy(new Error('Redis sent what its client cannot read.', { cause }));
    }
    return true;
  };
};

const OURS = Symbol('breakerbox.fleet');

/** Options of a socket of TLS. Node keeps them in the socket, and shows them nowhere else. */
const connectOptionsOf = (socket: object): { readonly [OURS]?: Expected } => {
  const place = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'connect-options');
  return (place && (socket as { readonly [key: symbol]: object | undefined })[place]) ?? {};
};

let isListening = false;

/** Options of each socket that a client makes which does not show its sockets: over TCP Node calls `construct` of a new one, and over TLS it announces it. */
export const watchedSocket = (expected: Expected): object => {
  if (!isListening) {
    subscribe('net.client.socket', (message) => {
      const { socket } = message as { readonly socket: Socket };
      const ours = connectOptionsOf(socket)[OURS];
      if (ours !== undefined) watchReads(socket, ours);
    });
  }
  isListening = true;
  return {
    [OURS]: expected,
    construct(this: Socket, made: () => void): void {
      watchReads(this, expected);
      made();
    },
  };
};
