import { OTLPMetricExporter as GrpcExporter } from '@opentelemetry/exporter-metrics-otlp-grpc';
import { OTLPMetricExporter as JsonExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPMetricExporter as ProtobufExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import {
  AggregationTemporality,
  ConsoleMetricExporter,
  type IMetricReader,
  InstrumentType,
  type MetricProducer,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import { doneAtOnce } from './done-at-once.ts';
import { type Environment, envValue, metricsProtocol } from './environment.ts';
import { log } from './log.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { keepOffExit, LONGEST_TIMER_MS } from './otlp-transport.ts';

const DEFAULT_INTERVAL_MS = 60_000;
const DEFAULT_TIMEOUT_MS = 30_000;

function otlpExporter(protocol: string): PushMetricExporter {
  if (protocol === 'grpc') return new GrpcExporter();
  if (protocol === 'http/json') return new JsonExporter();
  if (protocol !== 'http/protobuf') {
    log(
      'warn',
      `"${protocol}" in OTEL_EXPORTER_OTLP_PROTOCOL or OTEL_EXPORTER_OTLP_METRICS_PROTOCOL is not an OTLP protocol, so http/protobuf is used. Set http/protobuf, http/json or grpc.`,
    );
  }
  return new ProtobufExporter();
}

/** The milliseconds of a variable. Node fires timers at once that are shorter than 1 ms or longer than {@link LONGEST_TIMER_MS}. */
function timerMillis(env: Environment, name: string, fallback: number): number {
  const text = envValue(env, name);
  if (text === undefined) return fallback;
  const millis = Number(text);
  if (millis >= 1 && Number.isFinite(millis)) return Math.min(millis, LONGEST_TIMER_MS);
  log(
    'warn',
    `${name} is ${JSON.stringify(text)}, but it must be a number of milliseconds, 1 or more. Breakerbox uses ${fallback}.`,
  );
  return fallback;
}

function pushExporter(name: string, env: Environment, stop: AbortSignal): PushMetricExporter | undefined {
  if (name === 'otlp') return keepOffExit(otlpExporter(metricsProtocol(env)), stop);
  if (name === 'console') return new ConsoleMetricExporter();
  log(
    'warn',
    `OTEL_METRICS_EXPORTER names "${name}", which is not an exporter, so it is ignored. Set one or more of prometheus, otlp, console and none.`,
  );
  return undefined;
}

/** The path at which Prometheus itself receives OTLP. */
const PROMETHEUS_RECEIVER = /\/api\/v1\/otlp(\/|$)/;

const isPrometheus = (env: Environment): boolean =>
  PROMETHEUS_RECEIVER.test(
    envValue(env, 'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT') ?? envValue(env, 'OTEL_EXPORTER_OTLP_ENDPOINT') ?? '',
  );

/** The exporters that push metrics, set up by the variables that sdk-node reads too. `stop` ends their exports. */
export const pushExporters = (names: readonly string[], env: Environment, stop: AbortSignal): PushMetricExporter[] => {
  const exporters = names.flatMap((name) => pushExporter(name, env, stop) ?? []);
  if (!areCumulative(exporters) && isPrometheus(env)) {
    log(
      'warn',
      'OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE asks for delta temporality, but the endpoint is Prometheus, which rejects it. A part of the metrics is lost. Unset the variable, or start Prometheus with --enable-feature=otlp-deltatocumulative.',
    );
  }
  return exporters.map((exporter) => doneAtOnce(areCumulative([exporter]) ? oneAtATime(exporter) : exporter));
};

/**
 * Whether all exporters want cumulative sums. Our {@link MetricProducer} gives only those. With
 * OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE an exporter may want differences from the previous export.
 */
export const areCumulative = (exporters: readonly PushMetricExporter[]): boolean =>
  exporters.every(
    (exporter) =>
      (exporter.selectAggregationTemporality?.(InstrumentType.HISTOGRAM) ?? AggregationTemporality.CUMULATIVE) ===
      AggregationTemporality.CUMULATIVE,
  );

/** Readers that push. sdk-node makes them only when it is given no reader at all, and it is given ours for Prometheus. */
export function pushReaders(
  exporters: readonly PushMetricExporter[],
  metricProducers: MetricProducer[],
  env: Environment,
): IMetricReader[] {
  const exportIntervalMillis = timerMillis(env, 'OTEL_METRIC_EXPORT_INTERVAL', DEFAULT_INTERVAL_MS);
  // The reader refuses a timeout longer than its interval.
  const exportTimeoutMillis = Math.min(
    timerMillis(env, 'OTEL_METRIC_EXPORT_TIMEOUT', DEFAULT_TIMEOUT_MS),
    exportIntervalMillis,
  );
  return exporters.map(
    (exporter) =>
      new PeriodicExportingMetricReader({ exporter, exportIntervalMillis, exportTimeoutMillis, metricProducers }),
  );
}
