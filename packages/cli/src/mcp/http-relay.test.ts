import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { runHttpRelay } from './http-relay.ts';
import { HttpTarget } from './http-target.ts';
import { createRelay } from './relay.ts';
import { createRelayBox } from './relay-box.ts';

test('M7: a signal ends the wait for answers that follows the end of input', async () => {
  let asked = (): void => {};
  const isAsked = new Promise<void>((resolve) => (asked = resolve));
  const server = createServer(() => asked()); // It never answers.
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const relay = createRelay({ group: 'server', watchesAll: true, ...createRelayBox({ agent: 'test' }) });
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  let stop = (): void => {};
  const onStop = (listener: () => void) => {
    stop = listener;
    return () => {};
  };
  const hour = 3_600_000;
  const ended = runHttpRelay(
    new HttpTarget({ url: new URL(`http://127.0.0.1:${port}/`), headers: {} }),
    relay,
    { stdin, stdout, onStop },
    hour,
  );
  stdin.end('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}\n');
  await isAsked;
  stop();
  await ended;
  expect(stdout.read()).toBeNull();
  server.closeAllConnections();
  server.close();
});
