import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { inPieces } from './in-pieces.ts';

const CLIENTS = 10;
const PIECES = 40;

test('A5: what a piece causes after other microtasks counts in the turn of 5 ms', async () => {
  let now = 0;
  let handled = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  onTestFinished(() => clock.mockRestore());
  const server = createServer((socket) => {
    socket.on('data', async () => {
      await undefined;
      handled += 1;
      now += 1;
    });
    inPieces(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const clients = Array.from({ length: CLIENTS }, () => connect(port, '127.0.0.1'));
  onTestFinished(() => {
    for (const client of clients) client.destroy();
    server.close();
  });
  for (const client of clients) client.write(Buffer.alloc(PIECES * 1_024));
  let most = 0;
  for (let before = 0; handled < CLIENTS * PIECES; before = handled) {
    await turn();
    most = Math.max(most, handled - before);
  }
  expect(most).toBeLessThan(10);
});
