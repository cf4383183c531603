import * as fs from 'node:fs/promises';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BreakerboxConfigError } from '@breakerbox/core';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { HalfWritten, put } from './put.ts';
import { writeBundle } from './write.ts';

// Tests may run as root, whom no right stops: what the file system refuses is said here.
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
/** Its name is too long to be moved to, which is only found out then. */
const LAST = { path: `a/b/${'x'.repeat(300)}`, text: '' };
const all = async (): Promise<readonly string[]> => (await readdir(folder, { recursive: true })).toSorted();
const refused = (code: string) => Object.assign(new Error(`${code}: refused`), { code });

it('leaves all as it was where a file can not be moved into its place', async () => {
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

it('keeps what it overwrites by a copy where there are no links', async () => {
  await mkdir(out, { recursive: true });
  await writeFile(join(out, 'README.md'), 'mine\n');
  vi.mocked(fs.link).mockRejectedValue(refused('EPERM'));
  await expect(put(out, [README, LAST])).rejects.toThrow(/ENAMETOOLONG/);
  expect(await readFile(join(out, 'README.md'), 'utf8')).toBe('mine\n');
  await put(out, [README]);
  expect(await readFile(join(out, 'README.md'), 'utf8')).toBe('new\n');
  expect(await readdir(out)).toEqual(['README.md']);
});

it('moves nothing before it knows that it may write into every folder', async () => {
  vi.mocked(fs.access).mockImplementation(async (path) => {
    if (String(path).endsWith('/b')) throw refused('EACCES');
  });
  await expect(put(out, [README, { path: 'a/b/c', text: '' }])).rejects.toThrow(/EACCES/);
  expect(fs.rename).not.toHaveBeenCalled();
  expect(await all()).toEqual([]);
});

it('removes nothing that another run has put into the folders that it made', async () => {
  const { rename } = await vi.importActual<typeof fs>('node:fs/promises');
  vi.mocked(fs.rename).mockImplementation(async (from, to) => {
    await mkdir(join(folder, 'new/other'), { recursive: true });
    await writeFile(join(folder, 'new/other/theirs'), '');
    await rename(from, to);
  });
  await expect(put(out, [README, LAST])).rejects.toThrow(/ENAMETOOLONG/);
  expect(await all()).toEqual(['new', 'new/other', 'new/other/theirs']);
});

it('says so where nothing can be put back, and keeps what it overwrote', async () => {
  await mkdir(out, { recursive: true });
  await writeFile(join(out, 'README.md'), 'mine\n');
  const { rename } = await vi.importActual<typeof fs>('node:fs/promises');
  vi.mocked(fs.rename)
    .mockImplementationOnce(rename)
    .mockImplementationOnce(rename)
    .mockRejectedValue(refused('EROFS'));
  const error = await writeBundle(out, [README, { path: 'c', text: '' }, { path: 'd', text: '' }], true).catch(
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(HalfWritten);
  expect(error).toBeInstanceOf(BreakerboxConfigError);
  expect(String(error)).toMatch(/half written: EROFS.*\.before/s);
  const kept = (await readdir(out, { recursive: true })).find((path) => path.endsWith('.before')) ?? '';
  expect(await readFile(join(out, kept), 'utf8')).toBe('mine\n');
  expect(await readdir(out), 'what can be undone is').not.toContain('c');
});
