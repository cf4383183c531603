import { Agent, createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readsOfHttp } from './http-reads.ts';

const SIZE = 1024 * 1024;
const MANY = 200;
let sent = 0;

/** Answers with the byte that the path names. At `/long` it sends as much as the client takes, up to {@link MANY} times the size. */
const server = createServer((request, response) => {
  if (request.url !== '/long') return void response.end(Buffer.alloc(SIZE, request.url?.slice(1)));
  const more = (): void => {
    while (sent < MANY) {
      sent += 1;
      if (!response.write(Buffer.alloc(SIZE))) return void response.once('drain', more);
    }
    response.end();
  };
  more();
});
const agent = new Agent({ keepAlive: true, ...readsOfHttp() });

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  agent.destroy();
  server.closeAllConnections();
  server.close();
});

const answer = (path: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const { port } = server.address() as AddressInfo;
    get({ port, host: '127.0.0.1', path, agent }, resolve).once('error', reject);
  });

test('M2: answers that are read at the same time keep their bytes', async () => {
  const paths = ['/a', '/b', '/c', '/d'];
  for (let round = 0; round < 2; round += 1) {
    const answers = await Promise.all(paths.map(async (path) => buffer(await answer(path))));
    for (const [index, bytes] of answers.entries())
      expect(bytes.equals(Buffer.alloc(SIZE, paths[index]?.slice(1)))).toBe(true);
  }
});

test('M10: the server waits while its answer is not read', async () => {
  const response = await answer('/long');
  let before = -1;
  while (before !== sent) {
    before = sent;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  expect(sent).toBeLessThan(MANY / 4);
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) length += chunk.length;
  expect(length).toBe(MANY * SIZE);
});
