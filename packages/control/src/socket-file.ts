import { rmSync } from 'node:fs';
import { chmod, lstat, rm, unlink } from 'node:fs/promises';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { isMainThread } from 'node:worker_threads';
import { listening } from '@breakerbox/listen';
import { openLock } from './lock-file.ts';

/** Whether a process listens on a socket. */
export const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const attempt = connect(path, () => {
      attempt.destroy();
      resolve(true);
    });
    attempt.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT'));
  });

/**
 * Listens on a socket with mode 0600, in the place of one that a process left behind. Returns what forgets the socket before it is closed.
 *
 * @throws Error if another process listens there, or if a file of another kind is there.
 */
export const bindSocket = async (server: Server, path: string): Promise<() => void> => {
  await bindAlone(server, path);
  await chmod(path, 0o600); // A worker thread has no umask of its own.
  const removeSocket = (): void => rmSync(path, { force: true });
  process.once('exit', removeSocket); // A server that is still open at the end leaves its socket behind.
  return () => process.off('exit', removeSocket);
};

/** Runs what makes a file at once, so that the file belongs to this user alone from the start. */
const asPrivate = <Made>(make: () => Made): Made => {
  if (!isMainThread) return make();
  const before = process.umask(0o177);
  try {
    return make();
  } finally {
    process.umask(before);
  }
};

/** A lock that is older was left behind by a process that ended in these few milliseconds. */
const OLD_MS = 10_000;

/**
 * One process at a time, also where no socket is: another one may have just removed the old one. Otherwise one would fail to bind, or
 * would remove the new socket as if it were the old one.
 */
const bindAlone = async (server: Server, path: string): Promise<void> => {
  const lock = `${path}.lock`;
  const found = await lstat(lock).catch(() => undefined);
  if (found !== undefined && Date.now() - found.mtimeMs > OLD_MS) await rm(lock, { force: true });
  const handle = await openLock(
    lock,
    `Another process is starting on ${path}. If that is not so, remove ${lock} and start again.`,
  );
  try {
    await removeLeftOver(path);
    await asPrivate(() => listening(server, { path }));
  } finally {
    await handle.close();
    await rm(lock, { force: true });
  }
};

/** Removes the socket of a process that has ended. */
const removeLeftOver = async (path: string): Promise<void> => {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return;
  if (!found.isSocket())
    throw new Error(
      `${path} exists and is not a socket, so it is not replaced. Set listen.socket (BREAKERBOX_CONTROL_LISTEN) to another path.`,
    );
  if (await answers(path))
    throw new Error(
      `Another process listens on ${path}. Stop it, or set listen.socket (BREAKERBOX_CONTROL_LISTEN) to another path.`,
    );
  await unlink(path).catch(() => undefined);
};
