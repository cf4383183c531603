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
