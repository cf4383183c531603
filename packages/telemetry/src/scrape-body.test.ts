import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { scrapeBody } from './scrape-body.ts';
import { answerScrape } from './scrape-server.ts';

afterEach(() => vi.useRealTimers());

/** More than are taken for honest readers, each of whom would get a text of their own. */
const CLIENTS = 8;
const ASK = 'GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n';

/** A server that answers with a text, and the answers that it has begun. */
const serve = async (render: () => Promise<string>) => {
  const body = scrapeBody(render);
  const responses: ServerResponse[] = [];
  const server = createServer((_, response) => {
    responses.push(response);
    void answerScrape(response, body);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    body,
    responses,
    ask: (requests: string) => {
      const socket = connect(port, '127.0.0.1').on('error', () => {});
      socket.write(requests);
      return socket;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
};

test('clients that leave while the text is written are not readers: each next client gets a new text', async () => {
  const waiting: (() => void)[] = [];
  const render = vi.fn(() => new Promise<string>((resolve) => waiting.push(() => resolve('up 1\n'))));
  await using server = await serve(render);
  const sockets = Array.from({ length: CLIENTS }, () => server.ask(ASK));
  await vi.waitFor(() => expect(server.responses).toHaveLength(CLIENTS));
  for (const socket of sockets) socket.destroy();
  await vi.waitFor(() => expect(server.responses.filter(({ destroyed }) => !destroyed)).toEqual([]));
  waiting[0]?.();
  await server.body.take();
  render.mockImplementation(async () => 'up 2\n');
  for (let scrape = 0; scrape < 2; scrape += 1) expect(String((await server.body.take())[0])).toBe('up 2\n');
  expect(render).toHaveBeenCalledTimes(3);
});

test('clients that have read the text are not readers', async () => {
  const render = vi.fn(async () => 'up 1\n');
  await using server = await serve(render);
  for (let client = 0; client < CLIENTS; client += 1) await once(server.ask(ASK), 'data');
  await vi.waitFor(() => expect(server.responses.filter(({ closed }) => !closed)).toEqual([]));
  render.mockClear();
  for (let scrape = 0; scrape < 2; scrape += 1) await server.body.take();
  expect(render).toHaveBeenCalledTimes(2);
});

test('after its connection closes, answers that wait behind an unread one are not readers', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const render = vi.fn(async () => 'up 1\n'.repeat(2_000_000));
  await using server = await serve(render);
  const socket = server.ask(ASK.repeat(CLIENTS));
  await once(socket, 'readable');
  await vi.waitFor(() => expect(vi.getTimerCount()).toBe(CLIENTS + 1)); // And one for the text.
  for (const response of server.responses) response.removeAllListeners('close'); // As in Node 22, which emits no event for them.
  vi.advanceTimersByTime(10_000);
  socket.resume();
  await once(socket, 'close');
  render.mockClear();
  render.mockImplementation(async () => 'up 2\n');
  for (let scrape = 0; scrape < 2; scrape += 1) expect(String((await server.body.take())[0])).toBe('up 2\n');
  expect(render).toHaveBeenCalledTimes(2);
});

test('clients that wait for one text get it one after the other, each in a turn of the event loop', async () => {
  const body = scrapeBody(async () => 'text');
  let answered = 0;
  let turns = 0;
  const takes = Array.from({ length: CLIENTS }, () => body.take().then(() => (answered += 1)));
  while (answered < CLIENTS) {
    const before = answered;
    await new Promise((resolve) => setImmediate(resolve));
    turns += 1;
    expect(answered - before).toBeLessThanOrEqual(1);
  }
  await Promise.all(takes);
  expect(turns).toBeGreaterThanOrEqual(CLIENTS);
});

test('A5: a thousand clients that have left keep no other one waiting', async () => {
  const body = scrapeBody(async () => 'up 1\n');
  for (let client = 0; client < 1_000; client += 1) void body.take(false, () => true);
  let isAnswered = false;
  void body.take().then(() => {
    isAnswered = true;
  });
  for (let turn = 0; turn < 10; turn += 1) await nextTurn();
  expect(isAnswered).toBe(true);
});
