/** An application's logger that throws whenever telemetry has something to say: the agent doesn't notice. */
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { startAgent } from './test-support/agent-process.ts';
import { startOtlpReceiver } from './test-support/otlp-receiver.ts';

const agent = (then: string): string => `
  import { diag, metrics } from '@opentelemetry/api';
  import { startTelemetry } from '@breakerbox/telemetry';
  const refuse = () => { throw new Error('the logger is broken'); };
  const ignore = () => {};
  diag.setLogger({ error: refuse, warn: refuse, info: ignore, debug: ignore, verbose: ignore });
  const telemetry = startTelemetry({ prometheus: { port: Number(process.env.PORT ?? 0) } });
  metrics.getMeter('app').createCounter('c').add(1);
  await telemetry.ready;
  ${then}`;

const never = { OTEL_EXPORTER_OTLP_TIMEOUT: '600000', OTEL_TRACES_EXPORTER: 'none', OTEL_LOGS_EXPORTER: 'none' };

test('if the port is in use', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = other.address() as { port: number };
    await using child = startAgent(agent("startTelemetry(); console.log('goes on');"), { PORT: String(port) });
    expect(await child.ended).toEqual({ code: 0, signal: null });
    expect(child.stdout()).toBe('goes on\n');
  } finally {
    other.close();
  }
});

test.each([
  ['an error', "throw new Error('no')"],
  ['what is no error', 'throw Object.create(null)'],
])('when a metric of the application throws %s', async (_, thrown) => {
  const script = agent(`
    metrics.getMeter('app').createObservableGauge('g').addCallback(() => { ${thrown}; });
    const response = await fetch(telemetry.metricsUrl);
    await response.text();
    console.log('status ' + response.status);`);
  await using child = startAgent(script);
  expect(await child.ended).toEqual({ code: 0, signal: null });
  expect(child.stdout()).toBe('status 200\n');
});

test.each([
  ['there is nothing left to do', 'process.exitCode = 3;', { code: 3, signal: null }],
  [
    'a signal came',
    "setInterval(() => {}, 1e9); process.kill(process.pid, 'SIGTERM');",
    { code: null, signal: 'SIGTERM' },
  ],
])('if no one receives the last telemetry and %s', async (_, then, ending) => {
  await using receiver = await startOtlpReceiver({ hang: true });
  await using child = startAgent(agent(then), { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...never });
  expect(await child.ended).toEqual(ending);
  expect(child.stderr()).toBe('');
});
