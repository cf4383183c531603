import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { freePort } from './free-port.ts';
import { startOtlpReceiver } from './otlp-receiver.ts';

/** A backend that takes no telemetry. */
export interface FaultyBackend extends AsyncDisposable {
  readonly url: string;
}

/** Nothing listens. */
async function refusing(): Promise<FaultyBackend> {
  return { url: `http://127.0.0.1:${await freePort()}`, [Symbol.asyncDispose]: () => Promise.resolve() };
}

/** Takes calls of gRPC and never answers. */
async function hangingGrpc(): Promise<FaultyBackend> {
  const server = createServer();
  const sessions = new Set<{ destroy(): void }>();
  server.on('session', (session) => void sessions.add(session.on('error', () => {})));
  server.on('stream', (stream) => void stream.on('error', () => {}));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Protocol, what the backend does, and how to start it. */
export const FAULTY_BACKENDS: readonly [string, string, () => Promise<FaultyBackend>][] = [
  ['http/protobuf', 'refuses', refusing],
  ['http/protobuf', 'hangs', () => startOtlpReceiver({ hang: true })],
  ['http/protobuf', 'answers 503 with Retry-After: 30', () => startOtlpReceiver({ overloaded: true })],
  ['http/json', 'hangs', () => startOtlpReceiver({ hang: true })],
  ['http/json', 'answers without end', () => startOtlpReceiver({ endless: true })],
  ['grpc', 'refuses', refusing],
  ['grpc', 'hangs', hangingGrpc],
  ['grpc', 'does not speak gRPC', () => startOtlpReceiver({ hang: true })],
];
