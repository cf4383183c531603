import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { PreviewError } from './errors.ts';

const MAIN = fileURLToPath(new URL('../../../packages/demo/src/main.ts', import.meta.url));
/** Two rounds of the demo's script, so that every incident has happened, and most are over. */
export const DEMO_MS = 150_000;
/** Longer than any picture takes. The demo is stopped when the pictures are done. */
const LONGEST = '15m';
const START_MS = 30_000;

/** The demo, running. */
export interface Demo {
  /** Address of its Prometheus. */
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts the demo with a Prometheus of its own.
 * @throws PreviewError if the demo ends, or has no Prometheus
 */
export const startDemo = async (): Promise<Demo> => {
  const child = spawn(
    process.execPath,
    ['--conditions=breakerbox-source', MAIN, '--port', '0', '--for', LONGEST, '--no-color'],
    // The demo ends by itself if this process is killed.
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

/** Resolves when the demo prints the address of a ready Prometheus. */
const prometheusOf = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = '';
    const fail = (why: string): void => {
      clearTimeout(timer);
      reject(
        new PreviewError(
          `the demo has no Prometheus: ${why}. Install prometheus on PATH (Debian: apt-get install prometheus), or pass another address with --prometheus. The demo printed:\n${text}`,
        ),
      );
    };
    const timer = setTimeout(() => fail(`it printed no address within ${START_MS / 1000} s`), START_MS);
    child.on('error', (error) => fail(error.message));
    child.on('exit', (code) => fail(`it ended with code ${code}`));
    child.stdout?.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      const [, url] = /prometheus +(http:\/\/[^/\s]+)/.exec(text) ?? [];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve(url);
    });
  });
