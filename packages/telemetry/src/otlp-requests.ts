import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics';
import { type Environment, envValue } from './environment.ts';

const STARTED = 'http.client.request.start';
const EXPORTER = /OTel-OTLP-Exporter/;

/** OTLP's own defaults, for variables that are not set. */
const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_ENDPOINT = 'http://localhost:4318';
/** The longest delay that Node accepts, in milliseconds. A timer with a longer one fires at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The signals whose exporters sdk-node sets up from the variables alone. */
export type SdkSignal = 'TRACES' | 'LOGS';

const timeoutOf = (env: Environment, signal: SdkSignal | 'METRICS'): number => {
  const set = [`OTEL_EXPORTER_OTLP_${signal}_TIMEOUT`, 'OTEL_EXPORTER_OTLP_TIMEOUT'].map((name) =>
    Number(envValue(env, name)),
  );
  return Math.min(set.find((millis) => millis > 0) ?? DEFAULT_TIMEOUT_MS, LONGEST_TIMER_MS);
};

/** The URL that the exporter of a signal posts to, in the form of {@link target}. */
const endpointOf = (env: Environment, signal: SdkSignal): string => {
  const below = (base: string): string => `${base.replace(/\/$/, '')}/v1/${signal.toLowerCase()}`;
  const fallback = below(DEFAULT_ENDPOINT);
  const url = [
    envValue(env, `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`) ?? '',
    below(envValue(env, 'OTEL_EXPORTER_OTLP_ENDPOINT') ?? ''),
  ].find((text) => URL.canParse(text));
  const { protocol, host, pathname, search } = new URL(url ?? fallback);
  return `${protocol}//${host}${pathname}${search}`;
};

const target = (request: ClientRequest): string => `${request.protocol}//${request.getHeader('host')}${request.path}`;

const ours = new AsyncLocalStorage<'metrics'>();

/** Marks the requests of this exporter as ours. The application may have the same kind of exporter, and its requests are left alone. */
export function markExports(exporter: PushMetricExporter): PushMetricExporter {
  const send = exporter.export.bind(exporter);
  exporter.export = (metrics, done) => ours.run('metrics', () => send(metrics, done));
  return exporter;
}

/**
 * Limits how long an OTLP export over HTTP may take. The exporter's timeout only limits silence: an endpoint that answers one
 * byte at a time would keep the request open for ever, and the process with it.
 *
 * Exports of metrics do not keep the process alive. Where the interval is shorter than the timeout, there may always be one
 * running. At the end of the process, our own limit decides how long to wait for it.
 *
 * @param signals The signals whose exporters sdk-node has made for us. It gives no access to them, so their requests are
 *   recognized by their URL. An application's own exporter to the same URL has the same timeout from the same variables.
 * @returns a function that stops limiting later requests.
 */
export function boundOtlpRequests(env: Environment, signals: readonly SdkSignal[]): () => void {
  const timeouts = new Map(signals.map((signal) => [endpointOf(env, signal), timeoutOf(env, signal)]));
  const metricsTimeout = timeoutOf(env, 'METRICS');
  const bound = (message: unknown): void => {
    const { request } = message as { readonly request: ClientRequest };
    if (!EXPORTER.test(String(request.getHeader('user-agent')))) return;
    const isMetrics = ours.getStore() === 'metrics';
    const timeoutMs = isMetrics ? metricsTimeout : timeouts.get(target(request));
    if (timeoutMs === undefined) return;
    const timer = setTimeout(() => request.destroy(), timeoutMs).unref();
    request.once('close', () => clearTimeout(timer));
    if (!isMetrics) return;
    if (request.socket) request.socket.unref();
    else request.once('socket', (socket) => socket.unref());
  };
  subscribe(STARTED, bound);
  return () => void unsubscribe(STARTED, bound);
}
