export { type BreakerboxMetricProducer, breakerboxMetricProducer } from './metric-producer.ts';
export type { PrometheusOptions, TelemetryOptions } from './options.ts';
export { BreakerboxPrometheusExporter } from './prometheus-exporter.ts';
export { startTelemetry, type TelemetryHandle } from './start.ts';
export { breakerboxViews } from './views.ts';
