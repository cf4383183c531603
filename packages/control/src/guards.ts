const LOCAL = new Set(['localhost', '127.0.0.1', '[::1]']);
/** An address cannot be rebound: only names are looked up. */
const ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:]+\])$/i;

/** Largest body of a request, in bytes. */
export const MOST_BODY = 16_384;

/** A HEAD request would open a stream that is never read. */
export const METHODS: ReadonlySet<string> = new Set(['GET', 'POST']);

const nameOf = (host: string): string => host.toLowerCase().replace(/:\d+$/, '');

/** Whether a request names a host that this endpoint answers for (A5): DNS rebinding uses a public name. */
export const isKnownHost = (host: string | undefined, more: readonly string[]): boolean => {
  if (host === undefined) return false;
  const name = nameOf(host);
  return LOCAL.has(name) || ADDRESS.test(name) || more.some((one) => one.toLowerCase() === name);
};

/** Whether a write comes from a page of this endpoint, or from no page at all (A5). */
export const isKnownOrigin = (origin: string | undefined, host: string | undefined): boolean => {
  if (origin === undefined) return true;
  if (!URL.canParse(origin) || host === undefined) return false;
  const { protocol, host: page } = new URL(origin);
  const own = `${protocol}//${host}`; // Read as an address, so that a port that the scheme implies does not matter.
  return URL.canParse(own) && new URL(own).host === page;
};
