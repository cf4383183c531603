import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exposition } from './exposition.ts';
import { type Family, type OtlpResource, sourceOf, translate } from './otlp-translation.ts';

/**
 * Replaces a Collector, or Prometheus' own OTLP receiver. It takes OTLP/HTTP in JSON from any number of processes, and shows all
 * metrics on one `/metrics` with the job and instance of each process, to be scraped with `honor_labels`.
 */
export interface OtlpPrometheus {
  /** For `OTEL_EXPORTER_OTLP_METRICS_ENDPOINT`, with `http/json` for the protocol. */
  readonly endpoint: string;
  /** Host and port of `/metrics`. */
  readonly target: string;
  /** The text of `/metrics`. */
  text(): string;
  /** Errors of the pushes that were rejected. */
  readonly rejected: readonly string[];
  close(): Promise<void>;
}

/** The variables of a process that pushes to it. */
export const pushVariables = ({ endpoint }: Pick<OtlpPrometheus, 'endpoint'>, intervalMs: number) => ({
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'http/json',
  OTEL_METRIC_EXPORT_INTERVAL: String(intervalMs),
});

interface Pushed {
  readonly atMs: number;
  readonly families: readonly Family[];
}

/**
 * Opens the receiver on loopback.
 * @param expireMs After this time without a push, a process counts as gone, and its series are dropped.
 */
export const startOtlpPrometheus = async (
  expireMs: number,
  now: () => number = () => performance.now(),
): Promise<OtlpPrometheus> => {
  const latest = new Map<string, Pushed>();
  const rejected: string[] = [];

  const take = async (request: IncomingMessage): Promise<void> => {
    const type = request.headers['content-type'];
    if (type !== 'application/json') {
      throw new Error(
        `this receiver reads OTLP in JSON, but got ${type}. Set OTEL_EXPORTER_OTLP_METRICS_PROTOCOL=http/json.`,
      );
    }
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { resourceMetrics } = JSON.parse(Buffer.concat(parts).toString('utf8')) as {
      readonly resourceMetrics: readonly OtlpResource[];
    };
    for (const pushed of resourceMetrics) {
      latest.set(sourceOf(pushed), { atMs: now(), families: translate(pushed) });
    }
  };

  const text = (): string => {
    const live = [...latest].filter(([, { atMs }]) => now() - atMs < expireMs);
    return exposition(live.flatMap(([, { families }]) => families));
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method === 'GET' && request.url === '/metrics') {
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(text());
    } else if (request.method === 'POST' && request.url === '/v1/metrics') {
      await take(request);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    } else {
      response.writeHead(404).end();
    }
  };

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      rejected.push(String(error));
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ message: String(error) }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const target = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    endpoint: `http://${target}/v1/metrics`,
    target,
    text,
    rejected,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
};
