import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { packedWorkspace } from '../../test/newcomer/pack.ts';
import { environment } from './pool.ts';
import { table } from './print.ts';
import { ratioOf, spreadOf } from './stats.ts';

/** A program whose start is timed. */
interface Start {
  readonly title: string;
  /** Statements that end when everything is loaded. */
  readonly code: string;
  readonly env?: Readonly<Record<string, string>>;
}

const imported = (name: string): Start => ({ title: name, code: `await import('${name}');` });

const started = (title: string, prometheus: string, env: Start['env'] = {}): Start => ({
  title: `@breakerbox/telemetry, ${title}`,
  code: `const { startTelemetry } = await import('@breakerbox/telemetry'); await startTelemetry({ prometheus: ${prometheus} }).ready;`,
  env,
});

/** The first is what the others are compared with. */
const STARTS: readonly Start[] = [
  imported('@opentelemetry/api'),
  imported('@breakerbox/core'),
  imported('@breakerbox/instrumentation'),
  imported('@breakerbox/telemetry'),
  started('started without an exporter', 'false', { OTEL_METRICS_EXPORTER: 'none' }),
  started('started with Prometheus', '{ port: 0 }'),
  started('started with OTLP', 'false', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }),
  imported('cockatiel'),
  imported('opossum'),
];

/** The goal: the kernel, with the API that it imports, takes at most twice the time of the API alone. */
const KERNEL_TARGET = 2;

const OURS = ['core', 'instrumentation', 'telemetry'];
const LIBRARIES = ['@opentelemetry/api', 'cockatiel', 'opossum'];
const INSTALLED = fileURLToPath(new URL('../node_modules', import.meta.url));

/** A folder from which a program imports our packages as a release publishes them, and the libraries of the benchmark. */
const project = async (): Promise<string> => {
  const workspace = await packedWorkspace();
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-cold-'));
  const link = (name: string, target: string): void => {
    const path = join(folder, 'node_modules', name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(target, path);
  };
  for (const name of OURS) link(`@breakerbox/${name}`, join(workspace, 'packages', name));
  for (const name of LIBRARIES) link(name, realpathSync(join(INSTALLED, name)));
  return folder;
};

/** Milliseconds in a fresh process, from its first statement to the last. */
const timeStart = ({ title, code, env }: Start, cwd: string): number => {
  const program = `const begun = performance.now(); ${code} process.stdout.write(String(performance.now() - begun)); process.exit();`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd,
    env: { ...environment(), ...env },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${title} does not start:\n${stderr}`);
  return Number(stdout);
};

/** `npm run bench -- cold`. Returns the text to print. */
export const coldReport = async (args: string[]): Promise<string> => {
  const { values } = parseArgs({ args, options: { rounds: { type: 'string', default: '15' } } });
  const folder = await project();
  const samples = STARTS.map((): number[] => []);
  try {
    for (const start of STARTS) timeStart(start, folder); // The files are in the disk cache afterwards.
    for (let round = 0; round < Number(values.rounds); round += 1)
      for (const [index, start] of STARTS.entries()) samples[index]?.push(timeStart(start, folder));
  } finally {
    rmSync(folder, { recursive: true });
  }
  const rows = STARTS.map(({ title }, index) => {
    const values = samples[index] ?? [];
    const { median, p25, p75 } = spreadOf(values);
    const ratio = ratioOf(values, samples[0] ?? []).median;
    return [title, median.toFixed(0), `${p25.toFixed(0)} – ${p75.toFixed(0)}`, ratio.toFixed(1)];
  });
  return [
    table([['Import in a fresh process', 'ms', 'p25 – p75', '× the API alone'], ...rows]),
    `The target of @breakerbox/core is at most ${KERNEL_TARGET} × the API alone. Medians of ${values.rounds} rounds.`,
  ].join('\n\n');
};
