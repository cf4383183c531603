import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** A program that the demo runs. */
export interface Child {
  readonly pid: number | undefined;
  /** Whether it has ended, for any reason. */
  readonly gone: boolean;
  /** The end of its stderr, to find out why it ended. */
  readonly lastWords: string;
  /** Calls `listener` with the reason when it ends. */
  onExit(listener: (how: string) => void): void;
  /** Stops it with SIGTERM, and with SIGKILL after 3 s. */
  stop(): Promise<void>;
  /** Kills it at once, for use when this process exits. */
  kill(): void;
}

const PATIENCE_MS = 3000;
const LAST_WORDS = 1000;

/** Starts a program. It never rejects: a program that cannot be started counts as ended. */
export const startChild = (file: string, args: readonly string[]): Child => {
  const child: ChildProcess = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let lastWords = '';
  let gone = false;
  const listeners: ((how: string) => void)[] = [];
  const ended = (how: string): void => {
    if (gone) return;
    gone = true;
    for (const listener of listeners) listener(how);
  };
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    lastWords = (lastWords + text).slice(-LAST_WORDS);
  });
  child.on('error', (error) => {
    lastWords += error.message;
    // Without a pid it never ran. With a pid, a signal could not be sent, and it still runs.
    if (child.pid === undefined) ended(error.message);
  });
  child.on('exit', (code, signal) => ended(signal ?? `exit code ${code}`));

  return {
    pid: child.pid,
    get gone() {
      return gone;
    },
    get lastWords() {
      return lastWords.trim();
    },
    onExit: (listener) => {
      listeners.push(listener);
    },
    stop: async () => {
      if (gone) return;
      const exit = once(child, 'exit');
      const insist = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
      child.kill('SIGTERM');
      await exit;
      clearTimeout(insist);
    },
    kill: () => {
      if (!gone) child.kill('SIGKILL');
    },
  };
};

/** The path of the first of these programs on PATH. */
export const findProgram = (names: readonly string[], path = process.env.PATH ?? ''): string | undefined =>
  names.flatMap((name) => path.split(delimiter).map((folder) => join(folder, name))).find(isExecutable);

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
};

/** Systems give ports from 32,768 on to outgoing connections, which could take a port between the look and the use. */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_767;
const TRIES = 20;

const randomPort = (): number => FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT + 1));

/** A free port on loopback. */
export const freePort = async (tries = TRIES): Promise<number> => {
  const server = createServer().listen(tries > 0 ? randomPort() : 0, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    if (tries > 0) return freePort(tries - 1);
    throw error;
  }
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('the operating system returned no port');
  return address.port;
};

const READY_LIMIT_MS = 15_000;

/** Whether a program answers at `url` with 2xx before it ends, `signal` fires or 15 s are over. */
export const isReady = async (child: Child, url: string, signal: AbortSignal): Promise<boolean> => {
  const until = performance.now() + READY_LIMIT_MS;
  while (!child.gone && !signal.aborted && performance.now() < until) {
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(1000) });
      await response.body?.cancel();
      if (response.ok) return true;
    } catch {
      // It does not answer yet.
    }
    await wait(50);
  }
  return false;
};
