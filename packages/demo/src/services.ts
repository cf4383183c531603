import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** How a service fails. It fails on the socket, as real services do. */
export type Fault =
  /** The server is closed: ECONNREFUSED. */
  | { readonly kind: 'refuse' }
  /** It accepts requests and never answers. */
  | { readonly kind: 'hang' }
  /** 503. */
  | { readonly kind: 'unavailable' }
  /** 429, with the remaining seconds as Retry-After. */
  | { readonly kind: 'rate_limit'; readonly forMs: number };

/** An HTTP service on loopback that a tool calls. */
export interface Service {
  readonly name: string;
  /** Its address, which stays the same through every fault. */
  readonly url: string;
  /** Makes it fail from now on. */
  break(fault: Fault): Promise<void>;
  /** Makes it work again. */
  repair(): Promise<void>;
  /** Asks it with HTTP whether it works. */
  healthy(): Promise<boolean>;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
const HEALTH_LIMIT_MS = 400;

/** How a service behaves while it works. */
export interface ServiceOptions {
  /** Usual milliseconds of an answer. Most answers take 0.5 to 1.5 times as long, and every 20th takes five times. Default 0. */
  readonly usualMs?: number;
  /** Whether it understands a query. If not, it answers 400. Default: it understands every query. */
  readonly understands?: (query: URLSearchParams) => boolean;
}

/** Starts a service that answers each query with the result of `answer`. */
export const startService = async (
  name: string,
  answer: (query: URLSearchParams) => unknown,
  { usualMs = 0, understands = () => true }: ServiceOptions = {},
): Promise<Service> => {
  let fault: Fault | undefined;
  let retryAt = 0;
  let answered = 0;
  const hanging = new Set<ServerResponse>();

  /** If the caller is gone by the time of the answer, the answer is dropped. */
  const answerQuery = (query: URLSearchParams, response: ServerResponse): void => {
    const reply = (): void => {
      if (understands(query)) send(response, 200, answer(query));
      else send(response, 400, { error: `${name} does not understand the query` });
    };
    answered += 1;
    setTimeout(reply, usualMs * spread(answered));
  };

  const respond = (request: IncomingMessage, response: ServerResponse): void => {
    if (fault?.kind === 'hang') {
      hanging.add(response);
      response.on('close', () => hanging.delete(response));
    } else if (fault?.kind === 'unavailable') {
      send(response, 503, { error: `${name} is down for maintenance` });
    } else if (fault?.kind === 'rate_limit') {
      const seconds = Math.max(1, Math.ceil((retryAt - performance.now()) / 1000));
      send(response, 429, { error: 'too many requests' }, { 'retry-after': String(seconds) });
    } else {
      const { pathname, searchParams } = new URL(request.url ?? '/', `http://${HOST}`);
      if (pathname === '/health') send(response, 200, { status: 'ok' });
      else answerQuery(searchParams, response);
    }
  };

  const server = createServer(respond);
  await listen(server, 0);
  const { port } = server.address() as AddressInfo;
  const url = `http://${HOST}:${port}`;

  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };

  return {
    name,
    url,
    break: async (next) => {
      fault = next;
      if (next.kind === 'rate_limit') retryAt = performance.now() + next.forMs;
      if (next.kind === 'refuse') await close();
    },
    repair: async () => {
      fault = undefined;
      for (const response of hanging) response.destroy();
      if (!server.listening) await listen(server, port);
    },
    healthy: async () => {
      try {
        const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(HEALTH_LIMIT_MS) });
        await response.body?.cancel();
        return response.ok;
      } catch {
        return false;
      }
    },
    close,
  };
};

const SLOW_EACH = 20;
const SLOW_TIMES = 5;
/** Steps of the golden ratio are spread evenly, and look random. */
const GOLDEN = 0.618_034;

/** The factor on the usual time of the n-th answer. */
const spread = (n: number): number => (n % SLOW_EACH === 0 ? SLOW_TIMES : 0.5 + ((n * GOLDEN) % 1));

const send = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
};

/** While a service is down, the system may use its port for an outgoing connection of another process for a moment. */
const LISTEN_ATTEMPTS = 20;
const LISTEN_PAUSE_MS = 250;

const listen = async (server: Server, port: number): Promise<void> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const listening = once(server, 'listening');
      server.listen(port, HOST);
      await listening;
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || attempt === LISTEN_ATTEMPTS) throw error;
      await wait(LISTEN_PAUSE_MS);
    }
  }
};
