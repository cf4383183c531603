import type { Socket } from 'node:net';

/** Bytes that are handed over before it is looked whether the connection is still open, and whether the turn is over. */
const PIECE = 1_024;
/** Milliseconds of reading, on all connections together, before other work of the process has its turn. */
const TURN_MS = 5;

/** A connection that has received what is not handed over yet. */
interface Waiting {
  /** Hands over one piece. False if there is no other one. */
  next(): boolean;
}

const queue: Waiting[] = [];
/** When the first piece of this turn was handed over. */
let began: number | undefined;
let planned: NodeJS.Immediate | undefined;

/** What a piece causes counts too, such as the answer to a request, which is often made after other microtasks. */
const isOver = (): boolean => began !== undefined && performance.now() - began >= TURN_MS;

const handOver = (one: Waiting): boolean => {
  began ??= performance.now();
  return one.next();
};

const turn = (): void => {
  planned = undefined;
  began = undefined;
  step();
};

/** Each connection has one piece after the other, so that a short request waits for one piece of each. */
const step = (): void => {
  const one = queue.shift();
  if (one !== undefined && handOver(one)) queue.push(one);
  if (queue.length > 0 && !isOver()) queueMicrotask(step);
  else if (began !== undefined) plan();
};

/** Without pieces that wait, only a new turn begins, which keeps no process alive. */
const plan = (): void => {
  planned ??= setImmediate(turn).unref();
  if (queue.length > 0) planned.ref();
};

const known = new WeakMap<Socket, { isIgnored: boolean }>();

/**
 * Hands over what a connection receives in small pieces, and in turns of 5 ms for all connections. Node would parse a thousand requests
 * that came at once, for 40 ms, although the fifth one has closed the connection; or tens of thousands of chunks of one byte, of each of
 * hundreds of connections. Nothing is read from a connection while its pieces wait.
 */
export const inPieces = (socket: Socket): void => {
  if (known.has(socket)) return;
  const state = { isIgnored: false };
  known.set(socket, state);
  const push = socket.push.bind(socket);
  const read = socket._read.bind(socket);
  const chunks: (Buffer | null)[] = [];
  let at = 0;
  let wantsMore = true;
  let isAsked = false;
  let isQueued = false;

  const first = (): Buffer | null | undefined => {
    if (socket.destroyed) chunks.length = 0;
    return chunks[0];
  };
  const nextPiece = (): Buffer | null | undefined => {
    const chunk = first();
    if (!chunk) {
      chunks.shift();
      return chunk;
    }
    const piece = chunk.subarray(at, at + PIECE);
    at += PIECE;
    if (at < chunk.length) return piece;
    chunks.shift();
    at = 0;
    return piece;
  };
  const next = (): boolean => {
    const piece = nextPiece();
    if (piece !== undefined) wantsMore = (state.isIgnored && piece !== null) || push(piece);
    if (first() !== undefined) return true;
    isQueued = false;
    const readsOn = (isAsked || wantsMore) && !socket.destroyed;
    isAsked = false;
    if (readsOn) read(PIECE); // A paused connection asks again when it goes on.
    return false;
  };
  const waiting: Waiting = { next };

  socket.push = (chunk: Buffer | null): boolean => {
    chunks.push(chunk);
    if (!isQueued && !isOver() && first() !== undefined) handOver(waiting);
    if (first() !== undefined && !isQueued) {
      isQueued = true;
      queue.push(waiting);
    }
    plan();
    return !isQueued && wantsMore;
  };
  socket._read = (size: number): void => {
    if (isQueued) isAsked = true;
    else read(size);
  };
};

/** Drops all that a connection receives from now on. Its end still arrives. */
export const ignoreRest = (socket: Socket): void => {
  inPieces(socket);
  const state = known.get(socket);
  if (state !== undefined) state.isIgnored = true;
};
