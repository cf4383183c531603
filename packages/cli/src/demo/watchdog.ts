import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Cleans up after a demo that had no time to: SIGKILL, the out-of-memory killer. */
export interface Watchdog {
  /** Says which processes are to be ended if the demo is gone. Those named before and not now have ended. */
  guard(pids: readonly number[]): void;
  /** Sends it home. What it still guards is ended, and the folder removed. */
  close(): Promise<void>;
}

/** Its standard input ends when the demo does, however that comes about; each line is the whole list of processes. */
const SCRIPT = `while read -r line; do pids=$line; done
[ -z "$pids" ] || kill -KILL $pids
rm -rf -- "$1" || { sleep 1; rm -rf -- "$1"; }`;

/** Starts a shell that outlives the demo by a moment. Where there is no `sh`, SIGKILL leaves things behind. */
export const startWatchdog = (folder: string): Watchdog => {
  // In a group of its own: neither ctrl-c nor a signal to the demo's whole group is meant for it.
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
