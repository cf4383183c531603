import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../../../packages/demo/src/child.ts';

const run = promisify(execFile);

/** A Prometheus with a history that scrapes nothing. */
export interface History {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts a Prometheus with these samples. Needs prometheus and promtool on PATH.
 * @param samples lines of OpenMetrics with times, those of a series together
 */
export const startHistory = async (samples: readonly string[]): Promise<History> => {
  const folder = await mkdtemp(join(tmpdir(), 'breakerbox-preview-'));
  // Line by line, because the samples of a large fleet are longer than the longest string.
  await writeFile(join(folder, 'history.txt'), [...samples.map((line) => `${line}\n`), '# EOF\n']);
  await writeFile(join(folder, 'prometheus.yml'), 'scrape_configs: []\n');
  const data = join(folder, 'data');
  await run('promtool', ['tsdb', 'create-blocks-from', 'openmetrics', '--quiet', join(folder, 'history.txt'), data]);
  const url = `http://127.0.0.1:${await freePort()}`;
  const child = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${data}`,
      `--web.listen-address=${new URL(url).host}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const stop = async (): Promise<void> => {
    if (child.exitCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    }
    await rm(folder, { recursive: true, force: true });
  };
  for (let attempt = 0; attempt < 150; attempt += 1) {
    const ready = await fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (ready) return { url, stop };
    await wait(100);
  }
  await stop();
  throw new Error(`prometheus was not ready at ${url} within 15 s; what it printed is above.`);
};
