import { type ClientRequest, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { inPieces } from '@breakerbox/listen';

/** Where a control API is: `unix:PATH`, or a URL with a token. */
export interface Target {
  readonly url: string;
  readonly token?: string | undefined;
  /** The name to claim on a socket. */
  readonly user?: string | undefined;
}

const isSocket = ({ url }: Target): boolean => url.startsWith('unix:');

/** The address of a target without credentials. */
export const shownUrl = ({ url }: Target): string => {
  if (isSocket({ url }) || !URL.canParse(url)) return url;
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
};

const addressOf = (target: Target): RequestOptions => {
  if (isSocket(target)) return { socketPath: target.url.slice('unix:'.length) };
  const { hostname, port, protocol } = new URL(target.url);
  return { hostname: hostname.replace(/^\[|\]$/g, ''), port, protocol };
};

const identityOf = (target: Target): Readonly<Record<string, string>> => ({
  ...(isSocket(target) && { host: 'localhost' }),
  ...(target.token !== undefined && { authorization: `Bearer ${target.token}` }),
  ...(target.user !== undefined && { 'breakerbox-user': encodeURIComponent(target.user) }),
});

/** Interim answers (HTTP status 1xx) of a request at most. The control API sends none, a proxy perhaps one. */
const MOST_INTERIM = 10;

/** A request to a control API. `options` has the path, the method and more headers. */
export const requestTo = (
  target: Target,
  { headers, ...options }: RequestOptions,
  onResponse: (response: IncomingMessage) => void,
): ClientRequest => {
  const request = target.url.startsWith('https:') ? httpsRequest : httpRequest;
  const sent = request(
    { ...addressOf(target), ...options, headers: { ...identityOf(target), ...(headers as Record<string, string>) } },
    onResponse,
  );
  sent.on('socket', inPieces);
  // Node closes such a connection without an error, and a caller would wait for ever.
  sent.on('upgrade', (_response, socket) => {
    socket.destroy();
    sent.destroy();
    sent.emit('error', new Error('it switches to another protocol (status 101), so it is no control API'));
  });
  let interim = 0;
  sent.on('information', () => {
    interim += 1;
    if (interim > MOST_INTERIM) sent.destroy(new Error(`it sent more than ${MOST_INTERIM} interim answers`));
  });
  return sent;
};
