import { diag } from '@opentelemetry/api';
import { afterEach, describe, expect, test } from 'vitest';
import { assertValidOptions, scrapeAddress } from './options.ts';
import { collectDiag } from './test-support/diag-messages.ts';

afterEach(() => diag.disable());

describe('where Prometheus scrapes', () => {
  test('is loopback, port 9464, unless said otherwise', () => {
    expect(scrapeAddress({}, {})).toEqual({ host: '127.0.0.1', port: 9464, endpoint: '/metrics' });
  });

  test('is read from the environment, and code overrides it', () => {
    const env = { OTEL_EXPORTER_PROMETHEUS_HOST: '0.0.0.0', OTEL_EXPORTER_PROMETHEUS_PORT: '9500' };
    expect(scrapeAddress({}, env)).toEqual({ host: '0.0.0.0', port: 9500, endpoint: '/metrics' });
    expect(scrapeAddress({ port: 0, host: '::1', endpoint: '/m' }, env)).toEqual({
      host: '::1',
      port: 0,
      endpoint: '/m',
    });
  });

  test.each(['99999', '-1', '1.5', 'metrics'])('ignores the port %s, with a warning', (text) => {
    const messages = collectDiag();
    expect(scrapeAddress({}, { OTEL_EXPORTER_PROMETHEUS_PORT: text }).port).toBe(9464);
    expect(messages).toEqual([expect.stringContaining(`OTEL_EXPORTER_PROMETHEUS_PORT is "${text}"`)]);
  });
});

describe('options', () => {
  test.each([
    {},
    { serviceName: 'a', serviceVersion: undefined },
    { prometheus: false },
    { prometheus: { host: '::1', port: 0, endpoint: '/' } },
  ])('%j is valid', (options) => {
    expect(() => assertValidOptions(options)).not.toThrow();
  });

  test.each([
    [null, 'the options of startTelemetry()'],
    ['research-agent', 'serviceName: '],
    [{ serviceName: '  ' }, 'serviceName: is "  "'],
    [{ prometheus: true }, 'prometheus: is true. Write false'],
    [{ prometheus: [] }, 'prometheus: is a list. Write false'],
    [{ serviceName: Object.create(null) }, 'serviceName: is an object'],
    [{ prometheus: { Port: 1 } }, 'prometheus.Port: is not an option'],
    [{ prometheus: { port: '9465' } }, 'prometheus.port: is "9465"'],
    [{ prometheus: { port: Number.NaN } }, 'prometheus.port: is NaN'],
    [{ servicename: 'x', prometheus: { host: 7 } }, /servicename: is.*prometheus\.host: is 7/s],
    [{ prometheus: { endpoint: '/metrics?x' } }, 'prometheus.endpoint: is "/metrics?x"'],
  ])('%j is rejected', (options, message) => {
    expect(() => assertValidOptions(options)).toThrow(message);
  });
});
