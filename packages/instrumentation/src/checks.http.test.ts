import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { BreakerboxConfigError, BreakerboxUsageError } from '@breakerbox/core';
import { afterEach, describe, expect, test } from 'vitest';
import { httpEndpoint } from './checks.ts';

const undo: (() => unknown)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

/** Listens on a free port of loopback until the test is over; the URL. */
const listen = async (server: Server): Promise<string> => {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  undo.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const serve = (answer: RequestListener) => listen(createServer(answer));

const withStatus = (status: number, headers: Record<string, string> = {}) =>
  serve((_, response) => response.writeHead(status, headers).end('a body'));

describe('K4: an HTTP endpoint answers', () => {
  test.each([200, 204, 301, 401, 404, 405, 429, 499])('K4: status %i is available', async (status) => {
    expect(await httpEndpoint(await withStatus(status))('search')).toBe('available');
  });

  test.each([500, 502, 503, 504, 599])('K4: status %i is unavailable', async (status) => {
    expect(await httpEndpoint(await withStatus(status))('search')).toBe('unavailable');
  });

  test('K4: a refused connection is unavailable, and available when the server is back', async () => {
    const gone = createTcpServer();
    await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
    const { port } = gone.address() as AddressInfo;
    await new Promise((resolve) => gone.close(resolve));
    const check = httpEndpoint(`http://127.0.0.1:${port}/`);
    expect(await check('search')).toBe('unavailable');

    const back = createServer((_, response) => response.end());
    await new Promise<void>((resolve) => back.listen(port, '127.0.0.1', resolve));
    undo.push(() => new Promise((resolve) => back.close(resolve)));
    expect(await check('search')).toBe('available');
  });

  test('K4: a name that does not resolve is unavailable', async () => {
    expect(await httpEndpoint('http://search.invalid/')('search')).toBe('unavailable');
  });

  test('K4: a server that accepts and never answers is unavailable, and its connection is closed', async () => {
    let closed = (): void => {};
    const wasClosed = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const url = await serve((request) => request.socket.on('close', closed));
    expect(await httpEndpoint(url, { timeoutMs: 50 })('search')).toBe('unavailable');
    await wasClosed;
  });

  test.each<[string, (socket: Socket) => void]>([
    ['hangs up', (socket) => socket.destroy()],
    ['talks something else', (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n')],
  ])('K4: a server that %s is unavailable', async (_, answer) => {
    const url = await listen(createTcpServer((socket) => answer(socket.on('error', () => {}))));
    expect(await httpEndpoint(url)('search')).toBe('unavailable');
  });

  test('K4: a slow answer is degraded if the option is set', async () => {
    const url = await serve((_, response) => void setTimeout(() => response.end(), 60));
    expect(await httpEndpoint(url, { degradedAfterMs: 20, timeoutMs: 20_000 })('search')).toBe('degraded');
    expect(await httpEndpoint(url, { degradedAfterMs: 19_000, timeoutMs: 20_000 })('search')).toBe('available');
    expect(await httpEndpoint(url, { timeoutMs: 20_000 })('search')).toBe('available');
  });

  test('K4: an endless body is not read', async () => {
    let closed = (): void => {};
    const wasClosed = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const url = await serve((request, response) => {
      request.socket.on('close', closed);
      const more = (): void => {
        while (response.write('x'.repeat(65_536)));
        response.once('drain', more);
      };
      more();
    });
    expect(await httpEndpoint(url)('search')).toBe('available');
    await wasClosed;
  });

  test('K4: the request is a GET with the given headers, and redirects are not followed', async () => {
    const requests: IncomingMessage[] = [];
    const url = await serve((request, response) => {
      requests.push(request);
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    const headers = { authorization: 'Bearer secret' };
    const check = httpEndpoint(new URL(`${url}/health?deep=1`), { headers });
    headers.authorization = 'changed later';
    expect(await check('search')).toBe('available');
    expect(requests.map(({ method, url: path, headers: sent }) => [method, path, sent.authorization])).toEqual([
      ['GET', '/health?deep=1', 'Bearer secret'],
    ]);
  });
});

describe('E6: invalid arguments are rejected', () => {
  test.each<[string, unknown]>([
    ['no URL', undefined],
    ['a path', '/health'],
    ['an empty text', ''],
    ['another protocol', 'ftp://search.example/'],
    ['a file', new URL('file:///etc/hosts')],
    ['a number', 80],
  ])('E6: %s', (_, url) => {
    expect(() => httpEndpoint(url as string)).toThrow(BreakerboxUsageError);
    expect(() => httpEndpoint(url as string)).toThrow('httpEndpoint(): did not get an http or https URL');
  });

  test('E6, Q2: a URL with a password is rejected, and no message repeats a URL', () => {
    const make = (url: string) => () => httpEndpoint(url);
    expect(make('https://me:hunter2@search.example/')).toThrow('Give them as options.headers.authorization');
    expect(make('https://me:hunter2@search.example/')).toThrow(expect.not.stringContaining('hunter2'));
    expect(make('htps://search.example/?key=hunter2')).toThrow(expect.not.stringContaining('hunter2'));
  });

  test.each<[string, unknown, string]>([
    ['no time', { timeoutMs: 0 }, 'httpEndpoint() options.timeoutMs: is 0. Set milliseconds above 0'],
    ['a time that timers can not take', { timeoutMs: 2 ** 31 }, 'options.timeoutMs: is 2147483648'],
    ['a text as a time', { degradedAfterMs: '5' }, 'options.degradedAfterMs: is of type string'],
    [
      'slow beyond the limit',
      { degradedAfterMs: 3_000 },
      'options.degradedAfterMs: is 3000, but the check ends after 3000 ms (timeoutMs)',
    ],
    [
      'a misspelt setting',
      { timeout: 5 },
      'options.timeout: is not an option. Correct its name or remove it. The options are timeoutMs, headers',
    ],
    ['invalid headers', { headers: 'accept: */*' }, 'options.headers: has a name or a value'],
    ['a header that is not a string', { headers: { accept: 5 } }, 'options.headers: has a name or a value'],
    ['a name that no header has', { headers: { 'a b': 'c' } }, 'options.headers: has a name or a value'],
    ['no object', 5, 'httpEndpoint() options: is 5. Give an object'],
  ])('E6: %s', (_, options, message) => {
    const make = () => httpEndpoint('http://127.0.0.1/', options as never);
    expect(make).toThrow(BreakerboxConfigError);
    expect(make).toThrow(message);
  });

  test('E6, Q2: the message does not repeat a rejected header', () => {
    const make = () => httpEndpoint('http://127.0.0.1/', { headers: { authorization: 'hunter2\n' + 'x: y' } });
    expect(make).toThrow(BreakerboxConfigError);
    expect(make).toThrow(expect.not.stringContaining('hunter2'));
  });
});
