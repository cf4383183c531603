export type { PrometheusOptions, TelemetryOptions } from './options.ts';
export { startTelemetry, type TelemetryHandle } from './start.ts';
