import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createAdmission, limitedServer, listening } from '@breakerbox/listen';
import { BoundedMap } from './bounded-map.ts';
import { Cookies } from './cookies.ts';
import { createBodies } from './http-bodies.ts';
import { HttpExchange, sendJson, sendProblem } from './http-exchange.ts';
import type { HttpTarget } from './http-target.ts';
import type { Line } from './line-splitter.ts';
import { isLocalHost, isLocalOrigin, type ListenAddress } from './listen-address.ts';
import { CountError } from './message-count.ts';
import type { Relay } from './relay.ts';
import type { RelayHost } from './relay-process.ts';
import { idIn, readLine } from './rpc-message.ts';

const CANCEL = 'notifications/cancelled';

/** Bytes of a cancellation that is looked at, if its client has no session. */
const MOST_CANCEL_BYTES = 16 * 1024;

/** Bytes of answers that wait for a client which opens no stream. */
const MOST_LATE_BYTES = 256 * 1024;

const METHODS: ReadonlySet<string | undefined> = new Set(['POST', 'GET', 'DELETE']);

export interface FrontParts {
  readonly target: HttpTarget;
  readonly relay: Relay;
  readonly listen: ListenAddress;
  readonly onStop: RelayHost['onStop'];
  /** Called with the address for the client. */
  readonly onListening: (url: string) => void;
}

/**
 * Relays between clients of this machine that speak streamable HTTP and a server behind HTTP, until it is told to end.
 *
 * @throws Error (rejects) if the port is taken
 */
export const runHttpFront = async ({ target, relay, listen, onStop, onListening }: FrontParts): Promise<void> => {
  const admission = createAdmission(PLACES);
  const front = new HttpFront(target, relay, (stream) => admission.giveWay(stream));
  const server = limitedServer({
    listener: (request, response) => void front.handle(request, response).catch(() => {}),
    admission,
    silentMs: SILENT_MS,
    requestMs: REQUEST_MS,
    unreadMs: REQUEST_MS,
    mostWaiting: MOST_WAITING,
  });
  const { host } = listen;
  const { port } = (await listening(server, listen).catch(explain(listen))) as AddressInfo;
  server.ref();
  onListening(`http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}${target.path}`);
  await new Promise<void>((resolve) => {
    const forget = onStop(() => {
      forget();
      resolve();
    });
  });
  server.close();
  server.closeAllConnections(); // The clients' calls are given up.
  relay.clientEnded();
  target.close();
};

/** Connections at most. Clients of this machine do not show who they are. */
const PLACES = { unknown: 1_000, known: 0 } as const;
/** Milliseconds for the headers of a request, and for all of it or for reading on. */
const SILENT_MS = 10_000;
const REQUEST_MS = 60_000;
/** Requests of one connection that wait for an answer. A client waits for it, or opens another connection. */
const MOST_WAITING = 16;

const explain =
  ({ port }: ListenAddress) =>
  ({ code, message }: NodeJS.ErrnoException): never => {
    throw new Error(code === 'EADDRINUSE' ? `--listen: port ${port} is taken. Write another port, or 0.` : message);
  };

/** A session of the client with the server, or one request of a client that has none. */
class HttpClient {
  readonly relay: Relay;
  readonly cookies = new Cookies();
  /** By the ids of the requests in them. The relay follows a bounded number of open ones. */
  readonly exchanges = new Map<string, HttpExchange>();
  /** Event streams that the client has asked for by GET. */
  readonly #streams = new Set<HttpExchange>();
  /** Answers of the relay that wait for such a stream. */
  #late: Buffer = Buffer.alloc(0);

  constructor(relay: Relay) {
    this.relay = relay.another();
    this.relay.onTimeout((forwarding, id) => {
      const answers = this.exchanges.get(id)?.timeOut(forwarding);
      if (answers !== undefined) this.#push(answers);
    });
    this.relay.onOwnRequest((line) => {
      for (const exchange of [...this.exchanges.values()].slice(-1)) exchange.ask(line);
    });
  }

  get isListening(): boolean {
    return this.#streams.size > 0;
  }

  streamBegins(stream: HttpExchange): void {
    this.#streams.add(stream);
    if (this.#late.length > 0 && stream.push(this.#late)) this.#late = Buffer.alloc(0);
  }

  /** An exchange has ended. With an event id in it, the client asks for the rest in another one, so the requests may still be open. */
  ended(exchange: HttpExchange): void {
    this.#streams.delete(exchange);
    for (const id of this.exchanges.keys()) if (!this.relay.isOpen([{ id }])) this.exchanges.delete(id);
  }

  #push(answers: Buffer): void {
    const streams = [...this.#streams].toReversed();
    if (streams.some((stream) => stream.push(answers)) || this.#late.length > MOST_LATE_BYTES) return;
    this.#late = Buffer.concat([this.#late, answers]);
  }
}

class HttpFront {
  readonly #target: HttpTarget;
  readonly #relay: Relay;
  readonly #bodies = createBodies();
  /** By the ids that the server has given them. */
  readonly #sessions = new BoundedMap<HttpClient>();
  /** Clients without a session whose requests are under way. */
  readonly #others = new Set<HttpClient>();

  readonly #giveWay: (stream: Socket) => void;

  constructor(target: HttpTarget, relay: Relay, giveWay: (stream: Socket) => void) {
    this.#giveWay = giveWay;
    this.#target = target;
    this.#relay = relay;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { host, origin } = request.headers;
    response.shouldKeepAlive = false; // Of a request that is refused, the body would be read to its end.
    if (!isLocalHost(host)) return sendProblem(response, 403, 'The Host header does not name this machine.');
    if (!isLocalOrigin(origin)) return sendProblem(response, 403, 'The Origin header is of a page of another machine.');
    // A browser sends no Origin with what a page loads, such as a picture.
    if (origin === undefined && request.headers['sec-fetch-site'] === 'cross-site')
      return sendProblem(response, 403, 'The request is of a page of another site. Use fetch() with CORS.');
    if (request.url?.split('?', 1)[0] !== this.#target.path)
      return sendProblem(response, 404, `Only ${this.#target.path} is served here.`);
    if (!METHODS.has(request.method)) {
      response.setHeader('allow', [...METHODS].join(', '));
      return sendProblem(response, 405, 'The method is not part of MCP.');
    }
    response.shouldKeepAlive = true;
    if (request.method === 'POST') return this.#post(request, response);
    const client = this.#clientOf(request);
    const { relay, cookies } = client;
    if (request.method === 'GET') this.#giveWay(request.socket);
    const onStream = (): void => client.streamBegins(exchange);
    const exchange = new HttpExchange({
      target: this.#target,
      relay,
      request,
      response,
      requests: [],
      cookies,
      onStream,
    });
    await exchange.run();
    client.ended(exchange);
    if (request.method === 'DELETE' && response.statusCode < 300) this.#endSession(sessionOf(request));
  }

  async #post(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    const line = await this.#bodies.read(request, response).catch((error: unknown) => {
      if (error instanceof CountError) sendProblem(response, 413, error.message);
      else socket.destroy();
    });
    if (line === undefined) return;
    const hasSession = sessionOf(request) !== undefined;
    const client = (hasSession ? undefined : this.#cancelledBy(line)) ?? this.#clientOf(request);
    const { relay, exchanges, cookies } = client;
    const { toServer: body, toClient } = relay.fromClient(line);
    if (body === undefined) {
      if (toClient !== undefined) return sendJson(response, toClient.toString().trimEnd());
      return void response.writeHead(line.whole ? 202 : 413).end();
    }
    const messages = readLine(body)?.messages ?? [];
    const requests = messages.filter(({ method, id }) => method !== undefined && id !== undefined);
    const onAnswer = (answer: IncomingMessage): void => this.#begin(answer.headers['mcp-session-id'], client);
    const exchange = new HttpExchange({
      target: this.#target,
      relay,
      request,
      response,
      body,
      cookies,
      requests,
      rejections: toClient,
      isListening: () => client.isListening,
      ...(messages[0]?.method === 'initialize' && { onAnswer }),
    });
    for (const { id = '' } of requests) exchanges.set(id, exchange);
    const isOther = !hasSession && requests.length > 0;
    if (isOther) this.#others.add(client);
    await exchange.run();
    client.ended(exchange);
    if (isOther) this.#others.delete(client);
  }

  /** The client without a session whose request the line cancels. Several clients may use the same ids: then it is not known. */
  #cancelledBy({ bytes }: Line): HttpClient | undefined {
    if (bytes.length > MOST_CANCEL_BYTES || !bytes.includes(CANCEL)) return undefined;
    const [message] = readLine(bytes)?.messages ?? [];
    const id = message?.method === CANCEL ? idIn(message.params, 'requestId', message) : undefined;
    const found = id === undefined ? [] : [...this.#others].filter(({ exchanges }) => exchanges.has(id));
    return found.length === 1 ? found[0] : undefined;
  }

  #clientOf(request: IncomingMessage): HttpClient {
    const id = sessionOf(request);
    const known = id === undefined ? undefined : this.#sessions.get(id);
    const client = known ?? new HttpClient(this.#relay);
    if (known === undefined) this.#begin(id, client); // Begun before the relay was started.
    return client;
  }

  #begin(id: string | string[] | undefined, client: HttpClient): void {
    if (typeof id !== 'string') return;
    for (const { relay } of this.#sessions.put(id, client)) if (relay !== client.relay) relay.clientEnded();
  }

  #endSession(id: string | undefined): void {
    if (id !== undefined) this.#sessions.take(id)?.relay.clientEnded();
  }
}

const sessionOf = ({ headers }: IncomingMessage): string | undefined => {
  const id = headers['mcp-session-id'];
  return typeof id === 'string' ? id : undefined;
};
