import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';

/** Headers of one connection. The relay has two (RFC 9110, 7.6.1). */
const OF_CONNECTION = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Headers of a request that Node writes itself. */
const OF_REQUEST = new Set(['host', 'content-length', 'expect']);

const namedBy = (connection = ''): ReadonlySet<string> =>
  new Set(connection.split(',').map((name) => name.trim().toLowerCase()));

/** The client's headers as the server gets them. The relay must read the answer, so it asks for one without compression. */
export const headersToServer = (headers: IncomingHttpHeaders): OutgoingHttpHeaders => {
  const named = namedBy(headers.connection);
  const passed = Object.entries(headers).filter(
    ([name]) => !OF_CONNECTION.has(name) && !OF_REQUEST.has(name) && !named.has(name),
  );
  return { ...Object.fromEntries(passed), 'accept-encoding': 'identity' };
};

/**
 * The server's headers as the client gets them: names and values in turn, as they were written.
 *
 * @param dropped The name of a header that does not hold for what the client gets.
 */
export const headersToClient = (
  { rawHeaders: raw, headers: { connection } }: IncomingMessage,
  dropped?: string,
): string[] => {
  const named = namedBy(connection);
  return raw.filter((_, index) => {
    const name = (raw[index - (index % 2)] ?? '').toLowerCase();
    return name !== dropped && !OF_CONNECTION.has(name) && !named.has(name);
  });
};
