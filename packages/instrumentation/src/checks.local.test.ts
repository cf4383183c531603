import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { BreakerboxUsageError } from '@breakerbox/core';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { envSet, readable } from './checks.ts';

describe('K4: a file or folder exists and is readable', () => {
  let folder = '';
  const at = (name: string): string => join(folder, name);

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'breakerbox-'));
    await writeFile(at('notes.md'), 'remember the milk');
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  test('K4: a file and a folder, by path and by URL', async () => {
    const paths = [folder, at('notes.md'), pathToFileURL(folder), pathToFileURL(at('notes.md'))];
    expect(await Promise.all(paths.map((path) => readable(path)('notes')))).toEqual(Array(4).fill('available'));
  });

  test('K4: a missing file is unavailable until it exists', async () => {
    const check = readable(at('later.md'));
    expect(await check('notes')).toBe('unavailable');
    await writeFile(at('later.md'), '');
    expect(await check('notes')).toBe('available');
    await rm(at('later.md'));
    expect(await check('notes')).toBe('unavailable');
  });

  test('K4: a file instead of a folder, a broken link, and a cycle of links are unavailable', async () => {
    await symlink(at('gone'), at('dangling'));
    await symlink(at('circle'), at('circle'));
    const paths = [at('notes.md/inside'), at('dangling'), at('circle')];
    expect(await Promise.all(paths.map((path) => readable(path)('notes')))).toEqual(Array(3).fill('unavailable'));
  });

  test('K4: a file that this process may not read is unavailable', async () => {
    const modes = {
      'open-folder': 0o755,
      'closed-folder': 0o000,
      'folder-to-list-not-enter': 0o444,
      'folder-to-enter-not-list': 0o111,
      'open-file': 0o644,
      'closed-file': 0o000,
    };
    for (const [name, mode] of Object.entries(modes)) {
      if (name.endsWith('file')) await writeFile(at(name), '');
      else await mkdir(at(name));
      await chmod(at(name), mode);
    }
    await chmod(folder, 0o755); // A stranger may pass through it.
    expect(await asStranger(Object.keys(modes).map(at))).toEqual([
      'available',
      'unavailable',
      'unavailable',
      'unavailable',
      'available',
      'unavailable',
    ]);
  });

  test.each<[string, unknown]>([
    ['no path', undefined],
    ['an empty one', ''],
    ['one with a zero in it', 'notes\0.md'],
    ['a URL of a page', new URL('https://notes.example/')],
    ['a number', 3],
  ])('E6: %s is rejected', (_, path) => {
    expect(() => readable(path as string)).toThrow(BreakerboxUsageError);
    expect(() => readable(path as string)).toThrow('Give the path of a file or folder, or its file: URL.');
  });
});

describe('K4: environment variables are set', () => {
  afterEach(() => vi.unstubAllEnvs());

  test('K4: set, empty, and not set', () => {
    vi.stubEnv('BREAKERBOX_TEST_A', 'secret');
    vi.stubEnv('BREAKERBOX_TEST_B', '');
    expect(envSet('BREAKERBOX_TEST_A')('search')).toBe('available');
    expect(envSet('BREAKERBOX_TEST_B')('search')).toBe('unavailable');
    expect(envSet('BREAKERBOX_TEST_C')('search')).toBe('unavailable');
  });

  test('K4: all of them must be set, at the time of the check', () => {
    const check = envSet('BREAKERBOX_TEST_A', 'BREAKERBOX_TEST_B');
    vi.stubEnv('BREAKERBOX_TEST_A', 'one');
    expect(check('search')).toBe('unavailable');
    vi.stubEnv('BREAKERBOX_TEST_B', 'two');
    expect(check('search')).toBe('available');
    vi.stubEnv('BREAKERBOX_TEST_A', undefined);
    expect(check('search')).toBe('unavailable');
  });

  test.each<[string, readonly unknown[]]>([
    ['no names', []],
    ['an empty name', ['HOME', '']],
    ['a list', [['HOME', 'PATH']]],
  ])('E6: %s is rejected', (_, names) => {
    expect(() => envSet(...(names as string[]))).toThrow(BreakerboxUsageError);
    expect(() => envSet(...(names as string[]))).toThrow("as in envSet('SEARCH_API_KEY')");
  });
});

/** What the paths are to a process that is not root, to whom all is readable: one of its own, which gives its rights up. */
const asStranger = async (paths: readonly string[]): Promise<unknown> => {
  const code = `
    const { readable } = await import(${JSON.stringify(new URL('./checks.ts', import.meta.url).href)});
    if (process.getuid() === 0) {
      process.setgroups([]);
      process.setgid(65534);
      process.setuid(65534);
    }
    const scores = await Promise.all(${JSON.stringify(paths)}.map((path) => readable(path)('notes')));
    process.stdout.write(JSON.stringify(scores));`;
  const flags = ['--conditions=breakerbox-source', '--input-type=module', '--eval', code];
  const { stdout } = await promisify(execFile)(process.execPath, flags);
  return JSON.parse(stdout);
};
