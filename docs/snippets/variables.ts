import { readFileSync } from 'node:fs';
import { ROOT } from './fences.ts';

/** What OpenTelemetry and `startTelemetry` read, as far as documents set it. */
const OPENTELEMETRY = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_PROMETHEUS_HOST',
  'OTEL_EXPORTER_PROMETHEUS_PORT',
  'OTEL_METRICS_EXPORTER',
  'OTEL_METRIC_EXPORT_INTERVAL',
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_SERVICE_NAME',
  'OTEL_TRACES_EXPORTER',
  'OTEL_TRACES_SAMPLER',
  'OTEL_TRACES_SAMPLER_ARG',
];

const REGISTER = readFileSync(`${ROOT}/packages/instrumentation/src/register-config.ts`, 'utf8');
const KNOWN: ReadonlySet<string> = new Set([...OPENTELEMETRY, ...(REGISTER.match(/\bBREAKERBOX_[A-Z]+\b/g) ?? [])]);

/** What is wrong with setting these; undefined where nothing is. */
export const faultInVariables = (names: readonly string[]): string | undefined => {
  const unknown = names.filter((name) => !KNOWN.has(name));
  return unknown.length === 0 ? undefined : `sets ${unknown.join(', ')}, which nothing here reads.`;
};
