import { isIP } from 'node:net';

/** Ends of names that cannot be registered in the public DNS. */
const PRIVATE = /\.(?:local|localhost|internal|svc)$/;

/**
 * Whether a request names this server by an address, by a name of a private network, or by a configured name. A web page may point a
 * public name of its own at 127.0.0.1 and read the metrics through the visitor's browser (DNS rebinding). Its requests carry that name.
 */
export const isAllowedHost = (header: string | undefined, allowed: readonly string[]): boolean => {
  if (header === undefined || header === '') return true; // HTTP/1.0. Browsers always send it.
  const name = header
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();
  // A name without a dot is one of this machine or its network.
  return isIP(name) > 0 || !name.includes('.') || PRIVATE.test(name) || allowed.includes(name);
};
