import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { createAdmission } from './admission.ts';
import { closeServer, limitedServer, listening } from './limited-server.ts';

const started = async () => {
  const admission = createAdmission({ unknown: 8, known: 2 });
  const seen: string[] = [];
  const server = limitedServer({
    admission,
    mostWaiting: 4,
    listener: async (request, response) => {
      seen.push(await text(request));
      response.end('well');
    },
  });
  let parsed = 0;
  server.on('request', () => {
    parsed += 1;
  });
  const { port } = (await listening(server, { host: '127.0.0.1', port: 0 })) as AddressInfo;
  onTestFinished(() => closeServer(server));
  return { port, seen, parsed: () => parsed };
};

test('A7: of a thousand requests that come at once, few are parsed, and the connection is closed', async () => {
  const { port, parsed } = await started();
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.resume();
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1_000));
  await once(socket, 'close');
  expect(parsed()).toBeGreaterThan(4);
  expect(parsed()).toBeLessThan(60);
});

test('A7: a body of many pieces arrives whole', async () => {
  const { port, seen } = await started();
  const body = 'breaker '.repeat(20_000);
  const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body });
  expect([response.status, await response.text(), seen]).toEqual([200, 'well', [body]]);
});

test('A7: an expectation that the server does not meet closes the connection', async () => {
  const { port } = await started();
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  let answer = '';
  socket.on('data', (text) => {
    answer += text;
  });
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nExpect: nonsense\r\n\r\n');
  await once(socket, 'close');
  expect(answer).toMatch(/^HTTP\/1\.1 417 /);
});
