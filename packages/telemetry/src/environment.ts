/** The environment of the process, or one that a test gives. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The value of a variable, trimmed. An empty value counts as not set, as OpenTelemetry's specification says. */
export const envValue = (env: Environment, name: string): string | undefined => env[name]?.trim() || undefined;

const envList = (env: Environment, name: string): readonly string[] | undefined => {
  const entries = envValue(env, name)
    ?.split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  return entries && entries.length > 0 ? [...new Set(entries)] : undefined;
};

/** As the variables name it. */
export type Signal = 'TRACES' | 'METRICS' | 'LOGS';

const hasOtlpEndpoint = (env: Environment, signal: Signal): boolean =>
  [`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`, 'OTEL_EXPORTER_OTLP_ENDPOINT'].some((name) => envValue(env, name));

/**
 * The exporters of a signal that send to the network or to the console.
 *
 * OpenTelemetry's own default is OTLP to localhost:4318. On a machine without a collector, that connection fails every few
 * seconds. Breakerbox starts an exporter only if the environment has an endpoint or names the exporter.
 */
const exporters = (env: Environment, signal: Signal): readonly string[] => {
  const named = envList(env, `OTEL_${signal}_EXPORTER`) ?? (hasOtlpEndpoint(env, signal) ? ['otlp'] : []);
  return named.includes('none') ? [] : named;
};

/** The exporters that the environment asks for. */
export interface ExporterPlan {
  /** Whether spans are exported. sdk-node reads from the variables where to. */
  readonly traces: boolean;
  /** Whether log records are exported. sdk-node reads from the variables where to. */
  readonly logs: boolean;
  /** Exporters of metrics, without the scrape endpoint. */
  readonly metrics: readonly string[];
  /** Whether to open the scrape endpoint. */
  readonly scrape: boolean;
}

/** Reads `OTEL_{TRACES,METRICS,LOGS}_EXPORTER` and the OTLP endpoints. */
export function planExporters(env: Environment): ExporterPlan {
  const metrics = exporters(env, 'METRICS');
  return {
    traces: exporters(env, 'TRACES').length > 0,
    logs: exporters(env, 'LOGS').length > 0,
    metrics: metrics.filter((name) => name !== 'prometheus'),
    scrape: envList(env, 'OTEL_METRICS_EXPORTER') === undefined || metrics.includes('prometheus'),
  };
}

const otlpProtocol = (env: Environment, signal: Signal): string =>
  envValue(env, `OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`) ??
  envValue(env, 'OTEL_EXPORTER_OTLP_PROTOCOL') ??
  'http/protobuf';

/** The OTLP protocol for metrics. */
export const metricsProtocol = (env: Environment): string => otlpProtocol(env, 'METRICS');

/** The signals that the environment wants to be sent by OTLP over gRPC. */
export const grpcSignals = (env: Environment): readonly Signal[] =>
  (['METRICS', 'TRACES', 'LOGS'] as const).filter(
    (signal) => exporters(env, signal).includes('otlp') && otlpProtocol(env, signal) === 'grpc',
  );
