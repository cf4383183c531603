import { METRIC } from '@breakerbox/core';
import { openMetricsContentType, Registry, type RegistryContentType } from 'prom-client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { registerBreakerboxMetrics } from './prom-client.ts';
import { startTelemetry } from './start.ts';
import { startOtlpReceiver } from './test-support/otlp-receiver.ts';

/*
 * A second copy of core of a release whose cells have another shape, as a plugin may bring it: all that it counts has to be in
 * the same series, once, by whatever way the numbers leave the process.
 */

let agent = '';
let agents = 0;
beforeEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith('OTEL_')) vi.stubEnv(name, undefined);
  agents += 1;
  agent = `copied-${agents}`;
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const OURS = Symbol.for('@breakerbox/core:telemetry:3');

const copyOfAnotherShape = async () => {
  const globals = globalThis as Record<symbol, unknown>;
  const ours = globals[OURS];
  expect(ours).toBeDefined();
  delete globals[OURS];
  vi.resetModules();
  const copy = await import('@breakerbox/core');
  globals[OURS] = ours;
  return copy;
};

/** 9 calls of one tool of one agent: 3 by this copy, 6 by another. */
const work = async (): Promise<void> => {
  const mine = await import('@breakerbox/core');
  const theirs = await copyOfAnotherShape();
  for (const [copy, times] of [
    [mine, 3],
    [theirs, 6],
  ] as const) {
    const session = copy.createBreakerbox({ agent, tools: { search: {} } }).session();
    for (let n = 0; n < times; n += 1) session.acquire('search').settle({ outcome: 'success', durationMs: 30 });
  }
};

/** Of this test's agent, each series once, and calls and durations as they were. */
const expectTruth = (text: string): void => {
  const lines = text.split('\n').filter((line) => line.includes(`"${agent}"`));
  const names = lines.map((line) => line.replace(/ \S+$/, ''));
  expect(new Set(names).size).toBe(names.length);
  const value = (start: string, ...parts: readonly string[]) =>
    lines
      .filter((line) => line.startsWith(start) && parts.every((part) => line.includes(part)))
      .map((line) => Number(line.slice(line.lastIndexOf(' '))));
  expect(value(METRIC.outcomes.prometheus, 'breakerbox_outcome="success"')).toEqual([9]);
  expect(value(METRIC.decisions.prometheus, 'breakerbox_reason="closed"')).toEqual([9]);
  expect(value(METRIC.sessions.prometheus, '"active"')).toEqual([2]);
  expect(value(`${METRIC.duration.prometheus}_count`)).toEqual([9]);
  expect(value(`${METRIC.duration.prometheus}_bucket`, 'le="0.02"')).toEqual([0]);
  expect(value(`${METRIC.duration.prometheus}_bucket`, 'le="0.04"')).toEqual([9]);
};

const scraped = async (): Promise<string> => {
  const telemetry = startTelemetry({ prometheus: { port: 0 } });
  await telemetry.ready;
  await work();
  const text = await (await fetch(telemetry.metricsUrl ?? '')).text();
  await telemetry.shutdown();
  return text;
};

test('a scrape has the sums of both', async () => {
  expectTruth(await scraped());
});

test("so it has where the SDK's own instruments do the work", async () => {
  await using receiver = await startOtlpReceiver();
  vi.stubEnv('OTEL_METRICS_EXPORTER', 'prometheus,otlp');
  vi.stubEnv('OTEL_EXPORTER_OTLP_METRICS_PROTOCOL', 'http/json');
  vi.stubEnv('OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', `${receiver.url}/v1/metrics`);
  vi.stubEnv('OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE', 'delta');
  expectTruth(await scraped());
});

test('a push has them', async () => {
  await using receiver = await startOtlpReceiver();
  vi.stubEnv('OTEL_METRICS_EXPORTER', 'otlp');
  vi.stubEnv('OTEL_EXPORTER_OTLP_METRICS_PROTOCOL', 'http/json');
  vi.stubEnv('OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', `${receiver.url}/v1/metrics`);
  const telemetry = startTelemetry({ prometheus: false });
  await work();
  await telemetry.shutdown();
  const { body } = await receiver.received('/v1/metrics');
  const all: { name: string; sum?: { dataPoints: object[] }; histogram?: { dataPoints: object[] } }[] = JSON.parse(
    body,
  ).resourceMetrics[0].scopeMetrics.flatMap((scoped: { metrics: object[] }) => scoped.metrics);
  const points = (name: string) =>
    all
      .filter((metric) => metric.name === name)
      .flatMap(({ sum, histogram }) => (sum ?? histogram)?.dataPoints ?? [])
      .filter((point) => JSON.stringify(point).includes(`"${agent}"`));
  expect(points(METRIC.duration.name)).toMatchObject([{ count: 9 }]);
  expect(points(METRIC.outcomes.name).filter((point) => JSON.stringify(point).includes('"success"'))).toMatchObject([
    { asDouble: 9 },
  ]);
});

test.each([
  ['text', () => new Registry()],
  [
    'OpenMetrics',
    () => {
      const registry: Registry<RegistryContentType> = new Registry();
      registry.setContentType(openMetricsContentType);
      return registry;
    },
  ],
])('a prom-client registry of %s has them', async (_, make) => {
  const registry: Registry<RegistryContentType> = make();
  const unregister = registerBreakerboxMetrics(registry);
  await work();
  expectTruth(await registry.metrics());
  unregister();
});
