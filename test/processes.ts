import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** All processes: from /proc, because a minimal Debian has no `ps`; elsewhere from `ps`. */
const processes = (): readonly Process[] =>
  existsSync('/proc/self/stat')
    ? readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .flatMap(fromProc)
    : execFileSync('ps', ['-A', '-o', 'pid=,ppid=,command='], { encoding: 'utf8' }).trim().split('\n').map(fromPs);

const fromProc = (pid: string): readonly Process[] => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z') return []; // It has ended, but its parent has not reaped it yet.
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return [{ pid: Number(pid), parent: Number(parent), command }];
  } catch {
    return []; // It ended in between.
  }
};

const fromPs = (line: string): Process => {
  const [pid, parent, ...command] = line.trim().split(/\s+/);
  return { pid: Number(pid), parent: Number(parent), command: command.join(' ') };
};

/** Pids of the processes that this one started. */
export const childrenOf = (pid: number, command = /./): readonly number[] =>
  processes()
    .filter((one) => one.parent === pid && command.test(one.command))
    .map((one) => one.pid);

/** Pids of the processes that this one started, and that those started. */
export const descendantsOf = (pid: number, command = /./): readonly number[] => [
  ...childrenOf(pid, command),
  ...childrenOf(pid).flatMap((child) => descendantsOf(child, command)),
];

/** The command line of a process; undefined if there is no such process. */
export const commandOf = (pid: number): string | undefined => processes().find((one) => one.pid === pid)?.command;

/** Whether a process still exists. */
export const isAlive = (pid: number): boolean => processes().some((one) => one.pid === pid);
