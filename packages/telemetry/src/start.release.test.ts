/** What a start has opened beyond its SDK is closed again, however it ends. */
import { channel } from 'node:diagnostics_channel';
import { diag } from '@opentelemetry/api';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startTelemetry } from './index.ts';
import { collectDiag } from './test-support/diag-messages.ts';

let messages: string[] = [];
beforeEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith('OTEL_')) vi.stubEnv(name, undefined);
  messages = collectDiag();
});
afterEach(() => {
  vi.unstubAllEnvs();
  diag.disable();
});

/** The open readers of Breakerbox's series. Durations are recorded only for readers. */
const readers = (): number => {
  const key = Object.getOwnPropertySymbols(globalThis).find(({ description }) =>
    description?.startsWith('@breakerbox/core:telemetry:'),
  );
  const shared = Reflect.get(globalThis, key ?? '') as { readers: Set<unknown> };
  return shared.readers.size;
};
const requests = channel('http.client.request.start');

test('after a shutdown, no reader of series is open and requests of the application are not observed', async () => {
  for (let round = 0; round < 2; round += 1) {
    const telemetry = startTelemetry({ prometheus: { port: 0 } });
    await telemetry.ready;
    expect([readers(), requests.hasSubscribers]).toEqual([1, true]);
    await telemetry.shutdown();
    expect([readers(), requests.hasSubscribers]).toEqual([0, false]);
  }
  expect(messages).toEqual([]);
});

test('a start that fails half-way leaves no reader behind', async () => {
  vi.stubEnv('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'http://127.0.0.1:9');
  vi.stubEnv('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'grpc');
  vi.stubEnv('OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'key=a%0A'); // gRPC throws at it.
  const telemetry = startTelemetry({ prometheus: { port: 0 } });
  await telemetry.ready;
  expect(messages).toEqual([expect.stringContaining('an exporter could not be set up')]);
  expect(readers()).toBe(1);
  await telemetry.shutdown();
  expect(readers()).toBe(0);
});
