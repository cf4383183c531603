import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ExporterConfig, PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import type { CollectionResult, MetricData, ResourceMetrics } from '@opentelemetry/sdk-metrics';
import type { ScrapeAddress } from './options.ts';
import { withoutClashes } from './others-names.ts';
import { scrapeBody } from './scrape-body.ts';
import {
  answerScrape,
  cannotServe,
  type ExplainListenError,
  openScrapeServer,
  type ScrapeServer,
} from './scrape-server.ts';
import { tell } from './tell.ts';

/** An observable callback that never comes back must not hang the scrape; Prometheus waits 10 s by default. */
const COLLECT_TIMEOUT_MS = 5_000;

const SECONDS = /[._]seconds(?:[._]total)?$/;
const TOTAL = /[._]total$/;

/**
 * The name that OTLP-to-Prometheus translation would give: `_seconds` after a name whose unit is seconds, before `_total`.
 */
function renameSeconds(metric: MetricData): MetricData {
  const { name, unit } = metric.descriptor;
  if (unit !== 's' || SECONDS.test(name)) return metric;
  return { ...metric, descriptor: { ...metric.descriptor, name: `${name.replace(TOTAL, '')}_seconds` } };
}

/** All of it under the names of a scrape. */
export const withSeconds = (metrics: ResourceMetrics): ResourceMetrics => ({
  ...metrics,
  scopeMetrics: metrics.scopeMetrics.map((scoped) => ({ ...scoped, metrics: scoped.metrics.map(renameSeconds) })),
});

/** What there is to scrape; what could not be read of it is told. */
export const readForScrape = async (exporter: BreakerboxPrometheusExporter): Promise<ResourceMetrics> => {
  const { resourceMetrics, errors } = await exporter.collect({ timeoutMillis: COLLECT_TIMEOUT_MS });
  if (errors.length > 0)
    tell('error', 'Breakerbox telemetry: some metrics could not be read for this scrape', ...errors);
  return resourceMetrics;
};

const explainListenError: ExplainListenError = (error, address) =>
  `${cannotServe(error, address)}: Prometheus gets nothing from this process. Give BreakerboxPrometheusExporter a host of this machine, such as 127.0.0.1, and a port that is free, or take away what is on it.`;

const addressOf = ({ host, port, endpoint }: ExporterConfig): ScrapeAddress => {
  const defaults = PrometheusExporter.DEFAULT_OPTIONS;
  return {
    host: host || defaults.host,
    port: port || defaults.port,
    endpoint: (endpoint || defaults.endpoint).replace(/^([^/])/, '/$1'),
  };
};

const serializerOf = (config: ExporterConfig): PrometheusSerializer =>
  new PrometheusSerializer(
    config.prefix,
    config.appendTimestamp,
    config.withResourceConstantLabels,
    config.withoutTargetInfo,
    config.withoutScopeInfo,
  );

/**
 * OpenTelemetry's `PrometheusExporter`, with the names that OTLP into Prometheus gives: metrics in seconds end in `_seconds`.
 * For those who set up the OpenTelemetry SDK themselves; {@link startTelemetry} uses it already. It takes the same
 * configuration as its parent, and belongs in the same place. It serves as `startTelemetry`'s endpoint does: what can't be read
 * or written costs that scrape and not the process, what an error said stays in the log, and no client holds anything.
 *
 * A View could rename too, but then OTLP backends would see the new name as well. This touches what is scraped, nothing else.
 *
 * @example
 * ```ts
 * new NodeSDK({ metricReaders: [new BreakerboxPrometheusExporter({ host: '127.0.0.1' })], views: breakerboxViews }).start();
 * ```
 */
export class BreakerboxPrometheusExporter extends PrometheusExporter {
  readonly #address: ScrapeAddress;
  readonly #render: () => Promise<string>;
  readonly #body: ReturnType<typeof scrapeBody>;
  #server: ScrapeServer | undefined;

  /** @param callback Called when the endpoint listens, with the error if it can't, or at once if it is not to be started. */
  constructor(config: ExporterConfig = {}, callback: (error?: Error) => void = () => {}) {
    super({ ...config, preventServerStart: true });
    const serializer = serializerOf(config);
    this.#address = addressOf(config);
    this.#render = async () => serializer.serialize(await readForScrape(this));
    this.#body = scrapeBody(this.#render);
    if (config.preventServerStart === true) queueMicrotask(() => callback());
    else this.startServer().then(() => callback(), callback);
  }

  override async collect(options?: Parameters<PrometheusExporter['collect']>[0]): Promise<CollectionResult> {
    const { resourceMetrics, errors } = await super.collect(options);
    return { resourceMetrics: withoutClashes(withSeconds(resourceMetrics)), errors };
  }

  /** Listens. Rejects if it can't, which is told by `diag` as well. */
  override async startServer(): Promise<void> {
    this.#server ??= openScrapeServer(this.#address, this.#render, explainListenError);
    await this.#server.ready;
    const failure = this.#server.failure();
    if (failure !== undefined) throw failure;
  }

  /** Gives the port back. */
  override async stopServer(): Promise<void> {
    await this.#server?.close();
  }

  /** Answers a request to a server of your own. */
  override getMetricsRequestHandler(_request: IncomingMessage, response: ServerResponse): void {
    void answerScrape(response, this.#body);
  }
}
