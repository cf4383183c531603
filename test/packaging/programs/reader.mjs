import {
  AggregationTemporality,
  InMemoryMetricExporter,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';

const points = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
export const reader = new PeriodicExportingMetricReader({ exporter: points, exportIntervalMillis: 60_000 });
export const counted = async () => {
  await reader.forceFlush();
  const all =
    points
      .getMetrics()
      .at(-1)
      ?.scopeMetrics.flatMap(({ metrics }) => metrics) ?? [];
  const skips = all
    .filter(({ descriptor }) => descriptor.name === 'breakerbox.decisions')
    .flatMap(({ dataPoints }) => dataPoints);
  return skips
    .filter(({ attributes }) => attributes['breakerbox.decision'] === 'skip')
    .reduce((sum, { value }) => sum + value, 0);
};
