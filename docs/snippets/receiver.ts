import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What takes the telemetry that commands of documents push to `http://127.0.0.1:4318`. */
export interface Receiver {
  readonly url: string;
  /** What was asked for so far, such as `/v1/metrics`. */
  readonly paths: readonly string[];
  stop(): Promise<void>;
}

export const startReceiver = async (): Promise<Receiver> => {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    request.resume().on('end', () => response.end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    paths,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
