import { describe, expect, test } from 'vitest';
import { otlpVariables, planServices } from './service-flags.ts';

const NAMED = { serviceName: 'breakerbox-mcp' };
const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

describe('telemetry', () => {
  test.each([
    ['no flag and no variable', {}, {}],
    ['variables that name no OTLP', {}, { OTEL_METRICS_EXPORTER: 'prometheus', OTEL_SERVICE_NAME: 'a' }],
    ['an empty endpoint', {}, { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }],
    ['OTEL_SDK_DISABLED', { prometheus: true, otlp: true } as const, { ...ENDPOINT, OTEL_SDK_DISABLED: 'True' }],
  ])('M9: nothing starts with %s', (_, flags, env) => {
    expect(planServices(flags, env)).toEqual({ telemetry: undefined, control: undefined });
  });

  test.each([
    ['true', true, {}],
    ['0', '0', { port: 0 }],
    ['a port', '9465', { port: 9465 }],
    ['a host', 'localhost:1', { host: 'localhost', port: 1 }],
    ['an IPv6 address', '[::1]:9465', { host: '::1', port: 9465 }],
  ] as const)('M9: --prometheus is %s', (_, prometheus, address) => {
    expect(planServices({ prometheus }, {}).telemetry).toEqual({
      otlp: false,
      options: { prometheus: address, ...NAMED },
    });
  });

  test.each(['npx', '65536', 'https://example.com/mcp', ':9464', '::1:9464', ''])(
    '--prometheus %j is an error that says what to write',
    (prometheus) => {
      expect(() => planServices({ prometheus }, {})).toThrow(
        /^--prometheus is '.*', which is not an address\. Write a port.* Write -- before the command/,
      );
    },
  );

  test.each([ENDPOINT, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://a' }, { OTEL_LOGS_EXPORTER: 'console, otlp' }])(
    'M9: the variables %o are enough, and open no port',
    (env) => {
      expect(planServices({}, env).telemetry).toEqual({ otlp: false, options: { prometheus: false, ...NAMED } });
    },
  );

  test('M9: the name of the service is that of the environment', () => {
    for (const env of [{ OTEL_SERVICE_NAME: 'a' }, { OTEL_RESOURCE_ATTRIBUTES: 'b=1,service.name=a' }])
      expect(planServices({ otlp: true }, env).telemetry?.options).toEqual({ prometheus: false });
  });

  test('M9: --otlp leaves exporters alone that a variable names', () => {
    expect(otlpVariables({ OTEL_TRACES_EXPORTER: 'none' })).toEqual({
      OTEL_METRICS_EXPORTER: 'otlp',
      OTEL_LOGS_EXPORTER: 'otlp',
    });
  });
});

describe('the control API', () => {
  const TOKENS = { BREAKERBOX_CONTROL_TOKENS: '/run/tokens' };

  test.each([
    [true, {}, {}],
    ['/run/a.sock', {}, { socket: '/run/a.sock' }],
    ['unix:/run/a.sock', {}, { socket: '/run/a.sock' }],
    ['9470', TOKENS, { port: 9470, tokens: '/run/tokens' }],
    ['127.0.0.1:0', TOKENS, { host: '127.0.0.1', port: 0, tokens: '/run/tokens' }],
  ] as const)('A1: --control %s', (control, env, listen) => {
    expect(planServices({ control }, env).control).toEqual({ listen });
  });

  test.each([
    ['npx', {}, /^--control is 'npx', which is not an endpoint\..* Write -- before/],
    ['9470', {}, /BREAKERBOX_CONTROL_TOKENS is not set/],
  ])('A5: --control %s is an error', (control, env, message) => {
    expect(() => planServices({ control }, env)).toThrow(message);
  });
});
