/** For vitest.config.ts: the temporary folders of a run stand in one, which goes with it, however the tests in it end. */
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Short, for what tests start makes sockets there, whose paths may have 108 characters. */
const PREFIX = 'breakerbox-tests-';
const MADE = new RegExp(`^${PREFIX}(\\d+)-\\w{6}$`);

const isGone = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'; // Another user's process is there, too.
  }
};

/** A signal ends the workers and Vitest without a word, so what such a run left is removed by the next. */
const removeLeft = (parent: string): void => {
  for (const name of readdirSync(parent)) {
    const pid = MADE.exec(name)?.[1];
    if (pid === undefined || !isGone(Number(pid))) continue;
    try {
      rmSync(join(parent, name), { recursive: true, force: true });
    } catch {
      // Another user's. Not ours to remove, and no reason not to test.
    }
  }
};

/**
 * Makes the folder, for `os.tmpdir()` of this process and of all that it starts.
 *
 * @returns what removes it.
 */
export const setup = (): (() => void) => {
  const parent = tmpdir();
  const before = process.env.TMPDIR;
  removeLeft(parent);
  const folder = mkdtempSync(join(parent, `${PREFIX}${process.pid}-`));
  chmodSync(folder, 0o755); // Some tests look with another user's eyes at what stands in it.
  process.env.TMPDIR = folder;
  return () => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 9, retryDelay: 100 });
    } catch {
      // Something still writes there, which fails no test. The next run removes it.
    }
  };
};
