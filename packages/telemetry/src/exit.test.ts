import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { startAgent } from './test-support/agent-process.ts';
import { freePort } from './test-support/free-port.ts';
import { type OtlpReceiver, startOtlpReceiver } from './test-support/otlp-receiver.ts';

/** An agent that has just ended a span, a log record and a measurement. */
const agent = (then: string, before = ''): string => `
  import { logs, metrics, trace } from '@opentelemetry/api';
  import { startTelemetry } from '@breakerbox/telemetry';
  ${before}
  const telemetry = startTelemetry({ serviceName: 'research-agent', prometheus: { port: 0 } });
  trace.getTracer('agent').startSpan('last span').end();
  logs.getLogger('agent').emit({ body: 'last log' });
  metrics.getMeter('agent').createCounter('last.count').add(1);
  ${then}`;

const span = (name: string): string => `trace.getTracer('agent').startSpan('${name}').end();`;

const untilKilled = `
  await telemetry.ready;
  setInterval(() => {}, 1e9);
  console.log('up ' + telemetry.metricsUrl);`;

const otlp = (endpoint: string): NodeJS.ProcessEnv => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  // Longer than any test: what doesn't end before is ended by the test runner.
  OTEL_EXPORTER_OTLP_TIMEOUT: '600000',
  OTEL_BSP_SCHEDULE_DELAY: '600000',
  OTEL_BLRP_SCHEDULE_DELAY: '600000',
});

async function expectAllSignals(receiver: OtlpReceiver): Promise<void> {
  const [spans, records, counts] = await Promise.all(
    ['/v1/traces', '/v1/logs', '/v1/metrics'].map((path) => receiver.received(path)),
  );
  expect(spans?.body).toContain('last span');
  expect(records?.body).toContain('last log');
  expect(counts?.body).toContain('last.count');
  for (const { body } of receiver.requests) expect(body).not.toContain('process.');
}

describe('an agent that has finished its work', () => {
  test('ends by itself, with its own exit code, after the last telemetry is sent', async () => {
    await using receiver = await startOtlpReceiver();
    await using child = startAgent(agent('process.exitCode = 3;'), otlp(receiver.url));
    expect(await child.ended).toEqual({ code: 3, signal: null });
    await expectAllSignals(receiver);
    expect(child.stderr()).toBe('');
  });

  // Each in a process whose first flush has nothing to send, or something.
  describe.each([
    ['nothing was waiting', ''],
    ['a span was waiting', span('waiting')],
  ])('when %s', (_, before) => {
    test.each([
      ['at once', 'once', span('goodbye')],
      ['after a while', 'once', `setTimeout(() => { ${span('goodbye')} }, 50);`],
      ['in every round', 'on', span('goodbye')],
    ])('sends what its own beforeExit handler does %s', async (_, register, work) => {
      await using receiver = await startOtlpReceiver();
      const env = { ...otlp(receiver.url), OTEL_METRICS_EXPORTER: 'none', OTEL_LOGS_EXPORTER: 'none' };
      const script = `
        import { trace } from '@opentelemetry/api';
        import { startTelemetry } from '@breakerbox/telemetry';
        startTelemetry();
        process.${register}('beforeExit', () => { ${work} });
        ${before}`;
      await using child = startAgent(script, env);
      expect(await child.ended).toEqual({ code: 0, signal: null });
      expect(receiver.requests.map(({ body }) => body).join()).toContain('goodbye');
      expect(receiver.requests.length).toBeLessThanOrEqual(2);
    });
  });

  test('sends what an earlier beforeExit handler does after a delay', async () => {
    await using receiver = await startOtlpReceiver();
    const before = `process.once('beforeExit', () => setTimeout(() => { ${span('goodbye')} }, 50));`;
    await using child = startAgent(agent('', before), otlp(receiver.url));
    expect(await child.ended).toEqual({ code: 0, signal: null });
    expect(receiver.requests.map(({ body }) => body).join()).toContain('goodbye');
  });

  test('ends when its own beforeExit handler is done, although the export is never answered', async () => {
    await using receiver = await startOtlpReceiver({ hang: true });
    const work = `
      const { diag } = await import('@opentelemetry/api');
      process.once('beforeExit', () => {
        const busy = setInterval(() => {}, 1e9);
        const done = () => {
          clearInterval(busy);
          console.log('my work is done');
          process.exit(5);
        };
        const ignore = () => {};
        const warn = (message) => message.includes("did not accept the last telemetry") && setImmediate(done);
        diag.setLogger({ error: ignore, warn, info: ignore, debug: ignore, verbose: ignore });
      });`;
    await using child = startAgent(agent(work), otlp(receiver.url));
    expect(await child.ended).toEqual({ code: 5, signal: null });
    expect(child.stdout()).toBe('my work is done\n');
  });

  test('ends although Prometheus holds a connection open', async () => {
    const untilTold = `
      process.stdin.resume();
      await telemetry.ready;
      console.log('up ' + telemetry.metricsUrl);`;
    await using child = startAgent(agent(untilTold));
    const url = await child.line('up ');
    // Half a request, because a server drops an idle connection soon by itself.
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    await new Promise<void>((resolve) => socket.write('GET /metrics HTTP/1.1\r\n', () => resolve()));
    // The server has taken the first connection when it answers on a second.
    expect((await fetch(url)).status).toBe(200);
    child.child.stdin?.end();
    expect(await child.ended).toEqual({ code: 0, signal: null });
    socket.on('error', () => {}).destroy();
  });
});

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', (signal) => {
  test('is obeyed after the last telemetry is sent', async () => {
    await using receiver = await startOtlpReceiver();
    await using child = startAgent(agent(untilKilled), otlp(receiver.url));
    await child.line('up ');
    child.child.kill(signal);
    expect(await child.ended).toEqual({ code: null, signal });
    await expectAllSignals(receiver);
  });

  test("is left to the application's own handler, and pending telemetry is sent", async () => {
    await using receiver = await startOtlpReceiver();
    const script = `
      process.on('${signal}', () => console.log('mine'));
      process.on('SIGUSR2', () => {
        console.log('then ' + telemetry.metricsUrl);
        process.exit(7);
      });
      ${untilKilled}`;
    await using child = startAgent(agent(script), otlp(receiver.url));
    const url = await child.line('up ');
    child.child.kill(signal);
    await child.line('mine');
    await expectAllSignals(receiver);
    expect(child.child.exitCode).toBeNull();
    child.child.kill('SIGUSR2');
    expect(await child.ended).toEqual({ code: 7, signal: null });
    // Telemetry ran on with the application, which received the signal once.
    expect(child.stdout()).toBe(`up ${url}\nmine\nthen ${url}\n`);
  });
});

/** What signal-exit and others of its kind do. */
const killWhenAlone = `
  const onTerm = () => {
    if (process.listenerCount('SIGTERM') > 1) return;
    process.off('SIGTERM', onTerm);
    process.kill(process.pid, 'SIGTERM');
  };
  process.on('SIGTERM', onTerm);`;

test.each([
  ['before', agent(untilKilled, killWhenAlone)],
  ['after', agent(killWhenAlone + untilKilled)],
])('a library that kills the process if it is the only listener, and listened %s us, still can', async (_, script) => {
  await using child = startAgent(script);
  await child.line('up ');
  child.child.kill('SIGTERM');
  expect(await child.ended).toEqual({ code: null, signal: 'SIGTERM' });
});

// Each waits for the limit, so they wait together.
describe.concurrent.each(['hangs', 'is dead'] as const)('when the OTLP endpoint %s', (state) => {
  const open = async (): Promise<OtlpReceiver> => {
    if (state === 'hangs') return startOtlpReceiver({ hang: true });
    const receiver = await startOtlpReceiver();
    await receiver[Symbol.asyncDispose]();
    return { ...receiver, url: `http://127.0.0.1:${await freePort()}`, [Symbol.asyncDispose]: () => Promise.resolve() };
  };

  test('the agent ends anyway', async () => {
    await using receiver = await open();
    await using child = startAgent(agent('process.exitCode = 3;'), otlp(receiver.url));
    expect(await child.ended).toEqual({ code: 3, signal: null });
    expect(child.stderr()).toContain('did not accept the last telemetry');
  });

  test('a signal ends it anyway', async () => {
    await using receiver = await open();
    await using child = startAgent(agent(untilKilled), otlp(receiver.url));
    await child.line('up ');
    child.child.kill('SIGTERM');
    expect(await child.ended).toEqual({ code: null, signal: 'SIGTERM' });
  });

  test('shutdown returns, and the agent continues', async () => {
    await using receiver = await open();
    const script = `await telemetry.shutdown(); console.log('done ' + telemetry.metricsUrl); process.exit(0);`;
    await using child = startAgent(agent(script), otlp(receiver.url));
    expect(await child.line('done ')).toBe('undefined');
    expect(await child.ended).toEqual({ code: 0, signal: null });
  });
});
