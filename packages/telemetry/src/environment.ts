/** The process's environment, or a test's. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A variable's text without the blanks around it. Empty counts as not set, as OpenTelemetry's specification has it. */
export const envValue = (env: Environment, name: string): string | undefined => env[name]?.trim() || undefined;

const envList = (env: Environment, name: string): readonly string[] | undefined => {
  const entries = envValue(env, name)
    ?.split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  return entries && entries.length > 0 ? [...new Set(entries)] : undefined;
};

type Signal = 'TRACES' | 'METRICS' | 'LOGS';

const hasOtlpEndpoint = (env: Environment, signal: Signal): boolean =>
  [`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`, 'OTEL_EXPORTER_OTLP_ENDPOINT'].some((name) => envValue(env, name));

/**
 * The exporters of a signal that go out by the network or to the console.
 *
 * OpenTelemetry's own default is OTLP to localhost:4318, which on a machine without a collector means a failed connection
 * every few seconds. Here it takes an endpoint, or the exporter's name, to start one.
 */
const exporters = (env: Environment, signal: Signal): readonly string[] => {
  const named = envList(env, `OTEL_${signal}_EXPORTER`) ?? (hasOtlpEndpoint(env, signal) ? ['otlp'] : []);
  return named.includes('none') ? [] : named;
};

/** Which exporters the environment asks for. */
export interface ExporterPlan {
  /** Spans go somewhere; sdk-node reads the variables to see where. */
  readonly traces: boolean;
  /** Log records go somewhere; sdk-node reads the variables to see where. */
  readonly logs: boolean;
  /** Exporters of metrics other than the scrape endpoint. */
  readonly metrics: readonly string[];
  /** The scrape endpoint is wanted. */
  readonly scrape: boolean;
}

/** Reads `OTEL_{TRACES,METRICS,LOGS}_EXPORTER` and the endpoints of OTLP. */
export function planExporters(env: Environment): ExporterPlan {
  const metrics = exporters(env, 'METRICS');
  return {
    traces: exporters(env, 'TRACES').length > 0,
    logs: exporters(env, 'LOGS').length > 0,
    metrics: metrics.filter((name) => name !== 'prometheus'),
    scrape: envList(env, 'OTEL_METRICS_EXPORTER') === undefined || metrics.includes('prometheus'),
  };
}

/** The protocol of OTLP metrics. */
export const metricsProtocol = (env: Environment): string =>
  envValue(env, 'OTEL_EXPORTER_OTLP_METRICS_PROTOCOL') ??
  envValue(env, 'OTEL_EXPORTER_OTLP_PROTOCOL') ??
  'http/protobuf';
