import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ExporterConfig, PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import type { CollectionResult, MetricData, ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { log } from './log.ts';
import { withoutClashes } from './name-clashes.ts';
import type { ScrapeAddress } from './options.ts';
import { scrapeBody } from './scrape-body.ts';
import {
  answerScrape,
  cannotServe,
  type ExplainListenError,
  openScrapeServer,
  type ScrapeServer,
} from './scrape-server.ts';

/** Limit for observable callbacks, which must not block the scrape for ever. Prometheus waits 10 s by default. */
const COLLECT_TIMEOUT_MS = 5_000;

const SECONDS = /[._]seconds(?:[._]total)?$/;
const TOTAL = /[._]total$/;

/** The name that the translation from OTLP to Prometheus gives: `_seconds` for the unit seconds, before `_total`. */
function renameSeconds(metric: MetricData): MetricData {
  const { name, unit } = metric.descriptor;
  if (unit !== 's' || SECONDS.test(name)) return metric;
  return { ...metric, descriptor: { ...metric.descriptor, name: `${name.replace(TOTAL, '')}_seconds` } };
}

/** The metrics with the names of a scrape. */
export const withSeconds = (metrics: ResourceMetrics): ResourceMetrics => ({
  ...metrics,
  scopeMetrics: metrics.scopeMetrics.map((scoped) => ({ ...scoped, metrics: scoped.metrics.map(renameSeconds) })),
});

/** Collects the metrics for a scrape. Metrics that cannot be read are logged. */
export const readForScrape = async (exporter: BreakerboxPrometheusExporter): Promise<ResourceMetrics> => {
  const { resourceMetrics, errors } = await exporter.collect({ timeoutMillis: COLLECT_TIMEOUT_MS });
  if (errors.length > 0)
    log('error', 'Breakerbox telemetry: some metrics could not be read for this scrape', ...errors);
  return resourceMetrics;
};

const explainListenError: ExplainListenError = (error, address) =>
  `${cannotServe(error, address)}. Prometheus gets nothing from this process. Give BreakerboxPrometheusExporter a host of this machine, such as 127.0.0.1, and a free port.`;

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
 * OpenTelemetry's `PrometheusExporter` with the names that the translation from OTLP to Prometheus gives: metrics in seconds end
 * in `_seconds`. Use it if you set up the OpenTelemetry SDK yourself; {@link startTelemetry} uses it already. It takes the
 * configuration of its parent, and you use it in the same place. It serves as `startTelemetry`'s endpoint does: a value that
 * cannot be read or written fails one scrape and not the process, error messages go only to the log, and no client can
 * block it or keep memory in use.
 *
 * A View could rename the metrics too, but then OTLP backends would see the new names. This exporter changes only the scrape.
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

  /** @param callback Called when the endpoint listens, with the error if it can't, or at once with `preventServerStart`. */
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

  /** Opens the endpoint. Rejects if it can't listen, and logs the error through `diag`. */
  override async startServer(): Promise<void> {
    this.#server ??= openScrapeServer(this.#address, this.#render, explainListenError);
    await this.#server.ready;
    const failure = this.#server.failure();
    if (failure !== undefined) throw failure;
  }

  /** Closes the endpoint and frees the port. */
  override async stopServer(): Promise<void> {
    await this.#server?.close();
  }

  /** Answers a request to a server of your own. */
  override getMetricsRequestHandler(_request: IncomingMessage, response: ServerResponse): void {
    void answerScrape(response, this.#body);
  }
}
