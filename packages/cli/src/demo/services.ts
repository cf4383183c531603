import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** How a service misbehaves: on the socket, as the real ones do. */
export type Fault =
  /** The server is closed: ECONNREFUSED. */
  | { readonly kind: 'refuse' }
  /** Requests are taken and never answered. */
  | { readonly kind: 'hang' }
  /** 503. */
  | { readonly kind: 'unavailable' }
  /** 429, with the seconds that are left as Retry-After. */
  | { readonly kind: 'rate_limit'; readonly forMs: number };

/** An HTTP service on loopback that a tool calls. */
export interface Service {
  readonly name: string;
  /** Its address, the same through every fault. */
  readonly url: string;
  /** Makes it misbehave from now on. */
  break(fault: Fault): Promise<void>;
  /** Makes it work again. */
  mend(): Promise<void>;
  /** Asks it, by HTTP, whether it works. */
  healthy(): Promise<boolean>;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
const HEALTH_LIMIT_MS = 400;

/** How a service works while it is well. */
export interface ServiceOptions {
  /** Milliseconds that an answer usually takes; most take half of it to half more, and every 20th five times as long. Default 0. */
  readonly usualMs?: number;
  /** Whether it understands what it is asked; else it answers 400. Default: whatever it is. */
  readonly understands?: (query: URLSearchParams) => boolean;
}

/** Starts a service that answers every request with what `answer` makes of the query. */
export const startService = async (
  name: string,
  answer: (query: URLSearchParams) => unknown,
  { usualMs = 0, understands = () => true }: ServiceOptions = {},
): Promise<Service> => {
  let fault: Fault | undefined;
  let retryAt = 0;
  let answered = 0;
  const hanging = new Set<ServerResponse>();

  /** A caller that has gone by the time of the answer is past minding. */
  const answerQuery = (query: URLSearchParams, response: ServerResponse): void => {
    const reply = (): void => {
      if (understands(query)) send(response, 200, answer(query));
      else send(response, 400, { error: `${name} does not understand what it was asked` });
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
    mend: async () => {
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
/** Steps of the golden ratio are spread evenly, and look like chance. */
const GOLDEN = 0.618_034;

/** How many times its usual time the n-th answer takes. */
const spread = (n: number): number => (n % SLOW_EACH === 0 ? SLOW_TIMES : 0.5 + ((n * GOLDEN) % 1));

const send = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
};

/** While a service is down, the system may lend its port to somebody's outgoing connection for a moment. */
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
