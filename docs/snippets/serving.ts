import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { COMPILE_CACHE } from '../../test/compile-cache.ts';
import { asShown, type Program, shows } from './programs.ts';

/** How a program was when it was stopped. */
export interface Stopped {
  /** `SIGTERM`, ours, unless it had ended by itself before. */
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

/** A program that goes on, such as an agent at work, once it has run to its last line and printed what its document shows. */
export interface Serving {
  /** The port of its metrics, which is 9464 in documents. */
  readonly port: string;
  hasEnded(): boolean;
  stop(): Promise<Stopped>;
}

/** Whether a program goes on until it is stopped. */
export const goesOn = (code: string): boolean => code.includes('setInterval(');

const LIMIT_MS = 40_000;

/** Starts it, and waits until it has printed `expected` and nothing else. */
export const serve = async (
  program: Pick<Program, 'path' | 'ports'>,
  cwd: string,
  expected: string,
): Promise<Serving> => {
  const env = { PATH: process.env.PATH, OTEL_EXPORTER_PROMETHEUS_PORT: '0', ...COMPILE_CACHE };
  const child = spawn(process.execPath, ['--conditions=breakerbox-source', program.path], { cwd, env });
  const ended = once(child, 'close');
  let printed = '';
  let stderr = '';
  let port = '';
  child.stderr.on('data', (data) => (stderr += data));
  const stop = async (): Promise<Stopped> => {
    child.kill();
    await ended;
    return { signal: child.signalCode, stderr };
  };
  const shown = new Promise<void>((resolve, reject) => {
    const said = () => `${program.path}:\n${printed}${stderr}`;
    const limit = setTimeout(
      () => reject(new Error(`it has not printed what its document shows: ${said()}`)),
      LIMIT_MS,
    );
    void ended.then(() => {
      clearTimeout(limit);
      reject(new Error(`it has ended: ${said()}`));
    });
    child.stdout.on('data', (data) => {
      printed += data;
      port = /127\.0\.0\.1:(\d+)\/metrics/.exec(printed)?.[1] ?? port;
      const { stdout, reachedEnd } = asShown(program, printed.replaceAll(port || '9464', '9464'));
      if (!reachedEnd || !shows(expected, stdout)) return;
      clearTimeout(limit);
      resolve();
    });
  });
  await shown.catch(async (error) => {
    await stop();
    throw error;
  });
  return { port, hasEnded: () => child.exitCode !== null, stop };
};
