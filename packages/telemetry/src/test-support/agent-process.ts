import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PACKAGE = fileURLToPath(new URL('../../', import.meta.url));

/** How a process ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** An agent in a process of its own. */
export interface AgentProcess extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly ended: Promise<Ending>;
  stdout(): string;
  stderr(): string;
  /** Resolves with the rest of the first line of stdout that begins so; rejects if the process ends before. */
  line(start: string): Promise<string>;
}

/** Without the `OTEL_` variables of the shell that runs the tests. */
const cleanEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(OTEL_|NODE_|VITEST)/.test(name)));

/** Runs JavaScript as an ES module that can import this package by its name. */
export function startAgent(script: string, env: NodeJS.ProcessEnv = {}, nodeOptions: string[] = []): AgentProcess {
  const child = spawn(
    process.execPath,
    ['--conditions=breakerbox-source', ...nodeOptions, '--input-type=module', '--eval', script],
    { cwd: PACKAGE, env: { ...cleanEnvironment(), ...env }, stdio: 'pipe' },
  );
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    err += text;
  });
  const ended = new Promise<Ending>((resolve) => {
    // `close`, not `exit`: the pipes are empty by then.
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
  const line = (start: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        const found = out.split('\n').find((text, index, all) => text.startsWith(start) && index < all.length - 1);
        if (found !== undefined) resolve(found.slice(start.length));
      };
      child.stdout.on('data', check);
      void ended.then(() => reject(new Error(`the agent ended without saying "${start}"; stderr: ${err}`)));
      check();
    });
  return {
    child,
    ended,
    line,
    stdout: () => out,
    stderr: () => err,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await ended;
    },
  };
}
