/** Whatever is at the other end of OTLP: tools give what they give, and the process ends by itself. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { secretOf, secretsIn } from '../secrets/plants.ts';
import { BACKENDS, deadUrl, startBackend, WORDS_OF_BACKEND } from './backends.ts';
import { type AgentRun, runAgent } from './run-agent.ts';
import { workThrough } from './work.ts';

const PLACE = 'header of OTLP';
/** Beyond it a log is unreadable: an error each 200 ms, for some seconds. */
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
  expect(warnings.map(String)).toEqual([]); // Of the backends, which are here.
});

const expectUndisturbed = ({ code, signal, seen, scraped, stderr }: AgentRun): void => {
  expect({ code, signal }).toEqual({ code: 0, signal: null });
  expect(seen).toEqual(undisturbed);
  expect(scraped).toEqual({ status: 200, lines: true });
  expect(secretsIn(stderr, [PLACE])).toEqual([]);
  expect(stderr.includes(WORDS_OF_BACKEND), "the backend's words are in our log").toBe(false);
  expect(stderr).not.toContain('MaxListenersExceededWarning');
  expect(stderr.length).toBeLessThan(READABLE);
};

const headers = { OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${secretOf(PLACE).slice(0, 24)}` };

test('E5: the run has all that telemetry could disturb', () => {
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

  test.each(['http/protobuf', 'grpc'])('E5: where nobody listens: %s', { timeout: 90_000 }, async (protocol) => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: await deadUrl(), OTEL_EXPORTER_OTLP_PROTOCOL: protocol, ...headers };
    expectUndisturbed(await runAgent(env));
  });

  test('E5: that speaks no gRPC', { timeout: 90_000 }, async () => {
    await using backend = await startBackend(() => {});
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: backend.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', ...headers };
    expectUndisturbed(await runAgent(env));
  });

  test('E5: an observable of the application that never comes back', { timeout: 90_000 }, async () => {
    expectUndisturbed(await runAgent({}, 'hanging metric'));
  });
});
