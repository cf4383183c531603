/** Servers, gateways and balancers behind HTTP that differ from the specification. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { runHttpRelay } from './http-relay.ts';
import { HttpTarget } from './http-target.ts';
import { createRelay } from './relay.ts';
import { createRelayBox } from './relay-box.ts';

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly name?: string };
}
type Answer = (message: Message, response: ServerResponse, request: IncomingMessage) => unknown;

const json = (response: ServerResponse, body: object, status = 200): void =>
  void response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(JSON.stringify({ jsonrpc: '2.0', ...body }));

/** A relay before a server with sessions. `forget` ends them; calls then get `lost`, and otherwise `call`. */
const started = async (
  call: Answer,
  lost: Answer = call,
  headers: Record<string, string> = {},
  get: Answer = (_message, response) => response.writeHead(405).end(),
) => {
  const seen: (Message & { readonly headers: IncomingMessage['headers'] })[] = [];
  let sessions = 0;
  let isLost = false;
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString();
    const message = (text === '' ? { method: request.method } : JSON.parse(text)) as Message;
    seen.push({ ...message, headers: request.headers });
    if (message.method === 'GET') return get(message, response, request);
    if (message.method === 'initialize') {
      sessions += 1;
      isLost = false;
      response.setHeader('mcp-session-id', `s${sessions}`).setHeader('set-cookie', `backend=${sessions}; Path=/`);
      return json(response, { id: message.id, result: { protocolVersion: '2025-06-18', capabilities: {} } });
    }
    if (message.id === undefined) return response.writeHead(202).end();
    if (message.method === 'ping') return json(response, { id: message.id, result: {} });
    return (isLost ? lost : call)(message, response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const waiting = new Map<
    unknown,
    (message: { result?: { isError?: boolean; content: { text: string }[] } }) => void
  >();
  createInterface({ input: stdout }).on('line', (line) => waiting.get(JSON.parse(line).id)?.(JSON.parse(line)));
  const { session, ...rules } = createRelayBox({ agent: 'test', budget: false });
  const relay = createRelay({ group: 'server', watchesAll: true, session, ...rules });
  const ended = runHttpRelay(new HttpTarget({ url, headers }), relay, { stdin, stdout, onStop: () => () => {} }, 10);
  onTestFinished(async () => {
    stdin.end();
    server.closeAllConnections();
    server.close();
    await ended;
  });
  let id = 0;
  const ask = async (method: string, params: object = {}): Promise<string> => {
    id += 1;
    const message = new Promise<{ result?: { content?: { text: string }[] } }>((resolve) => waiting.set(id, resolve));
    stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    const { result } = await message;
    return result?.content?.[0]?.text ?? JSON.stringify(await message);
  };
  await ask('initialize', { protocolVersion: '2025-06-18' });
  stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  await ask('ping');
  const forget = (): void => {
    isLost = true;
  };
  return { ask, tool: (name = 'a') => ask('tools/call', { name, arguments: {} }), seen, forget, server };
};

const fine: Answer = ({ id }, response) =>
  json(response, { id, result: { content: [{ type: 'text', text: 'fine' }] } });

describe('M1: a lost session is begun again, however the server says so', () => {
  const error = (message: string, code = -32_000) => ({ id: null, error: { code, message } });
  test.each<[string, number, object]>([
    ['the SDK for TypeScript', 400, error('Bad Request: Server not initialized')],
    ['a Rust server', 401, error('Unauthorized: Session not found')],
    ['a gateway without a reason', 401, { error: 'invalid_token' }],
    ['a gateway', 403, error('Forbidden: session does not belong to you')],
    ['a server that is strict', 410, {}],
    ['a framework', 422, error('Unexpected message, expect initialize request')],
    ['a proxy', 500, { error: 'HTTP 400: Bad Request: No valid session ID provided' }],
    ['an instance of several', 503, error('MCP session is unknown on this API instance')],
  ])('%s: %i', async (_, status, body) => {
    const { tool, forget, seen } = await started(fine, (_message, response) => json(response, body, status));
    forget();
    expect(await tool()).toBe('fine');
    expect(seen.filter(({ method }) => method === 'initialize')).toHaveLength(2);
  });

  test('an error with the status 200', async () => {
    const { tool, forget } = await started(fine, ({ id }, response) =>
      json(response, { id, error: { code: -32_602, message: 'Received request before initialization was complete' } }),
    );
    forget();
    expect(await tool()).toBe('fine');
  });

  test('once: a token that is not valid is no lost session, and the text says what the server says without the secret', async () => {
    const denied: Answer = (_message, response) => json(response, { error: 'bad token secret-1' }, 401);
    const { tool, seen } = await started(denied, denied, { authorization: 'Bearer secret-1' });
    const text = await tool();
    expect(text).toContain('HTTP 401 Unauthorized. It says: bad token …');
    await tool();
    expect(seen.filter(({ method }) => method === 'initialize').length).toBe(2);
  });

  test.each([403, 404])(
    'M1: after a refusal (%i) of one tool in a new session too, the session before goes on',
    async (status) => {
      const { ask, tool, seen } = await started(({ id, params }, response, request) =>
        params?.name === 'admin' ? json(response, { error: 'admins only' }, status) : fine({ id }, response, request),
      );
      for (let n = 0; n < 3; n += 1) {
        expect(await tool('a')).toBe('fine');
        expect(await tool('admin')).toContain('admins only');
      }
      expect(await ask('ping')).toContain('{}');
      expect(seen.filter(({ method }) => method === 'initialize')).toHaveLength(2);
      expect(seen.at(-1)?.headers['mcp-session-id']).toBe('s1');
    },
  );

  test('a 500 that does not name the session is not sent again: it may have had its effect', async () => {
    const { tool, seen } = await started((_message, response) => json(response, { error: 'database' }, 500));
    expect(await tool()).toContain('HTTP 500 Internal Server Error. It says: database');
    expect(seen.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
  });
});

test('M3, C13: a stream that is cut leaves the other tools as they are; a server that is gone does not', async () => {
  const { tool, server } = await started(({ id }, response, request) => {
    if (id === 3) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': begun\n\n');
      setTimeout(() => request.socket.destroy(), 50);
    } else fine({ id }, response, request);
  });
  expect(await tool('slow')).toContain('failed (ECONNRESET)');
  expect(await tool('slow')).toBe('fine');
  server.close();
  server.closeAllConnections();
  expect(await tool()).toMatch(/failed \(ECONN/);
  expect(await tool('slow')).toContain("the tools of group 'server' failed");
});

test('M1: the cookies of the server are sent back, and the relay says who it is', async () => {
  const { tool, seen } = await started(fine);
  await tool();
  expect(seen.at(-1)?.headers).toMatchObject({
    cookie: 'backend=1',
    'user-agent': expect.stringMatching(/^breakerbox/),
    'accept-encoding': 'identity',
  });
});

test('M1: a cookie of --header is sent beside those of the server', async () => {
  const { tool, seen } = await started(fine, fine, { cookie: 'token=a' });
  await tool();
  expect(seen.at(-1)?.headers.cookie).toBe('token=a; backend=1');
});

test('M1: a server that gives another session id with each answer needs one handshake', async () => {
  let current = 's1';
  const turning: Answer = ({ id }, response, request) => {
    if (request.headers['mcp-session-id'] !== current) return json(response, { error: 'Session not found' }, 404);
    current = `turned-${id}`;
    return fine({ id }, response.setHeader('mcp-session-id', current), request);
  };
  const { tool, seen } = await started(turning);
  for (let n = 0; n < 3; n += 1) expect(await tool()).toBe('fine');
  expect(seen.filter(({ method }) => method === 'initialize')).toHaveLength(1);
});

test('M1: a call that is accepted with 202 is answered by the stream of other messages', async () => {
  let stream: ServerResponse | undefined;
  const accepted: Answer = ({ id }, response) => {
    response.writeHead(202).end();
    const result = { content: [{ type: 'text', text: 'later' }] };
    if (id === 5) return stream?.end();
    return setTimeout(() => stream?.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`), 20);
  };
  const { tool } = await started(accepted, accepted, {}, (_message, response) => {
    stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
    stream.write(': open\n\n');
  });
  await expect.poll(() => stream?.headersSent).toBe(true);
  expect([await tool(), await tool()]).toEqual(['later', 'later']);
  expect(await tool()).toContain('ended before the answer');
});

test.each<[string, number, string]>([
  ['counts', 400, 'Bad Request'],
  [
    'counts',
    400,
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}',
  ],
  ['counts', 415, ''],
  ['counts', 422, ''],
  ['does not', 400, '{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"q is required"}}'],
  ['does not', 413, ''],
  ['does not', 422, '{"error":{"message":"limit must be a number"}}'],
])('O2: in a relay, a refusal by the transport of the server %s: %i %s', async (wanted, status, body) => {
  const { tool } = await started((_message, response) => response.writeHead(status).end(body));
  for (let n = 0; n < 4; n += 1) await tool();
  expect((await tool()).includes('failed (server)')).toBe(wanted === 'counts');
});

test('M4: what the server says of a request that it cannot read reaches the model', async () => {
  const { tool } = await started(({ id }, response) =>
    id === 3
      ? json(response, { id: null, error: { code: -32_600, message: 'q is required' } })
      : json(response, { error: { message: 'limit must be a number' } }, 422),
  );
  expect(await tool()).toContain('q is required');
  expect(await tool()).toContain('HTTP 422 Unprocessable Entity. It says: limit must be a number');
});

test.each([
  [
    'FastAPI',
    'application/json',
    '{"detail":[{"loc":["body","q"],"msg":"Field required"}]}',
    'body.q: Field required.',
  ],
  ['a list of errors', 'application/json', '{"errors":[{"message":"q is required"}]}', 'q is required.'],
  ['OAuth', 'application/json', '{"error":"invalid_request","error_description":"q is missing"}', 'q is missing.'],
  ['a plain line', 'text/plain; charset=utf-8', 'q is\nrequired', 'q is required.'],
])('M3: what %s says of a request reaches the model', async (_, type, body, said) => {
  const { tool } = await started((_message, response) => response.writeHead(422, { 'content-type': type }).end(body));
  expect(await tool()).toContain(`HTTP 422 Unprocessable Entity. It says: ${said}`);
});

test('M3: a page of a proxy is not shown', async () => {
  const { tool } = await started((_message, response) =>
    response.writeHead(502, { 'content-type': 'text/html' }).end('<title>502 Bad Gateway</title>'),
  );
  expect(await tool()).not.toContain('It says');
});

test('C13: over stdio too, an answer to anything shows that the server can be reached again', async () => {
  const { ask, tool, server } = await started(fine);
  const { port } = server.address() as AddressInfo;
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  expect(await tool()).toContain('failed (ECONN');
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  expect(await tool()).toContain('is unavailable');
  expect(await ask('ping')).toContain('{}');
  expect(await tool()).toBe('fine');
});

test.each([
  [301, { location: 'https://new.test/mcp?token=1' }, 'has moved to https://new.test/mcp. Write that address.'],
  [405, {}, 'older SSE transport'],
  [404, {}, 'Check the address'],
] as const)('M3: the text about %i says what to do', async (status, headers, text) => {
  const server = createServer((_request, response) => response.writeHead(status, headers).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const relay = createRelay({ group: 'server', watchesAll: true, ...createRelayBox({ agent: 'test' }) });
  const ended = runHttpRelay(
    new HttpTarget({ url, headers: {} }),
    relay,
    { stdin, stdout, onStop: () => () => {} },
    2_000,
  );
  stdin.end('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}\n');
  await ended;
  expect(`${stdout.read()}`).toContain(text);
});
