import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { startAgent } from './test-support/agent-process.ts';
import { freePort } from './test-support/free-port.ts';
import { startOtlpReceiver } from './test-support/otlp-receiver.ts';

const REGISTER = ['--import', '@breakerbox/telemetry/register'];

/** startTelemetry() gives the handle of what register has started. */
const showUrl = `
  import { metrics, trace } from '@opentelemetry/api';
  import { startTelemetry } from '@breakerbox/telemetry';
  const telemetry = startTelemetry();
  await telemetry.ready;
  console.log('url ' + telemetry.metricsUrl);`;

test('--import starts everything from the environment', async () => {
  await using receiver = await startOtlpReceiver();
  const env = {
    OTEL_SERVICE_NAME: 'from-the-environment',
    OTEL_EXPORTER_PROMETHEUS_PORT: '0',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/v1/traces`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  };
  const script = `${showUrl}
    const text = await (await fetch(telemetry.metricsUrl)).text();
    console.log('info ' + text.split('\\n').find((line) => line.startsWith('target_info{')));
    trace.getTracer('agent').startSpan('a span').end();`;
  await using child = startAgent(script, env, REGISTER);
  expect(await child.line('url ')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
  expect(await child.line('info ')).toContain('service_name="from-the-environment"');
  expect(await child.ended).toEqual({ code: 0, signal: null });
  expect((await receiver.received('/v1/traces')).body).toContain('a span');
  expect(receiver.requests.map(({ path }) => path)).toEqual(['/v1/traces']);
  expect(child.stderr()).toContain('startTelemetry() was called again');
});

test('a process without a name is unknown_service:node, without the path of the node binary', async () => {
  const script = `${showUrl}
    const text = await (await fetch(telemetry.metricsUrl)).text();
    console.log('called ' + process.argv0);
    console.log('info ' + text.split('\\n').find((line) => line.startsWith('target_info{')));`;
  await using child = startAgent(script, { OTEL_EXPORTER_PROMETHEUS_PORT: '0' }, REGISTER);
  expect(await child.line('called ')).toBe(process.execPath);
  expect(await child.line('info ')).toContain('service_name="unknown_service:node"');
});

test('with nothing set, nothing connects anywhere', async () => {
  const script = `
    import { subscribe } from 'node:diagnostics_channel';
    let connections = 0;
    subscribe('net.client.socket', () => connections++);
    const { trace, logs, metrics } = await import('@opentelemetry/api');
    trace.getTracer('agent').startSpan('a span').end();
    logs.getLogger('agent').emit({ body: 'a log' });
    metrics.getMeter('agent').createCounter('a.count').add(1);
    const { startTelemetry } = await import('@breakerbox/telemetry');
    await startTelemetry().shutdown();
    console.log('connections ' + connections);`;
  await using child = startAgent(script, { OTEL_EXPORTER_PROMETHEUS_PORT: '0' }, REGISTER);
  expect(await child.line('connections ')).toBe('0');
});

test('OTEL_METRICS_EXPORTER=none opens no port', async () => {
  await using child = startAgent(showUrl, { OTEL_METRICS_EXPORTER: 'none' }, REGISTER);
  expect(await child.line('url ')).toBe('undefined');
  expect(await child.ended).toEqual({ code: 0, signal: null });
});

test('a port in use is reported on stderr with a fix, and the agent works', async () => {
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
  const { port } = holder.address() as AddressInfo;
  const env = { OTEL_EXPORTER_PROMETHEUS_PORT: String(port) };
  await using child = startAgent(`console.log('work done'); process.exitCode = 4;`, env, REGISTER);
  await child.line('work done');
  expect(await child.ended).toEqual({ code: 4, signal: null });
  expect(child.stderr()).toContain(`can't serve /metrics on 127.0.0.1:${port} (EADDRINUSE)`);
  expect(child.stderr()).toContain(`OTEL_EXPORTER_PROMETHEUS_PORT=${port + 1}`);
  await new Promise((resolve) => holder.close(resolve));
});

test('a worker thread leaves the port to the main thread', async () => {
  const script = `
    import { Worker } from 'node:worker_threads';
    ${showUrl}
    const work = "import('@breakerbox/telemetry').then(({ startTelemetry }) => startTelemetry().ready)";
    new Worker(work, { eval: true }).on('exit', (code) => console.log('worker ' + code));`;
  const port = await freePort();
  await using child = startAgent(script, { OTEL_EXPORTER_PROMETHEUS_PORT: String(port) }, REGISTER);
  expect(await child.line('url ')).toBe(`http://127.0.0.1:${port}/metrics`);
  expect(await child.line('worker ')).toBe('0');
  expect(await child.ended).toEqual({ code: 0, signal: null });
  expect(child.stderr()).not.toContain('EADDRINUSE');
});

test('variables that OpenTelemetry cannot use do not stop the agent', async () => {
  const env = {
    OTEL_EXPORTER_PROMETHEUS_PORT: 'lots',
    OTEL_METRICS_EXPORTER: 'otlp,carrier-pigeon',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'not a url',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'smoke',
    OTEL_METRIC_EXPORT_INTERVAL: '-1',
    OTEL_TRACES_SAMPLER: 'best',
    OTEL_TRACES_EXPORTER: 'none',
    OTEL_LOGS_EXPORTER: 'none',
  };
  await using child = startAgent(`console.log('work done'); process.exit(0);`, env, REGISTER);
  await child.line('work done');
  expect(await child.ended).toEqual({ code: 0, signal: null });
  expect(child.stderr()).toContain('carrier-pigeon');
  expect(child.stderr()).toContain('OTEL_METRIC_EXPORT_INTERVAL is "-1"');
});

test('OTLP that cannot be set up stops neither the agent nor the scrape endpoint', async () => {
  const env = {
    OTEL_EXPORTER_PROMETHEUS_PORT: '0',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'not a url',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
  };
  await using child = startAgent(showUrl, env, REGISTER);
  expect(await child.line('url ')).toContain('/metrics');
  expect(await child.ended).toEqual({ code: 0, signal: null });
  expect(child.stderr()).toContain('an exporter could not be set up');
});

test('traces alone that cannot be set up leave nothing half-started', async () => {
  const env = {
    OTEL_EXPORTER_PROMETHEUS_PORT: '0',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'not a url',
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'grpc',
  };
  const script = `${showUrl}
    metrics.getMeter('agent').createCounter('a.count').add(1);
    console.log('scrape ' + (await (await fetch(telemetry.metricsUrl)).text()).includes('a_count_total'));`;
  await using child = startAgent(script, env, REGISTER);
  expect(await child.line('scrape ')).toBe('true');
  expect(await child.ended).toEqual({ code: 0, signal: null });
  expect(child.stderr()).not.toContain('duplicate registration');
});
