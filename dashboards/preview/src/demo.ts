import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { PreviewError } from './errors.ts';

const MAIN = fileURLToPath(new URL('../../../packages/cli/src/main.ts', import.meta.url));
/** Two rounds of the demo's script, so that everything has happened once at least, and most has ended again. */
export const DEMO_MS = 150_000;
/** Longer than any picture takes: it is stopped once they are there. */
const LONGEST = '15m';
const START_MS = 30_000;

/** `breakerbox demo`, running. */
export interface Demo {
  /** Where its Prometheus answers. */
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts the demo with a Prometheus of its own.
 * @throws PreviewError when it ends, or has no Prometheus
 */
export const startDemo = async (): Promise<Demo> => {
  const child = spawn(
    process.execPath,
    ['--conditions=breakerbox-source', MAIN, 'demo', '--port', '0', '--for', LONGEST, '--no-color'],
    // It ends by itself should this process be killed.
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, BREAKERBOX_PARENT: String(process.pid) } },
  );
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  };
  try {
    return { url: await prometheusOf(child), stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

/** It says where Prometheus is once that is ready. */
const prometheusOf = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = '';
    const fail = (why: string): void => {
      clearTimeout(timer);
      reject(
        new PreviewError(
          `the demo has no Prometheus to ask: ${why}. Is prometheus on PATH (Debian: apt-get install prometheus)? Or name another with --prometheus. It said:\n${text}`,
        ),
      );
    };
    const timer = setTimeout(() => fail(`it didn't say where within ${START_MS / 1000} s`), START_MS);
    child.on('error', (error) => fail(error.message));
    child.on('exit', (code) => fail(`it ended with ${code}`));
    child.stdout?.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      const [, url] = /prometheus +(http:\/\/[^/\s]+)/.exec(text) ?? [];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve(url);
    });
  });
