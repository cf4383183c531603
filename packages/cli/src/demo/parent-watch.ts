/** Who started the demo and wants it to end with itself, as a process id. `scripts/bring-up.mjs` sets it to its own. */
export const PARENT_VARIABLE = 'BREAKERBOX_PARENT';

const LOOK_MS = 1000;

/**
 * Calls `onGone` once the process that {@link PARENT_VARIABLE} names is gone. KILL can't be forwarded, and npm doesn't forward
 * all it could. Without the variable nothing is watched: the shell of a demo that was started with `nohup … &` may go.
 */
export const watchParent = (onGone: () => void, env: Readonly<Record<string, string | undefined>>): void => {
  const wanted = Number(env[PARENT_VARIABLE]?.trim() || Number.NaN);
  if (!Number.isSafeInteger(wanted) || wanted < 1) return;
  // The variable is inherited: under a test runner, say, it names an ancestor that isn't the parent.
  if (process.ppid !== wanted && isThere(wanted)) return;
  const look = (): void => {
    // Not isThere(): a process that nobody has waited for is still there, but its children have another parent.
    if (process.ppid === wanted) return;
    clearInterval(timer);
    onGone();
  };
  const timer = setInterval(look, LOOK_MS).unref();
  look();
};

const isThere = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it is there, and somebody else's.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
};
