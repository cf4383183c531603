import { lstat, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BreakerboxConfigError, type ConfigIssue } from '@breakerbox/core';

/** A file of a bundle. */
export interface BundleFile {
  /** Below the bundle's folder, with `/` between its parts. */
  readonly path: string;
  readonly text: string;
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
  if (changed.length > 0) await put(out, changed);
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
  const issues: ConfigIssue[] = [];
  const there = await or('ENOENT', stat(out)).catch((error: unknown) => refuse(out, error));
  if (there !== undefined && !there.isDirectory()) {
    throw refusal([{ path: out, message: 'is a file. --out names a folder; choose another' }]);
  }
  for (const { path, text } of files) {
    const found = await inTheWay(out, path, text).catch((error: unknown) => refuse(path, error));
    if (found === 'differs' && !force) {
      issues.push({
        path,
        message: 'is there with another text: --force overwrites it',
      });
    } else if (found !== 'nothing' && found !== 'same' && found !== 'differs') issues.push(found);
    else fates.set(path, ({ nothing: 'written', same: 'unchanged', differs: 'overwritten' } as const)[found]);
  }
  if (issues.length > 0) throw refusal(issues);
  return fates;
};

/** What stands where the file is to go. A link could lead out of the folder, and is never followed. */
const inTheWay = async (
  out: string,
  path: string,
  text: string,
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
  return (await readFile(join(out, path), 'utf8')) === text ? 'same' : 'differs';
};

/** Writes all of them beside their places, then moves each into its own: a full disk leaves everything as it was. */
const put = async (out: string, files: readonly BundleFile[]): Promise<void> => {
  const made = await mkdir(out, { recursive: true }).catch((error: unknown) => refuse(out, error));
  const stage = await mkdtemp(join(out, '.breakerbox-')).catch((error: unknown) => refuse(out, error));
  try {
    for (const [index, { text }] of files.entries()) await writeFile(join(stage, String(index)), text);
    for (const { path } of files) await mkdir(join(out, dirname(path)), { recursive: true });
    for (const [index, { path }] of files.entries()) await rename(join(stage, String(index)), join(out, path));
  } catch (error) {
    if (made !== undefined) await rm(made, { recursive: true, force: true });
    refuse(out, error);
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
};

const refusal = (issues: readonly ConfigIssue[]): BreakerboxConfigError =>
  new BreakerboxConfigError(issues, 'folder for a bundle');

/** What the file system says, such as EACCES, as an error that somebody can mend. Others stay what they are. */
const refuse = (path: string, error: unknown): never => {
  if (!(error instanceof Error) || !('code' in error)) throw error;
  throw refusal([
    { path, message: `can't be written: ${error.message}. Mend that, or name another folder with --out` },
  ]);
};
