import { createBreakerbox, METRIC } from '@breakerbox/core';
import { metrics } from '@opentelemetry/api';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import {
  type DataPoint,
  MeterProvider,
  PeriodicExportingMetricReader,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type BreakerboxMetricProducer, BreakerboxPrometheusExporter, breakerboxMetricProducer } from './sdk.ts';
import { startTelemetry, type TelemetryHandle } from './start.ts';
import { startOtlpReceiver } from './test-support/otlp-receiver.ts';

/** Seconds of the calls of one tool, on both sides of bounds. */
const CALLS = [0, 0.01, 0.011, 0.3, 81.92, 500];

const work = (agent: string): void => {
  const clock = { now: () => 0, unixNow: () => 1_763_700_000_500 };
  const box = createBreakerbox({ agent, tools: { search: {}, fetch: {} }, clock });
  const session = box.session();
  for (const seconds of CALLS) session.acquire('search').settle({ outcome: 'success', durationMs: seconds * 1000 });
  for (let n = 0; n < 3; n += 1) {
    session
      .acquire('fetch')
      .settle({ error: Object.assign(new Error('down'), { status: 503 }), durationMs: 20, tokens: 7 });
  }
  session.acquire('fetch');
  session.end();
};

let agents = 0;
const newAgent = (): string => {
  agents += 1;
  return `produced-${agents}`;
};

beforeEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith('OTEL_')) vi.stubEnv(name, undefined);
});

afterEach(() => {
  metrics.disable();
  vi.unstubAllEnvs();
});

/** One agent's part of a scrape, under a name that is the same for all agents. */
const linesOf = (agent: string, text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line.includes(agent) || line.startsWith('# '))
    .map((line) => line.replace(agent, 'agent'));

describe("the producer's series", () => {
  const scraped = async (metricProducers: BreakerboxMetricProducer[]): Promise<string[]> => {
    const exporter = new BreakerboxPrometheusExporter({ preventServerStart: true, metricProducers });
    const provider = new MeterProvider({ readers: [exporter] });
    metrics.setGlobalMeterProvider(provider);
    const agent = newAgent();
    work(agent);
    const { resourceMetrics, errors } = await exporter.collect();
    expect(errors).toEqual([]);
    for (const producer of metricProducers) producer.release();
    metrics.disable();
    await provider.shutdown();
    return linesOf(agent, new PrometheusSerializer().serialize(resourceMetrics));
  };

  test("are the same on a scrape as from the SDK's histogram, byte for byte", async () => {
    const own = await scraped([]);
    expect(own.length).toBeGreaterThan(130);
    expect(await scraped([breakerboxMetricProducer()])).toEqual(own);
  });

  const pushed = async (metricProducers: BreakerboxMetricProducer[]) => {
    const exports: ResourceMetrics[] = [];
    const reader = new PeriodicExportingMetricReader({
      exporter: {
        export(one, done) {
          exports.push(one);
          done({ code: 0 });
        },
        forceFlush: async () => {},
        shutdown: async () => {},
      },
      metricProducers,
    });
    const provider = new MeterProvider({ readers: [reader] });
    metrics.setGlobalMeterProvider(provider);
    const agent = newAgent();
    work(agent);
    const before = Date.now();
    await reader.forceFlush();
    for (const producer of metricProducers) producer.release();
    metrics.disable();
    await provider.shutdown();
    const [resourceMetrics] = exports;
    return (resourceMetrics?.scopeMetrics ?? []).flatMap(({ scope, metrics: all }) =>
      all.map(({ descriptor: { name, unit, description, valueType }, dataPoints, ...kind }) => ({
        scope: { name: scope.name, version: scope.version ?? '' },
        descriptor: { name, unit, description, valueType },
        ...kind,
        dataPoints: dataPoints
          .filter(({ attributes }) => attributes['gen_ai.agent.name'] === agent)
          .map(({ attributes, value, startTime, endTime }: DataPoint<unknown>) => {
            expect(startTime[0]).toBeGreaterThan(1.6e9);
            expect(startTime[0]).toBeLessThanOrEqual(endTime[0]);
            expect(endTime[0]).toBeGreaterThanOrEqual(Math.trunc(before / 1000));
            return { attributes: { ...attributes, 'gen_ai.agent.name': 'agent' }, value };
          }),
      })),
    );
  };

  test('are the same points to an exporter that pushes: scope, unit, buckets, sum, count, min and max', async () => {
    const own = await pushed([]);
    const counting = own.map(({ descriptor }) => descriptor.name);
    expect(counting).toEqual(Object.values(METRIC).flatMap(({ name }) => (counting.includes(name) ? name : [])));
    expect(counting.length).toBeGreaterThan(15);
    expect(own.at(-1)?.dataPoints).toHaveLength(2);
    expect(await pushed([breakerboxMetricProducer()])).toEqual(own);
  });

  const collected = async (producer: BreakerboxMetricProducer): Promise<DataPoint<unknown>[]> => {
    const { resourceMetrics } = await producer.collect();
    return resourceMetrics.scopeMetrics.flatMap((scoped) =>
      scoped.metrics.flatMap((metric): DataPoint<unknown>[] => metric.dataPoints),
    );
  };

  test('do not change during an export, while calls go on', async () => {
    const producer = breakerboxMetricProducer();
    const agent = newAgent();
    work(agent);
    const points = (await collected(producer)).filter(({ attributes }) => attributes['gen_ai.agent.name'] === agent);
    const before = JSON.stringify(points);
    work(agent);
    producer.release();
    expect(points.length).toBeGreaterThan(40);
    expect(JSON.stringify(points)).toBe(before);
  });

  test('end no earlier than they began, even if the system clock is set back', async () => {
    const producer = breakerboxMetricProducer();
    work(newAgent());
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 });
    const points = await collected(producer);
    vi.useRealTimers();
    producer.release();
    expect(points.length).toBeGreaterThan(130);
    expect(
      points.filter(({ startTime, endTime }) => startTime[0] + startTime[1] / 1e9 > endTime[0] + endTime[1] / 1e9),
    ).toEqual([]);
  });
});

/** A session that idles from the clock's next reading on. */
const idling = (agent: string): (() => void) => {
  let nowMs = 0;
  const clock = { now: () => nowMs, unixNow: () => nowMs };
  const session = createBreakerbox({ agent, tools: { search: {} }, clock }).session();
  session.acquire('search').settle({ outcome: 'success' });
  return () => {
    nowMs = 30 * 60_000;
  };
};

test('idle sessions leave the gauges of a process that only pushes', async () => {
  const producer = breakerboxMetricProducer();
  onTestFinished(producer.release);
  const agent = newAgent();
  const idle = idling(agent);
  const active = async (): Promise<unknown[]> => {
    const { resourceMetrics } = await producer.collect();
    return resourceMetrics.scopeMetrics
      .flatMap((scoped) => scoped.metrics)
      .filter(({ descriptor: { name } }) => name === METRIC.sessions.name || name === METRIC.circuits.name)
      .flatMap(({ dataPoints }): DataPoint<unknown>[] => dataPoints)
      .filter(({ attributes, value }) => attributes['gen_ai.agent.name'] === agent && value === 1);
  };
  expect(await active()).toHaveLength(2);
  idle();
  expect(await active()).toEqual([]);
});

describe('startTelemetry', () => {
  const started = async (): Promise<TelemetryHandle> => {
    const telemetry = startTelemetry({ serviceName: 'one', prometheus: { port: 0 } });
    await telemetry.ready;
    return telemetry;
  };
  const scrape = async ({ metricsUrl = '' }: TelemetryHandle) => (await fetch(metricsUrl)).text();
  const preferring = (preference: string | undefined, url: string): void => {
    vi.stubEnv('OTEL_METRICS_EXPORTER', 'prometheus,otlp');
    vi.stubEnv('OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', `${url}/v1/metrics`);
    vi.stubEnv('OTEL_EXPORTER_OTLP_PROTOCOL', 'http/json');
    vi.stubEnv('OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE', preference);
  };

  test.each([
    [undefined, 2],
    ['cumulative', 2],
    ['delta', 1],
    ['lowmemory', 1],
  ])(
    'with temporality %s gives OTLP the durations once, of aggregation temporality %i',
    async (preference, expected) => {
      await using receiver = await startOtlpReceiver();
      preferring(preference, receiver.url);
      const agent = newAgent();
      const telemetry = await started();
      work(agent);
      await telemetry.shutdown();
      const { body } = await receiver.received('/v1/metrics');
      const scopes = JSON.parse(body).resourceMetrics[0].scopeMetrics as {
        metrics: { name: string; histogram?: { aggregationTemporality: number; dataPoints: unknown[] } }[];
      }[];
      const found = scopes.flatMap((one) => one.metrics.filter(({ name }) => name === METRIC.duration.name));
      expect(found.map(({ histogram }) => histogram?.aggregationTemporality)).toEqual([expected]);
      const ours = found[0]?.histogram?.dataPoints.filter((point) => JSON.stringify(point).includes(agent));
      expect(ours).toHaveLength(2);
    },
  );

  test("writes a scrape byte for byte like OpenTelemetry's serializer", async () => {
    await using receiver = await startOtlpReceiver();
    const written = async (preference: string | undefined): Promise<string[]> => {
      preferring(preference, receiver.url);
      const telemetry = await started();
      const agent = newAgent();
      work(agent);
      const text = await scrape(telemetry);
      await telemetry.shutdown();
      expect(text.endsWith('\n')).toBe(true);
      // No tool is unavailable any more: our scrape leaves that time out, and an SDK keeps it at 0.
      return linesOf(agent, text).filter((line) => !line.includes('breakerbox_circuit_unavailable_time_seconds'));
    };
    const bySdk = await written('delta');
    expect(bySdk.length).toBeGreaterThan(130);
    expect(await written(undefined)).toEqual(bySdk);
  });

  test('takes idle sessions out of the gauges before a scrape', async () => {
    const telemetry = await started();
    const agent = newAgent();
    const idle = idling(agent);
    const active = async (): Promise<string[]> =>
      linesOf(agent, await scrape(telemetry)).filter((line) => /^breakerbox_(sessions|circuits)\{.* 1$/.test(line));
    expect(await active()).toHaveLength(2);
    idle();
    expect(await active()).toEqual([]);
    await telemetry.shutdown();
  });
});
