import { createServer, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';

/** A collector on loopback that speaks gRPC. */
export interface GrpcReceiver extends AsyncDisposable {
  readonly url: string;
  /** The services of OTLP that were called, in order of their names. */
  services(): readonly string[];
}

/** An uncompressed message of no bytes: every field of an OTLP answer is optional. */
const EMPTY_MESSAGE = Buffer.alloc(5);

/** Starts a receiver that accepts every export. */
export const startGrpcReceiver = async (): Promise<GrpcReceiver> => {
  const called = new Set<string>();
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer();
  server.on('session', (session) => void sessions.add(session.on('error', () => {})));
  server.on('stream', (stream, { ':path': path = '' }) => {
    called.add(/(\w+)\/Export$/.exec(path)?.[1] ?? path);
    stream.on('error', () => {}).resume();
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(EMPTY_MESSAGE);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    services: () => [...called].toSorted(),
    [Symbol.asyncDispose]: async () => {
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
