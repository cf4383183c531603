/** The process id of the parent with which the demo should end. `scripts/bring-up.mjs` sets it to its own. */
export const PARENT_VARIABLE = 'BREAKERBOX_PARENT';

const LOOK_MS = 1000;

/**
 * Calls `onGone` when the process in {@link PARENT_VARIABLE} is gone. SIGKILL cannot be forwarded, and npm does not forward every
 * other signal. Without the variable nothing is watched, because a demo that was started with `nohup … &` outlives its shell.
 */
export const watchParent = (onGone: () => void, env: Readonly<Record<string, string | undefined>>): void => {
  const wanted = Number(env[PARENT_VARIABLE]?.trim() || Number.NaN);
  if (!Number.isSafeInteger(wanted) || wanted < 1) return;
  // The variable is inherited: under a test runner, for example, it names an ancestor that isn't the parent.
  if (process.ppid !== wanted && isThere(wanted)) return;
  const look = (): void => {
    // Not isThere(): a dead process that its parent has not reaped still exists, but its children have another parent.
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
    // EPERM: the process exists, and belongs to another user.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
};
