import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics';
import { type Environment, envValue } from './environment.ts';

const STARTED = 'http.client.request.start';
const EXPORTER = /OTel-OTLP-Exporter/;

/** OTLP's own, where no variable says otherwise. */
const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_ENDPOINT = 'http://localhost:4318';
/** Node takes a longer one for none at all, and fires at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** What sdk-node makes exporters for by the variables alone. */
export type SdkSignal = 'TRACES' | 'LOGS';

const timeoutOf = (env: Environment, signal: SdkSignal | 'METRICS'): number => {
  const set = [`OTEL_EXPORTER_OTLP_${signal}_TIMEOUT`, 'OTEL_EXPORTER_OTLP_TIMEOUT'].map((name) =>
    Number(envValue(env, name)),
  );
  return Math.min(set.find((millis) => millis > 0) ?? DEFAULT_TIMEOUT_MS, LONGEST_TIMER_MS);
};

/** Where the exporter of a signal posts to, written as {@link target} writes it. */
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

/** Marks what this exporter sends as ours: the application may have exporters of the same kind, which are not ours to end. */
export function markExports(exporter: PushMetricExporter): PushMetricExporter {
  const send = exporter.export.bind(exporter);
  exporter.export = (metrics, done) => ours.run('metrics', () => send(metrics, done));
  return exporter;
}

/**
 * Puts an end to exports by HTTP that would have none: the exporter's time-out is one for silence, and an endpoint that answers
 * a byte at a time would keep its request open, and the process with it, for ever.
 *
 * Exports of metrics don't hold the process either: where the interval is shorter than the time-out there may never be a moment
 * without one. What is under way at the end is waited for as long as our own limit says.
 *
 * @param signals Those whose exporters sdk-node has made for us. It gives no access to them, so their requests are known by
 *   where they go; an application's own exporter to the same URL has the same time-out by the same variables.
 * @returns Leaves later requests alone.
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
