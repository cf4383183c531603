import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A real server on loopback whose paths answer as they are told. */
export interface TestServer {
  url(path: string): string;
  /** Status and text that a path answers from now on; 200 and the path unless it was told. */
  answer(path: string, status: number, text?: string): void;
  stop(): Promise<void>;
}

export const startServer = async (): Promise<TestServer> => {
  const answers = new Map<string, { status: number; text: string }>();
  const server = createServer(({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://localhost');
    const { status, text } = answers.get(pathname) ?? { status: 200, text: pathname };
    response.writeHead(status).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (path) => `http://127.0.0.1:${port}${path}`,
    answer: (path, status, text = '') => void answers.set(path, { status, text }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

/** Reads a page as a tool would: other statuses than 2xx are errors. */
export const read = async (url: string, signal: AbortSignal): Promise<string> => {
  const response = await fetch(url, { signal });
  const text = await response.text();
  if (!response.ok) throw Object.assign(new Error(`HTTP ${response.status}`), { status: response.status });
  return text;
};
