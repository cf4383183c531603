/** With any faulty OTLP backend, tools return the same results, and the process ends by itself. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { secretOf, secretsIn } from '../secrets/plants.ts';
import { BACKENDS, deadUrl, ECHOES, startBackend, startGrpcEcho, WORDS_OF_BACKEND } from './backends.ts';
import { type AgentRun, runAgent } from './run-agent.ts';
import { workThrough } from './work.ts';

const PLACE = 'header of OTLP';
/** Most lines of a log. A log with an error every 200 ms for some seconds is unreadable. */
const READABLE = 100_000;

let undisturbed: readonly string[];
beforeAll(async () => {
  undisturbed = await workThrough();
});

const warnings: Error[] = [];
const note = (warning: Error): void => void warnings.push(warning);
process.on('warning', note);
afterAll(() => {
  process.off('warning', note);
  expect(warnings.map(String)).toEqual([]); // Warnings of the backends, which run in this process.
});

const expectUndisturbed = ({ code, signal, seen, scraped, log }: AgentRun): void => {
  expect({ code, signal }).toEqual({ code: 0, signal: null });
  expect(seen).toEqual(undisturbed);
  expect(scraped).toEqual({ status: 200, lines: true });
  expect(secretsIn(log, [PLACE])).toEqual([]);
  expect(log.includes(WORDS_OF_BACKEND), "the backend's words are in our log").toBe(false);
  expect(log).not.toContain('MaxListenersExceededWarning');
  expect(log.length).toBeLessThan(READABLE);
};

const KEY = secretOf(PLACE).slice(0, 24);
const headers = { OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${KEY}` };
/** Not set, and everything. */
const LEVELS = [{}, { OTEL_LOG_LEVEL: 'all' }];

test('E5: the run has every kind of call that telemetry could disturb', () => {
  for (const one of [
    'call (closed)',
    'skip (open)',
    'probe (probe_due)',
    'failure server',
    'result',
    'error',
    'pause',
  ]) {
    expect(undisturbed.join('\n')).toContain(one);
  }
});

describe.concurrent('E5: an OTLP endpoint', () => {
  test.each(Object.entries(BACKENDS))('E5: that %s', { timeout: 90_000 }, async (_, answer) => {
    await using backend = await startBackend(answer);
    expectUndisturbed(await runAgent({ OTEL_EXPORTER_OTLP_ENDPOINT: backend.url, ...headers }));
    expect(backend.asked()).toBeGreaterThan(0);
  });

  test.each(['http/protobuf', 'grpc'])('E5: without a listener: %s', { timeout: 90_000 }, async (protocol) => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: await deadUrl(), OTEL_EXPORTER_OTLP_PROTOCOL: protocol, ...headers };
    expectUndisturbed(await runAgent(env));
  });

  test('E5: that does not speak gRPC', { timeout: 90_000 }, async () => {
    await using backend = await startBackend(() => {});
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: backend.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', ...headers };
    expectUndisturbed(await runAgent(env));
  });

  test('E5: with an observable of the application that never returns', { timeout: 90_000 }, async () => {
    expectUndisturbed(await runAgent({}, 'hanging metric'));
  });

  test.each([
    ['http/protobuf', 'metric that OTLP cannot write'],
    ['http/json', 'metric that OTLP cannot write'],
    ['grpc', 'metric that OTLP cannot write'],
    ['http/protobuf', 'logger that throws'],
  ])('E5: by %s, with an exporter that throws: %s', { timeout: 90_000 }, async (protocol, what) => {
    await using backend = await startBackend((_, response) => void response.end());
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: backend.url, OTEL_EXPORTER_OTLP_PROTOCOL: protocol };
    const metricsAlone = { OTEL_TRACES_EXPORTER: 'none', OTEL_LOGS_EXPORTER: 'none' };
    expectUndisturbed(await runAgent({ ...env, ...metricsAlone }, what));
  });
});

describe.concurrent('E5, Q2: OTLP credentials are not in the log', () => {
  describe.each(LEVELS)('E5, Q2: at the level %j', (level) => {
    test.each(Object.entries(ECHOES))('E5, Q2: echoed in %s', { timeout: 90_000 }, async (_, answer) => {
      await using backend = await startBackend(answer);
      const env = { OTEL_EXPORTER_OTLP_ENDPOINT: backend.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' };
      expectUndisturbed(await runAgent({ ...env, ...headers, ...level }));
      expect(backend.asked()).toBeGreaterThan(0);
    });

    test.each(['16', '14', '99'])('E5, Q2: echoed with status %s of gRPC', { timeout: 90_000 }, async (status) => {
      await using backend = await startGrpcEcho(status);
      const env = { OTEL_EXPORTER_OTLP_ENDPOINT: backend.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
      expectUndisturbed(await runAgent({ ...env, ...headers, ...level }));
      expect(backend.asked()).toBeGreaterThan(0);
    });

    test.each<[string, NodeJS.ProcessEnv]>([
      ['an invalid address', { OTEL_EXPORTER_OTLP_ENDPOINT: `http://user:${KEY}@127.0.0.1:99999` }],
      ['an address without a colon', { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `http//user:${KEY}@127.0.0.1:1` }],
      ['an address with a key', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `http//127.0.0.1:1?key=${KEY}` }],
      ['a key with a line behind it', { OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${KEY}%0A` }],
      ['a key without a name', { OTEL_EXPORTER_OTLP_HEADERS: `Bearer ${KEY}=1` }],
    ])('E5, Q2: after a mistake in a variable: %s', { timeout: 90_000 }, async (_, mistake) => {
      for (const protocol of ['grpc', 'http/protobuf']) {
        const env = { OTEL_EXPORTER_OTLP_ENDPOINT: await deadUrl(), OTEL_EXPORTER_OTLP_PROTOCOL: protocol };
        const { log } = await runAgent({ ...env, ...level, ...mistake });
        expect(secretsIn(log, [PLACE])).toEqual([]);
      }
    });
  });
});
