import { createBreakerbox, METRIC } from '@breakerbox/core';
import { diag, metrics } from '@opentelemetry/api';
import { type ExporterConfig, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { startTelemetry } from './index.ts';
import { scrapedName } from './name-clashes.ts';
import { BreakerboxPrometheusExporter, breakerboxMetricProducer } from './sdk.ts';
import { collectDiag } from './test-support/diag-messages.ts';
import { startOtlpReceiver } from './test-support/otlp-receiver.ts';

afterEach(() => {
  diag.disable();
  metrics.disable();
  vi.unstubAllEnvs();
});

let agents = 0;
const newAgent = (): string => {
  agents += 1;
  return `named-${agents}`;
};
const work = (agent: string): void => {
  const session = createBreakerbox({ agent }).session();
  session.acquire('search').settle({ outcome: 'success' });
};

/** Instruments of an application that get names of ours in a scrape. */
const OF_OUR_TYPE: Readonly<Record<string, () => void>> = {
  breakerbox_decisions_total: () => metrics.getMeter('app').createCounter('breakerbox_decisions').add(1),
  breakerbox_circuits: () => metrics.getMeter('app').createUpDownCounter('breakerbox-circuits').add(1),
  gen_ai_execute_tool_duration_seconds: () =>
    metrics.getMeter('app').createHistogram('gen_ai.execute_tool.duration.seconds', { unit: 's' }).record(1),
};
const OF_ANOTHER_TYPE: Readonly<Record<string, () => void>> = {
  gen_ai_execute_tool_duration_seconds: () =>
    metrics.getMeter('app').createUpDownCounter('gen_ai.execute_tool.duration', { unit: 's' }).add(1),
  gen_ai_execute_tool_duration_seconds_count: () =>
    metrics.getMeter('app').createGauge('gen_ai.execute_tool.duration.seconds.count').record(1),
  breakerbox_sessions: () => metrics.getMeter('app').createHistogram('breakerbox.sessions').record(1),
  breakerbox_routes_total: () => metrics.getMeter('app').createGauge('breakerbox/routes/total').record(1),
};

const byStartTelemetry = async () => {
  const telemetry = startTelemetry({ serviceName: 'one', prometheus: { port: 0 } });
  await telemetry.ready;
  const scrape = async () => (await fetch(telemetry.metricsUrl ?? '')).text();
  return { scrape, [Symbol.asyncDispose]: telemetry.shutdown.bind(telemetry) };
};

/** Then Breakerbox's own come from the SDK's instruments. */
const byDelta = async () => {
  const receiver = await startOtlpReceiver();
  vi.stubEnv('OTEL_METRICS_EXPORTER', 'prometheus,otlp');
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', receiver.url);
  vi.stubEnv('OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE', 'delta');
  const { scrape, [Symbol.asyncDispose]: shutdown } = await byStartTelemetry();
  return { scrape, [Symbol.asyncDispose]: () => shutdown().then(() => receiver[Symbol.asyncDispose]()) };
};

const byOwnSdk = async () => {
  const producer = breakerboxMetricProducer();
  const config: ExporterConfig = { preventServerStart: true, metricProducers: [producer] };
  const exporter = new BreakerboxPrometheusExporter(config);
  const provider = new MeterProvider({ readers: [exporter] });
  metrics.setGlobalMeterProvider(provider);
  const serializer = new PrometheusSerializer();
  return {
    scrape: async () => serializer.serialize((await exporter.collect()).resourceMetrics),
    [Symbol.asyncDispose]: async () => {
      producer.release();
      await provider.shutdown();
    },
  };
};

const linesOf = (name: string, text: string): string[] =>
  text.split('\n').filter((line) => new RegExp(`^${name}(?:_count|_sum|_bucket)?\\{`).test(line));

describe.each([
  ['startTelemetry', byStartTelemetry],
  ['startTelemetry with delta temporality', byDelta],
  ['an SDK of the application', byOwnSdk],
])('%s', (_, start) => {
  test.each(Object.entries(OF_OUR_TYPE))('merges a metric that is scraped as %s with ours', async (name, record) => {
    await using scraped = await start();
    const agent = newAgent();
    work(agent);
    record();
    const text = await scraped.scrape();
    for (const comment of ['HELP', 'TYPE']) expect(text.split(`# ${comment} ${name} `)).toHaveLength(2);
    const lines = linesOf(name, text);
    expect(lines.filter((line) => line.includes(agent))).not.toEqual([]);
    expect(lines.filter((line) => line.includes('otel_scope_name="app"'))).not.toEqual([]);
  });

  test.each(Object.entries(OF_ANOTHER_TYPE))(
    'leaves out a metric that would be %s with another type',
    async (name, record) => {
      await using scraped = await start();
      const agent = newAgent();
      work(agent);
      const before = await scraped.scrape();
      record();
      const text = await scraped.scrape();
      expect(text).not.toContain('otel_scope_name="app"');
      const ours = (all: string): string[] => linesOf(name, all).filter((line) => line.includes(agent));
      expect(ours(text)).toEqual(ours(before));
      for (const { prometheus } of Object.values(METRIC)) {
        expect(text.split(`# TYPE ${prometheus} `).length).toBe(before.split(`# TYPE ${prometheus} `).length);
      }
    },
  );
});

test('a metric that is left out is reported once', async () => {
  const messages = collectDiag();
  await using scraped = await byOwnSdk();
  metrics.getMeter('app').createHistogram('breakerbox.freshness.total').record(1);
  await scraped.scrape();
  await scraped.scrape();
  expect(messages).toEqual([
    expect.stringMatching(/"breakerbox\.freshness\.total" of "app" is left out .* as breakerbox_freshness_total,/),
  ]);
});

test("names are the same as the serializer's", async () => {
  const exporter = new BreakerboxPrometheusExporter({ preventServerStart: true });
  const meter = new MeterProvider({ readers: [exporter] }).getMeter('app');
  for (const name of ['a', 'a.b', 'a_.b', 'a-b/c', 'a..b', 'a_total', 'a.total', 'A.b', 'a.seconds', 'a1_']) {
    meter.createCounter(`counter.${name}`).add(1);
    meter.createUpDownCounter(`up.${name}`).add(1);
    meter.createGauge(`gauge.${name}`, { unit: 's' }).record(1);
    meter.createHistogram(`histogram.${name}`, { unit: 's' }).record(1);
  }
  const { resourceMetrics } = await exporter.collect();
  const text = new PrometheusSerializer('', false, undefined, true).serialize(resourceMetrics);
  const written = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
  const own = resourceMetrics.scopeMetrics.flatMap((scoped) => scoped.metrics.map(scrapedName));
  expect(written.length).toBeGreaterThan(20);
  expect([...new Set(own)].sort()).toEqual(written.sort());
});
