import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  read as readBytes,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createBreakerbox } from '@breakerbox/core';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openAudit } from './audit.ts';
import { perform, readState } from './client.ts';
import { startControl } from './start-control.ts';

const folderOf = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-audit-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
};

/** Starts, acts, and writes what became of it to standard error. */
const PROGRAM = `
  import { createBreakerbox } from ${JSON.stringify(fileURLToPath(import.meta.resolve('@breakerbox/core')))};
  import { startControl } from ${JSON.stringify(fileURLToPath(new URL('index.ts', import.meta.url)))};
  import { perform } from ${JSON.stringify(fileURLToPath(new URL('client.ts', import.meta.url)))};
  const box = createBreakerbox({ agent: 'a', tools: { search: {} } });
  const control = await startControl({ boxes: [box], listen: { socket: process.argv[1] }, audit: '/dev/stdout' });
  const action = { action: 'force_open', agent: 'a', tool: 'search', reason: 'x', expiresInMs: 60_000 };
  const { result } = await perform({ url: control.url }, action);
  process.stderr.write(result + ' ' + box.session().acquire('search').reason);
  for (let left = Number(process.argv[2]); left > 0; left -= 1)
    await perform({ url: control.url }, { ...action, reason: 'x'.repeat(480) }).catch((error) => {
      process.stderr.write(error.message);
      process.exit(7);
    });
  await control.close();`;

const start = (stdout: 'pipe' | number, more = 0) => {
  const args = ['--conditions=breakerbox-source', '--input-type=module', `--eval=${PROGRAM}`];
  const env = { ...process.env, BREAKERBOX_WARNINGS: 'on' };
  return spawn(process.execPath, [...args, join(folderOf(), 'a.sock'), String(more)], {
    env,
    stdio: ['ignore', stdout, 'pipe'],
  });
};

test.each(['pipe', 'socket'])(
  'A6: standard output into a %s that is full refuses actions, and keeps no process',
  {
    timeout: 20_000,
  },
  async (kind) => {
    const path = join(folderOf(), 'pipe');
    await once(spawn('mkfifo', [path]), 'exit');
    const pipe = openSync(path, constants.O_RDWR);
    onTestFinished(() => closeSync(pipe));
    const child = start(kind === 'pipe' ? pipe : 'pipe', 1_000);
    onTestFinished(() => void child.kill('SIGKILL'));
    const [err, [code]] = await Promise.all([text(child.stderr ?? expect.fail()), once(child, 'exit')]);
    expect(err).toContain('It is a pipe that is full, because its reader has stopped.');
    expect(code).toBe(7);
  },
);

test('A6: with standard output into a pipe, as in a container, the start says what is certain and an action is done', async () => {
  const child = start('pipe');
  const ended = once(child, 'exit');
  const [out = '', err] = await Promise.all([child.stdout, child.stderr].map((one) => text(one ?? expect.fail())));
  await ended;
  const lines = out.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).phase)).toEqual(['asked', 'ended']);
  expect(err).toMatch(/\[BREAKERBOX_AUDIT_NOT_SYNCED\].*\/dev\/stdout, which is a (?:pipe|socket)\. .*not synced/);
  expect(err).toContain('done forced_open');
});

test('A6: a folder that every user can write to is an error below /dev too', async () => {
  const folder = folderOf();
  chmodSync(folder, 0o777);
  for (const file of [`/dev/..${folder}/a.jsonl`, `${folder}/a.jsonl`])
    await expect(openAudit(file)).rejects.toThrow('can be written by every user');
});

test('A6: a folder above that every user can write to gets a warning, also behind a symbolic link', async () => {
  const told = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  onTestFinished(() => told.mockRestore());
  vi.stubEnv('BREAKERBOX_WARNINGS', 'on');
  onTestFinished(() => void vi.unstubAllEnvs());
  const folder = folderOf();
  mkdirSync(join(folder, 'closed', 'mine'), { recursive: true, mode: 0o700 });
  mkdirSync(join(folder, 'open', 'mine'), { recursive: true, mode: 0o700 });
  chmodSync(join(folder, 'open'), 0o777);
  symlinkSync(join(folder, 'open', 'mine'), join(folder, 'link'));
  await openAudit(join(folder, 'closed', 'mine', 'a.jsonl'));
  expect(told.mock.calls.flat()).toEqual([]);
  await openAudit(join(folder, 'link', 'a.jsonl'));
  expect(told.mock.calls).toEqual([
    [
      expect.stringMatching(/open can be written by every user, who could replace .*link\. Set audit .*chmod o-w/),
      expect.objectContaining({ code: 'BREAKERBOX_OPEN_FOLDER' }),
    ],
  ]);
});

test('A6: after a line that a full pipe has cut off, the next one begins a line of its own', async () => {
  const pipe = join(folderOf(), 'pipe');
  await once(spawn('mkfifo', [pipe]), 'exit');
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  const audit = await openAudit(pipe);
  const line = (result: string) => ({ phase: 'ended', id: 'i', at: 'now', result, after: {} }) as const;
  const beganMs = performance.now();
  await expect(audit.write(line('x'.repeat(200_000)))).rejects.toThrow(/EAGAIN.*Start the reader again/);
  const firstMs = performance.now() - beganMs;
  for (let count = 0; count < 3; count += 1) await expect(audit.write(line('x'))).rejects.toThrow('EAGAIN');
  expect(performance.now() - beganMs).toBeLessThan(2 * firstMs); // The others do not wait again.
  const read = async (): Promise<string> => {
    const { buffer, bytesRead } = await promisify(readBytes)(reader, { buffer: Buffer.alloc(300_000) });
    return buffer.toString('utf8', 0, bytesRead);
  };
  expect((await read()).length).toBeGreaterThan(4_096);
  await audit.write(line('done'));
  expect(JSON.parse((await read()).trim())).toMatchObject({ result: 'done' });
  closeSync(reader);
});

test('A6: a reader that ends with its last writer gets each line of a pipe, and so does the next reader', async () => {
  const pipe = join(folderOf(), 'pipe');
  await once(spawn('mkfifo', [pipe]), 'exit');
  const cat = () => spawn('cat', [pipe], { stdio: ['ignore', 'pipe', 'inherit'] });
  const first = cat();
  const read = text(first.stdout);
  const audit = await vi.waitFor(() => openAudit(pipe), 5_000);
  const line = (result: string) => ({ phase: 'ended', id: 'i', at: 'now', result, after: {} }) as const;
  for (const result of ['one', 'two']) {
    await audit.write(line(result));
    await setTimeout(50); // A reader that sees the end of the pipe ends now.
  }
  expect(first.exitCode).toBe(null);
  first.kill();
  await once(first, 'exit');
  const second = cat();
  await vi.waitFor(() => audit.write(line('three')), 5_000);
  await audit.close();
  expect(await text(second.stdout)).toContain('three');
  expect((await read).match(/one|two/g)).toEqual(['one', 'two']);
});

test('A6: a file is synced, and a pipe without a reader is an error at the start', async () => {
  const file = join(folderOf(), 'audit.jsonl');
  const { promise } = await openAudit(file);
  expect([promise, statSync(file).mode & 0o777]).toEqual([expect.stringContaining('synced to the disk'), 0o600]);
  const pipe = join(folderOf(), 'pipe');
  await once(spawn('mkfifo', [pipe]), 'exit');
  await expect(openAudit(pipe)).rejects.toThrow(
    `written to ${pipe} (ENXIO). It is a pipe or a socket that no process reads.`,
  );
});

test('A6: a target that cannot be opened is an error that says how to fix it', async () => {
  const folder = folderOf();
  const missing = join(folder, 'missing');
  await expect(openAudit(join(missing, 'a.jsonl'))).rejects.toThrow(`Run: mkdir -p -m 700 ${missing}, or set audit`);
  await expect(openAudit(folder)).rejects.toThrow(
    `${folder} (EISDIR). It is a folder. Name a file in it, or set audit`,
  );
  const file = join(folder, 'a.jsonl');
  writeFileSync(file, '', { mode: 0o600 });
  linkSync(file, join(folder, 'b.jsonl'));
  await expect(openAudit(file)).rejects.toThrow(/has a second name, a hard link.*Set audit/);
});

test.runIf(process.platform === 'linux')('A6: a view of the system is no file for lines', async () => {
  for (const view of ['/proc/self/mem', '/proc/self/comm', '/sys/kernel/mm/transparent_hugepage/enabled'])
    await expect(openAudit(view)).rejects.toThrow(/a view of the system\. Set audit|EACCES|EROFS/);
});

test('A6: each line finds out whether the file was replaced by a link, or can be replaced since the start', async () => {
  const line = { phase: 'ended', id: 'i', at: 'now', result: 'done', after: {} } as const;
  const fileIn = async () => {
    const folder = folderOf();
    const file = join(folder, 'a.jsonl');
    const audit = await openAudit(file);
    return { folder, file, write: () => audit.write(line) };
  };
  const [linked, named, open] = [await fileIn(), await fileIn(), await fileIn()];
  rmSync(linked.file);
  symlinkSync(join(linked.folder, 'other'), linked.file);
  await expect(linked.write()).rejects.toThrow('is a symbolic link. Set audit');
  linkSync(named.file, join(named.folder, 'other'));
  await expect(named.write()).rejects.toThrow('has a second name');
  chmodSync(open.folder, 0o777);
  await expect(open.write()).rejects.toThrow('can be written by every user');
  chmodSync(open.folder, 0o700);
  await open.write();
  expect(readFileSync(open.file, 'utf8')).toContain('"done"');
});

test('A6: an action whose line cannot be written says why, and is not done', async () => {
  const folder = folderOf();
  const audit = await openAudit(join(folder, 'a.jsonl'));
  rmSync(folder, { recursive: true });
  const line = { phase: 'ended', id: 'i', at: 'now', result: 'done', after: {} } as const;
  await expect(audit.write(line)).rejects.toThrow(/\(ENOENT\)\. Its folder does not exist/);
  mkdirSync(folder);
});

test('A6: a symbolic link, and a folder in which others can replace the file, are errors that say what to set', async () => {
  const folder = folderOf();
  writeFileSync(join(folder, 'other'), '', { mode: 0o600 });
  symlinkSync(join(folder, 'other'), join(folder, 'audit.jsonl'));
  await expect(openAudit(join(folder, 'audit.jsonl'))).rejects.toThrow(/is a symbolic link\. Set audit/);
  chmodSync(folder, 0o777);
  await expect(openAudit(join(folder, 'new.jsonl'))).rejects.toThrow(/can be written by every user.*chmod o-w/);
  const socket = { socket: join(folder, 'a.sock') };
  await expect(startControl({ boxes: [], listen: socket })).rejects.toThrow(
    /every user.*Set listen\.socket.*breakerbox/,
  );
  chmodSync(folder, 0o1777); // As the folder for temporary files: others cannot replace what is yours.
  await openAudit(join(folder, 'new.jsonl'));
  expect(readFileSync(join(folder, 'other'), 'utf8')).toBe('');
});

test.skipIf(userInfo().uid !== 0)('A6: a file or a folder of another user is an error', async () => {
  const folder = folderOf();
  const [file, foreign] = [join(folder, 'audit.jsonl'), join(folder, 'foreign')];
  writeFileSync(file, '', { mode: 0o600 });
  chownSync(file, 1, 1);
  mkdirSync(foreign, { mode: 0o700 });
  chownSync(foreign, 1, 1);
  await expect(openAudit(file)).rejects.toThrow(`${file} belongs to another user`);
  await expect(openAudit(join(foreign, 'audit.jsonl'))).rejects.toThrow(`${foreign} belongs to another user`);
});

/** Control does not keep a box alive. */
const alive: unknown[] = [];

const served = async (agent = 'a', tools: readonly string[] = ['search']) => {
  const folder = folderOf();
  const box = createBreakerbox({ agent, tools: Object.fromEntries(tools.map((tool) => [tool, {}])) });
  alive.push(box);
  const control = await startControl({ boxes: [box], listen: { socket: join(folder, 'a.sock') } });
  onTestFinished(() => control.close());
  return { url: control.url, audit: () => readFileSync(join(folder, 'audit.jsonl'), 'utf8') };
};

const FORCE = { action: 'force_open', agent: 'a', tool: 'search', reason: 'x', expiresInMs: 60_000 } as const;

test('A4, A6: a tool has at most 200 modes, and lines about it do not grow with them', async () => {
  const { url, audit } = await served();
  for (let count = 0; count < 200; count += 1)
    expect(await perform({ url, user: `owner-${count}` }, FORCE)).toMatchObject({ result: 'done' });
  const { result, message } = await perform({ url, user: 'one more' }, FORCE);
  expect([result, message]).toEqual(['unknown', expect.stringContaining('has 200 forced modes already')]);
  expect(await perform({ url, user: 'owner-7' }, { ...FORCE, action: 'disable' })).toMatchObject({ result: 'done' });
  expect((await readState({ url })).boxes[0]?.modes).toHaveLength(200);
  const lengths = audit()
    .trim()
    .split('\n')
    .map((line) => line.length);
  expect(Math.max(...lengths)).toBeLessThan(600);
});

test('Q1: a name that would move the cursor or reorder letters is escaped in the audit file and in answers', async () => {
  const hostile = 'x\u009b2J\u202egnp.exe';
  const { url, audit } = await served('a', [hostile]);
  await perform({ url }, { ...FORCE, tool: hostile, reason: 'a\u009b31mb' });
  expect(audit()).not.toMatch(/[\u007f-\u009f\u202a-\u202e]/);
  expect(JSON.parse(audit().split('\n')[0] ?? '').request.tool).toBe(hostile);
  expect((await readState({ url })).boxes[0]?.tools).toEqual([hostile]);
});
