import { hasReader } from '../telemetry/otel-binding.ts';
import { warnOnce } from './warnings.ts';

/** Where `startTelemetry()` keeps its handle. */
const RUNNING = Symbol.for('@breakerbox/telemetry:running');
const globals = globalThis as { readonly [RUNNING]?: unknown };

/** Whether telemetry was ever there: a session may end after it does. */
let wasStarted = false;

/** Whether there is, or was, an OpenTelemetry SDK or another reader of the metrics. */
export const isObserved = (): boolean => {
  wasStarted ||= globals[RUNNING] !== undefined || hasReader();
  return wasStarted;
};

type Environment = Readonly<Record<string, string | undefined>>;

const EXPORTERS = ['OTEL_METRICS_EXPORTER', 'OTEL_TRACES_EXPORTER'];
const PLACES = ['OTEL_EXPORTER_PROMETHEUS_PORT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];

/** Values that ask for nothing. A port of 0 is any port, as in tests. */
const NOTHING = ['', 'none', '0'];

/** The variable that asks for telemetry, if one does. */
const askingFor = (env: Environment): string | undefined => {
  const read = (name: string): string => env[name]?.trim().toLowerCase() ?? '';
  const isAsking = (name: string): boolean => !NOTHING.includes(read(name));
  const exporter = EXPORTERS.find(isAsking);
  if (exporter !== undefined) return exporter;
  if (EXPORTERS.every((name) => read(name) === 'none')) return undefined;
  return PLACES.find(isAsking);
};

/** Warns where a session's option, or a variable, asks for telemetry that was never started. */
export const warnIfUnobserved = (option?: string): void => {
  if (isObserved()) return;
  const { env = {} } = (globalThis as { readonly process?: { readonly env?: Environment } }).process ?? {};
  const isOff = (name: string, off: string): boolean => env[name]?.trim().toLowerCase() === off;
  if (isOff('OTEL_SDK_DISABLED', 'true') || (option !== undefined && isOff('OTEL_TRACES_EXPORTER', 'none'))) return;
  const asking = option ?? askingFor(env);
  if (asking === undefined) return;
  warnOnce(
    'BREAKERBOX_NO_TELEMETRY',
    '',
    () =>
      `${asking} asks for telemetry, but no OpenTelemetry SDK was started, so nothing is exported. Call startTelemetry() of @breakerbox/telemetry before the first session, run the program with --import @breakerbox/telemetry/register, or start an OpenTelemetry SDK of your own.`,
  );
};
