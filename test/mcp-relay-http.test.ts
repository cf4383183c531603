/** `breakerbox mcp https://…` as a process, between real clients of both SDKs over stdio and real servers behind HTTP. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import { setTimeout as after } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client as ClientOfSdk2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioOfSdk2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientOfSdk1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioOfSdk1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, test } from 'vitest';
import { brokenTwelveTimes, kept, passesMessages, type Result, undo, who } from './mcp-http-checks.ts';
import { type HttpServer, listening, sessionServer, statelessServer, stopped } from './mcp-http-servers.ts';
import { PATIENT } from './mcp-relay-pipes.ts';

const MAIN = fileURLToPath(new URL('../packages/cli/src/main.ts', import.meta.url));
const EVERYTHING = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
const relayTo = (...args: string[]) => ['--conditions=breakerbox-source', MAIN, 'mcp', ...args];

const clientOfSdk1 = async (...args: string[]) => {
  const client = new ClientOfSdk1(who, { capabilities: { sampling: {} } });
  undo.push(() => client.close());
  await client.connect(new StdioOfSdk1({ command: process.execPath, args: relayTo(...args), stderr: 'ignore' }));
  const call = (name: string, input: object = {}, options?: object): Promise<Result> =>
    client.callTool({ name, arguments: { ...input } }, undefined, options) as Promise<Result>;
  return { client, call };
};

const clientOfSdk2 = async (...args: string[]) => {
  const client = new ClientOfSdk2(who, { versionNegotiation: { mode: 'auto' } });
  undo.push(() => client.close());
  await client.connect(new StdioOfSdk2({ command: process.execPath, args: relayTo(...args), stderr: 'ignore' }));
  const call = (name: string, input: object = {}, options?: object): Promise<Result> =>
    client.callTool({ name, arguments: { ...input } }, options) as Promise<Result>;
  return { client, call };
};

/** Cancels a call of `never` after the server has got it. */
const cancelled = async (server: HttpServer, call: (options: object) => Promise<unknown>): Promise<void> => {
  const stop = new AbortController();
  const before = server.seen.length;
  const given = expect(call({ signal: stop.signal })).rejects.toThrow();
  await expect.poll(() => server.seen.slice(before).some(({ body }) => body.includes('"never"')), PATIENT).toBe(true);
  await after(200);
  stop.abort('a person stopped');
  await given;
};

describe.each([
  ['event streams', false],
  ['JSON', true],
])('the session protocol, answered with %s', (_, isJson) => {
  test.each([
    ['SDK 1', clientOfSdk1],
    ['SDK 2', clientOfSdk2],
  ])('M1, M3: %s: a dead backend costs three calls', async (_name, connect) => {
    const server = await kept(sessionServer(isJson));
    const { call, client } = await connect('--header', 'X-Token: secret', server.url);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo');
    await brokenTwelveTimes(call);
    const last = server.seen.at(-1)?.headers;
    expect(last).toMatchObject({ 'x-token': 'secret', 'mcp-protocol-version': '2025-11-25' });
    expect(last?.['mcp-session-id']).toEqual(expect.any(String));
    await client.close();
    await expect.poll(() => server.seen.at(-1)?.method, PATIENT).toBe('DELETE');
  });

  test('M1: a session that the server has lost is begun again', async () => {
    const server = await kept(sessionServer(isJson));
    const { call } = await clientOfSdk1(server.url);
    server.forget();
    const both = await Promise.all([call('echo', { text: 'a' }), call('echo', { text: 'b' })]);
    expect(both.map(({ content }) => content[0]?.text)).toEqual(['a', 'b']);
  });
});

describe('the session protocol', () => {
  test('M2: progress, questions of the server, and messages that answer nothing', async () => {
    const server = await kept(sessionServer());
    const { client, call } = await clientOfSdk1(server.url);
    await passesMessages(server, client, call);
  });

  test('M6: a cancelled call reaches the server, and leaves the tool as it was', async () => {
    const server = await kept(sessionServer());
    const { call } = await clientOfSdk1(server.url);
    for (let n = 0; n < 4; n += 1) {
      await cancelled(server, (options) => call('never', { n }, options));
    }
    await expect.poll(() => server.cancelled, PATIENT).toHaveLength(4);
    expect((await call('echo', { text: 'ok' })).content[0]?.text).toBe('ok');
  });

  test('M1: a server that was stopped costs one call, and works again after it was started', async () => {
    const server = await kept(sessionServer());
    const { call, client } = await clientOfSdk1(server.url);
    const under = call('never');
    await expect.poll(() => server.seen.some(({ body }) => body.includes('never')), PATIENT).toBe(true);
    await server.stop();
    const broken = await under;
    expect(broken.isError).toBe(true);
    expect(broken.content[0]?.text).toContain('The connection to the MCP server (127.0.0.1:');
    expect((await call('echo', { text: 'x' })).content[0]?.text).toContain('is unavailable');
    await expect(client.listTools()).rejects.toThrow(/ECONNREFUSED/);
    await kept(sessionServer(false, Number(new URL(server.url).port)));
    expect((await client.listTools()).tools).not.toHaveLength(0);
  });

  test('M2: the everything server', async () => {
    const { server, url } = await listening(() => {});
    const { port } = new URL(url);
    await stopped(server);
    const child = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
      env: { ...process.env, PORT: port },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    undo.push(() => child.kill('SIGKILL'));
    await new Promise<void>((resolve) =>
      child.stderr.on('data', (line) => `${line}`.includes('listening') && resolve()),
    );
    const { call, client } = await clientOfSdk1(url);
    expect((await client.listTools()).tools.length).toBeGreaterThan(5);
    expect((await call('get-sum', { a: 1, b: 2 })).content[0]?.text).toContain('3');
    const progress: number[] = [];
    const onprogress = (one: { progress: number }) => progress.push(one.progress);
    await call('trigger-long-running-operation', { duration: 1, steps: 4 }, { onprogress });
    expect(progress.slice(0, 3)).toEqual([1, 2, 3]); // The last comes together with the result.
  });
});

describe('the stateless protocol', () => {
  test('M1, M3: a dead backend costs three calls, and the headers repeat the message', async () => {
    const server = await kept(statelessServer());
    const { call, client } = await clientOfSdk2(server.url);
    await client.listTools();
    await brokenTwelveTimes(call);
    expect(server.seen.at(-1)?.headers).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'echo',
    });
    expect(server.seen.every(({ method, headers }) => method === 'POST' && !headers['mcp-session-id'])).toBe(true);
  });

  test('M6: a cancelled call closes its stream', async () => {
    const server = await kept(statelessServer());
    const { call } = await clientOfSdk2(server.url);
    await cancelled(server, (options) => call('never', {}, options));
    await expect.poll(() => server.cancelled, PATIENT).toEqual(['never']);
    expect(server.seen.some(({ body }) => body.includes('notifications/cancelled'))).toBe(false);
    expect((await call('echo', { text: 'ok' })).content[0]?.text).toBe('ok');
  });
});

/** The relay with raw pipes in front of a server that answers as the test wants. */
const raw = async (answer: RequestListener, ...options: string[]) => {
  const { server, url } = await listening(answer);
  undo.push(() => stopped(server));
  return { server, ...piped(...options, url) };
};

const piped = (...args: string[]) => {
  const child: ChildProcess = spawn(process.execPath, relayTo(...args), {
    stdio: 'pipe',
    env: { ...process.env, RELAY_TOKEN: 'Bearer secret' },
  });
  undo.push(() => child.kill('SIGKILL'));
  const texts = { out: '', err: '' };
  child.stdout?.on('data', (chunk: Buffer) => {
    texts.out += chunk;
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    texts.err += chunk;
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const line = async (index: number): Promise<string> => {
    await expect.poll(() => texts.out.split('\n').length - 1, PATIENT).toBeGreaterThan(index);
    return texts.out.split('\n')[index] ?? '';
  };
  return { child, ended, texts, line, send: (message: string) => child.stdin?.write(`${message}\n`) };
};

const CALL = '{"jsonrpc":"2.0", "id":1.0,"method":"tools/call","params":{"name":"a\\u0062","arguments":{}}}';

describe('bytes and failures', () => {
  test('M1: later lines do not wait for the end of a stream on which the handshake was answered', async () => {
    const { send, line } = await raw((request, response) => {
      let body = '';
      request.on('data', (part) => {
        body += part;
      });
      request.on('end', () => {
        const { id, method } = JSON.parse(body || '{}') as { id?: number; method?: string };
        response.setHeader('content-type', 'text/event-stream');
        if (id === undefined) return response.writeHead(request.method === 'GET' ? 405 : 202).end();
        response.write(`data: {"jsonrpc":"2.0","id":${id},"result":{"of":"${method}"}}\n\n`);
        return method === 'initialize' ? undefined : response.end();
      });
    });
    send('{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}');
    expect(await line(0)).toContain('"of":"initialize"');
    send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    send('{"jsonrpc":"2.0","id":1,"method":"ping"}');
    expect(await line(1)).toContain('"of":"ping"');
  });

  test('M2: JSON is forwarded byte for byte, and its line breaks become spaces', async () => {
    const bodies: string[] = [];
    const json =
      '{"jsonrpc":"2.0",\n\t"id":1.0,\r\n"result":{"content":[{"type":"text","text":"\\u0041\\n€"}],"x":1.50}}';
    const { send, line } = await raw((request, response) => {
      request.on('data', (part) => bodies.push(`${part}`));
      response.setHeader('content-type', bodies.length === 0 ? 'application/json; charset=utf-8' : 'text/event-stream');
      if (bodies.length === 0) response.end(json);
      else response.end(`: comment\nid: 1\ndata:\n\n${json.replaceAll('\n', '\ndata: ').replace('{', 'data: {')}\n\n`);
    });
    send(CALL);
    const first =
      '{"jsonrpc":"2.0", \t"id":1.0,  "result":{"content":[{"type":"text","text":"\\u0041\\n€"}],"x":1.50}}';
    expect(await line(0)).toBe(first);
    send(CALL);
    expect(JSON.parse(await line(1))).toEqual(JSON.parse(first));
    expect(bodies).toEqual([CALL, CALL]);
  });

  test.each([
    [401, {}, /HTTP 401 Unauthorized.*does no OAuth.*--header-env/],
    [403, {}, /HTTP 403 Forbidden/],
    [404, {}, /HTTP 404 Not Found.*Check the address/],
    [429, { 'retry-after': '30' }, /HTTP 429 Too Many Requests, Retry-After: 30/],
    [503, {}, /HTTP 503 Service Unavailable/],
    [302, { location: 'http://127.0.0.1:1/' }, /HTTP 302 Found/],
  ])('M4: status %i is a result for a call and an error for other requests', async (status, headers, text) => {
    const { send, line, texts } = await raw(
      (request, response) => {
        request.resume();
        response.writeHead(status, { ...headers }).end(`${request.headers.authorization}`);
      },
      '--header-env',
      'Authorization=RELAY_TOKEN',
    );
    send(CALL);
    const call = await line(0);
    expect(call).toMatch(/^\{"jsonrpc":"2\.0","id":1\.0,"result":/);
    expect(JSON.parse(call).result).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(text) }] });
    send('{"jsonrpc":"2.0","id":"r","method":"resources/list"}');
    expect(JSON.parse(await line(1))).toMatchObject({ id: 'r', error: { code: -32_000, data: { status } } });
    expect(texts.out + texts.err).not.toContain('secret');
  });

  test.each<[string, RequestListener, RegExp]>([
    ['closes the connection', (request) => request.socket.destroy(), /failed \(ECONNRESET\)/],
    ['answers with HTML', (_, response) => response.end('<html>'), /not a JSON-RPC message/],
    [
      'ends the stream without an answer',
      (_, response) => response.setHeader('content-type', 'text/event-stream').end('data: garbage\n\n'),
      /ended before the answer/,
    ],
    [
      'breaks in the middle of JSON',
      (request, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '99' }).write('{"a":');
        setTimeout(() => request.socket.destroy(), 50);
      },
      /failed \(ECONNRESET\)/,
    ],
  ])('M4: a server that %s', async (_, answer, text) => {
    const { send, line } = await raw(answer);
    send(CALL);
    expect(JSON.parse(await line(0)).result.content[0].text).toMatch(text);
  });

  test('M1: a stream that ends is resumed after its last event', async () => {
    const asked: unknown[] = [];
    const { send, line } = await raw((request, response) => {
      request.resume();
      response.setHeader('content-type', 'text/event-stream');
      if (request.method === 'POST') return response.end('id: 7\nretry: 100\ndata:\n\n');
      asked.push(request.headers['last-event-id']);
      return response.end(asked.length === 1 ? '' : 'data: {"jsonrpc":"2.0","id":1.0,"result":{}}\n\n');
    });
    send(CALL);
    expect(await line(0)).toBe('{"jsonrpc":"2.0","id":1.0,"result":{}}');
    expect(asked).toEqual(['7', '7']);
  });

  test('M1: the end of input waits for the answers, and a signal does not', async () => {
    const slow: RequestListener = (_, response) => {
      response.setHeader('content-type', 'application/json');
      setTimeout(() => response.end('{"jsonrpc":"2.0","id":1.0,"result":{}}'), 300);
    };
    const patient = await raw(slow);
    patient.child.stdin?.end(CALL);
    expect(await patient.ended).toBe(0);
    expect(patient.texts.out).toContain('"result"');
    const hung = await raw(() => {});
    hung.send(CALL);
    await expect
      .poll(() => new Promise((resolve) => hung.server.getConnections((_, n) => resolve(n))), PATIENT)
      .toBe(1);
    hung.child.kill('SIGTERM');
    expect(await hung.ended).toBe(0);
  });

  test.each([
    [['--header-env', 'Authorization=NO_SUCH', 'http://127.0.0.1:1/'], /has no such variable/],
    [['--header', 'secret', 'http://127.0.0.1:1/'], /the form --header 'Name: value'/],
    [['--header', 'A: secret', '--', 'true'], /are for a server with an address/],
    [['http://127.0.0.1:1/', 'more'], /nothing after it/],
  ])('wrong options end with 2 and show no value: %j', async (args, text) => {
    const { ended, texts } = piped(...args);
    expect(await ended).toBe(2);
    expect(texts.err).toMatch(text);
    expect(texts.err).not.toContain('secret');
  });
});
