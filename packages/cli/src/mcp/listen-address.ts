import { placeOf } from './service-flags.ts';

/** Where the relay listens for clients that speak HTTP. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Names and addresses of this machine that no other machine reaches. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i;

/** @throws Error if the text is not an address, or other machines could reach it */
export const listenAddress = (given: string): ListenAddress => {
  const { host = '127.0.0.1', port } = placeOf(given) ?? {};
  if (port === undefined)
    throw new Error(
      `--listen is '${given}', which is not an address. Write a port such as 9870, HOST:PORT, or 0 for a free port.`,
    );
  if (!LOOPBACK.test(host))
    throw new Error(
      `--listen is '${given}', but the relay listens for clients of this machine only. Write the port alone, or 127.0.0.1, localhost or [::1] before it.`,
    );
  return { host, port };
};

/** Whether a request names this machine. DNS rebinding lets a page of another name reach it. */
export const isLocalHost = (host: string | undefined): boolean =>
  host !== undefined && LOOPBACK.test(host.replace(/:\d+$/, ''));

/** Whether a request comes from no page, or from a page of this machine. */
export const isLocalOrigin = (origin: string | undefined): boolean => {
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const { protocol, hostname } = new URL(origin);
  return /^https?:$/.test(protocol) && LOOPBACK.test(hostname);
};
