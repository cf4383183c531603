import { Metadata } from '@grpc/grpc-js';
import { type Environment, type ExporterPlan, grpcSignals, type Signal } from './environment.ts';
import { log } from './log.ts';
import { hasLogs } from './otel-api.ts';

const withPossibleLogs = (plan: ExporterPlan): ExporterPlan => {
  if (!plan.logs || hasLogs) return plan;
  log(
    'warn',
    'Breakerbox telemetry: log events are not sent, because @opentelemetry/api 1.9 has no logs API. Metrics and spans are sent. Install @opentelemetry/api 1.10, or set OTEL_LOGS_EXPORTER=none.',
  );
  return { ...plan, logs: false };
};

const SENT: Readonly<Record<Signal, string>> = { METRICS: 'metrics', TRACES: 'spans', LOGS: 'log events' };
const list = new Intl.ListFormat('en-GB');

/** Uses the optional peer, which the build loads at this first use. Returns why it cannot be used. */
const whyNoGrpc = (): { readonly error: unknown } | undefined => {
  try {
    return typeof Metadata === 'function' ? undefined : { error: new TypeError('it exports no Metadata') };
  } catch (error) {
    return { error };
  }
};

const isMissing = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === 'MODULE_NOT_FOUND';

const withPossibleGrpc = (plan: ExporterPlan, env: Environment): ExporterPlan => {
  const signals = grpcSignals(env);
  const why = signals.length > 0 ? whyNoGrpc() : undefined;
  if (why === undefined) return plan;
  const missing = isMissing(why.error);
  log(
    'error',
    `Breakerbox telemetry: OTLP over gRPC needs the package @grpc/grpc-js, which ${missing ? 'is not installed' : 'cannot be loaded'}. So ${list.format(signals.map((signal) => SENT[signal]))} are not sent. /metrics still works if it is enabled. Run npm install @grpc/grpc-js, or set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf and an endpoint for HTTP, usually port 4318.`,
    ...(missing ? [] : [why.error]),
  );
  return {
    ...plan,
    traces: plan.traces && !signals.includes('TRACES'),
    logs: plan.logs && !signals.includes('LOGS'),
    metrics: signals.includes('METRICS') ? plan.metrics.filter((name) => name !== 'otlp') : plan.metrics,
  };
};

/** The plan without what the packages cannot do that are installed beside this one. It says what it leaves out. */
export const possiblePlan = (plan: ExporterPlan, env: Environment): ExporterPlan =>
  withPossibleGrpc(withPossibleLogs(plan), env);
