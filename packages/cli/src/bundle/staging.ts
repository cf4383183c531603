import { createHash } from 'node:crypto';
import { lstat, mkdtemp, open, readdir, rm, rmdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** This machine, in the name of a folder. A number of a process is only known on its own machine or container. */
const HOST = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);

const NAME = /^\.breakerbox-stage-(?<host>[0-9a-f]{8})-(?<pid>\d{1,10})-\w{6}$/;

/** Milliseconds after which a staging folder of another machine is left over. Writing a bundle takes seconds. */
const LEFT_AFTER_MS = 3_600_000;

/** A new folder beside the files of a bundle, on the same file system. Its name says which process writes to it. */
export const stagingFolder = (out: string): Promise<string> =>
  mkdtemp(join(out, `.breakerbox-stage-${HOST}-${process.pid}-`));

/**
 * Removes the staging folders of processes that were killed. A folder with an overwritten file (`*.before`) or with anything that
 * this command did not write stays, and so does a folder that can't be removed.
 */
export const removeLeftovers = async (out: string): Promise<void> => {
  const names = await readdir(out).catch(() => []);
  for (const name of names) if (NAME.test(name)) await removeLeftover(join(out, name), name).catch(() => {});
};

const removeLeftover = async (path: string, name: string): Promise<void> => {
  const stats = await lstat(path);
  if (!stats.isDirectory() || stats.uid !== (process.getuid?.() ?? stats.uid)) return;
  const { host, pid } = NAME.exec(name)?.groups ?? {};
  if (host === HOST ? isAlive(Number(pid)) : Date.now() - stats.mtimeMs < LEFT_AFTER_MS) return;
  const files = await readdir(path);
  if (!files.every((file) => /^\d+$/.test(file))) return;
  for (const file of files) await rm(join(path, file)); // Not recursively: it fails at a folder.
  await rmdir(path);
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
};

/** Codes of systems that can't sync a folder, such as Windows. */
const NO_SYNC = ['EPERM', 'EACCES', 'EISDIR', 'EINVAL', 'ENOTSUP', 'EBADF'];

/** Waits until the names in a folder are on the disk, where the system can do that. */
export const syncFolder = async (path: string): Promise<void> => {
  try {
    const folder = await open(path, 'r');
    await folder.sync().finally(() => folder.close());
  } catch (error) {
    if (!NO_SYNC.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
};
