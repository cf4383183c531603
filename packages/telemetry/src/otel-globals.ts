import {
  context,
  type DiagLogger,
  DiagLogLevel,
  diag,
  metrics,
  type ProxyTracerProvider,
  propagation,
  trace,
} from '@opentelemetry/api';
import { diagLogger } from './diag-logger.ts';
import { type Environment, envValue } from './environment.ts';
import { learnSecrets } from './known-secrets.ts';
import { log } from './log.ts';
import { logs } from './otel-api.ts';

/** The parts of OpenTelemetry's API that an SDK registers itself for. */
export type ApiName = 'context' | 'propagation' | 'trace' | 'metrics' | 'logs';

const API: Record<ApiName, { disable(): void }> = { context, propagation, trace, metrics, logs };

/**
 * The place where every copy of the 1.x API keeps what is registered. The API has no public way to ask, and registering over
 * another SDK prints an error with a stack.
 */
function registry(): Readonly<Record<string, unknown>> {
  const globals = globalThis as Readonly<Record<symbol, Record<string, unknown> | undefined>>;
  return globals[Symbol.for('opentelemetry.js.api.1')] ?? {};
}

/** The parts of the API that have an SDK now. */
export const registeredApis = (): ReadonlySet<ApiName> =>
  new Set((Object.keys(API) as ApiName[]).filter((name) => registry()[name] !== undefined));

/** Removes the SDK from these parts of the API, which become no-ops again. */
export function unregister(names: Iterable<ApiName>): void {
  for (const name of names) API[name].disable();
}

const LEVELS: readonly string[] = ['NONE', 'ERROR', 'WARN', 'INFO', 'DEBUG', 'VERBOSE', 'ALL'];

/**
 * Writes OpenTelemetry's warnings and errors to stderr, or the level that `OTEL_LOG_LEVEL` asks for. Without it, a taken port or
 * a dead collector would go unnoticed. A logger that the application has set stays.
 */
export function showDiagnostics(env: Environment, logger: DiagLogger = diagLogger()): void {
  learnSecrets(env);
  if (registry().diag !== undefined) return;
  const wanted = envValue(env, 'OTEL_LOG_LEVEL') ?? 'WARN';
  const level = wanted.toUpperCase();
  const isKnown = LEVELS.includes(level);
  diag.setLogger(logger, isKnown ? DiagLogLevel[level as keyof typeof DiagLogLevel] : DiagLogLevel.WARN);
  if (isKnown) return;
  const names = LEVELS.join(', ').toLowerCase();
  log(
    'warn',
    `OTEL_LOG_LEVEL is ${JSON.stringify(wanted)}, which is not a level, so warn is used. The levels are ${names}.`,
  );
}

/**
 * Calls `make` with `OTEL_LOG_LEVEL` hidden. `NodeSDK` would otherwise set a logger of its own, which writes everything that a
 * backend has answered. Our logger, or the application's, stays in place and receives the messages.
 */
export function keepingLogger<Made>(make: () => Made): Made {
  const { OTEL_LOG_LEVEL: level } = process.env;
  if (level === undefined) return make();
  delete process.env.OTEL_LOG_LEVEL;
  try {
    return make();
  } finally {
    process.env.OTEL_LOG_LEVEL = level;
  }
}

interface Flushable {
  forceFlush(): Promise<void>;
}

const isFlushable = (provider: unknown): provider is Flushable =>
  typeof (provider as Partial<Flushable>).forceFlush === 'function';

/** Sends what these parts of the API have pending. sdk-node's own handle can only shut down. */
export async function forceFlush(names: ReadonlySet<ApiName>): Promise<void> {
  const providers: unknown[] = [];
  if (names.has('metrics')) providers.push(metrics.getMeterProvider());
  if (names.has('trace')) providers.push((trace.getTracerProvider() as ProxyTracerProvider).getDelegate());
  if (names.has('logs')) providers.push(logs.getLoggerProvider());
  await Promise.all(providers.filter(isFlushable).map((provider) => provider.forceFlush()));
}
