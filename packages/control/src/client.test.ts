import { createServer } from 'node:http';
import { closeServer, listening } from '@breakerbox/listen';
import { expect, onTestFinished, test } from 'vitest';
import { perform, readState } from './client.ts';

const STATE = { pid: 1, startedUnixMs: 1, role: 'view', boxes: [] };

/** An endpoint that closes the first connections without an answer. */
const closing = async (first: number) => {
  let asked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    if (asked <= first) return void request.socket.destroy();
    response.setHeader('connection', 'close').end(JSON.stringify(STATE));
  });
  onTestFinished(() => closeServer(server));
  const { port } = (await listening(server, { port: 0, host: '127.0.0.1' })) as { readonly port: number };
  return { url: `http://127.0.0.1:${port}`, asked: () => asked };
};

test('A7: a read whose connection is closed is asked for again, twice at most', async () => {
  const twice = await closing(2);
  expect(await readState(twice)).toEqual(STATE);
  const always = await closing(Number.POSITIVE_INFINITY);
  await expect(readState(always)).rejects.toThrow('no valid answer');
  expect(always.asked()).toBe(3);
});

test('A7: an action is asked for once, because it may have been carried out', async () => {
  const once = await closing(1);
  const action = { action: 'force_open', agent: 'a', tool: 't', reason: 'r', expiresInMs: 1_000 } as const;
  await expect(perform(once, action)).rejects.toThrow('no valid answer');
  expect(once.asked()).toBe(1);
});
