/** For programs that set up an OpenTelemetry SDK themselves, version 2 or 3. */
export { type BreakerboxMetricProducer, breakerboxMetricProducer } from './metric-producer.ts';
export { BreakerboxPrometheusExporter } from './prometheus-exporter.ts';
export { breakerboxViews } from './views.ts';
