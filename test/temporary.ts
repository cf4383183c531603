/** For vitest.config.ts: one folder has all temporary folders of a run. It is removed after the run, even if tests fail. */
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Short, because tests make sockets there, and a socket's path may have at most 108 characters. */
const PREFIX = 'breakerbox-tests-';
const MADE = new RegExp(`^${PREFIX}(\\d+)-\\w{6}$`);

const isGone = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'; // A process of another user also exists.
  }
};

/** A signal can end the workers and Vitest without cleanup, so the next run removes the folder of such a run. */
const removeLeft = (parent: string): void => {
  for (const name of readdirSync(parent)) {
    const pid = MADE.exec(name)?.[1];
    if (pid === undefined || !isGone(Number(pid))) continue;
    try {
      rmSync(join(parent, name), { recursive: true, force: true });
    } catch {
      // It belongs to another user. It is not ours to remove, and tests can still run.
    }
  }
};

/**
 * Makes the folder, for `os.tmpdir()` and the compile cache of this process and of its child processes.
 *
 * @returns A function that removes it.
 */
export const setup = (): (() => void) => {
  const parent = tmpdir();
  const before = { TMPDIR: process.env.TMPDIR, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };
  removeLeft(parent);
  const folder = mkdtempSync(join(parent, `${PREFIX}${process.pid}-`));
  chmodSync(folder, 0o755); // Some tests read it as another user.
  process.env.TMPDIR = folder;
  // Tests start hundreds of processes from the same sources: Node strips and compiles each of them once in a run.
  process.env.NODE_COMPILE_CACHE ??= join(folder, 'compiled');
  return () => {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 9, retryDelay: 100 });
    } catch {
      // A process still writes there, which fails no test. The next run removes the folder.
    }
  };
};
