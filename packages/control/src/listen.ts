import { rmSync } from 'node:fs';
import { chmod, lstat, unlink } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { isMainThread } from 'node:worker_threads';
import { diag } from '@opentelemetry/api';

/** A Unix socket with mode 0600. */
export interface SocketAddress {
  /** Default: `PID.sock` in {@link runtimeFolder}, where `breakerbox ctl` finds it. */
  readonly socket?: string | undefined;
}

/** A TCP port. Each request needs a token (A5). */
export interface TcpAddress {
  /** Default `127.0.0.1`. Any address beyond this machine needs `tls` or `behindProxy`. */
  readonly host?: string | undefined;
  /** 0 takes a free one. */
  readonly port: number;
  /** The file of tokens, which `breakerbox ctl token create` writes. */
  readonly tokens: string;
  /** Host names, beyond addresses and `localhost`, under which clients reach this endpoint. */
  readonly hosts?: readonly string[] | undefined;
  /** Certificate and key, as PEM texts. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  /** A proxy in front ends TLS, so plain HTTP on `host` is meant. */
  readonly behindProxy?: boolean | undefined;
}

/** Where the control API listens. */
export type Listen = SocketAddress | TcpAddress;

export const isTcp = (listen: Listen): listen is TcpAddress => 'port' in listen;

/** Addresses that only this machine reaches. */
export const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/;

const KEYS = {
  socket: ['socket'],
  port: ['port', 'host', 'tokens', 'hosts', 'tls', 'behindProxy'],
} as const;

/** @throws Error if the address has a key of no meaning, or a port without a file of tokens. */
export const checkListen = (listen: Listen): void => {
  const allowed: readonly string[] = KEYS[isTcp(listen) ? 'port' : 'socket'];
  const unknown = Object.keys(listen).find((key) => !allowed.includes(key));
  if (unknown !== undefined)
    throw new Error(
      `listen.${unknown} is not an option ${isTcp(listen) ? 'of a port' : 'of a socket. Without listen.port, the API listens on a socket'}. For a socket, set listen.socket only. For a port, the options are ${KEYS.port.join(', ')}.`,
    );
  if (isTcp(listen) && (typeof listen.tokens !== 'string' || listen.tokens === ''))
    throw new Error(
      'listen.tokens is missing. A port needs a file of tokens. Set the path of a file that `breakerbox ctl token create NAME --file FILE` has written.',
    );
};

/** Connections at a time: consoles hold one each. Those that ask for nothing are closed after {@link SILENT_MS}. */
const MOST_CONNECTIONS = 32;
const SILENT_MS = 2_000;

/** A client waits for its answer before it asks again on a connection. */
const MOST_WAITING = 4;

/** Closes a connection that asks again and again without waiting for answers, before anything is done for it. */
export const oneByOne = (listener: RequestListener): RequestListener => {
  const waiting = new WeakMap<Socket, number>();
  const change = (socket: Socket, by: number): number => {
    const count = (waiting.get(socket) ?? 0) + by;
    waiting.set(socket, count);
    return count;
  };
  return (request, response) => {
    const { socket } = request;
    if (change(socket, 1) > MOST_WAITING) return void socket.destroy();
    response.once('close', () => change(socket, -1));
    listener(request, response);
  };
};

/** A server that listens. */
export interface Listening {
  /** `unix:PATH`, or `http://HOST:PORT`. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Listens without keeping the process alive.
 *
 * @throws Error if it cannot listen, or if the address is beyond this machine and not protected.
 */
export const openServer = async (listener: RequestListener, listen: Listen, socket: string): Promise<Listening> => {
  const server = serverFor(oneByOne(listener), listen);
  const removeSocket = (): void => rmSync(socket, { force: true });
  server.maxConnections = MOST_CONNECTIONS;
  server.on('connection', (one) => one.unref());
  if (isTcp(listen)) {
    await listening(server, { host: listen.host ?? '127.0.0.1', port: listen.port, exclusive: true });
  } else {
    await removeLeftOver(socket);
    await asPrivate(() => listening(server, { path: socket }));
    await chmod(socket, 0o600); // A worker thread has no umask of its own.
    process.once('exit', removeSocket); // A server that is still open at the end leaves its socket behind.
  }
  server.unref();
  return {
    url: isTcp(listen) ? urlOf(server.address() as AddressInfo, listen) : `unix:${socket}`,
    close: () =>
      new Promise((resolve) => {
        process.off('exit', removeSocket);
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

/** Runs what makes a file at once, so that the file belongs to this user alone from the start. */
const asPrivate = <Made>(make: () => Made): Made => {
  if (!isMainThread) return make();
  const before = process.umask(0o177);
  try {
    return make();
  } finally {
    process.umask(before);
  }
};

const serverFor = (listener: RequestListener, listen: Listen): Server => {
  const limits = { requestTimeout: 10_000, headersTimeout: SILENT_MS, connectionsCheckingInterval: 500 };
  if (!isTcp(listen)) return createServer(limits, listener);
  const { host = '127.0.0.1', tls, behindProxy } = listen;
  if (tls !== undefined) return createTlsServer({ ...limits, ...tls }, listener);
  if (behindProxy || LOOPBACK.test(host)) return createServer(limits, listener);
  throw new Error(
    `listen.host is ${host}, which other machines can reach, and tokens would cross the network unencrypted. ` +
      'Give listen.tls, or set listen.behindProxy if a proxy in front terminates TLS, or leave listen.host out.',
  );
};

const urlOf = ({ address, family, port }: AddressInfo, { tls }: TcpAddress): string =>
  `${tls === undefined ? 'http' : 'https'}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;

const listening = (server: Server, options: Parameters<Server['listen']>[0]): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options as object, () => {
      server.off('error', reject);
      server.on('error', ({ message }) => diag.error(`@breakerbox/control: ${message}`));
      resolve();
    });
  });

/** Whether a process listens on a socket. */
export const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const attempt = connect(path, () => {
      attempt.destroy();
      resolve(true);
    });
    attempt.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT'));
  });

/** Removes the socket of a process that has ended. */
const removeLeftOver = async (path: string): Promise<void> => {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return;
  if (!found.isSocket())
    throw new Error(
      `${path} exists and is not a socket, so it is not replaced. Set listen.socket (BREAKERBOX_CONTROL_LISTEN) to another path.`,
    );
  if (await answers(path))
    throw new Error(
      `Another process listens on ${path}. Stop it, or set listen.socket (BREAKERBOX_CONTROL_LISTEN) to another path.`,
    );
  await unlink(path).catch(() => undefined);
};
