import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';

/** Milliseconds to wait for the process that has the file. */
const LOCKED_MS = 5_000;
const AGAIN_MS = 20;

/**
 * Makes a file that only one process at a time can have, and waits up to 5 s for it.
 *
 * @throws Error with `taken` as its message if another process keeps it.
 */
export const openLock = async (
  path: string,
  taken: string,
  untilMs = performance.now() + LOCKED_MS,
): Promise<FileHandle> => {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (performance.now() > untilMs) throw new Error(taken);
    await setTimeout(AGAIN_MS);
    return openLock(path, taken, untilMs);
  }
};
