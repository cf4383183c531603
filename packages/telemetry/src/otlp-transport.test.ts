import { type AddressInfo, createServer } from 'node:net';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { emptyResource } from '@opentelemetry/resources';
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { followSockets, keepOffExit } from './otlp-transport.ts';
import { startAgent } from './test-support/agent-process.ts';
import { FAULTY_BACKENDS } from './test-support/backends.ts';
import { startOtlpReceiver } from './test-support/otlp-receiver.ts';

let leave = (): void => {};
beforeEach(() => {
  leave = followSockets();
});
afterEach(() => leave());

const send = (exporter: PushMetricExporter): Promise<string> =>
  new Promise((resolve) =>
    exporter.export({ resource: emptyResource(), scopeMetrics: [] }, ({ code, error }) =>
      resolve(code === 0 ? 'sent' : String(error?.message)),
    ),
  );

const exporterTo = (url: string, timeoutMillis: number, stop = new AbortController()) =>
  keepOffExit(new OTLPMetricExporter({ url: `${url}/v1/metrics`, timeoutMillis }), stop.signal);

test('sends', async () => {
  await using receiver = await startOtlpReceiver();
  expect(await send(exporterTo(receiver.url, 10_000))).toBe('sent');
  expect(receiver.requests.map(({ path }) => path)).toEqual(['/v1/metrics']);
});

test.each(['hang', 'endless'])('the timeout limits the whole export: %s', async (way) => {
  await using receiver = await startOtlpReceiver({ [way]: true });
  await send(exporterTo(receiver.url, 50)); // Would not end.
  expect(receiver.requests).toHaveLength(1);
});

test('an answer in parts of one byte is read no further than a few of them', async () => {
  let taken = 0;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      const more = (): void => {
        taken = socket.bytesWritten - socket.writableLength;
        if (!socket.destroyed) socket.write('1\r\n \r\n'.repeat(10_000), more);
      };
      more();
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await send(exporterTo(`http://127.0.0.1:${port}`, 20_000));
  server.close();
  expect(taken).toBeLessThan(16_000_000); // What fits into the buffers of the system. Otherwise it grows until the exporter has 4 MB.
});

test('a retry that the backend wants later than the timeout is not waited for', async () => {
  await using receiver = await startOtlpReceiver({ overloaded: true });
  expect(await send(exporterTo(receiver.url, 20_000))).toBe('Export failed with retryable status');
  expect(receiver.requests).toHaveLength(1);
});

test.each(['hang', 'overloaded'])('a stop ends a running export, and there is no later one: %s', async (way) => {
  await using receiver = await startOtlpReceiver({ [way]: true });
  const stop = new AbortController();
  const exporter = exporterTo(receiver.url, 600_000, stop);
  const running = send(exporter);
  await receiver.received('/v1/metrics');
  stop.abort();
  expect(await running).toBe('Telemetry was shut down');
  expect(await send(exporter)).toBe('Telemetry was shut down');
  expect(receiver.requests).toHaveLength(1);
});

test('an application waits for its own exporter', async () => {
  await using receiver = await startOtlpReceiver({ answerAfterMs: 300 });
  await using child = startAgent(
    `
    import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
    import { startTelemetry } from '@breakerbox/telemetry';
    startTelemetry({ prometheus: { port: 0 } });
    const exporter = new OTLPMetricExporter({ url: '${receiver.url}/mine' });
    const resource = { attributes: {}, merge: () => resource, getRawAttributes: () => [] };
    const { code } = await new Promise((resolve) => exporter.export({ resource, scopeMetrics: [] }, resolve));
    console.log('sent ' + code);`,
  );
  expect(await child.ended).toEqual({ code: 0, signal: null });
  expect(child.stdout()).toBe('sent 0\n');
});

/** The flush at the end is left out, so that the test does not take as long as its limit. */
const withoutFlush = `
  import { logs, trace } from '@opentelemetry/api';
  import { startTelemetry } from '@breakerbox/telemetry';
  startTelemetry({ prometheus: false });
  process.removeAllListeners('beforeExit');
  for (let count = 0; count < 5000; count += 1) {
    trace.getTracer('agent').startSpan('span').end();
    logs.getLogger('agent').emit({ body: 'log' });
  }`;

describe.concurrent('running exports do not keep the process alive', () => {
  test.each(FAULTY_BACKENDS)('%s to a backend that %s', async (protocol, _, start) => {
    await using backend = await start();
    await using child = startAgent(withoutFlush, {
      OTEL_EXPORTER_OTLP_ENDPOINT: backend.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      OTEL_EXPORTER_OTLP_TIMEOUT: '600000', // Longer than the test may take.
      OTEL_METRIC_EXPORT_INTERVAL: '100000',
    });
    expect(await child.ended).toEqual({ code: 0, signal: null });
  });
});
