import { describe, expect, test } from 'vitest';
import { type Environment, metricsProtocol, planExporters } from './environment.ts';

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

describe('exporters', () => {
  test.each<[string, Environment, ReturnType<typeof planExporters>]>([
    ['nothing set: the scrape endpoint alone', {}, { traces: false, logs: false, metrics: [], scrape: true }],
    [
      'an endpoint: OTLP for all, and the scrape',
      endpoint,
      { traces: true, logs: true, metrics: ['otlp'], scrape: true },
    ],
    [
      'an endpoint of one signal: OTLP for that one',
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/v1/traces' },
      { traces: true, logs: false, metrics: [], scrape: true },
    ],
    [
      'named exporters need no endpoint',
      { OTEL_TRACES_EXPORTER: 'otlp', OTEL_LOGS_EXPORTER: 'console', OTEL_METRICS_EXPORTER: 'otlp' },
      { traces: true, logs: true, metrics: ['otlp'], scrape: false },
    ],
    [
      'none goes before an endpoint',
      { ...endpoint, OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none', OTEL_LOGS_EXPORTER: 'none' },
      { traces: false, logs: false, metrics: [], scrape: false },
    ],
    [
      'a list, with blanks and a repetition',
      { OTEL_METRICS_EXPORTER: ' prometheus , otlp,otlp' },
      { traces: false, logs: false, metrics: ['otlp'], scrape: true },
    ],
    [
      'empty counts as not set',
      { OTEL_METRICS_EXPORTER: '', OTEL_EXPORTER_OTLP_ENDPOINT: ' ' },
      { traces: false, logs: false, metrics: [], scrape: true },
    ],
  ])('%s', (_, env, plan) => {
    expect(planExporters(env)).toEqual(plan);
  });
});

test('the protocol of metrics outranks the general one', () => {
  expect(metricsProtocol({})).toBe('http/protobuf');
  expect(metricsProtocol({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).toBe('grpc');
  const both = { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'http/json' };
  expect(metricsProtocol(both)).toBe('http/json');
});
