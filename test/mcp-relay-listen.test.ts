/** `breakerbox mcp --listen`, between real clients of both SDKs over HTTP and real servers behind HTTP. */
import { type RequestListener, request as requestHttp } from 'node:http';
import { setTimeout as after } from 'node:timers/promises';
import { Client as ClientOfSdk2, StreamableHTTPClientTransport as HttpOfSdk2 } from '@modelcontextprotocol/client';
import { Client as ClientOfSdk1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpOfSdk1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, test } from 'vitest';
import { brokenTwelveTimes, kept, passesMessages, type Result, undo, who } from './mcp-http-checks.ts';
import { listening, sessionServer, statelessServer, stopped } from './mcp-http-servers.ts';
import { callOf, PATIENT, piped } from './mcp-relay-pipes.ts';

/** A relay that listens in front of an address. Gives its own address. */
const listeningRelay = async (target: string, ...options: string[]) => {
  const relay = piped(['--listen', '0', ...options, target]);
  undo.push(() => relay.child.kill('SIGKILL'));
  await expect.poll(() => relay.texts.err, PATIENT).toMatch(/http:\/\/\S+\n/);
  return { ...relay, url: new URL(/http:\/\/\S+/.exec(relay.texts.err)?.[0] ?? '') };
};

const clientOfSdk1 = async (url: URL) => {
  const client = new ClientOfSdk1(who, { capabilities: { sampling: {} } });
  undo.push(() => client.close());
  const transport = new HttpOfSdk1(url);
  await client.connect(transport as never);
  const call = (name: string, input: object = {}, options?: object): Promise<Result> =>
    client.callTool({ name, arguments: { ...input } }, undefined, options) as Promise<Result>;
  return { client, call, endSession: () => transport.terminateSession() };
};

const clientOfSdk2 = async (url: URL) => {
  const client = new ClientOfSdk2(who, { versionNegotiation: { mode: 'auto' } });
  undo.push(() => client.close());
  const transport = new HttpOfSdk2(url);
  await client.connect(transport);
  const call = (name: string, input: object = {}, options?: object): Promise<Result> =>
    client.callTool({ name, arguments: { ...input } }, options) as Promise<Result>;
  return { client, call, endSession: () => transport.terminateSession() };
};

const CLIENTS = [
  ['SDK 1', clientOfSdk1],
  ['SDK 2', clientOfSdk2],
] as const;

describe.each([
  ['event streams', false],
  ['JSON', true],
])('the session protocol, answered with %s', (_, isJson) => {
  test.each(CLIENTS)('M1, M3: %s: a dead backend costs three calls', async (_name, connect) => {
    const server = await kept(sessionServer(isJson));
    const { url } = await listeningRelay(server.url, '--header', 'X-Token: secret');
    const { call, client, endSession } = await connect(url);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo');
    await brokenTwelveTimes(call);
    expect(server.seen.at(-1)?.headers).toMatchObject({ 'x-token': 'secret', 'mcp-protocol-version': '2025-11-25' });
    await endSession();
    await expect.poll(() => server.seen.at(-1)?.method, PATIENT).toBe('DELETE');
  });
});

describe('the session protocol', () => {
  test('M2: two clients share the circuits, and nothing else', async () => {
    const server = await kept(sessionServer());
    const { url } = await listeningRelay(server.url);
    const [one, two] = await Promise.all([clientOfSdk1(url), clientOfSdk2(url)]);
    const texts = await Promise.all(
      Array.from({ length: 50 }, (_, n) => (n % 2 ? one : two).call('echo', { text: `${n}` })),
    );
    expect(texts.map(({ content }) => content[0]?.text)).toEqual(Array.from({ length: 50 }, (_, n) => `${n}`));
    await brokenTwelveTimes(one.call);
    expect((await two.call('broken', { n: 99 })).content[0]?.text).toContain('is unavailable');
  });

  test('M2: progress, questions of the server, and messages that answer nothing', async () => {
    const server = await kept(sessionServer());
    const { url } = await listeningRelay(server.url);
    const { client, call } = await clientOfSdk1(url);
    await passesMessages(server, client, call);
  });

  test('M6: a call that the server never answers times out, and is cancelled there', async () => {
    const server = await kept(sessionServer());
    const { url } = await listeningRelay(server.url, '--call-timeout', 'never=300ms');
    const { call } = await clientOfSdk1(url);
    expect((await call('never')).content[0]?.text).toContain("Tool 'never' did not answer within 0.3 s");
    await expect.poll(() => server.cancelled, PATIENT).toEqual(['never']);
    for (let n = 0; n < 2; n += 1) await call('never', { n });
    expect((await call('never')).content[0]?.text).toContain('the last calls failed (timeout)');
    expect((await call('echo', { text: 'ok' })).content[0]?.text).toBe('ok');
  });

  test('M4: a server that was stopped costs one call, and a lost session costs none', async () => {
    const server = await kept(sessionServer());
    const { url } = await listeningRelay(server.url);
    const { call } = await clientOfSdk1(url);
    const under = call('never');
    await expect.poll(() => server.seen.some(({ body }) => body.includes('never')), PATIENT).toBe(true);
    server.forget();
    await expect(call('echo', { text: 'x' })).rejects.toThrow(/Session not found/);
    const other = await clientOfSdk1(url);
    expect((await other.call('echo', { text: 'ok' })).content[0]?.text).toBe('ok');
    await server.stop();
    expect(await under).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('The connection') }],
    });
    expect((await other.call('echo', { text: 'x' })).content[0]?.text).toContain('is unavailable');
  });
});

describe('the stateless protocol', () => {
  test('M1, M3: a dead backend costs three calls, and the headers of the client arrive', async () => {
    const server = await kept(statelessServer());
    const { url } = await listeningRelay(server.url);
    const { call, client } = await clientOfSdk2(url);
    expect(client.getProtocolEra()).toBe('modern');
    await brokenTwelveTimes(call);
    expect(server.seen.at(-1)?.headers).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'echo',
    });
  });

  test('M6: a client that has gone cancels its call, which costs nothing; a call that times out counts', async () => {
    const server = await kept(statelessServer());
    const { url } = await listeningRelay(server.url, '--call-timeout', '2s');
    const { call } = await clientOfSdk2(url);
    for (let n = 0; n < 3; n += 1) {
      const stop = new AbortController();
      const given = expect(call('never', { n }, { signal: stop.signal })).rejects.toThrow();
      await expect.poll(() => server.seen.filter(({ body }) => body.includes('"never"')), PATIENT).toHaveLength(n + 1);
      await after(100);
      stop.abort('a person stopped');
      await given;
    }
    await expect.poll(() => server.cancelled, PATIENT).toHaveLength(3);
    expect((await call('never')).content[0]?.text).toContain('did not answer within 2 s');
    await expect.poll(() => server.cancelled, PATIENT).toHaveLength(4);
  });
});

/** A relay that listens in front of a server that answers as the test wants. */
const raw = async (answer: RequestListener, ...options: string[]) => {
  const { server, url } = await listening(answer);
  undo.push(() => stopped(server));
  return { server, target: url, ...(await listeningRelay(url, ...options)) };
};

const bodyOf = async (request: AsyncIterable<unknown>): Promise<string> => {
  let body = '';
  for await (const part of request) body += part;
  return body;
};

interface Answer {
  readonly status: number | undefined;
  readonly headers: string[];
  readonly body: string;
}

/** A request with any header, which `fetch` would not allow. */
const ask = (url: URL, body: string, headers: Record<string, string> = {}, method = 'POST'): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const request = requestHttp(url, { method, headers }, async (response) =>
      resolve({ status: response.statusCode, headers: response.rawHeaders, body: await bodyOf(response) }),
    );
    request.on('error', reject);
    request.end(method === 'POST' ? body : undefined);
  });

const CALL = '{"jsonrpc":"2.0", "id":1.0,\n"method":"tools/call","params":{"name":"a\\u0062","arguments":{}}}';

describe('bytes, headers and failures', () => {
  test('M2: bodies and headers pass as they are, in both directions', async () => {
    const bodies: string[] = [];
    const seen: string[][] = [];
    const json = '{"jsonrpc":"2.0",\n\t"id":1.0,"result":{"x":1.50,"t":"\\u0041€"}}\n';
    const events =
      ': comment\r\nid: 1\ndata:\n\n:\n\ndata: {"jsonrpc":"2.0",\ndata: "id":1.0,"result":{}}\n\nevent: x\ndata: y';
    const { url } = await raw(async (request, response) => {
      bodies.push(await bodyOf(request));
      seen.push(request.rawHeaders);
      const isJson = bodies.length === 1;
      response.writeHead(200, [
        'Content-Type',
        isJson ? 'application/json' : 'text/event-stream',
        'X-A',
        '1',
        'X-A',
        '2',
      ]);
      response.end(isJson ? json : events);
    });
    const headers = {
      'Mcp-Param-Region': 'eu',
      Authorization: 'Bearer x',
      Connection: 'keep-alive, x-hop',
      'X-Hop': '1',
    };
    const first = await ask(url, CALL, headers);
    expect(first.body).toBe(json);
    expect(first.headers.slice(0, 6)).toEqual(['Content-Type', 'application/json', 'X-A', '1', 'X-A', '2']);
    expect((await ask(url, CALL)).body).toBe(events);
    expect(bodies).toEqual([CALL, CALL]);
    const names = seen[0]?.map((one) => one.toLowerCase()) ?? [];
    expect(names).toContain('mcp-param-region');
    expect(names).toContain('authorization');
    expect(names).not.toContain('x-hop');
  });

  test('M4: a status of the server passes, and a rejection has the status 200', async () => {
    const { url } = await raw((request, response) => {
      request.resume();
      if (request.method === 'GET') return response.writeHead(405).end('no stream');
      return response
        .writeHead(401, { 'www-authenticate': 'Bearer resource_metadata="https://example.com/x"' })
        .end('{"error":"invalid_token"}');
    });
    const first = await ask(url, CALL);
    expect(first).toMatchObject({ status: 401, body: '{"error":"invalid_token"}' });
    expect(first.headers.join()).toContain('www-authenticate,Bearer resource_metadata="https://example.com/x"');
    expect(await ask(url, '', {}, 'GET')).toMatchObject({ status: 405, body: 'no stream' });
    for (let n = 0; n < 2; n += 1) await ask(url, callOf(n, 'ab', { n }));
    const rejected = await ask(url, CALL);
    expect(rejected.status).toBe(200);
    expect(rejected.body).toMatch(/^\{"jsonrpc":"2\.0","id":1\.0,"result":\{"content".*"isError":true/);
  });

  test('M4: without a connection, a call gets a result, another request an error, and the rest 502', async () => {
    const { url, server } = await raw(() => {});
    await stopped(server);
    const call = await ask(url, CALL);
    expect(call.status).toBe(200);
    expect(JSON.parse(call.body)).toMatchObject({ id: 1, result: { isError: true } });
    const list = await ask(url, '{"jsonrpc":"2.0","id":"r","method":"tools/list"}');
    expect(JSON.parse(list.body)).toMatchObject({
      id: 'r',
      error: { message: expect.stringContaining('ECONNREFUSED') },
    });
    expect((await ask(url, '{"jsonrpc":"2.0","method":"notifications/x"}')).status).toBe(502);
    expect((await ask(url, '', {}, 'GET')).status).toBe(502);
  });

  test('M4: a stream that breaks ends with the result of the call', async () => {
    const { url } = await raw((request, response) => {
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .write('data: {"jsonrpc":"2.0","method":"x"}\n\ndata: {"ha');
      setTimeout(() => request.socket.destroy(), 100);
    });
    const events = (await ask(url, CALL)).body.split('\n').filter((line) => line.startsWith('data: '));
    expect(JSON.parse(events.at(-1)?.slice(6) ?? '')).toMatchObject({ id: 1, result: { isError: true } });
  });

  test('M4: a batch of which a call is rejected', async () => {
    const { url } = await raw(async (request, response) => {
      const body = await bodyOf(request);
      response.setHeader('content-type', 'application/json');
      const failed = '"result":{"content":[{"type":"text","text":"connect ECONNREFUSED"}],"isError":true}';
      response.end(body.startsWith('[') ? '[{"id":2,"result":{}}]' : `{"id":${JSON.parse(body).id},${failed}}`);
    });
    for (let n = 0; n < 3; n += 1) await ask(url, callOf(n, 'a', { n }));
    const { body } = await ask(url, `[${callOf(1, 'a')},{"jsonrpc":"2.0","id":2,"method":"ping"}]`);
    expect(JSON.parse(body)).toMatchObject([
      { id: 1, result: { isError: true } },
      { id: 2, result: {} },
    ]);
  });

  test('M1: only clients of this machine are served, on the path of the server', async () => {
    const { url } = await raw((request, response) => {
      request.resume();
      response.setHeader('content-type', 'application/json').end('{"jsonrpc":"2.0","id":1.0,"result":{}}');
    });
    const statusOf = async (headers: Record<string, string>) => (await ask(url, CALL, headers)).status;
    expect(await statusOf({ Host: 'evil.example:80' })).toBe(403);
    expect(await statusOf({ Host: '127.0.0.1.evil.example' })).toBe(403);
    expect(await statusOf({ Origin: 'https://evil.example' })).toBe(403);
    expect(await statusOf({ Origin: 'null' })).toBe(403);
    expect(await statusOf({ Origin: 'http://localhost:6274' })).toBe(200);
    const crossSite = { 'Sec-Fetch-Site': 'cross-site' };
    expect(await statusOf(crossSite)).toBe(403); // A picture of a page.
    expect(await statusOf({ ...crossSite, Origin: 'http://localhost:6274' })).toBe(200);
    expect(await statusOf({ Host: 'localhost:1' })).toBe(200);
    expect(await statusOf({ Host: '[::1]:1' })).toBe(200);
    expect((await ask(new URL('/other', url), CALL)).status).toBe(404);
    expect((await ask(url, '', {}, 'PUT')).status).toBe(405);
  });

  test('M2: a client that does not read slows the server down', async () => {
    let sent = 0;
    const piece = Buffer.alloc(1_000_000, 'x');
    const { url } = await raw((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const more = (): void => {
        while (sent < 200e6 && !response.destroyed) {
          sent += piece.length;
          if (!response.write(Buffer.concat([Buffer.from(':'), piece, Buffer.from('\n\n')]))) break;
        }
      };
      response.on('drain', more);
      more();
    });
    const client = requestHttp(url, { method: 'POST' });
    client.end(CALL);
    undo.push(() => client.destroy());
    await new Promise<void>((resolve) => client.once('response', (response) => resolve(void response.pause())));
    let before = -1;
    await expect
      .poll(
        () => {
          const isStill = sent === before;
          before = sent;
          return isStill;
        },
        { ...PATIENT, interval: 500 },
      )
      .toBe(true);
    expect(sent).toBeLessThan(100e6);
  });

  test('M1: a signal ends the relay at once', async () => {
    const { url, child, ended, server } = await raw((request) => request.resume());
    const under = ask(url, CALL).catch(() => 'broken');
    await expect.poll(() => new Promise((resolve) => server.getConnections((_, n) => resolve(n))), PATIENT).toBe(1);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(await under).toBe('broken');
  });

  test.each([
    [['--listen', '0', '--', 'true'], /--listen is for a server with an address/],
    [['--listen', '0.0.0.0:9870', 'http://127.0.0.1:1/'], /clients of this machine only/],
    [['--listen', 'here', 'http://127.0.0.1:1/'], /not an address/],
    [['--call-timeout', '10', 'http://127.0.0.1:1/'], /--call-timeout is '10', which is not a time/],
  ])('wrong options end with 2: %j', async (args, text) => {
    const { ended, texts } = piped(args);
    expect(await ended).toBe(2);
    expect(texts.err).toMatch(text);
  });

  test('a port that is taken ends with 2', async () => {
    const { server } = await listening(() => {});
    undo.push(() => stopped(server));
    const { port } = server.address() as { port: number };
    const { ended, texts } = piped(['--listen', `${port}`, 'http://127.0.0.1:1/']);
    expect(await ended).toBe(2);
    expect(texts.err).toContain(`port ${port} is taken`);
  });
});
