import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Cleans up after a demo that could not: after SIGKILL, or after the out-of-memory killer. */
export interface Watchdog {
  /** Sets the processes to kill if the demo is gone. Processes of an earlier list that are missing here have ended. */
  guard(pids: readonly number[]): void;
  /** Stops the watchdog. It kills the processes that it still guards, and removes the folder. */
  close(): Promise<void>;
}

/** Its standard input closes when the demo ends in any way. Each line is the whole list of processes. */
const SCRIPT = `while read -r line; do pids=$line; done
[ -z "$pids" ] || kill -KILL $pids
rm -rf -- "$1" || { sleep 1; rm -rf -- "$1"; }`;

/** Starts a shell that outlives the demo by a moment. On a machine without `sh`, SIGKILL leaves things behind. */
export const startWatchdog = (folder: string): Watchdog => {
  // In a group of its own, so that ctrl-c or a signal to the demo's whole group does not reach it.
  const shell = spawn('sh', ['-c', SCRIPT, 'sh', folder], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  const gone = once(shell, 'exit').catch(() => undefined);
  shell.stdin.on('error', () => undefined);
  return {
    guard: (pids) => {
      shell.stdin.write(`${pids.join(' ')}\n`);
    },
    close: async () => {
      shell.stdin.end();
      await gone;
    },
  };
};
