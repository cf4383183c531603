import { DURATION_BUCKETS, METRIC } from '@breakerbox/core';
import { diag, metrics, trace } from '@opentelemetry/api';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { startTelemetry, type TelemetryHandle, type TelemetryOptions } from './index.ts';
import { registeredApis, unregister } from './otel-globals.ts';
import { collectDiag } from './test-support/diag-messages.ts';
import { startOtlpReceiver } from './test-support/otlp-receiver.ts';
import { recordContract, testMeter } from './test-support/record-contract.ts';

const PROMETHEUS_TYPE = { counter: 'counter', updowncounter: 'gauge', gauge: 'gauge', histogram: 'histogram' } as const;

let started: TelemetryHandle[] = [];
let messages: string[] = [];

async function start(options: TelemetryOptions = {}): Promise<TelemetryHandle> {
  const handle = startTelemetry({ prometheus: { port: 0 }, ...options });
  started.push(handle);
  await handle.ready;
  return handle;
}

async function scrape(handle: TelemetryHandle): Promise<string> {
  const response = await fetch(handle.metricsUrl ?? 'there is no scrape endpoint');
  expect(response.status).toBe(200);
  return response.text();
}

beforeEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith('OTEL_')) vi.stubEnv(name, undefined);
  messages = collectDiag();
});

afterEach(async () => {
  for (const handle of started) await handle.shutdown();
  started = [];
  unregister(registeredApis());
  vi.unstubAllEnvs();
  diag.disable();
});

describe('the scrape', () => {
  test.each(Object.values(METRIC))('names $name $prometheus', async ({ prometheus, kind }) => {
    const handle = await start();
    recordContract();
    const text = await scrape(handle);
    expect(text).toContain(`# TYPE ${prometheus} ${PROMETHEUS_TYPE[kind]}\n`);
    const series = kind === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => prometheus + end) : [prometheus];
    for (const name of series) expect(text).toMatch(new RegExp(`^${name}\\{.*\\} 1$`, 'm'));
    const typed = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
    const contract = Object.values(METRIC).map((metric) => metric.prometheus);
    expect(typed.toSorted()).toEqual([...contract, 'target_info'].toSorted());
  });

  test('keeps the bounds of the duration histogram', async () => {
    const handle = await start();
    recordContract();
    const bounds = [...(await scrape(handle)).matchAll(/_bucket\{.*le="([^"]+)"/g)].map(([, le]) => le);
    expect(bounds).toEqual([...DURATION_BUCKETS.map(String), '+Inf']);
  });

  test('names the process, and not its arguments', async () => {
    vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'deployment.environment.name=staging,service.version=0.1');
    vi.stubEnv('OTEL_SERVICE_NAME', 'from-the-environment');
    const handle = await start({ serviceName: 'research-agent', serviceVersion: '1.2.3' });
    const info = (await scrape(handle)).match(/^target_info\{(.*)\} 1$/m)?.[1] ?? '';
    const labels = Object.fromEntries(info.split(',').map((label) => label.split('=')));
    expect(labels).toEqual({
      service_name: '"research-agent"',
      service_version: '"1.2.3"',
      service_instance_id: expect.stringMatching(/^"[0-9a-f-]{36}"$/),
      deployment_environment_name: '"staging"',
      telemetry_sdk_language: '"nodejs"',
      telemetry_sdk_name: '"opentelemetry"',
      telemetry_sdk_version: expect.any(String),
    });
  });

  test('has the service name from the environment, from any of its variables', async () => {
    vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'service.name=attributed');
    expect(await scrape(await start())).toContain('service_name="attributed"');
  });

  test('has room for 200 tools with all outcomes, more than OpenTelemetry allows by default', async () => {
    const handle = await start();
    const counter = testMeter().createCounter(METRIC.outcomes.name);
    testMeter()
      .createObservableUpDownCounter(METRIC.circuits.name)
      .addCallback((result) => {
        for (let n = 0; n < 2_613; n++) result.observe(1, { tool: String(n) });
      });
    for (let n = 0; n < 2_613; n++) counter.add(1, { tool: String(n) });
    const text = await scrape(handle);
    expect(text.match(/^breakerbox_outcomes_total\{/gm)).toHaveLength(2_613);
    expect(text.match(/^breakerbox_circuits\{/gm)).toHaveLength(2_613);
    expect(text).not.toContain('overflow');
  });

  test('has the rest of the metrics if one cannot be read', async () => {
    const handle = await start();
    recordContract();
    metrics
      .getMeter('another')
      .createObservableGauge('broken')
      .addCallback(() => {
        throw new Error('the sensor is off');
      });
    expect(await scrape(handle)).toContain('breakerbox_decisions_total{');
    expect(messages.join()).toContain('the sensor is off');
  });
});

describe('OTLP', () => {
  test('gets the names of OpenTelemetry', async () => {
    await using receiver = await startOtlpReceiver();
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', receiver.url);
    vi.stubEnv('OTEL_EXPORTER_OTLP_PROTOCOL', 'http/json');
    const handle = await start();
    recordContract();
    // A scrape renames on its way out; what the other readers see must not change with it.
    await scrape(handle);
    await handle.shutdown();
    const { body } = await receiver.received('/v1/metrics');
    const sent = JSON.parse(body).resourceMetrics[0].scopeMetrics[0].metrics as { name: string; unit: string }[];
    expect(sent.map(({ name, unit }) => ({ name, unit }))).toEqual(
      Object.values(METRIC).map(({ name, unit }) => ({ name, unit })),
    );
  });

  test('works alone if the environment disables the scrape endpoint', async () => {
    await using receiver = await startOtlpReceiver();
    vi.stubEnv('OTEL_METRICS_EXPORTER', 'otlp');
    vi.stubEnv('OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', `${receiver.url}/custom`);
    const handle = await start({ prometheus: undefined });
    recordContract();
    expect(handle.metricsUrl).toBeUndefined();
    await handle.shutdown();
    await receiver.received('/custom');
  });
});

describe('starting and stopping', () => {
  test('flush sends what waits, and telemetry goes on', async () => {
    await using receiver = await startOtlpReceiver();
    vi.stubEnv('OTEL_METRICS_EXPORTER', 'otlp');
    vi.stubEnv('OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', `${receiver.url}/custom`);
    const handle = await start();
    recordContract();
    expect(await handle.flush()).toBe(true);
    await receiver.received('/custom');
    expect(await scrape(handle)).toContain('breakerbox_');
    await handle.shutdown();
    expect(await handle.flush()).toBe(true);
  });

  test('a second start returns the first handle and logs a warning', async () => {
    const first = await start();
    expect(await start({ serviceName: 'other' })).toBe(first);
    expect(messages).toEqual([expect.stringContaining('startTelemetry() was called again')]);
  });

  test('shutdown removes the hooks on the process', async () => {
    const count = (): number[] => ['SIGTERM', 'SIGINT', 'beforeExit'].map((event) => process.listenerCount(event));
    const before = count();
    const handle = await start();
    expect(count()).toEqual(before.map((listeners) => listeners + 1));
    await handle.shutdown();
    expect(count()).toEqual(before);
  });

  test('shutdown frees the port, and telemetry can start again', async () => {
    const first = await start({ serviceName: 'first' });
    const port = Number(new URL(first.metricsUrl ?? '').port);
    await first.shutdown();
    await first.shutdown();
    expect(first.metricsUrl).toBeUndefined();
    expect(registeredApis().size).toBe(0);

    const second = await start({ serviceName: 'second', prometheus: { port } });
    recordContract();
    const text = await scrape(second);
    expect(text).toContain('service_name="second"');
    expect(text).toContain('breakerbox_decisions_total{');
    expect(messages).toEqual([]);
  });

  test('prometheus: false opens no port, whatever the environment says', async () => {
    vi.stubEnv('OTEL_METRICS_EXPORTER', 'prometheus');
    expect((await start({ prometheus: false })).metricsUrl).toBeUndefined();
    expect(registeredApis()).not.toContain('metrics');
  });

  test('OTEL_SDK_DISABLED starts nothing', async () => {
    vi.stubEnv('OTEL_SDK_DISABLED', 'true');
    const handle = await start();
    expect(handle.metricsUrl).toBeUndefined();
    expect(registeredApis().size).toBe(0);
  });

  test('an existing SDK keeps the metrics', async () => {
    const theirs = new MeterProvider();
    metrics.setGlobalMeterProvider(theirs);
    const handle = await start();
    expect(handle.metricsUrl).toBeUndefined();
    expect(messages).toEqual([expect.stringContaining('BreakerboxPrometheusExporter')]);
    await handle.shutdown();
    expect(metrics.getMeterProvider()).toBe(theirs);
  });

  test('an existing tracer stays, and metrics start beside it', async () => {
    const tracer = trace.getTracer('theirs');
    const theirs = { getTracer: () => tracer };
    trace.setGlobalTracerProvider(theirs);
    vi.stubEnv('OTEL_TRACES_EXPORTER', 'console');
    const handle = await start();
    recordContract();
    expect(await scrape(handle)).toContain('breakerbox_decisions_total{');
    await handle.shutdown();
    expect([...registeredApis()]).toEqual(['trace']);
    expect(messages).toEqual([]);
  });
});
