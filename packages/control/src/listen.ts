import { rmSync } from 'node:fs';
import { chmod, lstat, unlink } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
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

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/;

/** Connections at a time: consoles hold one each. */
const MOST_CONNECTIONS = 50;

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
  const server = serverFor(listener, listen);
  const removeSocket = (): void => rmSync(socket, { force: true });
  server.maxConnections = MOST_CONNECTIONS;
  server.on('connection', (one) => one.unref());
  if (isTcp(listen)) {
    await listening(server, { host: listen.host ?? '127.0.0.1', port: listen.port, exclusive: true });
  } else {
    await removeLeftOver(socket);
    await listening(server, { path: socket });
    await chmod(socket, 0o600);
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

const serverFor = (listener: RequestListener, listen: Listen): Server => {
  const limits = { requestTimeout: 10_000, headersTimeout: 5_000 };
  if (!isTcp(listen)) return createServer(limits, listener);
  const { host = '127.0.0.1', tls, behindProxy } = listen;
  if (tls !== undefined) return createTlsServer({ ...limits, ...tls }, listener);
  if (behindProxy || LOOPBACK.test(host)) return createServer(limits, listener);
  throw new Error(
    `listen.host is ${host}, which other machines can reach, and tokens would cross the network unencrypted. ` +
      'Give listen.tls, or set listen.behindProxy if a proxy ends TLS, or leave listen.host out.',
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
    throw new Error(`${path} is no socket, so it is not replaced. Give listen.socket another path.`);
  if (await answers(path)) throw new Error(`Another process listens on ${path}. Give listen.socket another path.`);
  await unlink(path).catch(() => undefined);
};
