import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createBreakerbox } from '@breakerbox/core';
import { expect, onTestFinished, test, vi } from 'vitest';
import { perform, readReport, readState, type Target } from './client.ts';
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
    `Another process listens on ${socket}. Give listen.socket another path.`,
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
  await expect(startControl({ boxes: [] })).rejects.toThrow('others could listen in your place');
  chmodSync(join(folder, 'breakerbox'), 0o700);
  expect((await started({ boxes: [] })).url).toContain(folder);
});

test('A1: a file in the place of the socket is left alone', async () => {
  const socket = join(folderOf(), 'notes.txt');
  writeFileSync(socket, 'notes');
  await expect(startControl({ boxes: [], listen: { socket } })).rejects.toThrow(`${socket} is no socket`);
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
  await expect(perform(target, { ...action, session: 'run-1' })).rejects.toThrow('The action was not done');
  expect((await readState(target)).boxes.flatMap(({ modes }) => modes)).toEqual([]);
  const lines = readFileSync(join(folder, 'audit.jsonl'), 'utf8').trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).result)).toEqual([undefined, 'unknown', undefined, 'refused']);
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
  const state = shareState(
    () => [box],
    () => ms,
  );
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

test('A1, A6: --import serves a program that knows nothing of it, and its end is not delayed', async () => {
  const folder = folderOf();
  const socket = join(folder, 'a.sock');
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
