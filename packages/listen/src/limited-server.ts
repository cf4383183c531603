import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, ListenOptions, Server as NetServer, Socket } from 'node:net';
import type { Admission } from './admission.ts';

export interface LimitedServerOptions {
  readonly listener: RequestListener;
  readonly admission: Admission;
  /** Certificate and key, as PEM texts. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  /** Milliseconds for a TLS handshake, and then for the headers of a request. Default: Node's, which is a minute or two. */
  readonly silentMs?: number | undefined;
  /** Requests of a connection that wait for an answer. A client waits for its answer before it asks again. */
  readonly mostWaiting: number;
}

/** Milliseconds for a whole request. */
const REQUEST_MS = 10_000;

/** An HTTP server whose clients cannot keep others out, keep memory in use or keep the process alive. It does not listen yet. */
export const limitedServer = (options: LimitedServerOptions): Server => {
  const { listener, admission, tls, silentMs, mostWaiting } = options;
  const limits =
    silentMs === undefined
      ? {}
      : { requestTimeout: REQUEST_MS, headersTimeout: silentMs, connectionsCheckingInterval: silentMs / 4 };
  const answer = oneByOne(listener, mostWaiting);
  const server =
    tls === undefined
      ? createServer(limits, answer)
      : createTlsServer({ ...limits, handshakeTimeout: silentMs, ...tls }, answer);
  admission.watch(server);
  server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    socket.on('data', () => {}); // Otherwise the parser reads from the system itself.
    inPieces(socket);
  });
  server.on('connection', (socket) => socket.unref());
  // Otherwise Node answers with 417, and keeps the connection.
  server.on('checkExpectation', (_request, response) => response.writeHead(417, { connection: 'close' }).end());
  server.unref();
  return server;
};

/** Bytes that Node parses before it looks whether the connection is still open. */
const PIECE = 1_024;

const inPiecesAlready = new WeakSet<Socket>();

/**
 * Hands over what a connection receives in small pieces. Node would parse a thousand requests that came at once, for 40 ms, although the
 * fifth one has closed the connection; or tens of thousands of chunks of one byte.
 */
export const inPieces = (socket: Socket): void => {
  if (inPiecesAlready.has(socket)) return;
  inPiecesAlready.add(socket);
  const push = socket.push.bind(socket);
  socket.push = (chunk: Buffer | null, encoding?: BufferEncoding): boolean => {
    if (chunk === null) return push(chunk);
    let wantsMore = true;
    for (let from = 0; from < chunk.length && !socket.destroyed; from += PIECE)
      wantsMore = push(chunk.subarray(from, from + PIECE), encoding);
    return wantsMore;
  };
};

/** Closes a connection that asks again and again without waiting for answers: each question would stay in memory. */
const oneByOne = (listener: RequestListener, most: number): RequestListener => {
  const waiting = new WeakMap<Socket, number>();
  const change = (socket: Socket, by: number): number => {
    const count = (waiting.get(socket) ?? 0) + by;
    waiting.set(socket, count);
    return count;
  };
  return (request, response) => {
    const { socket } = request;
    if (change(socket, 1) > most) return void socket.destroy();
    response.once('close', () => change(socket, -1));
    if (!socket.destroyed) listener(request, response);
  };
};

/** Resolves with the address when the server listens. Rejects if it cannot. */
export const listening = (server: NetServer, options: ListenOptions): Promise<AddressInfo | string | null> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options, () => {
      server.off('error', reject);
      resolve(server.address());
    });
  });

/** Stops listening, and closes all connections. */
export const closeServer = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
