import {
  context,
  DiagLogLevel,
  diag,
  logs,
  metrics,
  type ProxyTracerProvider,
  propagation,
  trace,
} from '@opentelemetry/api';
import { diagLogger } from './diag-logger.ts';
import { type Environment, envValue } from './environment.ts';

/** The parts of OpenTelemetry's API that an SDK registers itself for. */
export type ApiName = 'context' | 'propagation' | 'trace' | 'metrics' | 'logs';

const API: Record<ApiName, { disable(): void }> = { context, propagation, trace, metrics, logs };

/**
 * Where every copy of the API, of whatever 1.x, keeps what is registered. The API has no public way to ask, and registering
 * over somebody else prints an error with a stack.
 */
function registry(): Readonly<Record<string, unknown>> {
  const globals = globalThis as Readonly<Record<symbol, Record<string, unknown> | undefined>>;
  return globals[Symbol.for('opentelemetry.js.api.1')] ?? {};
}

/** Which parts of the API have an SDK behind them now. */
export const registeredApis = (): ReadonlySet<ApiName> =>
  new Set((Object.keys(API) as ApiName[]).filter((name) => registry()[name] !== undefined));

/** Takes the SDK away from these parts of the API, which become no-ops again. */
export function unregister(names: Iterable<ApiName>): void {
  for (const name of names) API[name].disable();
}

/**
 * Lets OpenTelemetry's warnings and errors reach stderr, where otherwise nobody would learn of a taken port or a dead
 * collector. A logger that the application has set stays, and `OTEL_LOG_LEVEL` is sdk-node's to obey.
 */
export function showDiagnostics(env: Environment): void {
  if (registry().diag !== undefined || envValue(env, 'OTEL_LOG_LEVEL') !== undefined) return;
  diag.setLogger(diagLogger(), DiagLogLevel.WARN);
}

interface Flushable {
  forceFlush(): Promise<void>;
}

const isFlushable = (provider: unknown): provider is Flushable =>
  typeof (provider as Partial<Flushable>).forceFlush === 'function';

/** Sends what these parts of the API have waiting. sdk-node's own handle can only shut down. */
export async function forceFlush(names: ReadonlySet<ApiName>): Promise<void> {
  const providers: unknown[] = [];
  if (names.has('metrics')) providers.push(metrics.getMeterProvider());
  if (names.has('trace')) providers.push((trace.getTracerProvider() as ProxyTracerProvider).getDelegate());
  if (names.has('logs')) providers.push(logs.getLoggerProvider());
  await Promise.all(providers.filter(isFlushable).map((provider) => provider.forceFlush()));
}
