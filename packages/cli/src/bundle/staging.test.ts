import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs/promises';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { put } from './put.ts';
import { stagingFolder } from './staging.ts';
import { writeBundle } from './write.ts';

vi.mock('node:fs/promises', { spy: true });

let out: string;
beforeEach(async () => {
  out = await mkdtemp(join(tmpdir(), 'breakerbox-staging-'));
});
afterEach(async () => {
  vi.resetAllMocks();
  await rm(out, { recursive: true });
});

const FILES = [{ path: 'README.md', text: 'new\n' }];
const staged = async () => (await readdir(out)).filter((name) => name.startsWith('.')).toSorted();

/** A process that is killed while it writes a bundle. */
const killed = (...files: readonly string[]): void => {
  const program = `
    const { stagingFolder } = await import(${JSON.stringify(new URL('staging.ts', import.meta.url).href)});
    const { writeFileSync } = await import('node:fs');
    const stage = await stagingFolder(${JSON.stringify(out)});
    for (const name of ${JSON.stringify(files)}) writeFileSync(stage + '/' + name, 'half');
    process.kill(process.pid, 'SIGKILL');`;
  const { signal } = spawnSync(process.execPath, ['--input-type=module', '--eval', program]);
  expect(signal).toBe('SIGKILL');
};

it('removes what a killed process left, at the next run, even if nothing changes', async () => {
  killed('0', '1');
  expect(await staged()).toHaveLength(1);
  await writeBundle(out, FILES, false);
  expect(await readdir(out)).toEqual(['README.md']);
  killed('0');
  await writeBundle(out, FILES, false);
  expect(await readdir(out)).toEqual(['README.md']);
});

it('keeps folders of running processes, overwritten files, and all that it did not write', async () => {
  const running = await stagingFolder(out);
  killed('0', '0.before');
  killed('0', 'notes.txt');
  await mkdir(join(out, '.breakerbox-stage'));
  await mkdir(join(out, '.breakerbox-AbCdEf'));
  const before = await staged();
  expect(before).toHaveLength(5);
  await writeBundle(out, FILES, false);
  expect(await staged()).toEqual(before);
  await rm(running, { recursive: true });
});

it('keeps a folder of another machine for an hour, because its process is not known here', async () => {
  const other = join(out, '.breakerbox-stage-00000000-1-AbCdEf');
  await mkdir(other);
  await writeFile(join(other, '0'), '');
  await writeBundle(out, FILES, false);
  expect(await staged()).toHaveLength(1);
  const past = new Date(Date.now() - 3_700_000);
  await utimes(other, past, past);
  await writeBundle(out, FILES, false);
  expect(await staged()).toEqual([]);
});

it('syncs each file and its folder before it moves it, and the folders of the bundle after that', async () => {
  const { open, rename } = await vi.importActual<typeof fs>('node:fs/promises');
  const order: string[] = [];
  vi.mocked(fs.open).mockImplementation(async (path, flags) => {
    const handle = await open(path, flags);
    const sync = handle.sync.bind(handle);
    handle.sync = () => {
      order.push(
        `sync ${String(path)
          .replace(/-stage-.*/, '')
          .slice(out.length)}`,
      );
      return sync();
    };
    return handle;
  });
  vi.mocked(fs.rename).mockImplementation((from, to) => {
    order.push(`move ${String(to).slice(out.length)}`);
    return rename(from, to);
  });
  await put(out, [...FILES, { path: 'a/one.yml', text: '' }]);
  expect(order).toEqual(['sync /.breakerbox', 'move /README.md', 'move /a/one.yml', 'sync ', 'sync /a']);
  for (const [, , options] of vi.mocked(fs.writeFile).mock.calls) expect(options).toEqual({ flush: true });
});

it('writes to a file system that cannot sync a folder', async () => {
  vi.mocked(fs.open).mockRejectedValue(Object.assign(new Error('EPERM'), { code: 'EPERM' }));
  await put(out, FILES);
  expect(await readdir(out)).toEqual(['README.md']);
});
