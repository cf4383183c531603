import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, isReady, startChild } from '../../packages/demo/src/child.ts';
import { requireProgram } from '../../stack/tools.ts';

/** A Prometheus over a folder. */
export interface Server {
  readonly url: string;
  /** Seconds of processor time since it started. */
  cpu(): number;
  /** Bytes of its own memory, without files that it has mapped. */
  memory(): number;
  /** Sends a request, and reads the whole answer. @returns an error of Prometheus, or '' */
  ask(path: string, parameters: Readonly<Record<string, string>>): Promise<string>;
  stop(): Promise<void>;
}

const TICKS_PER_SECOND = 100;
const KIB = 1024;

/** @throws Error if Prometheus is not on PATH, or ends instead of answering */
export const startServer = async (folder: string, flags: readonly string[] = []): Promise<Server> => {
  const program = requireProgram(['prometheus']);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const config = join(folder, 'prometheus.yml');
  writeFileSync(config, '{}\n');
  const child = startChild(program, [
    `--config.file=${config}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    '--storage.tsdb.retention.time=30d',
    // With one size of blocks, it compacts nothing while it is measured.
    '--storage.tsdb.min-block-duration=2h',
    '--storage.tsdb.max-block-duration=2h',
    '--web.enable-remote-write-receiver',
    `--web.listen-address=127.0.0.1:${port}`,
    '--log.level=warn',
    ...flags,
  ]);
  const ofProcess = (file: string): string => readFileSync(`/proc/${child.pid}/${file}`, 'utf8');
  if (!(await isReady(child, `${url}/-/ready`, new AbortController().signal))) {
    await child.stop();
    throw new Error(`Prometheus did not become ready: ${child.lastWords}`);
  }
  return {
    url,
    cpu: () => {
      const fields = ofProcess('stat')
        .replace(/^.*\) /, '')
        .split(' ');
      return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    },
    memory: () => Number(/^RssAnon:\s+(\d+)/m.exec(ofProcess('status'))?.[1]) * KIB,
    ask: async (path, parameters) => {
      const search = new URLSearchParams(parameters);
      // Only queries may be posted.
      const response = await (path.startsWith('query')
        ? fetch(`${url}/api/v1/${path}`, { method: 'POST', body: search })
        : fetch(`${url}/api/v1/${path}?${search}`));
      const text = await response.text();
      return response.ok ? '' : text.slice(0, 300);
    },
    stop: child.stop,
  };
};
