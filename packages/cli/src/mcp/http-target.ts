import {
  Agent,
  type AgentOptions,
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as requestHttp,
} from 'node:http';
import { request as requestHttps, Agent as SecureAgent } from 'node:https';
import type { Socket } from 'node:net';
import { readText } from '@breakerbox/core/internal';
import { BoundedMap } from './bounded-map.ts';
import type { Cookies } from './cookies.ts';
import { readsOfHttp } from './http-reads.ts';

/** Milliseconds that an idle connection is kept. Many servers close one after 5 s, and a request that meets the closing fails. */
const IDLE_MS = 4_000;

/** Redirects that are followed in a row, within the same origin. A server that wants a slash at the end of the path redirects. */
const MOST_REDIRECTS = 3;

/** Milliseconds for a connection that only shows whether the server can be reached. */
const CONNECT_MS = 2_000;

/** Milliseconds for the connection of a request. Packets may be dropped on the way. */
const MOST_CONNECT_MS = 10_000;

/** Errors by which no connection was made, so that no tool of the server can be reached. */
const UNREACHABLE =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ETIMEDOUT|ENOENT)$|CERT|^ERR_(?:TLS|SSL|PROXY)/;

/** How a request on a connection fails that the server was just closing. */
const CLOSING: ReadonlySet<string | undefined> = new Set(['ECONNRESET', 'EPIPE']);

/** Milliseconds for the cancellation of a call. The server may hang. */
export const CANCEL_MS = 10_000;

/** Interim answers (HTTP status 1xx) of a request at most. */
const MOST_INTERIM = 100;

/** Milliseconds for which a connection was idle, at least, if the server has closed it because it was idle. */
const MIN_IDLE_MS = 1_000;

/** An idle connection was closed when a request was sent on it, and the server can be reached. */
export class StaleConnectionError extends Error {
  /** Whether that is no failure. False if the call may be the reason. */
  readonly isExcused: boolean;

  constructor(isExcused: boolean) {
    super();
    this.isExcused = isExcused;
  }
}

/** A request to the server. */
export interface HttpRequest {
  readonly method: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: Buffer | undefined;
  readonly signal: AbortSignal;
  /** The tool that the request calls. Other requests are sent again if their connection was closed at that moment. */
  readonly tool?: string | undefined;
  /** The cookies of the client. Not used for a request that has a header of its own. */
  readonly cookies?: Cookies | undefined;
  /** Called when the body has left the memory, or the request has failed. */
  readonly onSent?: () => void;
}

/** The address of an MCP server, and the headers of each request. */
export interface HttpAddress {
  /** What the relay calls itself, to a server that is not told who the client is. Some firewalls answer 403 to a client without a name. */
  readonly userAgent?: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** The proxy, as variables of the environment. Default: none. */
  readonly proxyEnv?: NodeJS.Dict<string> | undefined;
}

/** An MCP server's address, with the headers that each request carries. There is no timeout: a call may take hours. */
export class HttpTarget {
  readonly #url: URL;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #userAgent: string;
  readonly #agent: Agent;
  /** Its connections serve one request each. */
  readonly #single: Agent;
  readonly #now: () => number;
  /** When each connection became idle. */
  readonly #idleSince = new WeakMap<Socket, number>();
  /** Tools whose last call met a connection that was closed. */
  readonly #stale = new BoundedMap<true>();

  constructor({ url, headers, proxyEnv, userAgent = 'breakerbox' }: HttpAddress, now = () => performance.now()) {
    this.#now = now;
    this.#url = url;
    this.#headers = headers;
    this.#userAgent = userAgent;
    const agent = (options: AgentOptions): Agent =>
      url.protocol === 'https:' ? new SecureAgent({ ...options, proxyEnv }) : new Agent({ ...options, proxyEnv });
    this.#agent = agent({ keepAlive: true, timeout: IDLE_MS, ...readsOfHttp() });
    this.#single = agent({ keepAlive: false });
  }

  /** The host and port, for texts. The rest of the address may be secret. */
  get host(): string {
    return this.#url.host;
  }

  /** The path, by which a client that connects over HTTP finds the server. */
  get path(): string {
    return this.#url.pathname;
  }

  /**
   * Follows redirects, and remembers none: a redirect during a maintenance must not be the address for days.
   *
   * @throws Error (rejects) if the connection fails; {@link StaleConnectionError} if that is no failure of the server.
   */
  async send(request: HttpRequest): Promise<IncomingMessage> {
    for (let url = this.#url, redirects = 0; ; redirects += 1) {
      const response = await this.#fresh(request, url);
      const next = redirects < MOST_REDIRECTS ? redirect(response, url) : undefined;
      if (next === undefined) return response;
      response.resume();
      url = next;
    }
  }

  close(): void {
    this.#agent.destroy();
    this.#single.destroy();
  }

  async #fresh(request: HttpRequest, url: URL): Promise<IncomingMessage> {
    const sent: Sent = {};
    const { tool, signal } = request;
    try {
      const response = await this.#once(request, url, this.#agent, sent);
      if (tool !== undefined) this.#stale.take(tool);
      return response;
    } catch (error) {
      const { idleMs } = sent;
      if (idleMs === undefined || !CLOSING.has(readText(error, 'code', 40)) || signal.aborted) throw error;
      if (tool === undefined) return this.#once(request, url, this.#single);
      if (!(await this.#canConnect())) throw error;
      // A tool that ends its server ends the connection too.
      const isExcused = idleMs >= MIN_IDLE_MS && !this.#stale.has(tool);
      this.#stale.put(tool, true);
      throw new StaleConnectionError(isExcused);
    }
  }

  /**
   * Whether the server can be reached, although an exchange has failed with this error: a proxy may cut one stream that is slow (C13).
   * It opens a connection, unless the error says that none was made.
   */
  async isReachable(error?: unknown): Promise<boolean> {
    return !UNREACHABLE.test(readText(error, 'code', 40) ?? '') && (await this.#canConnect());
  }

  /** A text of the server without the secrets that it was sent. */
  redacted(text: string): string {
    const secrets = Object.values(this.#headers).flatMap((value) => [value, ...value.split(/\s+/)]);
    return secrets.reduce((left, secret) => (secret.length < 4 ? left : left.replaceAll(secret, '…')), text);
  }

  /** Connects as a request does. Behind a proxy, it shows whether the proxy can be reached. */
  #canConnect(): Promise<boolean> {
    const { hostname, port, protocol } = this.#url;
    const host = hostname.replace(/^\[|\]$/g, '');
    const to = { host, port: Number(port || (protocol === 'https:' ? 443 : 80)), timeout: CONNECT_MS };
    const socket = this.#single.createConnection(to) as Socket;
    return new Promise((resolve) => {
      const end = (can: boolean) => () => {
        resolve(can);
        socket.destroy();
      };
      socket.once('connect', end(true)).on('error', end(false)).once('timeout', end(false));
    });
  }

  #once(
    { method, headers, body, signal, cookies, onSent }: HttpRequest,
    url: URL,
    agent: Agent,
    sent: Sent = {},
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const start = url.protocol === 'https:' ? requestHttps : requestHttp;
      const length = body === undefined ? {} : { 'content-length': `${body.length}` };
      // Without this header a server may compress its answer (RFC 9110, 12.5.3).
      const given = { 'accept-encoding': 'identity', ...headers, ...this.#headers };
      // A client that keeps cookies sends those of the server itself. A cookie of --header is sent beside them.
      const cookie =
        headers.cookie ?? ([this.#headers.cookie, cookies?.header(url)].filter(Boolean).join('; ') || undefined);
      const all = { 'user-agent': this.#userAgent, ...given, ...(cookie !== undefined && { cookie }), ...length };
      const request = start(url.href, { method, headers: all, signal, agent });
      limitConnecting(request);
      request.once('socket', (socket) => {
        const since = this.#idleSince.get(socket);
        if (since !== undefined) sent.idleMs = this.#now() - since;
        request.once('close', () => this.#idleSince.set(socket, this.#now()));
      });
      request.once('response', (response) => {
        cookies?.take(url, response);
        resolve(response);
      });
      request.on('error', reject);
      // Node closes such a connection without an error, and the client would wait for ever.
      request.once('upgrade', (_response, socket) => {
        socket.destroy();
        reject(new Error('The server switches to another protocol (status 101)'));
      });
      let interim = 0;
      request.on('information', () => {
        interim += 1;
        if (interim > MOST_INTERIM)
          request.destroy(new Error(`The server sent more than ${MOST_INTERIM} interim answers`));
      });
      if (onSent) request.once('finish', onSent).once('close', onSent);
      request.end(body);
    });
  }
}

/** Ends a request that gets no connection. An answer may take as long as it likes. */
const limitConnecting = (request: ClientRequest): void => {
  const timer = setTimeout(
    () => request.destroy(Object.assign(new Error('The connection took too long'), { code: 'ETIMEDOUT' })),
    MOST_CONNECT_MS,
  ).unref();
  const end = (): void => clearTimeout(timer);
  request.once('close', end).once('socket', (socket: Socket & { encrypted?: boolean }) => {
    if (!socket.connecting) end();
    else socket.once(socket.encrypted ? 'secureConnect' : 'connect', end);
  });
};

/** What is known of a request that was sent. */
interface Sent {
  /** Milliseconds for which its connection was idle. Undefined for a new connection. */
  idleMs?: number;
}

/** Where a response leads, within the same origin: headers with secrets go to no other. */
const redirect = ({ statusCode, headers: { location } }: IncomingMessage, url: URL): URL | undefined => {
  if ((statusCode !== 307 && statusCode !== 308) || location === undefined) return undefined;
  if (!URL.canParse(location, url.href)) return undefined;
  const next = new URL(location, url);
  return next.origin === url.origin ? next : undefined;
};
