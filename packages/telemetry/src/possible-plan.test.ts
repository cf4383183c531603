/** What the optional peer @grpc/grpc-js is asked for, and what happens without it. */
import { diag } from '@opentelemetry/api';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { planExporters } from './environment.ts';
import { possiblePlan } from './possible-plan.ts';
import { collectDiag } from './test-support/diag-messages.ts';

const grpc = vi.hoisted(() => ({ error: undefined as Error | undefined, loads: 0 }));
vi.mock('@grpc/grpc-js', () => ({
  get Metadata() {
    grpc.loads += 1;
    if (grpc.error !== undefined) throw grpc.error;
    return class Metadata {};
  },
}));

let messages: string[] = [];
beforeEach(() => {
  messages = collectDiag();
  grpc.loads = 0;
  grpc.error = Object.assign(new Error("Cannot find module '@grpc/grpc-js'"), { code: 'MODULE_NOT_FOUND' });
});
afterEach(() => diag.disable());

const planOf = (env: Record<string, string>) => {
  const given = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4317', ...env };
  return possiblePlan(planExporters(given), given);
};
const everything = { traces: true, logs: true, metrics: ['otlp'], scrape: true };

test('without @grpc/grpc-js, one line names the package, what is not sent and the other way', () => {
  const plan = planOf({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_METRICS_EXPORTER: 'prometheus,otlp,console' });
  expect(plan).toEqual({ traces: false, logs: false, metrics: ['console'], scrape: true });
  expect(messages).toEqual([
    'Breakerbox telemetry: OTLP over gRPC needs the package @grpc/grpc-js, which is not installed. So metrics, spans and log events are not sent. /metrics still works if it is enabled. Run npm install @grpc/grpc-js, or set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf and an endpoint for HTTP, usually port 4318.',
  ]);
});

test('the variable of one signal concerns that signal alone', () => {
  expect(planOf({ OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'grpc' })).toEqual({ ...everything, traces: false });
  expect(planOf({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'http/json' })).toEqual({
    ...everything,
    traces: false,
    logs: false,
  });
  expect(messages).toEqual([
    expect.stringContaining('So spans are not sent.'),
    expect.stringContaining('So spans and log events are not sent.'),
  ]);
});

test('a package that cannot be loaded breaks nothing, and the line has the cause', () => {
  grpc.error = new TypeError('a broken build');
  expect(planOf({ OTEL_EXPORTER_OTLP_LOGS_PROTOCOL: 'grpc' })).toEqual({ ...everything, logs: false });
  expect(messages).toEqual([expect.stringMatching(/which cannot be loaded\. So log events .*a broken build/s)]);
});

test('with it, all goes out, and nothing is said', () => {
  grpc.error = undefined;
  expect(planOf({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).toEqual(everything);
  expect([messages, grpc.loads]).toEqual([[], 1]);
});

test.each<Record<string, string>>([
  {},
  { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
  { OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
  { OTEL_EXPORTER_OTLP_LOGS_PROTOCOL: 'grpc', OTEL_LOGS_EXPORTER: 'console' },
])('it is not loaded where nothing is sent over gRPC: %o', (env) => {
  planOf(env);
  expect([messages, grpc.loads]).toEqual([[], 0]);
});
