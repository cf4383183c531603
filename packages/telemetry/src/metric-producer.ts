import { SCOPE_NAME } from '@breakerbox/core';
import { countOf, type ExportedMetric, openSeries, type SeriesReader } from '@breakerbox/core/internal';
import { type HrTime, ValueType } from '@opentelemetry/api';
import { emptyResource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
  type ScopeMetrics,
} from '@opentelemetry/sdk-metrics';

/** A producer that gives Breakerbox's metrics to the readers of an OpenTelemetry SDK. */
export interface BreakerboxMetricProducer extends MetricProducer {
  /**
   * Lets the SDK's own instruments record Breakerbox's metrics again. Call it after the SDK's shutdown if another SDK without
   * a producer follows.
   */
  release(): void;
}

const hrTime = (unixMs: number): HrTime => [Math.trunc(unixMs / 1000), Math.round((unixMs % 1000) * 1e6)];

const base = ({ name, description, unit }: ExportedMetric) => ({
  descriptor: { name, description, unit, valueType: ValueType.DOUBLE },
  aggregationTemporality: AggregationTemporality.CUMULATIVE,
});

const histogramMetric = (
  reader: SeriesReader,
  metric: ExportedMetric,
  startTime: HrTime,
  endTime: HrTime,
): MetricData => {
  const boundaries = [...(metric.bounds ?? [])];
  const dataPoints = Array.from(
    reader.histograms(metric),
    (series): DataPoint<Histogram> => ({
      attributes: series.attributes,
      startTime,
      endTime,
      value: {
        min: series.min,
        max: series.max,
        sum: series.sum,
        // A copy, because the counts must not change while the exporter works.
        buckets: { boundaries, counts: [...series.counts] },
        count: countOf(series),
      },
    }),
  );
  return { ...base(metric), dataPointType: DataPointType.HISTOGRAM, dataPoints };
};

const numberMetric = (reader: SeriesReader, metric: ExportedMetric, startTime: HrTime, endTime: HrTime): MetricData => {
  const dataPoints = Array.from(
    reader.numbers(metric),
    ({ attributes, value }): DataPoint<number> => ({ attributes, startTime, endTime, value }),
  );
  return metric.kind === 'gauge'
    ? { ...base(metric), dataPointType: DataPointType.GAUGE, dataPoints }
    : { ...base(metric), dataPointType: DataPointType.SUM, isMonotonic: metric.kind === 'counter', dataPoints };
};

/** All Breakerbox metrics that have a series now, in the form that an SDK gives to an exporter. */
export const producedMetrics = (reader: SeriesReader): ScopeMetrics[] => {
  reader.retireIdle();
  const nowMs = Date.now();
  const metrics = reader
    .metrics()
    .map((metric) => {
      const produced = metric.kind === 'histogram' ? histogramMetric : numberMetric;
      const sinceMs = reader.sinceMs(metric);
      // Where the system's clock was set back: backends drop points that end before they begin, or see a restart.
      return produced(reader, metric, hrTime(sinceMs), hrTime(Math.max(sinceMs, nowMs)));
    })
    .filter(({ dataPoints }) => dataPoints.length > 0);
  return metrics.length === 0 ? [] : [{ scope: { name: SCOPE_NAME, version: '' }, metrics }];
};

/** A producer over a reader that the caller opens and closes. */
export const producerOf = (reader: SeriesReader): MetricProducer => ({
  collect: async () => ({
    resourceMetrics: { resource: emptyResource(), scopeMetrics: producedMetrics(reader) },
    errors: [],
  }),
});

/**
 * A producer that reads Breakerbox's own series instead of the SDK's instruments. The series are
 * exactly the same. Recording the duration of a call takes 10 ns, where the SDK's histogram takes 700 ns. A collection takes a
 * fraction of the time and memory. {@link startTelemetry} works this way already.
 *
 * Until you release the producer, the SDK's own instruments for Breakerbox stay empty. Give one producer to every reader of the
 * SDK, before the SDK starts. Do not give it to readers with delta temporality, because it gives cumulative sums. Views do not
 * apply to it.
 *
 * @example
 * ```ts
 * const metricProducers = [breakerboxMetricProducer()];
 * new NodeSDK({ metricReaders: [new BreakerboxPrometheusExporter({ host: '127.0.0.1', metricProducers })] }).start();
 * ```
 */
export function breakerboxMetricProducer(): BreakerboxMetricProducer {
  const reader = openSeries({ insteadOfSdk: true, exemplars: false });
  return { ...producerOf(reader), release: reader.close };
}
