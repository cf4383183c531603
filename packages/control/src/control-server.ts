import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Admission, closeServer, limitedServer, listening } from '@breakerbox/listen';
import { diag } from '@opentelemetry/api';
import { MOST_BODY } from './guards.ts';
import { isTcp, type Listen, LOOPBACK, type TcpAddress } from './listen-address.ts';
import { bindSocket } from './socket-file.ts';

/** Connections of clients without a token, and of those with one: consoles hold one for each stream. */
export const PLACES = { unknown: 128, known: 64 } as const;
/** Streams of changes that a client with a token, or a user of the socket, may have at a time, and that all of them may: the other places are for their actions. */
export const STREAMS = { each: 8, all: 48 } as const;
/** Milliseconds for a TLS handshake, and then for the headers of a request. */
export const SILENT_MS = 2_000;
/** Requests of one connection that wait for an answer. */
export const MOST_WAITING = 4;

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
export const openServer = async (
  listener: RequestListener,
  admission: Admission,
  listen: Listen,
  socket: string,
): Promise<Listening> => {
  checkProtection(listen);
  const tls = isTcp(listen) ? listen.tls : undefined;
  const server = limitedServer({
    listener,
    admission,
    tls,
    silentMs: SILENT_MS,
    mostWaiting: MOST_WAITING,
    mostBody: MOST_BODY,
  });
  let url = `unix:${socket}`;
  let removeSocket = (): void => {};
  if (isTcp(listen)) {
    const options = { host: listen.host ?? '127.0.0.1', port: listen.port, exclusive: true };
    url = urlOf((await listening(server, options)) as AddressInfo, listen);
  } else removeSocket = await bindSocket(server, socket);
  server.on('error', ({ message }) => diag.error(`@breakerbox/control: ${message}`));
  return {
    url,
    close: () => {
      removeSocket();
      return closeServer(server);
    },
  };
};

const checkProtection = (listen: Listen): void => {
  if (!isTcp(listen)) return;
  const { host = '127.0.0.1', tls, behindProxy } = listen;
  if (tls !== undefined || behindProxy || LOOPBACK.test(host)) return;
  throw new Error(
    `listen.host is ${host}, which other machines can reach, and tokens would cross the network unencrypted. ` +
      'Give listen.tls, or set listen.behindProxy if a proxy in front terminates TLS, or leave listen.host out.',
  );
};

const urlOf = ({ address, family, port }: AddressInfo, { tls }: TcpAddress): string =>
  `${tls === undefined ? 'http' : 'https'}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
