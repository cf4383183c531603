import { lstat, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { BreakerboxConfigError, type ConfigIssue } from '@breakerbox/core';
import { type BundleFile, put } from './put.ts';
import { removeLeftovers } from './staging.ts';

/** What was done with a file. `unchanged`: it already had the same text. */
export type Fate = 'written' | 'overwritten' | 'unchanged';

/** A file that is written. */
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
 * Writes the files to the folder, which is created if it does not exist. It writes all of them or none, and never a part of a file.
 * @param force overwrites existing files that differ
 * @throws BreakerboxConfigError if something is in the way; its issues name each file
 */
export const writeBundle = async (
  out: string,
  files: readonly BundleFile[],
  force: boolean,
): Promise<readonly WrittenFile[]> => {
  const fates = await fatesOf(out, files, force);
  await removeLeftovers(out);
  const changed = files.filter(({ path }) => fates.get(path) !== 'unchanged');
  if (changed.length > 0) await put(out, changed).catch((error: unknown) => reject(out, error));
  return files.map(({ path, text }) => ({
    path,
    bytes: Buffer.byteLength(text),
    fate: fates.get(path) ?? 'written',
  }));
};

/** What will be done with each file. Writes nothing. */
const fatesOf = async (
  out: string,
  files: readonly BundleFile[],
  force: boolean,
): Promise<ReadonlyMap<string, Fate>> => {
  const fates = new Map<string, Fate>();
  /** By path: a file in the way of a folder is in the way of each file in it, and is reported once. */
  const issues = new Map<string, ConfigIssue>();
  await checkFolder(out);
  for (const file of files) {
    const { path } = file;
    const found = await inTheWay(out, file).catch((error: unknown) => reject(path, error));
    if (found === 'differs' && !force) {
      issues.set(path, { path, message: 'exists and differs. Add --force to overwrite it' });
    } else if (typeof found !== 'string') issues.set(found.path, found);
    else fates.set(path, ({ nothing: 'written', same: 'unchanged', differs: 'overwritten' } as const)[found]);
  }
  if (issues.size > 0) throw rejection([...issues.values()]);
  return fates;
};

/** Checks that the path is a folder, a link to one, or free. */
const checkFolder = async (out: string): Promise<void> => {
  const there = await or('ENOENT', stat(out)).catch((error: unknown) => reject(out, error));
  if (there !== undefined && !there.isDirectory()) {
    throw rejection([{ path: out, message: 'is a file, but --out needs a folder. Choose another name' }]);
  }
  if (there === undefined && (await or('ENOENT', lstat(out))) !== undefined) {
    throw rejection([{ path: out, message: 'is a broken link. Create its target, or name another folder with --out' }]);
  }
};

/** What is at the path of the file. A link could point out of the folder, and is never followed. */
const inTheWay = async (
  out: string,
  { path, text, mark = '' }: BundleFile,
): Promise<'nothing' | 'same' | 'differs' | ConfigIssue> => {
  const parts = path.split('/');
  for (const [index] of parts.slice(1).entries()) {
    const folder = parts.slice(0, index + 1).join('/');
    const there = await or('ENOENT', lstat(join(out, folder)));
    if (there === undefined) return 'nothing';
    if (!there.isDirectory())
      return {
        path: folder,
        message: 'is not a folder, but the bundle needs a folder of this name. Move it, or choose another --out',
      };
  }
  const there = await or('ENOENT', lstat(join(out, path)));
  if (there === undefined) return 'nothing';
  if (!there.isFile()) return { path, message: 'is not a regular file, so it is not overwritten. Move it' };
  const found = await readFile(join(out, path), 'utf8');
  if (found === text) return 'same';
  if (found.startsWith(mark)) return 'differs';
  return {
    path,
    message:
      'was not written by breakerbox bundle, so not even --force overwrites it. Write the bundle to a folder of its own, such as --out breakerbox',
  };
};

const rejection = (issues: readonly ConfigIssue[]): BreakerboxConfigError =>
  new BreakerboxConfigError(issues, 'folder for a bundle');

/** Turns an error of the file system, such as EACCES, into one that the user can fix. Throws other errors as they are. */
const reject = (path: string, error: unknown): never => {
  if (error instanceof BreakerboxConfigError || !(error instanceof Error) || !('code' in error)) throw error;
  throw rejection([
    { path, message: `can't be written: ${error.message}. Fix that, or name another folder with --out` },
  ]);
};
