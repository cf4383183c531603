import * as fs from 'node:fs/promises';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BreakerboxConfigError } from '@breakerbox/core';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { HalfWritten, put } from './put.ts';
import { writeBundle } from './write.ts';

// Tests may run as root, which may write everywhere. So these tests replace what the file system answers.
vi.mock('node:fs/promises', { spy: true });

let folder: string;
let out: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'breakerbox-put-'));
  out = join(folder, 'new', 'bundle');
});
afterEach(async () => {
  vi.resetAllMocks();
  await rm(folder, { recursive: true });
});

const README = { path: 'README.md', text: 'new\n' };
/** Its name is too long for a move, which fails only then. */
const LAST = { path: `a/b/${'x'.repeat(300)}`, text: '' };
const all = async (): Promise<readonly string[]> => (await readdir(folder, { recursive: true })).toSorted();
const rejected = (code: string) => Object.assign(new Error(`${code}: rejected`), { code });

it('restores everything if a file cannot be moved', async () => {
  await mkdir(out, { recursive: true });
  await writeFile(join(out, 'README.md'), 'mine\n', { mode: 0o640 });
  const before = await all();
  const { ino } = await fs.stat(join(out, 'README.md'));
  const files = [README, { path: 'c.yml', text: '' }, LAST];
  await expect(writeBundle(out, files, true)).rejects.toThrow(/ENAMETOOLONG/);
  expect(await readFile(join(out, 'README.md'), 'utf8')).toBe('mine\n');
  expect((await fs.stat(join(out, 'README.md'))).ino).toBe(ino);
  expect(await all()).toEqual(before);
});

it('keeps a copy of a file that it overwrites if the file system has no links', async () => {
  await mkdir(out, { recursive: true });
  await writeFile(join(out, 'README.md'), 'mine\n');
  vi.mocked(fs.link).mockRejectedValue(rejected('EPERM'));
  await expect(put(out, [README, LAST])).rejects.toThrow(/ENAMETOOLONG/);
  expect(await readFile(join(out, 'README.md'), 'utf8')).toBe('mine\n');
  await put(out, [README]);
  expect(await readFile(join(out, 'README.md'), 'utf8')).toBe('new\n');
  expect(await readdir(out)).toEqual(['README.md']);
});

it('moves no file before it knows that every folder is writable', async () => {
  vi.mocked(fs.access).mockImplementation(async (path) => {
    if (String(path).endsWith('/b')) throw rejected('EACCES');
  });
  await expect(put(out, [README, { path: 'a/b/c', text: '' }])).rejects.toThrow(/EACCES/);
  expect(fs.rename).not.toHaveBeenCalled();
  expect(await all()).toEqual([]);
});

it('keeps files that another run has put into its new folders', async () => {
  const { rename } = await vi.importActual<typeof fs>('node:fs/promises');
  vi.mocked(fs.rename).mockImplementation(async (from, to) => {
    await mkdir(join(folder, 'new/other'), { recursive: true });
    await writeFile(join(folder, 'new/other/theirs'), '');
    await rename(from, to);
  });
  await expect(put(out, [README, LAST])).rejects.toThrow(/ENAMETOOLONG/);
  expect(await all()).toEqual(['new', 'new/other', 'new/other/theirs']);
});

it('reports files that it cannot restore, and keeps the overwritten ones', async () => {
  await mkdir(out, { recursive: true });
  await writeFile(join(out, 'README.md'), 'mine\n');
  const { rename } = await vi.importActual<typeof fs>('node:fs/promises');
  vi.mocked(fs.rename)
    .mockImplementationOnce(rename)
    .mockImplementationOnce(rename)
    .mockRejectedValue(rejected('EROFS'));
  const error = await writeBundle(out, [README, { path: 'c', text: '' }, { path: 'd', text: '' }], true).catch(
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(HalfWritten);
  expect(error).toBeInstanceOf(BreakerboxConfigError);
  expect(String(error)).toMatch(/half written: EROFS.*\.before/s);
  const kept = (await readdir(out, { recursive: true })).find((path) => path.endsWith('.before')) ?? '';
  expect(await readFile(join(out, kept), 'utf8')).toBe('mine\n');
  expect(await readdir(out), 'it undoes what it can').not.toContain('c');
});
