import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createAdmission, networkOf, type Places } from './admission.ts';
import { closeServer, limitedServer, listening } from './limited-server.ts';
import { createPlaces } from './places.ts';
import { createShares } from './shares.ts';

/** Answers `GET /NAME` once NAME is known, and never `GET /hold/NAME`. For `/gone/NAME` that is known when the connection has closed. Others get 401. */
const served = async (places: Places) => {
  const admission = createAdmission(places);
  const listener: RequestListener = (request, response) => {
    const [, holds, name = ''] = /^\/(hold\/|gone\/)?(\w*)$/.exec(request.url ?? '') ?? [];
    if (name === '') return void response.writeHead(401).end();
    if (holds === 'gone/') return void request.socket.once('close', () => admission.recognize(request.socket, name));
    if (!admission.recognize(request.socket, name)) return void response.writeHead(429).end();
    if (holds === undefined) response.end(name);
    else response.write('a stream');
  };
  const server = limitedServer({ listener, admission, silentMs: 2_000, mostWaiting: 4 });
  const { port } = (await listening(server, { host: '127.0.0.1', port: 0 })) as AddressInfo;
  onTestFinished(() => closeServer(server));
  const open = async (): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    socket.on('error', () => {});
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    return socket;
  };
  const ask = async (path: string, socket?: Socket): Promise<string> => {
    const asking = socket ?? (await open());
    asking.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
    const [text] = await Promise.race([once(asking, 'data'), once(asking, 'close').then(() => ['closed'])]);
    return String(text).split('\r\n')[0] ?? '';
  };
  return { open, ask };
};

const OK = 'HTTP/1.1 200 OK';

test('A5: a connection of a client that gets nothing is closed', async () => {
  const { open, ask } = await served({ unknown: 4, known: 4 });
  const socket = await open();
  const closed = once(socket, 'close');
  expect(await ask('/', socket)).toBe('HTTP/1.1 401 Unauthorized');
  await closed;
});

test('A5: silent connections cannot keep a known client out, nor end what it has', async () => {
  const { open, ask } = await served({ unknown: 4, known: 4 });
  const stream = await open();
  expect(await ask('/hold/ada', stream)).toBe(OK);
  for (let count = 0; count < 20; count += 1) await open();
  expect(await ask('/ada')).toBe(OK);
  expect(stream.destroyed).toBe(false);
});

test('A5: requests that never end cannot keep a known client out', async () => {
  const { open, ask } = await served({ unknown: 4, known: 4 });
  for (let count = 0; count < 20; count += 1) {
    const socket = await open();
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n');
  }
  expect(await ask('/ada')).toBe(OK);
});

test('A5: clients that have gone before they are known take no place', async () => {
  const { open, ask } = await served({ unknown: 4, known: 4 });
  for (let count = 0; count < 8; count += 1) {
    const socket = await open();
    socket.end(`GET /gone/eve${count} HTTP/1.1\r\nhost: x\r\n\r\n`);
    await once(socket.resume(), 'close');
  }
  expect(await ask('/ada')).toBe(OK);
});

test('A5: one known client cannot keep another one out: its oldest connection gives way', async () => {
  const { open, ask } = await served({ unknown: 4, known: 4 });
  const streams: Socket[] = [];
  for (let count = 0; count < 4; count += 1) {
    const socket = await open();
    expect(await ask('/hold/eve', socket)).toBe(OK);
    streams.push(socket);
  }
  const first = once(streams[0] as Socket, 'close');
  expect(await ask('/ada')).toBe(OK);
  await first;
  expect(streams.slice(1).filter(({ destroyed }) => destroyed)).toEqual([]);
});

test('A5: with all places taken by its own streams, a known client is told so', async () => {
  const { ask } = await served({ unknown: 4, known: 2 });
  expect([await ask('/hold/eve'), await ask('/hold/eve')]).toEqual([OK, OK]);
  expect(await ask('/eve')).toBe('HTTP/1.1 429 Too Many Requests');
});

test('A5: a connection through a proxy counts for the client of its last request', async () => {
  const { open, ask } = await served({ unknown: 4, known: 4 });
  const proxy = await open();
  expect([await ask('/eve', proxy), await ask('/ada', proxy)]).toEqual([OK, OK]);
});

test('A5: a known client that asks for the end of its connection gets it', async () => {
  const { open } = await served({ unknown: 4, known: 4 });
  const socket = await open();
  const closed = once(socket.resume(), 'close');
  socket.write('GET /ada HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  await closed;
}, 3_000);

test('admission: where no client can become known, connections stay open', async () => {
  const { open, ask } = await served({ unknown: 4, known: 0 });
  const socket = await open();
  expect([await ask('/', socket), await ask('/', socket)]).toEqual(Array(2).fill('HTTP/1.1 401 Unauthorized'));
});

test('A5: all addresses of one IPv6 network count as one client', () => {
  const of = (...addresses: (string | undefined)[]) => [...new Set(addresses.map(networkOf))];
  expect(of('2001:db8::1', '2001:db8:0:0:9::', '2001:db8:0:0:1:2:3:4')).toEqual(['2001:db8:0:0::/64']);
  expect(of('2001:db8:0:1::1', '2001:db8:1::1', '::1', 'fe80::1%eth0')).toHaveLength(4);
  expect(of('192.0.2.1', '192.0.2.2', '::ffff:192.0.2.1')).toHaveLength(3);
  expect(of(undefined)).toEqual(['socket']);
});

test('places: a client with fewer connections gets in, and one with as many as any other does not', () => {
  const places = createPlaces(3);
  const ended: string[] = [];
  const enter = (client: string, isBusy: boolean): boolean => {
    const destroy = (): void => void ended.push(client);
    return places.take({ socket: { destroy } as unknown as Socket, client, isBusy });
  };
  expect([enter('a', true), enter('a', true), enter('b', false)]).toEqual([true, true, true]);
  expect(enter('a', true)).toBe(false); // It would take the place of a client that has fewer.
  expect([enter('c', true), ended]).toEqual([true, ['b']]); // A silent one, before a busy one.
  expect([enter('d', true), ended]).toEqual([true, ['b', 'a']]);
  expect(enter('e', true)).toBe(false); // Three clients with a busy one each.
});

test('shares: one is given back once', () => {
  const shares = createShares(2, 9);
  const take = (client: string) => shares.take(client, () => {});
  const [first, second] = [take('a'), take('a')];
  expect([second, take('a'), take('b')]).toEqual([expect.any(Function), undefined, expect.any(Function)]);
  first?.();
  first?.();
  expect([take('a'), take('a')]).toEqual([expect.any(Function), undefined]);
});

test('shares: when all are taken, the client with most gives one to a client that has two fewer', () => {
  const shares = createShares(3, 4);
  const ended: string[] = [];
  const take = (client: string): boolean => shares.take(client, () => void ended.push(client)) !== undefined;
  expect(['a', 'a', 'a', 'b', 'c'].map(take)).toEqual([true, true, true, true, true]);
  expect([take('b'), take('d'), ended]).toEqual([false, true, ['a', 'a']]);
  expect([take('e'), ended]).toEqual([false, ['a', 'a']]); // Four clients with one each.
});
