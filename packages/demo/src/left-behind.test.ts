/** What the demo leaves behind when it or its parent process is killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));
const DEMO = ['--conditions=breakerbox-source', MAIN, '--json', '--port', '0'];

/** A program that is ready at once and keeps running. It writes its process id to a file beside itself. */
const FAKE = `#!${process.execPath}
const { writeFileSync } = require('node:fs');
const address = process.argv.find((arg) => arg.startsWith('--web.listen-address=')).split(':').at(-1);
const answer = ({ url }, response) => response.writeHead(url === '/-/ready' ? 200 : 503).end();
require('node:http').createServer(answer).listen(Number(address), '127.0.0.1', () => {
  writeFileSync(__filename + '.pid', String(process.pid));
});
`;

let home: string;
let temporary: string;
const started: ChildProcess[] = [];

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'breakerbox-left-'));
  temporary = join(home, 'tmp');
  await mkdir(temporary);
  for (const name of ['prometheus', 'prometheus-alertmanager']) {
    await writeFile(join(home, name), FAKE);
    await chmod(join(home, name), 0o755);
  }
});
afterEach(async () => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
  for (const pid of await pids()) if (isThere(pid)) process.kill(pid, 'SIGKILL');
  await rm(home, { recursive: true, force: true });
});

const start = (args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess => {
  const child = spawn(process.execPath, args, {
    env: {
      ...process.env,
      PATH: `${home}${delimiter}${process.env.PATH ?? ''}`,
      TMPDIR: temporary,
      XDG_RUNTIME_DIR: join(home, 'run'), // For the socket, beside those of other agents.
      BREAKERBOX_PARENT: undefined,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  return child;
};

const pids = async (): Promise<number[]> => {
  const files = (await readdir(home)).filter((name) => name.endsWith('.pid'));
  const texts = await Promise.all(files.map((name) => readFile(join(home, name), 'utf8')));
  return texts.map(Number).filter((pid) => pid > 0);
};

const isThere = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

const LONG = { timeout: 40_000, interval: 50 };

/** The programs that have written their process id, once there are enough of them and the folder of the stack exists. */
const running = (count: number): Promise<number[]> =>
  vi.waitFor(async () => {
    const found = await pids();
    expect(found).toHaveLength(count);
    expect(await readdir(temporary)).toHaveLength(1);
    return found;
  }, LONG);

const nothingIsLeft = (processes: readonly number[]): Promise<void> =>
  vi.waitFor(async () => {
    expect(processes.filter(isThere)).toEqual([]);
    expect(await readdir(temporary)).toEqual([]);
  }, LONG);

/** Starts the demo as its child, writes down its process id, and keeps running. */
const STARTER = `
  const env = { ...process.env, BREAKERBOX_PARENT: String(process.pid) };
  const child = require('node:child_process').spawn(process.execPath, ${JSON.stringify(DEMO)}, { env, stdio: 'ignore' });
  require('node:fs').writeFileSync(process.env.TMPDIR + '/../demo.pid', String(child.pid));
  setInterval(() => undefined, 1000);`;

test('after SIGKILL to the demo, its programs end and their folder is removed', { timeout: 120_000 }, async () => {
  const demo = start(DEMO);
  const processes = await running(2);
  demo.kill('SIGKILL');
  await nothingIsLeft(processes);
});

test('after SIGKILL to the process in BREAKERBOX_PARENT, the demo ends', { timeout: 120_000 }, async () => {
  const parent = start(['-e', STARTER]);
  const processes = await running(3);
  parent.kill('SIGKILL');
  await nothingIsLeft(processes);
});

test('rejects a TMPDIR that does not exist, and says what to do', { timeout: 120_000 }, async () => {
  const missing = join(home, 'missing');
  const demo = start(DEMO, { TMPDIR: missing });
  let err = '';
  demo.stderr?.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  expect(await once(demo, 'close')).toEqual([1, null]);
  expect(err).toBe(
    `breakerbox demo: can't make a folder for Prometheus and Alertmanager in ${missing} (ENOENT). Set TMPDIR to a writable folder with free space, or add --no-stack.\n`,
  );
});
