import type { RequestListener, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closeServer, createAdmission, limitedServer, listening } from '@breakerbox/listen';
import { log } from './log.ts';
import type { ScrapeAddress } from './options.ts';
import { bytesOf, type ScrapeBody, type ScrapeWriter, scrapeBody } from './scrape-body.ts';
import { isAllowedHost } from './scrape-host.ts';

/** The server that Prometheus scrapes. */
export interface ScrapeServer {
  /** Resolves when the server listens, or when it cannot. Never rejects. */
  readonly ready: Promise<void>;
  /** The URL of the endpoint. Undefined before the server listens, if it cannot, and after it is closed. */
  url(): string | undefined;
  /** The error if the server cannot listen. */
  failure(): Error | undefined;
  /** Closes the server and frees the port. */
  close(): Promise<void>;
}

/** Prometheus reads this as version 0.0.4 of its text format. */
const TEXT = 'text/plain; version=0.0.4; charset=utf-8';

/** The part before the path in a request through an HTTP proxy. */
const PROXIED = /^https?:\/\/[^/?]*/i;
/** Prometheus gives up after this time by default. */
const READ_LIMIT_MS = 10_000;
/** A scraper holds one or two connections, and nothing tells it from another client. */
const PLACES = { unknown: 50, known: 0 } as const;
/** A scraper waits for its answer before it asks again. */
const MOST_WAITING = 16;

/** Limits how long a client may read. The answer of a client that never reads would otherwise stay in memory. */
function limitReading(response: ServerResponse, done: () => void): void {
  const { socket } = response.req;
  const timer = setTimeout(() => {
    socket.destroy();
    done(); // A response that was queued behind others emits no `close`.
  }, READ_LIMIT_MS).unref();
  response.once('close', () => {
    clearTimeout(timer);
    done();
  });
}

/** A browser must not take the text for anything else. */
const HEADERS = { 'content-type': TEXT, 'x-content-type-options': 'nosniff' };

/** Whether the client reads gzip: `gzip` or `*`, unless its weight is 0. */
const readsGzip = (accepted: string | string[] | undefined): boolean =>
  String(accepted ?? '')
    .split(',')
    .some((one) => /^\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(one));

/** Answers with the text, or with 500. Never rejects. */
export async function answerScrape(response: ServerResponse, scraped: ScrapeBody): Promise<void> {
  await writeAnswer(response, scraped).catch(() => response.destroy());
}

async function writeAnswer(response: ServerResponse, scraped: ScrapeBody): Promise<void> {
  try {
    const isZipped = readsGzip(response.req.headers['accept-encoding']);
    // A response that was queued behind others is not destroyed with its connection.
    const isGone = (): boolean => response.destroyed || response.req.socket.destroyed;
    const parts = await scraped.take(isZipped, isGone);
    if (isGone()) return; // While the text was being written, so no `close` will follow.
    limitReading(response, scraped.reading());
    const coding = isZipped ? { 'content-encoding': 'gzip' } : {};
    const headers = { ...HEADERS, ...coding, vary: 'accept-encoding', 'content-length': bytesOf(parts) };
    response.writeHead(200, headers);
    for (const part of parts) response.write(part);
    response.end();
  } catch (error) {
    // Without an answer the scrape would hang until Prometheus' timeout, with no hint of the cause.
    log(
      'error',
      'Breakerbox telemetry: a scrape failed, so Prometheus got no samples this time. The cause follows',
      error,
    );
    // The error's message goes only to the log, because it may quote anything.
    response.writeHead(500, HEADERS).end('# the metrics could not be collected. See the log of the process\n');
  }
}

function refuse(response: ServerResponse, status: 403 | 404 | 405, text: string): void {
  const allow = status === 405 ? { allow: 'GET, HEAD' } : {};
  response.writeHead(status, { ...HEADERS, ...allow }).end(`# ${text}\n`);
}

const FOREIGN_HOST =
  'the Host header names another server. Use an address of this machine, or give the name to startTelemetry({ prometheus: { allowedHosts: [NAME] } })';

/** Writes the log message for an error of listening. */
export type ExplainListenError = (error: NodeJS.ErrnoException, address: ScrapeAddress) => string;

export const cannotServe: ExplainListenError = (error, { host, port, endpoint }) =>
  `Breakerbox telemetry: can't serve ${endpoint} on ${host}:${port} (${error.code ?? error.message})`;

const explainListenError: ExplainListenError = (error, address) => {
  const { port } = address;
  const what = cannotServe(error, address);
  const effect = 'The agent keeps running, but Prometheus gets nothing from this process.';
  if (error.code === 'EADDRINUSE') {
    const next = port === 65_535 ? 9465 : port + 1;
    return `${what}: the port is taken, perhaps by another agent. ${effect} Give this one a port of its own: OTEL_EXPORTER_PROMETHEUS_PORT=${next}, or startTelemetry({ prometheus: { port: ${next} } }). 0 takes any free port, and metricsUrl tells you which.`;
  }
  if (error.code === 'EACCES') {
    return `${what}: this user has no permission to use this port. ${effect} Set OTEL_EXPORTER_PROMETHEUS_PORT to a port of 1024 or more.`;
  }
  return `${what}: ${error.message}. ${effect} Check OTEL_EXPORTER_PROMETHEUS_HOST, or prometheus.host. It must be an address of this machine, such as 127.0.0.1 or 0.0.0.0.`;
};

/**
 * Serves the text that `render` gives. OpenTelemetry's exporter has a server too, but it cannot take port 0, Prometheus'
 * connections keep it alive, and an attribute that cannot be written as text ends the process.
 */
export function openScrapeServer(
  address: ScrapeAddress,
  render: ScrapeWriter,
  explain = explainListenError,
): ScrapeServer {
  let url: string | undefined;
  let failure: Error | undefined;
  const body = scrapeBody(render);
  const listener: RequestListener = (request, response) => {
    const path = request.url?.replace(PROXIED, '').split('?', 1)[0];
    const isKnown = isAllowedHost(request.headers.host, address.allowedHosts ?? []);
    if (!isKnown) return refuse(response, 403, FOREIGN_HOST);
    if (path !== address.endpoint) return refuse(response, 404, `metrics are at GET ${address.endpoint}`);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return refuse(response, 405, `metrics are at GET ${address.endpoint}`);
    }
    void answerScrape(response, body);
  };
  const server = limitedServer({
    listener,
    admission: createAdmission(PLACES),
    mostWaiting: MOST_WAITING,
    mostBody: 0,
  });
  const fail = (error: Error): void => {
    failure = error;
    log('error', explain(error, address));
  };
  const open = async (): Promise<void> => {
    try {
      // Exclusive: the workers of a cluster would share the port, and each scrape would show another one of them.
      const options = { port: address.port, host: address.host, exclusive: true };
      const { port } = (await listening(server, options)) as AddressInfo;
      const host = address.host.includes(':') ? `[${address.host}]` : address.host;
      url = `http://${host}:${port}${address.endpoint}`;
      server.on('error', fail);
    } catch (error) {
      fail(error as Error);
    }
  };
  const ready = open();

  const close = async (): Promise<void> => {
    await ready;
    url = undefined;
    if (server.listening) await closeServer(server);
  };
  return { ready, url: () => url, failure: () => failure, close };
}
