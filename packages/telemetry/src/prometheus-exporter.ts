import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import type { CollectionResult, MetricData, ResourceMetrics } from '@opentelemetry/sdk-metrics';

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

/**
 * OpenTelemetry's `PrometheusExporter`, with the names that OTLP into Prometheus gives: metrics in seconds end in `_seconds`.
 * For those who set up the OpenTelemetry SDK themselves; {@link startTelemetry} uses it already. It takes the same
 * configuration as its parent, and belongs in the same place.
 *
 * A View could rename too, but then OTLP backends would see the new name as well. This touches what is scraped, nothing else.
 *
 * @example
 * ```ts
 * new NodeSDK({ metricReaders: [new BreakerboxPrometheusExporter({ host: '127.0.0.1' })], views: breakerboxViews }).start();
 * ```
 */
export class BreakerboxPrometheusExporter extends PrometheusExporter {
  override async collect(options?: Parameters<PrometheusExporter['collect']>[0]): Promise<CollectionResult> {
    const { resourceMetrics, errors } = await super.collect(options);
    return { resourceMetrics: withSeconds(resourceMetrics), errors };
  }
}
