import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { serverEnvironment } from './server-environment.ts';

/** The process of an MCP server, with all that it starts (M7). */
export interface ServerProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** How it ended. Never rejects. */
  readonly ended: Promise<ServerEnd>;
  /** Sends a signal to the process and to all that it started. */
  kill(signal: NodeJS.Signals): void;
  /** Whether a process of it is left. */
  isAlive(): boolean;
}

export interface ServerEnd {
  /** The exit code; 128 and the signal's number if a signal ended it; 127 if there is no such command. */
  readonly code: number;
  /** Why, for people. */
  readonly why: string;
}

/** Windows has no process groups. There, only the process itself is signalled. */
const HAS_GROUPS = process.platform !== 'win32';

/**
 * Ends the server if the relay was killed and could not do it. Its standard input closes when the relay ends in any way. Signals to the
 * relay's group do not reach it.
 */
const GUARD = 'cat >/dev/null; kill -s TERM -- "-$1" 2>/dev/null || exit 0; sleep 2; kill -s KILL -- "-$1" 2>/dev/null';

/**
 * Starts a server in a process group of its own. Its environment, its folder and its standard error are those of the
 * relay, without what npm added to the environment.
 */
export const startServer = (command: string, args: readonly string[]): ServerProcess => {
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: HAS_GROUPS,
    env: serverEnvironment(process.env),
  });
  // A server that ended does not read. The end of its process says so.
  child.stdin.on('error', () => {});
  const { pid } = child;
  const guard = pid !== undefined && HAS_GROUPS ? startGuard(pid) : undefined;
  const kill = (signal: NodeJS.Signals | 0): boolean => {
    try {
      return pid !== undefined && process.kill(HAS_GROUPS ? -pid : pid, signal);
    } catch {
      return false; // All of it has ended.
    }
  };
  const ended = endOf(child, command);
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    ended,
    kill: (signal) => {
      kill(signal);
    },
    isAlive: () => {
      const isAlive = kill(0);
      if (!isAlive) guard?.kill('SIGKILL');
      return isAlive;
    },
  };
};

const startGuard = (pid: number): ChildProcess => {
  const guard = spawn('sh', ['-c', GUARD, 'sh', `${pid}`], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  guard.on('error', () => {}); // A machine without `sh`.
  guard.stdin.on('error', () => {});
  guard.unref();
  return guard;
};

const endOf = (child: ChildProcess, command: string): Promise<ServerEnd> =>
  new Promise((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      if (child.pid === undefined) resolve(notStarted(command, error));
    });
    child.once('exit', (code, signal) => {
      if (signal === null) resolve({ code: code ?? 0, why: `exit code ${code}` });
      else resolve({ code: 128 + constants.signals[signal], why: `signal ${signal}` });
    });
  });

const notStarted = (command: string, { code = 'unknown' }: NodeJS.ErrnoException): ServerEnd => ({
  code: code === 'ENOENT' ? 127 : 126,
  why: `'${command}' cannot be started (${code}). Write the command of the MCP server after --, such as: breakerbox mcp -- npx -y some-mcp-server`,
});
