import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBreakerbox } from '@breakerbox/core';
import { expect, onTestFinished, test } from 'vitest';
import { createToken, startControl } from '../index.ts';
import type { ConsoleOptions } from './console-server.ts';
import { startConsole } from './console-server.ts';
import { createSignIn } from './sign-in.ts';

const MINUTE_MS = 60_000;

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  // biome-ignore lint/suspicious/noExplicitAny: JSON.
  readonly body: any;
}

const ask = (
  url: string,
  path: string,
  { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const json = text && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) };
    const method = text === undefined ? 'GET' : 'POST';
    const sent = request(new URL(path, url), { method, headers: { ...json, ...headers } }, (response) => {
      let all = '';
      response.on('data', (part) => {
        all += part;
      });
      response.on('end', () => {
        const isJson = response.headers['content-type']?.startsWith('application/json');
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: isJson ? JSON.parse(all) : all });
      });
    });
    sent.on('error', reject);
    sent.end(text);
  });

const folderOf = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-console-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
};

/** A process with a box, on a socket. */
const agent = async (folder: string, name: string, tools: readonly string[] = ['search', 'fetch', 'mail']) => {
  const box = createBreakerbox({ agent: 'research', tools: Object.fromEntries(tools.map((tool) => [tool, {}])) });
  const socket = join(folder, `${name}.sock`);
  const control = await startControl({ boxes: [box], listen: { socket } });
  onTestFinished(() => control.close());
  return { box, target: { url: control.url, user: 'ada' } };
};

const console = async (folder: string, targets: ConsoleOptions['targets']) => {
  writeFileSync(join(folder, 'index.html'), '<title>page</title>');
  const { url, close } = await startConsole({ targets, page: folder });
  onTestFinished(close);
  const { origin, hash } = new URL(url);
  return { url: origin, token: new URLSearchParams(hash.slice(1)).get('token') ?? '' };
};

const signedIn = async (folder: string, targets: ConsoleOptions['targets']) => {
  const { url, token } = await console(folder, targets);
  const { headers } = await ask(url, '/api/sign-in', { body: { token } });
  const [cookie = ''] = headers['set-cookie'] as string[];
  const own = { cookie: cookie.split(';')[0] ?? '' };
  return { url, cookie, own, get: (path: string) => ask(url, path, { headers: own }) };
};

test('A8: the link signs one browser in, once', async () => {
  const { url, token } = await console(folderOf(), []);
  expect(await ask(url, '/')).toMatchObject({ status: 200, body: '<title>page</title>' });
  for (const path of ['/api/state', '/api/changes']) expect((await ask(url, path)).status).toBe(401);
  expect((await ask(url, '/api/actions', { body: {} })).status).toBe(401);
  expect((await ask(url, '/api/sign-in', { body: { token: 'wrong' } })).status).toBe(401);
  const { status, headers } = await ask(url, '/api/sign-in', { body: { token } });
  expect(status).toBe(200);
  const [cookie = ''] = headers['set-cookie'] as string[];
  expect(cookie).toMatch(/^breakerbox_console_\d+=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
  expect((await ask(url, '/api/sign-in', { body: { token } })).status).toBe(401);
  const [pair = ''] = cookie.split(';');
  expect((await ask(url, '/api/state', { headers: { cookie: pair } })).status).toBe(200);
  expect((await ask(url, '/api/state', { headers: { cookie: `${pair}x` } })).status).toBe(401);
});

test('A8: the link is valid for 10 minutes, and the cookie for 12 hours', () => {
  let ms = 0;
  const late = createSignIn(() => ms);
  const lateToken = late.newToken();
  const { newToken, exchange, browserOf } = createSignIn(() => ms);
  const token = newToken();
  ms = 10 * MINUTE_MS - 1;
  const cookie = exchange(token);
  expect(browserOf(cookie)).toMatch(/^[\da-f]{16}$/);
  expect(browserOf(undefined)).toBeUndefined();
  ms += 1;
  expect(late.exchange(lateToken)).toBeUndefined();
  ms = 10 * MINUTE_MS - 2 + 12 * 60 * MINUTE_MS;
  expect(browserOf(cookie)).toMatch(/^[\da-f]{16}$/);
  ms += 1;
  expect(browserOf(cookie)).toBeUndefined();
});

test('A8: another link signs another browser in, and the first stays', () => {
  const { newToken, exchange, browserOf } = createSignIn();
  const browsers = [newToken(), newToken()].map(exchange);
  expect(new Set(browsers.map(browserOf)).size).toBe(2);
});

test('A5: the console does not listen beyond this machine, unless a proxy ends TLS', async () => {
  const page = folderOf();
  writeFileSync(join(page, 'index.html'), '<title>page</title>');
  await expect(startConsole({ targets: [], page, host: '0.0.0.0' })).rejects.toThrow('--behind-proxy');
  const { url, newLink, close } = await startConsole({ targets: [], page, host: '0.0.0.0', behindProxy: true });
  onTestFinished(close);
  expect(url).toMatch(/^http:\/\/localhost:\d+\/#token=/);
  expect(newLink()).not.toBe(url);
});

test('A8: with an endpoint, an action reaches only that one', async () => {
  const folder = folderOf();
  const agents = [await agent(folder, 'a'), await agent(folder, 'b')];
  const { url, own, get } = await signedIn(
    folder,
    agents.map(({ target }) => target),
  );
  for (const { box } of agents) expect(box.session({ id: 'run-1' }).acquire('search').decision).toBe('call');
  await get('/api/state');
  const action = { action: 'resume', agent: 'research', session: 'run-1', cycle: 1 };
  const { body } = await ask(url, '/api/actions', { body: { action, endpoint: agents[1]?.target.url }, headers: own });
  expect(body).toMatchObject({ asked: 1, applied: 0, results: [{ endpoint: agents[1]?.target.url, result: 'stale' }] });
});

test('A5: another host and another page are refused, and the page is confined', async () => {
  const { url, own, get } = await signedIn(folderOf(), []);
  for (const path of ['/', '/api/state'])
    expect((await ask(url, path, { headers: { ...own, host: 'evil.example' } })).status).toBe(403);
  const post = (headers: Record<string, string>, body: unknown = {}) =>
    ask(url, '/api/actions', { body, headers: { ...own, ...headers } });
  expect((await post({ origin: 'http://evil.example' })).status).toBe(403);
  expect((await post({ origin: 'http://127.0.0.1:1' })).status).toBe(403);
  expect((await post({ origin: 'null' })).status).toBe(403);
  expect((await post({ 'content-type': 'text/plain' })).status).toBe(415);
  expect((await post({}, { text: 'x'.repeat(20_000) })).status).toBe(413);
  expect((await post({ origin: url })).status).toBe(400);
  expect((await get('/')).headers).toMatchObject({
    'content-security-policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  });
  expect((await get('/..%2f..%2fpackage.json')).status).toBe(404);
});

test('A8: an action reaches all processes of an agent, and says in how many it took effect', async () => {
  const folder = folderOf();
  const [one, two] = [await agent(folder, 'one'), await agent(folder, 'two')];
  const { url, own, get } = await signedIn(folder, () => [one.target, two.target]);
  const { endpoints } = (await get('/api/state')).body;
  expect(endpoints.map((each: { status: string }) => each.status)).toEqual(['answers', 'answers']);
  const versions = Object.fromEntries(
    endpoints.map(({ id, state }: { id: string; state: { boxes: [{ version: number }] } }) => [
      id,
      state.boxes[0].version,
    ]),
  );
  const force = { action: 'force_open', agent: 'research', tool: 'search', reason: 'the index is rebuilt' };
  const act = (body: unknown) => ask(url, '/api/actions', { body, headers: own });
  expect(await act({ action: force, versions })).toMatchObject({ status: 200, body: { asked: 2, applied: 2 } });
  expect([one, two].map(({ box }) => box.session().acquire('search').decision)).toEqual(['skip', 'skip']);
  const { body } = await act({ action: force, versions });
  expect(body).toMatchObject({ asked: 2, applied: 0, results: [{ result: 'stale' }, { result: 'stale' }] });
  expect((await act({ action: { ...force, agent: 'writer' } })).body).toMatchObject({ asked: 0, applied: 0 });
  expect((await act({ action: { ...force, reason: '' } })).status).toBe(400);
});

test('A3: a stale request on a session changes nothing, and only its process is asked', async () => {
  const folder = folderOf();
  const [one, two] = [await agent(folder, 'one'), await agent(folder, 'two')];
  const session = one.box.session({ id: 'run-1' });
  for (let call = 0; call < 3; call += 1)
    for (const tool of ['search', 'fetch', 'mail'])
      session.acquire(tool).settle({ outcome: 'failure', category: 'network' });
  const { url, own, get } = await signedIn(folder, [one.target, two.target]);
  const { event } = (await get('/api/state')).body.endpoints[0].state.boxes[0].sessions[0];
  const confirm = { action: 'confirm', agent: 'research', session: 'run-1' };
  const act = (action: unknown) => ask(url, '/api/actions', { body: { action }, headers: own });
  expect((await act({ ...confirm, event: 'another' })).body).toMatchObject({
    asked: 1,
    applied: 0,
    results: [{ result: 'stale' }],
  });
  expect(session.view().state).toBe('paused_systemic');
  expect((await act({ ...confirm, event: event.id })).body).toMatchObject({ asked: 1, applied: 1 });
  expect(session.view().state).toBe('active');
  expect((await get('/api/state')).body.endpoints[0].state.boxes[0].sessions[0].state).toBe('active');
});

test('A8: the browser gets names as JSON and no token of an endpoint', async () => {
  const folder = folderOf();
  const tokens = join(folder, 'tokens.json');
  const token = await createToken(tokens, 'grafana', 'view');
  const name = '<img src=x onerror=alert(1)>';
  const box = createBreakerbox({ agent: name, tools: { [name]: {} } });
  const listen = { port: 0, tokens };
  const control = await startControl({ boxes: [box], listen, audit: join(folder, 'audit.jsonl') });
  onTestFinished(() => control.close());
  const { url, own, get } = await signedIn(folder, [{ url: control.url.replace('//', '//user:secret@'), token }]);
  const state = await get('/api/state');
  expect(state.headers['content-type']).toBe('application/json');
  expect(state.body.endpoints[0].state.boxes[0].tools).toEqual([name]);
  expect(JSON.stringify(state.body)).not.toMatch(/bbx_|secret/);
  const action = { action: 'disable', agent: name, tool: name, reason: name };
  expect((await ask(url, '/api/actions', { body: { action }, headers: own })).body).toMatchObject({
    asked: 1,
    applied: 0,
    results: [{ result: 'failed', message: expect.stringContaining('may only view') }],
  });
});

test('A8: an endpoint that does not answer does not hold up the others, and an ended process is told apart', async () => {
  const folder = folderOf();
  const one = await agent(folder, 'one');
  const hung = createServer((socket) => socket.on('error', () => undefined)).listen(join(folder, 'hung.sock'));
  onTestFinished(() => void hung.close());
  const { get } = await signedIn(folder, [
    one.target,
    { url: `unix:${join(folder, 'hung.sock')}` },
    { url: `unix:${join(folder, 'none.sock')}` },
  ]);
  const { endpoints } = (await get('/api/state')).body;
  expect(endpoints.map((each: { status: string }) => each.status)).toEqual(['answers', 'waiting', 'ended']);
});

test('A2: the page gets the changes of all endpoints', async () => {
  const folder = folderOf();
  const [one, two] = [await agent(folder, 'one'), await agent(folder, 'two')];
  const trip = ({ box }: typeof one) => {
    const session = box.session();
    for (let call = 0; call < 3; call += 1)
      session.acquire('search').settle({ outcome: 'failure', category: 'network' });
  };
  trip(one);
  const { url, own } = await signedIn(folder, [one.target, two.target]);
  const seen = await new Promise<string>((resolve, reject) => {
    const sent = request(new URL('/api/changes', url), { headers: own }, (response) => {
      let all = '';
      response.on('data', (part) => {
        all += part;
        if (all.includes('one.sock') && !all.includes('two.sock')) trip(two);
        if (!all.includes('two.sock')) return;
        resolve(all);
        sent.destroy();
      });
    });
    sent.on('error', reject);
    sent.end();
  });
  expect(seen).toMatch(/event: change\ndata: \{"kind":"circuit.transition","agent":"research".*one\.sock"\}\n\n/);
});

const hostile = async (folder: string, body: string) => {
  const socket = join(folder, 'hostile.sock');
  const server = createHttpServer((_, response) => void response.end(body));
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return { url: `unix:${socket}` };
};

test('A8: an endpoint with a huge or deep answer does not hide the others, and they can be acted on', async () => {
  const state = (circuits: string) =>
    `{"pid":1,"startedUnixMs":1,"role":"operate","boxes":[{"agent":"research","version":0,"tools":[],"modes":[],"sessionsLeftOut":0,"sessions":[{"id":"s","ageMs":1,"state":"active","step":1,"budget":{"limit":1,"remaining":1,"cycle":1},"circuits":[${circuits}]}]}]}`;
  const open = `{"tool":"t","state":"open","generation":1,"failures":1,"openKeys":0,"nextProbe":{"a":`;
  const answers = [
    state(`${'1,'.repeat(5_000_000)}1`),
    state(`${'1,'.repeat(300_000)}1`),
    state(`${open}${'['.repeat(20_000)}${']'.repeat(20_000)}}}`),
    state('').replace('"id":"s"', `"id":"s","event":{"id":"${'e'.repeat(2_000)}","layer":"l","tools":[]}`),
  ];
  for (const answer of answers) {
    const folder = folderOf();
    const good = await agent(folder, 'good');
    const { url, own, get } = await signedIn(folder, [await hostile(folder, answer), good.target]);
    const { status, body } = await get('/api/state');
    expect(status).toBe(200);
    expect(body.endpoints[1]).toMatchObject({ status: 'answers', state: { boxes: [{ agent: 'research' }] } });
    const action = { action: 'force_open', agent: 'research', tool: 'search', reason: 'r' };
    const acted = await ask(url, '/api/actions', { headers: own, body: { action } });
    expect(acted.body.results).toContainEqual(expect.objectContaining({ endpoint: good.target.url, result: 'done' }));
  }
});
