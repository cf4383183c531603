/** With any backend that takes no telemetry, and much that waits, the process ends within 5 s of its last work. */
import { describe, expect, test } from 'vitest';
import { startAgent } from './test-support/agent-process.ts';
import { FAULTY_BACKENDS } from './test-support/backends.ts';

/** Milliseconds. The limit is 5 s; the rest is for machines that are busy with other tests. */
const MOST_MS = 8_000;

const WORK = `
  const { logs, metrics, trace } = await import('@opentelemetry/api');
  for (let count = 0; count < 5000; count += 1) {
    trace.getTracer('agent').startSpan('span').end();
    logs.getLogger('agent').emit({ body: 'log' });
    if (count % 500 === 0) await new Promise(setImmediate);
  }
  metrics.getMeter('agent').createCounter('count').add(1);`;
const DONE = `console.log('done ');`;
const START = `
  const { startTelemetry } = await import('@breakerbox/telemetry');
  const telemetry = startTelemetry({ prometheus: false });`;

/** How the process ends, its program, and the options of Node. */
const WAYS: readonly [string, string, string[]][] = [
  ['by itself', START + WORK + DONE, []],
  ['after shutdown()', `${START + WORK + DONE} await telemetry.shutdown();`, []],
  ['by SIGTERM', `${START + WORK} setInterval(() => {}, 1e9); ${DONE}`, []],
  ['by itself, with the register entry', WORK + DONE, ['--import', '@breakerbox/telemetry/register']],
];

describe.each(WAYS)('a process that ends %s', (way, script, options) => {
  test.each(FAULTY_BACKENDS)('is not held by %s to a backend that %s', async (protocol, _, start) => {
    await using backend = await start();
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: backend.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      OTEL_METRICS_EXPORTER: 'otlp',
    };
    await using child = startAgent(script, env, options);
    await child.line('done ');
    const from = performance.now();
    if (way === 'by SIGTERM') child.child.kill('SIGTERM');
    const { code, signal } = await child.ended;
    expect(code ?? signal).toBe(way === 'by SIGTERM' ? 'SIGTERM' : 0);
    expect(performance.now() - from).toBeLessThan(MOST_MS);
    const dropped = child.stderr().match(/\d+ spans/g) ?? [];
    const count = dropped.reduce((sum, words) => sum + Number.parseInt(words, 10), 0);
    expect(child.stderr() && count).toBe(5000);
  });
});
