import { diag } from '@opentelemetry/api';
import { emptyResource } from '@opentelemetry/resources';
import { ConsoleMetricExporter } from '@opentelemetry/sdk-metrics';
import { afterEach, expect, test, vi } from 'vitest';
import { pushExporters, pushReaders } from './metric-readers.ts';
import { collectDiag } from './test-support/diag-messages.ts';
import { startOtlpReceiver } from './test-support/otlp-receiver.ts';

const never = new AbortController().signal;

afterEach(() => {
  diag.disable();
  vi.unstubAllEnvs();
});

/** What the reader was made with; it has no public way to ask. */
const timesOf = (interval: string, timeout: string) => {
  const env = { OTEL_METRIC_EXPORT_INTERVAL: interval, OTEL_METRIC_EXPORT_TIMEOUT: timeout };
  const [reader] = pushReaders([new ConsoleMetricExporter()], [], env);
  const { _exportInterval, _exportTimeout } = reader as unknown as { _exportInterval: number; _exportTimeout: number };
  return [_exportInterval, _exportTimeout];
};

test.each([
  ['', '', 60_000, 30_000],
  ['200', '150', 200, 150],
  ['1000', '2000', 1000, 1000],
  ['15000', '', 15_000, 15_000],
  ['1', '1', 1, 1],
  ['2592000000', '2592000000', 2 ** 31 - 1, 2 ** 31 - 1],
])('pushes every "%s" ms, "%s" ms long at most: %i, %i', (interval, timeout, ...expected) => {
  const messages = collectDiag();
  expect(timesOf(interval, timeout)).toEqual(expected);
  expect(messages).toEqual([]);
});

test.each(['0', '-1', '0.001', '0.99', 'Infinity', 'NaN', 'often'])('"%s" is reported and ignored', (text) => {
  const messages = collectDiag();
  expect(timesOf(text, text)).toEqual([60_000, 30_000]);
  const fault = `is "${text}", but it must be a number of milliseconds, 1 or more. Breakerbox uses`;
  expect(messages).toEqual([
    `OTEL_METRIC_EXPORT_INTERVAL ${fault} 60000.`,
    `OTEL_METRIC_EXPORT_TIMEOUT ${fault} 30000.`,
  ]);
});

test.each([
  ['delta', 'http://prometheus:9090/api/v1/otlp', 1],
  ['lowmemory', 'http://prometheus:9090/api/v1/otlp/', 1],
  ['delta', 'http://collector:4318', 0],
  ['cumulative', 'http://prometheus:9090/api/v1/otlp', 0],
])('%s temporality to %s gives %i warnings, because Prometheus rejects delta', (preference, endpoint, warnings) => {
  const messages = collectDiag();
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: preference,
  };
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  pushExporters(['otlp'], env, never);
  expect(messages).toEqual(Array(warnings).fill(expect.stringContaining('the endpoint is Prometheus')));
});

test.each([
  ['cumulative', 1],
  ['delta', 2],
  ['lowmemory', 2],
])(
  '%s: of two pushes to a backend that does not answer %i are begun, so that none is lost',
  async (preference, sent) => {
    await using receiver = await startOtlpReceiver({ hang: true });
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: preference,
    };
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    const [exporter] = pushExporters(['otlp'], env, never);
    const answers: number[] = [];
    const push = (): void =>
      exporter?.export({ resource: emptyResource(), scopeMetrics: [] }, ({ code }) => void answers.push(code));
    push();
    await receiver.received('/v1/metrics');
    push();
    await vi.waitFor(() => expect([receiver.requests.length, answers.length]).toEqual([sent, 2]), {
      timeout: 20_000,
    });
  },
);
