import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createBreakerbox } from '@breakerbox/core';
import { expect, onTestFinished, test, vi } from 'vitest';
import { perform, readChanges, readReport, readState, type Target } from './client.ts';
import { optionsOf } from './register-options.ts';
import { shareState } from './shared-state.ts';
import { startControl } from './start-control.ts';
import { operated } from './state.ts';

const folderOf = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-start-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
};

const started = async (options: Parameters<typeof startControl>[0]): Promise<Target> => {
  const control = await startControl(options);
  onTestFinished(() => control.close());
  return { url: control.url };
};

test('A1: without boxes, every box that is made later is served', async () => {
  const target = await started({ listen: { socket: join(folderOf(), 'a.sock') } });
  const box = createBreakerbox({ agent: 'later', tools: { search: {} } });
  const session = box.session({ id: 'run-1' });
  session.acquire('search').settle({ outcome: 'success' });
  const { boxes } = await readState(target);
  expect(boxes.filter(({ agent }) => agent === 'later')).toMatchObject([{ sessions: [{ id: 'run-1' }] }]);
});

test('A1: two in one process have sockets of their own, and a taken one is an error', async () => {
  const folder = folderOf();
  const socket = join(folder, 'a.sock');
  await started({ boxes: [], listen: { socket } });
  await expect(startControl({ boxes: [], listen: { socket } })).rejects.toThrow(
    `Another process listens on ${socket}. Stop it, or set listen.socket`,
  );
  const audit = join(folder, 'audit.jsonl');
  const [one, two] = [await started({ boxes: [], audit }), await started({ boxes: [], audit })];
  expect(one.url).not.toBe(two.url);
});

test('A1: a runtime folder that others can write to is not used', async () => {
  const folder = folderOf();
  mkdirSync(join(folder, 'breakerbox'));
  chmodSync(join(folder, 'breakerbox'), 0o777);
  vi.stubEnv('XDG_RUNTIME_DIR', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  await expect(startControl({ boxes: [] })).rejects.toThrow('another user could pose as this agent');
  chmodSync(join(folder, 'breakerbox'), 0o700);
  expect((await started({ boxes: [] })).url).toContain(folder);
});

test('A1: a file in the place of the socket is left alone', async () => {
  const socket = join(folderOf(), 'notes.txt');
  writeFileSync(socket, 'notes');
  await expect(startControl({ boxes: [], listen: { socket } })).rejects.toThrow(`${socket} exists and is not a socket`);
  expect(readFileSync(socket, 'utf8')).toBe('notes');
});

test('A3, A6: a mode for a session that is not there, or that one box cannot have, is forced on none', async () => {
  const tools = { search: {} };
  const boxes = [createBreakerbox({ agent: 'a', tools }), createBreakerbox({ agent: 'a', tools, scope: 'process' })];
  const folder = folderOf();
  const target = await started({ boxes, listen: { socket: join(folder, 'a.sock') } });
  const session = boxes[0]?.session({ id: 'run-1' });
  session?.acquire('search').settle({ outcome: 'success' });
  const action = { action: 'disable', agent: 'a', tool: 'search', reason: 'x', expiresInMs: 60_000 } as const;
  expect(await perform(target, { ...action, session: 'run-9' })).toMatchObject({ result: 'unknown' });
  const { result, message } = await perform(target, { ...action, session: 'run-1' });
  expect([result, message]).toEqual(['unknown', expect.stringContaining("scope 'process'")]);
  expect((await readState(target)).boxes.flatMap(({ modes }) => modes)).toEqual([]);
  const lines = readFileSync(join(folder, 'audit.jsonl'), 'utf8').trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).result)).toEqual([undefined, 'unknown', undefined, 'unknown']);
});

test('A1: an address beyond this machine needs TLS or a proxy', async () => {
  const folder = folderOf();
  const listen = { host: '0.0.0.0', port: 0, tokens: join(folder, 'tokens.json') };
  const audit = join(folder, 'audit.jsonl');
  await expect(startControl({ boxes: [], listen, audit })).rejects.toThrow(/0\.0\.0\.0.*listen\.tls.*behindProxy/s);
});

test('A2: the report of a session is what report() says, and a session that is not there is an error', async () => {
  const box = createBreakerbox({ agent: 'a', tools: { search: {} } });
  const target = await started({ boxes: [box], listen: { socket: join(folderOf(), 'a.sock') } });
  box.session({ id: 'run-1' }).acquire('search').settle({ outcome: 'success' });
  expect((await readReport(target, 'a', 'run-1')).text).toContain('search');
  await expect(readReport(target, 'a', 'run-2')).rejects.toThrow('Agent a has no live session run-2.');
});

test('A2: readers share one text for a quarter of a second, and an action ends it', () => {
  const box = operated(createBreakerbox({ agent: 'a', tools: { search: {} } }));
  let ms = 0;
  const state = shareState({ list: () => [box], version: () => 0 }, () => ms);
  const first = state.text();
  box.operator.force('search', { mode: 'disabled', owner: 'ada', reason: 'a test' });
  expect(state.text()).toBe(first);
  state.forget();
  const second = state.text();
  expect(second).toContain('"disabled"');
  box.operator.release('search', { owner: 'ada' });
  ms = 250;
  expect(state.text()).not.toBe(second);
});

test('A6: each action counts once, and telemetry names no person', async () => {
  const box = createBreakerbox({ agent: 'a', tools: { search: {} } });
  const events: unknown[] = [];
  box.on('operator.action', ({ unixMs, ...event }) => events.push(event));
  const target = { ...(await started({ boxes: [box], listen: { socket: join(folderOf(), 'a.sock') } })), user: 'ada' };
  const base = { agent: 'a', expiresInMs: 1_000, reason: 'a test' } as const;
  await perform(target, { ...base, action: 'disable', tool: 'search' });
  await perform(target, { ...base, action: 'observe', tool: 'serach' });
  await perform(target, { ...base, action: 'force_open', tool: 'search', version: 99 });
  await perform(target, { action: 'resume', agent: 'a', session: 'run-9', cycle: 0 });
  expect(events).toEqual([
    { agent: 'a', action: 'disable', result: 'done', tool: 'search', session: undefined },
    { agent: 'a', action: 'observe', result: 'unknown', tool: 'serach', session: undefined },
    { agent: 'a', action: 'force_open', result: 'stale', tool: 'search', session: undefined },
    { agent: 'a', action: 'resume', result: 'unknown', tool: undefined, session: 'run-9' },
  ]);
});

test('A6: an audit file that was removed while it runs is made again', async () => {
  const box = createBreakerbox({ agent: 'a', tools: { search: {} } });
  const folder = folderOf();
  const target = await started({ boxes: [box], listen: { socket: join(folder, 'a.sock') } });
  rmSync(join(folder, 'audit.jsonl'));
  await perform(target, { action: 'disable', agent: 'a', tool: 'search', reason: 'x', expiresInMs: 1_000 });
  expect(readFileSync(join(folder, 'audit.jsonl'), 'utf8').split('\n')).toHaveLength(3);
});

test('A6: an action that cannot be recorded counts as refused', async () => {
  const box = createBreakerbox({ agent: 'a', tools: { search: {} } });
  const results: string[] = [];
  box.on('operator.action', ({ result }) => results.push(result));
  const target = await started({ boxes: [box], listen: { socket: join(folderOf(), 'a.sock') }, audit: '/dev/full' });
  const action = { action: 'disable', agent: 'a', tool: 'search', reason: 'x', expiresInMs: 1_000 } as const;
  await expect(perform(target, action)).rejects.toThrow('The action was not done');
  expect(results).toEqual(['refused']);
});

/** A program that knows nothing of control, with `--import`. It ends when it reads a line. */
const spawned = async (socket: string) => {
  const core = fileURLToPath(import.meta.resolve('@breakerbox/core'));
  const program = `
    import { createBreakerbox } from ${JSON.stringify(core)};
    const session = createBreakerbox({ agent: 'a', tools: { search: {} } }).session({ id: 'run-1' });
    session.acquire('search').settle({ outcome: 'success' });
    process.stdin.once('data', () => process.stdin.destroy());
    console.log('ready');`;
  const child = spawn(
    process.execPath,
    [
      '--conditions=breakerbox-source',
      `--import=${fileURLToPath(new URL('register.ts', import.meta.url))}`,
      '--input-type=module',
      `--eval=${program}`,
    ],
    { env: { ...process.env, BREAKERBOX_CONTROL_LISTEN: socket }, stdio: ['pipe', 'pipe', 'inherit'] },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  return child;
};

test('A1, A6: --import serves a program that knows nothing of it, and its end is not delayed', async () => {
  const folder = folderOf();
  const socket = join(folder, 'a.sock');
  const child = await spawned(socket);
  const target = { url: `unix:${socket}`, user: 'Ада' };
  expect((await readState(target)).boxes).toMatchObject([{ agent: 'a', sessions: [{ id: 'run-1' }] }]);
  await perform(target, { action: 'disable', agent: 'a', tool: 'search', reason: 'a test', expiresInMs: 1_000 });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.stdin.write('end\n');
  expect(await ended).toBe(0);
  expect(existsSync(socket)).toBe(false);
  expect(readFileSync(join(folder, 'audit.jsonl'), 'utf8')).toMatch(
    /"phase":"asked".*"who":"Ада".*\n.*"phase":"ended"/,
  );
});

test('E6: variables that cannot work are errors that say what to set', () => {
  expect(optionsOf({})).toEqual({ audit: undefined, listen: {} });
  expect(optionsOf({ BREAKERBOX_CONTROL_LISTEN: '/run/a.sock', BREAKERBOX_CONTROL_TOKEN: 'x' }).listen).toEqual({
    socket: '/run/a.sock',
  });
  const tokens = { BREAKERBOX_CONTROL_TOKENS: 't.json' };
  expect(optionsOf({ BREAKERBOX_CONTROL_LISTEN: '9470', ...tokens }).listen).toMatchObject({ port: 9470 });
  expect(optionsOf({ BREAKERBOX_CONTROL_LISTEN: '[::1]:9470', ...tokens }).listen).toMatchObject({ host: '::1' });
  expect(() => optionsOf({ BREAKERBOX_CONTROL_LISTEN: '9470' })).toThrow('BREAKERBOX_CONTROL_TOKENS is not set');
  expect(() => optionsOf({ BREAKERBOX_CONTROL_LISTEN: 'here' })).toThrow("BREAKERBOX_CONTROL_LISTEN is 'here'");
  expect(() => optionsOf({ BREAKERBOX_CONTROL_LISTE: '9470' })).toThrow('BREAKERBOX_CONTROL_LISTE is not a setting');
});

test('E6: variables of a port cover names, TLS and a proxy, and files that cannot be read are errors', () => {
  const folder = folderOf();
  const file = (name: string) => join(folder, name);
  writeFileSync(file('cert.pem'), 'CERT');
  writeFileSync(file('key.pem'), 'KEY');
  const port = { BREAKERBOX_CONTROL_LISTEN: '0.0.0.0:9470', BREAKERBOX_CONTROL_TOKENS: 't.json' };
  const cert = { BREAKERBOX_CONTROL_TLS_CERT: file('cert.pem') };
  expect(
    optionsOf({
      ...port,
      ...cert,
      BREAKERBOX_CONTROL_TLS_KEY: file('key.pem'),
      BREAKERBOX_CONTROL_HOSTS: 'a.example, b.example',
      BREAKERBOX_CONTROL_BEHIND_PROXY: 'true',
    }).listen,
  ).toMatchObject({ hosts: ['a.example', 'b.example'], tls: { cert: 'CERT', key: 'KEY' }, behindProxy: true });
  expect(() => optionsOf({ ...port, ...cert })).toThrow('BREAKERBOX_CONTROL_TLS_KEY is not set');
  expect(() => optionsOf({ ...port, ...cert, BREAKERBOX_CONTROL_TLS_KEY: file('none.pem') })).toThrow(
    'BREAKERBOX_CONTROL_TLS_KEY names a file that cannot be read',
  );
  expect(() => optionsOf({ ...port, BREAKERBOX_CONTROL_BEHIND_PROXY: 'yes' })).toThrow('Set true or false');
  expect(() => optionsOf({ ...cert, BREAKERBOX_CONTROL_LISTEN: '/run/a.sock' })).toThrow(
    'BREAKERBOX_CONTROL_LISTEN is not a port',
  );
});

test('A6: what a process did until it was killed is in the file', async () => {
  const folder = folderOf();
  const socket = join(folder, 'a.sock');
  const child = await spawned(socket);
  const target = { url: `unix:${socket}`, user: 'ada' };
  const base = { agent: 'a', tool: 'search', expiresInMs: 60_000 } as const;
  const told: string[] = [];
  const reading = (async () => {
    for await (const { reason } of readChanges(target, new AbortController().signal)) told.push(`${reason}`);
  })().catch(() => undefined);
  const acting = (async () => {
    for (let count = 0; ; count += 1) await perform(target, { ...base, action: 'disable', reason: `r${count}` });
  })().catch(() => undefined);
  await setTimeout(300);
  child.kill('SIGKILL');
  await Promise.all([acting, reading]);
  const asked = readFileSync(join(folder, 'audit.jsonl'), 'utf8')
    .split('\n')
    .flatMap((line) => (line.includes('"phase":"asked"') ? [JSON.parse(line).request.reason] : []));
  expect(told.length).toBeGreaterThan(0);
  expect(asked).toEqual(expect.arrayContaining(told));
});

test('A5: a port without a file of tokens, and a misspelt option, are errors', async () => {
  const tokens = undefined as unknown as string;
  await expect(startControl({ boxes: [], listen: { port: 0, tokens } })).rejects.toThrow('listen.tokens is missing');
  const prot = { prot: 9470 } as unknown as { socket: string };
  await expect(startControl({ boxes: [], listen: prot })).rejects.toThrow('listen.prot is not an option of a socket');
});

test('A1: two that start at once in one process have sockets of their own', async () => {
  vi.stubEnv('XDG_RUNTIME_DIR', folderOf());
  onTestFinished(() => void vi.unstubAllEnvs());
  const both = await Promise.all([started({ boxes: [] }), started({ boxes: [] })]);
  expect(new Set(both.map(({ url }) => url)).size).toBe(2);
});

test('A6: a line that was cut off does not damage the next one, and a file that everyone can write is an error', async () => {
  const box = createBreakerbox({ agent: 'a', tools: { search: {} } });
  const folder = folderOf();
  const audit = join(folder, 'audit.jsonl');
  writeFileSync(audit, '{"phase":"asked","id":"cut', { mode: 0o600 });
  const target = await started({ boxes: [box], listen: { socket: join(folder, 'a.sock') } });
  await perform(target, { action: 'disable', agent: 'a', tool: 'search', reason: 'x', expiresInMs: 1_000 });
  const [, ...lines] = readFileSync(audit, 'utf8').trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).phase)).toEqual(['asked', 'ended']);
  chmodSync(audit, 0o666);
  await expect(startControl({ boxes: [], listen: { socket: join(folder, 'b.sock') } })).rejects.toThrow('chmod o-w');
});

test('A7: what is no control API is an error, not an empty agent', async () => {
  const socket = join(folderOf(), 'a.sock');
  const answers = ['<html>', '{}', 'null'];
  const server = createServer((_, response) => response.end(answers.shift())).listen(socket);
  onTestFinished(() => void server.close());
  const target = { url: `unix:${socket}` };
  await expect(readState(target)).rejects.toThrow('not as a control API of this version');
  const action = { action: 'disable', agent: 'a', tool: 'search', reason: 'x', expiresInMs: 1_000 } as const;
  await expect(perform(target, action)).rejects.toThrow('not as a control API of this version');
  await expect(readReport(target, 'a', 'run-1')).rejects.toThrow('not as a control API of this version');
});

test('A2: a client that asks again and again without waiting is disconnected, and others are answered', async () => {
  const socket = join(folderOf(), 'a.sock');
  const target = await started({ boxes: [], listen: { socket } });
  const flood = connect(socket);
  flood.write('GET /v1/state HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(1_000));
  let answers = '';
  flood.setEncoding('utf8').on('data', (text: string) => {
    answers += text;
  });
  await once(
    flood.on('error', () => {}),
    'close',
  );
  expect(answers.split('HTTP/1.1 ').length).toBeLessThan(10);
  expect(await readState(target)).toMatchObject({ boxes: [] });
});
