import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';

/** The machine and the versions of the measurement. It holds nothing that identifies the machine's owner. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly platform: string;
  readonly node: string;
  /** Load averages before the run and at its end. The benchmark itself counts as one process. */
  readonly load: { readonly before: number; readonly after: number };
  readonly versions: Readonly<Record<string, string>>;
}

const PEERS = [
  'cockatiel',
  'opossum',
  'opossum-prometheus',
  'prom-client',
  '@opentelemetry/api',
  '@opentelemetry/sdk-metrics',
  '@opentelemetry/sdk-trace',
];

/** Looked up in the folders, because some packages do not export their package.json. */
const versionOf = (name: string): string => {
  const paths = createRequire(import.meta.url).resolve.paths(name) ?? [];
  for (const path of paths) {
    try {
      const { version } = JSON.parse(readFileSync(join(path, name, 'package.json'), 'utf8')) as { version: string };
      return version;
    } catch {
      // Not in this folder. Look in the next one up.
    }
  }
  throw new Error(`${name} is not installed for bench. Run \`npm run bench\`, which installs it.`);
};

const GIB = 2 ** 30;

export const load = (): number => Math.round((loadavg()[0] ?? 0) * 100) / 100;

export const describeMachine = (before: number): Machine => ({
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  cores: cpus().length,
  memoryGiB: Math.round(totalmem() / GIB),
  platform: `${process.platform} ${process.arch}`,
  node: process.versions.node,
  load: { before, after: load() },
  versions: Object.fromEntries(PEERS.map((name) => [name, versionOf(name)])),
});
