import { type ClientRequest, request } from 'node:http';
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics';
import { afterEach, expect, test } from 'vitest';
import type { Environment } from './environment.ts';
import { boundOtlpRequests, markExports } from './otlp-requests.ts';
import { startAgent } from './test-support/agent-process.ts';
import { startOtlpReceiver } from './test-support/otlp-receiver.ts';

let leave = (): void => {};
afterEach(() => leave());

/** A request that is never answered. It is running when this resolves, so the clock of its timeout runs. */
const post = async (url: string, agent = 'OTel-OTLP-Exporter-JavaScript/0.301.0'): Promise<ClientRequest> => {
  const posted = request(url, { method: 'POST', headers: { 'user-agent': agent } });
  posted.on('error', () => {});
  posted.end();
  await new Promise((resolve) => posted.once('socket', resolve));
  return posted;
};

const ended = async (posted: ClientRequest): Promise<void> => {
  if (!posted.closed) await new Promise((resolve) => posted.once('close', resolve));
};

/** As an exporter of ours sends. */
const postMetrics = (url: string): Promise<ClientRequest> =>
  new Promise((resolve) => {
    const exporter = { export: () => resolve(post(url)) } as Partial<PushMetricExporter> as PushMetricExporter;
    markExports(exporter).export({} as never, () => {});
  });

const AT_ONCE = { OTEL_EXPORTER_OTLP_TIMEOUT: '1' };

test.each<[string, (url: string) => Environment, string]>([
  ['the endpoint of all signals', (url) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url }), '/v1/traces'],
  ['one below a path', (url) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/otlp/` }), '/otlp/v1/traces'],
  ['one of its own', (url) => ({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/spans?a=b` }), '/spans?a=b'],
])('ends what the SDK sends to %s', async (_, env, path) => {
  await using receiver = await startOtlpReceiver({ hang: true });
  leave = boundOtlpRequests({ ...AT_ONCE, ...env(receiver.url) }, ['TRACES']);
  await ended(await post(receiver.url + path));
});

test("leaves the application's own requests alone", async () => {
  await using receiver = await startOtlpReceiver({ hang: true });
  leave = boundOtlpRequests({ ...AT_ONCE, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }, ['LOGS']);
  const others = [
    await post(`${receiver.url}/v1/traces`), // Tracing is the application's.
    await post(`${receiver.url}/v1/metrics`), // An exporter of the same kind, but not ours.
    await post(`${receiver.url}/elsewhere/v1/logs`),
    await post(`${receiver.url}/v1/logs`, 'curl'),
  ];
  // Later than they, and with the same time-out.
  await ended(await post(`${receiver.url}/v1/logs`));
  await ended(await postMetrics(`${receiver.url}/v1/metrics`));
  expect(others.map(({ destroyed }) => destroyed)).toEqual([false, false, false, false]);
  for (const other of others) other.destroy();
});

test("gives each signal its own timeout, or OTLP's default", async () => {
  await using receiver = await startOtlpReceiver({ hang: true });
  const env = { OTEL_EXPORTER_OTLP_METRICS_TIMEOUT: '1', OTEL_EXPORTER_OTLP_LOGS_TIMEOUT: '999999999999' };
  leave = boundOtlpRequests({ ...env, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }, ['TRACES', 'LOGS']);
  const traces = await post(`${receiver.url}/v1/traces`);
  const logs = await post(`${receiver.url}/v1/logs`);
  await ended(await postMetrics(receiver.url));
  expect([traces.destroyed, logs.destroyed]).toEqual([false, false]);
  traces.destroy();
  logs.destroy();
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
