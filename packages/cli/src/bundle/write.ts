import { lstat, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { BreakerboxConfigError, type ConfigIssue } from '@breakerbox/core';
import { put } from './put.ts';

/** A file of a bundle. */
export interface BundleFile {
  /** Below the bundle's folder, with `/` between its parts. */
  readonly path: string;
  readonly text: string;
  /** What every bundle's file of this name begins with. One that begins otherwise is somebody's own, and never overwritten. */
  readonly mark?: string;
}

/** What became of a file: `unchanged` had the very same text before. */
export type Fate = 'written' | 'overwritten' | 'unchanged';

/** A file that is now in its place. */
export interface WrittenFile {
  readonly path: string;
  readonly bytes: number;
  readonly fate: Fate;
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

const or = async <Value>(code: string, promise: Promise<Value>): Promise<Value | undefined> => {
  try {
    return await promise;
  } catch (error) {
    if (hasCode(error, code)) return undefined;
    throw error;
  }
};

/**
 * Puts the files into the folder, which is made if it isn't there: all of them, or none. Each is whole at any time.
 * @param force files that are there with another text are overwritten
 * @throws BreakerboxConfigError where something is in the way; its issues name each file
 */
export const writeBundle = async (
  out: string,
  files: readonly BundleFile[],
  force: boolean,
): Promise<readonly WrittenFile[]> => {
  const fates = await fatesOf(out, files, force);
  const changed = files.filter(({ path }) => fates.get(path) !== 'unchanged');
  if (changed.length > 0) await put(out, changed).catch((error: unknown) => refuse(out, error));
  return files.map(({ path, text }) => ({
    path,
    bytes: Buffer.byteLength(text),
    fate: fates.get(path) ?? 'written',
  }));
};

/** What is to become of each file; nothing is written yet. */
const fatesOf = async (
  out: string,
  files: readonly BundleFile[],
  force: boolean,
): Promise<ReadonlyMap<string, Fate>> => {
  const fates = new Map<string, Fate>();
  /** By path: a file in the way of a folder is in the way of each file in it, and told of once. */
  const issues = new Map<string, ConfigIssue>();
  await checkFolder(out);
  for (const file of files) {
    const { path } = file;
    const found = await inTheWay(out, file).catch((error: unknown) => refuse(path, error));
    if (found === 'differs' && !force) {
      issues.set(path, { path, message: 'is there with another text: --force overwrites it' });
    } else if (typeof found !== 'string') issues.set(found.path, found);
    else fates.set(path, ({ nothing: 'written', same: 'unchanged', differs: 'overwritten' } as const)[found]);
  }
  if (issues.size > 0) throw refusal([...issues.values()]);
  return fates;
};

/** A folder, a link to one, or nothing at all. */
const checkFolder = async (out: string): Promise<void> => {
  const there = await or('ENOENT', stat(out)).catch((error: unknown) => refuse(out, error));
  if (there !== undefined && !there.isDirectory()) {
    throw refusal([{ path: out, message: 'is a file. --out names a folder; choose another' }]);
  }
  if (there === undefined && (await or('ENOENT', lstat(out))) !== undefined) {
    throw refusal([
      { path: out, message: 'is a link to what is not there. Make its target, or name another folder with --out' },
    ]);
  }
};

/** What stands where the file is to go. A link could lead out of the folder, and is never followed. */
const inTheWay = async (
  out: string,
  { path, text, mark = '' }: BundleFile,
): Promise<'nothing' | 'same' | 'differs' | ConfigIssue> => {
  const parts = path.split('/');
  for (const [index] of parts.slice(1).entries()) {
    const folder = parts.slice(0, index + 1).join('/');
    const there = await or('ENOENT', lstat(join(out, folder)));
    if (there === undefined) return 'nothing';
    if (!there.isDirectory()) return { path: folder, message: 'is in the way of a folder of this name. Move it away' };
  }
  const there = await or('ENOENT', lstat(join(out, path)));
  if (there === undefined) return 'nothing';
  if (!there.isFile()) return { path, message: 'is no plain file, so it is not overwritten. Move it away' };
  const found = await readFile(join(out, path), 'utf8');
  if (found === text) return 'same';
  if (found.startsWith(mark)) return 'differs';
  return {
    path,
    message:
      "is somebody's own and no bundle's, so not even --force overwrites it. Give the bundle a folder of its own with --out, such as breakerbox",
  };
};

const refusal = (issues: readonly ConfigIssue[]): BreakerboxConfigError =>
  new BreakerboxConfigError(issues, 'folder for a bundle');

/** What the file system says, such as EACCES, as an error that somebody can mend. Others stay what they are. */
const refuse = (path: string, error: unknown): never => {
  if (error instanceof BreakerboxConfigError || !(error instanceof Error) || !('code' in error)) throw error;
  throw refusal([
    { path, message: `can't be written: ${error.message}. Mend that, or name another folder with --out` },
  ]);
};
