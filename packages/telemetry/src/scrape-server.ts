import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { ScrapeAddress } from './options.ts';
import { type ScrapeBody, scrapeBody } from './scrape-body.ts';
import { tell } from './tell.ts';

/** The server that Prometheus scrapes. */
export interface ScrapeServer {
  /** Resolves when it listens, or when it is sure that it can't. Never rejects. */
  readonly ready: Promise<void>;
  /** Where it listens; undefined until then, if it can't, and once it is closed. */
  url(): string | undefined;
  /** Why it can't listen. */
  failure(): Error | undefined;
  /** Gives the port back. */
  close(): Promise<void>;
}

/** Prometheus reads this as version 0.0.4 of its text format. */
const TEXT = 'text/plain; version=0.0.4; charset=utf-8';

/** What a request by way of an HTTP proxy may have before its path. */
const PROXIED = /^https?:\/\/[^/?]*/i;
/** Prometheus gives up after as long, unless it is told otherwise. */
const READ_LIMIT_MS = 10_000;
/** Whoever scrapes holds one or two. */
const MOST_CONNECTIONS = 50;

/**
 * One connection too many takes the place of that which has been silent longest: a port scanner, or whoever means harm, would
 * otherwise shut Prometheus out by opening all that there are. Where each waits for an answer, it is hung up on.
 */
function limitConnections(server: Server): void {
  const open = new Set<Socket>();
  const silent = new Set<Socket>();
  const forget = (socket: Socket): void => {
    open.delete(socket);
    silent.delete(socket);
  };
  server.on('connection', (socket) => {
    if (open.size >= MOST_CONNECTIONS) {
      const [longest] = silent;
      if (longest === undefined) return void socket.destroy();
      forget(longest);
      longest.destroy();
    }
    open.add(socket);
    silent.add(socket);
    socket.once('close', () => forget(socket));
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    silent.delete(socket);
    response.once('close', () => {
      if (open.has(socket)) silent.add(socket);
    });
  });
}

/** A client that asks and doesn't read would have its answer kept for as long as it likes. */
function limitReading(response: ServerResponse, done: () => void): void {
  const { socket } = response.req;
  const timer = setTimeout(() => {
    socket.destroy();
    done(); // One that was waiting behind others has no `close` to come.
  }, READ_LIMIT_MS).unref();
  response.once('close', () => {
    clearTimeout(timer);
    done();
  });
}

/** Answers with the text, or with 500. Never rejects. */
export async function answerScrape(response: ServerResponse, scraped: ScrapeBody): Promise<void> {
  await writeAnswer(response, scraped).catch(() => response.destroy());
}

async function writeAnswer(response: ServerResponse, scraped: ScrapeBody): Promise<void> {
  try {
    const body = await scraped.take();
    // Gone while the text was being written: there is no `close` to come.
    if (response.destroyed) return;
    limitReading(response, scraped.reading());
    response.writeHead(200, { 'content-type': TEXT, 'content-length': body.length }).end(body);
  } catch (error) {
    // Without an answer the scrape would hang until Prometheus' time-out, and nobody would know why.
    tell('error', 'Breakerbox telemetry: this scrape failed, the next may work', error);
    // What the error says is for the log alone: it may quote anything.
    response
      .writeHead(500, { 'content-type': TEXT })
      .end("# collecting the metrics failed; the process's log says why\n");
  }
}

function refuse(response: ServerResponse, status: 404 | 405, endpoint: string): void {
  const allow = status === 405 ? { allow: 'GET, HEAD' } : {};
  response.writeHead(status, { 'content-type': TEXT, ...allow }).end(`# metrics are at GET ${endpoint}\n`);
}

/** What an error of listening is told as. */
export type ExplainListenError = (error: NodeJS.ErrnoException, address: ScrapeAddress) => string;

export const cannotServe: ExplainListenError = (error, { host, port, endpoint }) =>
  `Breakerbox telemetry: can't serve ${endpoint} on ${host}:${port} (${error.code ?? error.message})`;

const explainListenError: ExplainListenError = (error, address) => {
  const { port } = address;
  const what = cannotServe(error, address);
  const effect = 'The agent runs on, but Prometheus gets nothing from this process.';
  if (error.code === 'EADDRINUSE') {
    const next = port === 65_535 ? 9465 : port + 1;
    return `${what}: the port is taken, perhaps by another agent. ${effect} Give this one a port of its own: OTEL_EXPORTER_PROMETHEUS_PORT=${next}, or startTelemetry({ prometheus: { port: ${next} } }); 0 takes any free port, and metricsUrl says which.`;
  }
  if (error.code === 'EACCES') {
    return `${what}: this user may not listen there. ${effect} Set OTEL_EXPORTER_PROMETHEUS_PORT to a port of 1024 or more.`;
  }
  return `${what}: ${error.message}. ${effect} Check OTEL_EXPORTER_PROMETHEUS_HOST, or prometheus.host: it has to be an address of this machine, such as 127.0.0.1 or 0.0.0.0.`;
};

/**
 * Serves what `render` gives. OpenTelemetry's exporter has a server too, but one that can't take port 0, that is kept alive by
 * Prometheus' connections, and whose process dies of an attribute that can't be written as text.
 */
export function openScrapeServer(
  address: ScrapeAddress,
  render: () => Promise<string>,
  explain = explainListenError,
): ScrapeServer {
  let url: string | undefined;
  let failure: Error | undefined;
  const body = scrapeBody(render);
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const path = request.url?.replace(PROXIED, '').split('?', 1)[0];
    if (path !== address.endpoint) return refuse(response, 404, address.endpoint);
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(response, 405, address.endpoint);
    void answerScrape(response, body);
  });
  limitConnections(server);
  // Neither the server nor a connection that Prometheus holds open may keep an agent alive that has finished.
  server.unref();
  server.on('connection', (socket) => socket.unref());

  const ready = new Promise<void>((resolve) => {
    const fail = (error: Error): void => {
      failure = error;
      tell('error', explain(error, address));
      resolve();
    };
    server.on('error', fail);
    try {
      server.listen(address.port, address.host, () => {
        const { port } = server.address() as AddressInfo;
        const host = address.host.includes(':') ? `[${address.host}]` : address.host;
        url = `http://${host}:${port}${address.endpoint}`;
        resolve();
      });
    } catch (error) {
      fail(error as Error); // Of a port that is none.
    }
  });

  const close = async (): Promise<void> => {
    await ready;
    url = undefined;
    if (!server.listening) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  };
  return { ready, url: () => url, failure: () => failure, close };
}
