import { chmod, chown, readdir, readFile, readlink, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { syncFolder } from '../../bundle/staging.ts';
import { faultInFile } from './file-faults.ts';

/** A client's configuration as it was read. */
export interface ConfigFile {
  /** As it was named. It may be a symbolic link. */
  readonly path: string;
  /** The path as the person wrote it. */
  readonly shown: string;
  /** The file itself. */
  readonly target: string;
  readonly bytes: Buffer;
  /** Without the byte order mark. */
  readonly source: string;
  readonly hasMark: boolean;
  readonly mode: number;
}

/** The file is not as it was read: another program has changed it. */
export class ChangedBetween extends Error {}

/** Bytes of a configuration. */
const MOST_BYTES = 16 * 1024 * 1024;

const MARK = '\uFEFF';

/**
 * Reads a configuration. Undefined if there is no such file.
 * @param shown the path in texts
 * @throws Error if it cannot be read or is not UTF-8
 */
export const readConfig = async (path: string, shown = path): Promise<ConfigFile | undefined> => {
  const target = await realpath(path).catch(unless('ENOENT', 'ENOTDIR')).catch(faultInFile(shown));
  if (target === undefined) return missing(path, shown);
  const found = await stat(target).catch(faultInFile(shown));
  const { mode } = found;
  // A pipe or a device may never end. A folder has an error of its own.
  if (!found.isFile() && !found.isDirectory())
    throw new Error(`${shown} is not a file. Give the file of the client's configuration with --file.`);
  if (found.size > MOST_BYTES)
    throw new Error(
      `${shown} has ${found.size} bytes, which is too much for a configuration. Give the right file with --file.`,
    );
  const bytes = await readFile(target).catch(faultInFile(shown));
  const source = textOf(shown, bytes);
  return { path, shown, target, bytes, source: source.replace(MARK, ''), hasMark: source.startsWith(MARK), mode };
};

/** @throws Error if there is a link, and only what it points to is missing */
const missing = async (path: string, shown: string): Promise<undefined> => {
  const to = await readlink(path).catch(() => undefined);
  if (to === undefined) return undefined;
  throw new Error(
    `${shown} is a symbolic link to ${resolve(dirname(path), to)}, which does not exist. Correct the link or remove it, and try again.`,
  );
};

const textOf = (path: string, bytes: Buffer): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error(`${path} is not in UTF-8. Save it in UTF-8 and try again.`);
  }
};

const unless =
  (...codes: readonly string[]) =>
  (error: NodeJS.ErrnoException): undefined => {
    if (!codes.includes(error.code ?? '')) throw error;
  };

/**
 * Replaces a file by a new text in one step. Mode, owner and byte order mark stay, and a symbolic link goes on pointing to it.
 * @param keepsBackup whether the present text is kept beside the file
 * @returns the path of the backup
 * @throws ChangedBetween if the file is not as it was read. Nothing is changed then.
 */
export const replaceConfig = async (
  file: ConfigFile,
  source: string,
  keepsBackup: boolean,
): Promise<string | undefined> => {
  const { target, mode, shown } = file;
  if ((mode & 0o222) === 0) throw new Error(`${shown} is read-only. Make it writable and try again.`);
  const staged = join(dirname(target), `.${basename(target)}.breakerbox-${process.pid}`);
  try {
    return await replace(file, staged, source, keepsBackup);
  } catch (error) {
    return faultInFile(shown, dirname(target))(error);
  } finally {
    await rm(staged, { force: true });
  }
};

const replace = async (
  file: ConfigFile,
  staged: string,
  source: string,
  keepsBackup: boolean,
): Promise<string | undefined> => {
  const { target, mode, shown } = file;
  await writeFile(staged, `${file.hasMark ? MARK : ''}${source}`, { flag: 'wx', mode: mode & 0o777, flush: true });
  await keepRights(staged, file);
  const backup = keepsBackup ? await putBackup(file) : undefined;
  if (!(await isUnchanged(file))) {
    if (backup?.isNew) await rm(backup.path, { force: true });
    throw new ChangedBetween(`${shown} was changed by another program, and it was not written. Try again.`);
  }
  await rename(staged, target);
  await syncFolder(dirname(target));
  return backup?.path;
};

/** The mode is set again because the process's mask took bits away. The owner differs if root does it for a user. */
const keepRights = async (staged: string, { target, mode }: ConfigFile): Promise<void> => {
  const { uid, gid } = await stat(target);
  await chown(staged, uid, gid).catch(unless('EPERM', 'ENOSYS', 'EINVAL'));
  await chmod(staged, mode & 0o7777);
};

const isUnchanged = async ({ path, target, bytes }: ConfigFile): Promise<boolean> => {
  const now = await realpath(path).catch(unless('ENOENT', 'ENOTDIR'));
  return now === target && bytes.equals(await readFile(target));
};

/** Keeps the file's bytes beside it, in a file of their own. An older backup is never overwritten. */
const putBackup = async (file: ConfigFile): Promise<{ readonly path: string; readonly isNew: boolean }> => {
  for (let count = 1; ; count += 1) {
    const path = `${file.target}.breakerbox-backup${count === 1 ? '' : `.${count}`}`;
    const kept = await readFile(path).catch(unless('ENOENT'));
    if (kept?.equals(file.bytes)) return { path, isNew: false };
    if (kept) continue;
    await writeFile(path, file.bytes, { flag: 'wx', mode: file.mode & 0o777, flush: true });
    await keepRights(path, file);
    return { path, isNew: true };
  }
};

/** The paths of a file's backups, the newest first. */
export const backupsOf = async ({ target }: ConfigFile): Promise<readonly string[]> => {
  const start = `${basename(target)}.breakerbox-backup`;
  const names = await readdir(dirname(target)).catch(faultInFile(target, dirname(target)));
  const counted = names.flatMap((name) => {
    const [, count] = name.startsWith(start) ? (/^(?:\.(\d+))?$/.exec(name.slice(start.length)) ?? []) : [];
    return name === start || count !== undefined ? [{ name, count: Number(count ?? 1) }] : [];
  });
  return counted.sort((one, other) => other.count - one.count).map(({ name }) => join(dirname(target), name));
};
