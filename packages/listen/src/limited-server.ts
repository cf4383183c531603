import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, ListenOptions, Server as NetServer, Socket } from 'node:net';
import type { Admission } from './admission.ts';
import { ignoreRest, inPieces } from './in-pieces.ts';
import { type Certificate, secure } from './securing.ts';

export interface LimitedServerOptions {
  readonly listener: RequestListener;
  readonly admission: Admission;
  readonly tls?: Certificate | undefined;
  /** Milliseconds for a TLS handshake, and then for the headers of a request. Default: Node's, which is a minute or two. */
  readonly silentMs?: number | undefined;
  /** Milliseconds for a whole request, with its body. Only with `silentMs`. Default 10,000. */
  readonly requestMs?: number | undefined;
  /** Milliseconds in which a client may read nothing of what waits for it. Default 10,000. */
  readonly unreadMs?: number | undefined;
  /** Requests of a connection that wait for an answer. A client waits for its answer before it asks again. */
  readonly mostWaiting: number;
  /**
   * Bytes of a body at most. A request with a longer one, or with one of unknown length, gets no more than its headers read, and its answer
   * ends the connection. Default: any length.
   */
  readonly mostBody?: number | undefined;
}

/** Milliseconds for a TLS handshake where `silentMs` is not given. */
const HANDSHAKE_MS = 120_000;

/** Of each server, also those whose TLS handshake is under way. */
const connections = new WeakMap<Server, Set<Socket>>();

/** An HTTP server whose clients cannot keep others out, keep memory in use or keep the process alive. It does not listen yet. */
export const limitedServer = (options: LimitedServerOptions): Server => {
  const { listener, admission, tls, silentMs, mostWaiting } = options;
  const { requestMs = 10_000, unreadMs = 10_000, mostBody = Number.POSITIVE_INFINITY } = options;
  const limits =
    silentMs === undefined
      ? {}
      : { requestTimeout: requestMs, headersTimeout: silentMs, connectionsCheckingInterval: silentMs / 4 };
  const { answer, hasWaiting } = oneByOne(listener, mostWaiting, mostBody);
  const server = createServer(limits, answer);
  // A stream may be silent for hours. But a client that has stopped reading keeps answers in memory, and Node waits for it without an end.
  server.setTimeout(unreadMs, (socket) => {
    if (socket.writableLength > 0 || !hasWaiting(socket)) socket.destroy();
  });
  if (tls !== undefined) secure(server, tls, silentMs ?? HANDSHAKE_MS);
  admission.watch(server);
  const open = new Set<Socket>();
  connections.set(server, open);
  server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    socket.on('data', () => {}); // Otherwise the parser reads from the system itself.
    inPieces(socket);
  });
  server.on('connection', (socket) => {
    open.add(socket.unref());
    socket.once('close', () => open.delete(socket));
  });
  // Otherwise Node answers with 417, and keeps the connection.
  server.on('checkExpectation', (_request, response) => response.writeHead(417, { connection: 'close' }).end());
  server.unref();
  return server;
};

/** Of a body without a length, such as one in chunks, Node would keep 65,536 chunks of one byte, and parse those that are not kept for ever. */
const hasMore = ({ headers }: IncomingMessage, most: number): boolean =>
  most < Number.POSITIVE_INFINITY &&
  (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > most);

/** Closes a connection that asks again and again without waiting for answers: each question would stay in memory. */
const oneByOne = (listener: RequestListener, most: number, mostBody: number) => {
  const waiting = new WeakMap<Socket, number>();
  const change = (socket: Socket, by: number): number => {
    const count = (waiting.get(socket) ?? 0) + by;
    waiting.set(socket, count);
    return count;
  };
  const answer: RequestListener = (request, response) => {
    const { socket } = request;
    if (change(socket, 1) > most) return void socket.destroy();
    response.once('close', () => change(socket, -1));
    if (hasMore(request, mostBody)) {
      ignoreRest(socket);
      response.setHeader('connection', 'close');
    }
    if (!socket.destroyed) listener(request, response);
  };
  return { answer, hasWaiting: (socket: Socket): boolean => (waiting.get(socket) ?? 0) > 0 };
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
    for (const socket of connections.get(server) ?? []) socket.destroy();
  });
