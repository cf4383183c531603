import { diag } from '@opentelemetry/api';
import { OTLPMetricExporter as GrpcExporter } from '@opentelemetry/exporter-metrics-otlp-grpc';
import { OTLPMetricExporter as JsonExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPMetricExporter as ProtobufExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import {
  ConsoleMetricExporter,
  type IMetricReader,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import { type Environment, envValue, metricsProtocol } from './environment.ts';

const DEFAULT_INTERVAL_MS = 60_000;
const DEFAULT_TIMEOUT_MS = 30_000;

function otlpExporter(protocol: string): PushMetricExporter {
  if (protocol === 'grpc') return new GrpcExporter();
  if (protocol === 'http/json') return new JsonExporter();
  if (protocol !== 'http/protobuf') {
    diag.warn(`"${protocol}" is no OTLP protocol; using http/protobuf. The others are http/json and grpc.`);
  }
  return new ProtobufExporter();
}

function positiveMillis(env: Environment, name: string, fallback: number): number {
  const text = envValue(env, name);
  if (text === undefined || Number(text) > 0) return text === undefined ? fallback : Number(text);
  diag.warn(`${name} is ${JSON.stringify(text)}, and has to be milliseconds above 0; using ${fallback}.`);
  return fallback;
}

function pushExporter(name: string, env: Environment): PushMetricExporter | undefined {
  if (name === 'otlp') return otlpExporter(metricsProtocol(env));
  if (name === 'console') return new ConsoleMetricExporter();
  diag.warn(
    `OTEL_METRICS_EXPORTER names "${name}", which isn't known here. The names are prometheus, otlp, console and none.`,
  );
  return undefined;
}

/**
 * Readers that push metrics, by the variables that sdk-node reads too. sdk-node reads them only when it is given no reader
 * at all, and it is given ours for Prometheus.
 */
export function pushReaders(names: readonly string[], env: Environment): IMetricReader[] {
  const exportIntervalMillis = positiveMillis(env, 'OTEL_METRIC_EXPORT_INTERVAL', DEFAULT_INTERVAL_MS);
  // The reader refuses a time-out longer than its interval.
  const exportTimeoutMillis = Math.min(
    positiveMillis(env, 'OTEL_METRIC_EXPORT_TIMEOUT', DEFAULT_TIMEOUT_MS),
    exportIntervalMillis,
  );
  return names.flatMap((name) => {
    const exporter = pushExporter(name, env);
    return exporter ? [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis, exportTimeoutMillis })] : [];
  });
}
