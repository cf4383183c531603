import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Attributes, diag } from '@opentelemetry/api';
import { type ExporterConfig, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider, type MetricProducer } from '@opentelemetry/sdk-metrics';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { BreakerboxPrometheusExporter } from './sdk.ts';
import { collectDiag } from './test-support/diag-messages.ts';
import { freePort } from './test-support/free-port.ts';

afterEach(() => diag.disable());

async function scrapedName(
  name: string,
  unit: string,
  kind: 'Counter' | 'UpDownCounter' = 'UpDownCounter',
): Promise<string> {
  const exporter = new BreakerboxPrometheusExporter({ preventServerStart: true });
  const provider = new MeterProvider({ readers: [exporter] });
  const instrument: { add(value: number, attributes?: Attributes): void } = provider
    .getMeter('m')
    [`create${kind}`](name, {
      unit,
    });
  instrument.add(1);
  const { resourceMetrics } = await exporter.collect();
  await provider.shutdown();
  const text = new PrometheusSerializer('', false, undefined, true, true).serialize(resourceMetrics);
  return text.trim().split('\n').at(-1)?.split(' ')[0] ?? '';
}

test.each([
  ['work.time', 's', 'work_time_seconds'],
  ['work.seconds', 's', 'work_seconds'],
  ['work_seconds', 's', 'work_seconds'],
  ['work.time', 'ms', 'work_time'],
  ['work.items', '{item}', 'work_items'],
])('%s in %s is %s, as OTLP into Prometheus has it', async (name, unit, expected) => {
  expect(await scrapedName(name, unit)).toBe(expected);
});

test.each([
  ['busy.time', 'busy_time_seconds_total'],
  ['busy.time.total', 'busy_time_seconds_total'],
  ['busy.seconds.total', 'busy_seconds_total'],
])('the counter %s in seconds is %s', async (name, expected) => {
  expect(await scrapedName(name, 's', 'Counter')).toBe(expected);
});

/** An SDK of the application's with such an exporter, and where it is scraped. */
const sdkWith = async (config: ExporterConfig = {}) => {
  const port = await freePort();
  const { exporter, error } = await new Promise<{ exporter: BreakerboxPrometheusExporter; error: Error | undefined }>(
    (resolve) => {
      const exporter = new BreakerboxPrometheusExporter({ host: '127.0.0.1', port, ...config }, (error) =>
        resolve({ exporter, error }),
      );
    },
  );
  const provider = new MeterProvider({ readers: [exporter] });
  const url = `http://127.0.0.1:${port}${config.endpoint ?? '/metrics'}`;
  return {
    exporter,
    error,
    provider,
    url,
    meter: provider.getMeter('app'),
    [Symbol.asyncDispose]: provider.shutdown.bind(provider),
  };
};
const SECRET = 'sk-in-an-error';
const refuse = (): never => {
  throw new Error(SECRET);
};
/** OpenTelemetry's serializer wants a text of it. */
const UNWRITABLE = { toJSON: () => undefined } as never;

describe('the endpoint for an SDK of the application', () => {
  test('takes the configuration of its parent', async () => {
    const config = { endpoint: '/own', prefix: 'app', withoutScopeInfo: true, withoutTargetInfo: true };
    await using sdk = await sdkWith(config);
    sdk.meter.createCounter('jobs').add(1);
    const text = await (await fetch(sdk.url)).text();
    expect(text).toMatch(/^app_jobs_total 1$/m);
    expect(text).not.toMatch(/target_info|otel_scope/);
    expect((await fetch(new URL('/metrics', sdk.url))).status).toBe(404);
  });

  test('does not show the message of an error', async () => {
    const messages = collectDiag();
    const producer: MetricProducer = { collect: async () => refuse() };
    await using sdk = await sdkWith({ metricProducers: [producer] });
    const answer = await fetch(sdk.url);
    expect([answer.status, (await answer.text()).includes(SECRET)]).toEqual([500, false]);
    expect(messages).toHaveLength(1);
  });

  test('answers requests to a server of the application in the same way', async () => {
    collectDiag();
    await using sdk = await sdkWith({ preventServerStart: true });
    await expect(fetch(sdk.url)).rejects.toThrow();
    const gauge = sdk.meter.createObservableGauge('g');
    const server = createServer((request, response) => sdk.exporter.getMetricsRequestHandler(request, response));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    try {
      expect(await (await fetch(url)).text()).toContain('target_info');
      gauge.addCallback((result) => result.observe(1, { a: UNWRITABLE }));
      expect((await fetch(url)).status).toBe(500);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  test('reports that it cannot listen, to the callback too', async () => {
    const messages = collectDiag();
    await using first = await sdkWith();
    expect(first.error).toBeUndefined();
    const { port } = new URL(first.url);
    await using second = await sdkWith({ port: Number(port) });
    expect(second.error).toMatchObject({ code: 'EADDRINUSE' });
    await expect(second.exporter.startServer()).rejects.toThrow('EADDRINUSE');
    expect(messages).toEqual([expect.stringMatching(/\/metrics on 127\.0\.0\.1:\d+ \(EADDRINUSE\).*a free port/)]);
  });

  test('is closed with the SDK, started once, and started by hand if configured', async () => {
    const { exporter, url, provider } = await sdkWith({ preventServerStart: true });
    await Promise.all([exporter.startServer(), exporter.startServer()]);
    expect((await fetch(url)).status).toBe(200);
    await provider.shutdown();
    await vi.waitFor(() => expect(fetch(url)).rejects.toThrow());
  });
});
