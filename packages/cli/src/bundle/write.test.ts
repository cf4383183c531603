import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BreakerboxConfigError } from '@breakerbox/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BundleFile } from './put.ts';
import { writeBundle } from './write.ts';

const FILES: readonly BundleFile[] = [
  { path: 'README.md', text: 'read me\n' },
  { path: 'a/b/one.yml', text: 'one: ü\n' },
];

let folder: string;
let out: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'breakerbox-write-'));
  out = join(folder, 'new', 'bundle');
});
afterEach(() => rm(folder, { recursive: true }));

const all = async (): Promise<readonly string[]> => (await readdir(folder, { recursive: true })).toSorted();
const issuesOf = async (promise: Promise<unknown>): Promise<readonly string[]> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(BreakerboxConfigError);
  return (error as BreakerboxConfigError).issues.map(({ path, message }) => `${path} ${message}`);
};

describe('writeBundle', () => {
  it('makes the folders, writes the files, and leaves no other files', async () => {
    expect(await writeBundle(out, FILES, false)).toEqual([
      { path: 'README.md', bytes: 8, fate: 'written' },
      { path: 'a/b/one.yml', bytes: 8, fate: 'written' },
    ]);
    expect(await all()).toEqual(
      [
        'new',
        'new/bundle',
        'new/bundle/README.md',
        'new/bundle/a',
        'new/bundle/a/b',
        'new/bundle/a/b/one.yml',
      ].toSorted(),
    );
  });

  it('changes nothing the second time', async () => {
    await writeBundle(out, FILES, false);
    const before = await stat(join(out, 'README.md'));
    expect((await writeBundle(out, FILES, false)).map(({ fate }) => fate)).toEqual(['unchanged', 'unchanged']);
    expect((await stat(join(out, 'README.md'))).ino).toBe(before.ino);
  });

  it('lists files that differ, and writes none', async () => {
    await mkdir(join(out, 'a/b'), { recursive: true });
    await writeFile(join(out, 'a/b/one.yml'), 'mine\n');
    const before = await all();
    expect(await issuesOf(writeBundle(out, FILES, false))).toEqual([
      expect.stringMatching(/^a\/b\/one\.yml .*--force/),
    ]);
    expect(await all()).toEqual(before);
    expect(await readFile(join(out, 'a/b/one.yml'), 'utf8')).toBe('mine\n');
  });

  it('overwrites them with force, and keeps files that are not of the bundle', async () => {
    await mkdir(join(out, 'a/b'), { recursive: true });
    await writeFile(join(out, 'a/b/one.yml'), 'mine\n');
    await writeFile(join(out, 'a/mine.yml'), 'mine\n');
    expect((await writeBundle(out, FILES, true)).map(({ fate }) => fate)).toEqual(['written', 'overwritten']);
    expect(await readFile(join(out, 'a/b/one.yml'), 'utf8')).toBe('one: ü\n');
    expect(await readFile(join(out, 'a/mine.yml'), 'utf8')).toBe('mine\n');
  });

  it.each([false, true])('follows no link out of the folder (force: %s)', async (force) => {
    await mkdir(out, { recursive: true });
    await mkdir(join(folder, 'elsewhere'));
    await writeFile(join(folder, 'victim'), 'untouched');
    await symlink(join(folder, 'elsewhere'), join(out, 'a'));
    await symlink(join(folder, 'victim'), join(out, 'README.md'));
    expect(await issuesOf(writeBundle(out, FILES, force))).toEqual([
      expect.stringMatching(/^README\.md is not a regular file/),
      expect.stringMatching(/^a is not a folder/),
    ]);
    expect(await readdir(join(folder, 'elsewhere'))).toEqual([]);
    expect(await readFile(join(folder, 'victim'), 'utf8')).toBe('untouched');
  });

  it('reports that --out is a file, or is below one', async () => {
    await writeFile(join(folder, 'file'), '');
    expect(await issuesOf(writeBundle(join(folder, 'file'), FILES, true))).toEqual([
      expect.stringMatching(/is a file/),
    ]);
    expect(await issuesOf(writeBundle(join(folder, 'file/below'), FILES, true))).toEqual([
      expect.stringMatching(/ENOTDIR.*--out/),
    ]);
  });

  it('reports once what is in the way of several files, and reports a broken link', async () => {
    await mkdir(out, { recursive: true });
    await writeFile(join(out, 'a'), '');
    const files = [...FILES, { path: 'a/b/two.yml', text: '' }];
    expect(await issuesOf(writeBundle(out, files, true))).toEqual([expect.stringMatching(/^a is not a folder/)]);
    await symlink(join(folder, 'nowhere'), join(folder, 'link'));
    expect(await issuesOf(writeBundle(join(folder, 'link'), FILES, true))).toEqual([
      expect.stringMatching(/link is a broken link\. .*--out/),
    ]);
  });

  it('never overwrites a file of this name that is not of a bundle', async () => {
    await mkdir(out, { recursive: true });
    await writeFile(join(out, 'README.md'), '# Our repository\n');
    const marked = [{ path: 'README.md', text: '# Bundle\nnew\n', mark: '# Bundle\n' }];
    for (const force of [false, true]) {
      const [issue, ...more] = await issuesOf(writeBundle(out, marked, force));
      expect(issue).toMatch(/^README\.md was not written by breakerbox bundle.*a folder of its own, such as --out/);
      expect(more).toEqual([]);
    }
    expect(await readFile(join(out, 'README.md'), 'utf8')).toBe('# Our repository\n');
    await writeFile(join(out, 'README.md'), '# Bundle\nold\n');
    expect(await writeBundle(out, marked, true)).toMatchObject([{ fate: 'overwritten' }]);
  });

  it('removes a new folder that it could not fill', async () => {
    const tooLong: BundleFile = { path: `${'x'.repeat(300)}/y`, text: '' };
    expect(await issuesOf(writeBundle(out, [...FILES, tooLong], false))).toEqual([
      expect.stringMatching(/ENAMETOOLONG/),
    ]);
    expect(await all()).toEqual([]);
  });

  it('leaves no files behind if writing fails', async () => {
    const clash = [...FILES, { path: 'README.md/below', text: '' }];
    expect(await issuesOf(writeBundle(out, clash, false))).toEqual([expect.stringMatching(/can't be written/)]);
    expect(await all()).toEqual([]);
  });
});
