/** Programs that npm and Debian do not have in a current version. They are built from Go modules, which takes minutes the first time. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The packages of the programs, with their versions. */
const PROGRAMS = {
  jsonnet: { of: 'github.com/google/go-jsonnet/cmd/jsonnet', version: 'v0.22.0' },
  /** 3.13.2 */
  prometheus: {
    of: 'github.com/prometheus/prometheus/cmd/prometheus',
    version: 'v0.313.2',
    flags: ['-tags', 'remove_all_sd'],
  },
  'victoria-metrics': { of: 'github.com/VictoriaMetrics/VictoriaMetrics/app/victoria-metrics', version: 'v1.138.0' },
  vmalert: { of: 'github.com/VictoriaMetrics/VictoriaMetrics/app/vmalert', version: 'v1.138.0' },
} as const satisfies Record<string, { of: string; version: string; flags?: readonly string[] }>;

const OLDEST = 25;

const minorOf = async (): Promise<number> => {
  try {
    const { stdout } = await run('go', ['env', 'GOVERSION']);
    return Number(/^go1\.(\d+)/.exec(stdout)?.[1] ?? 0);
  } catch {
    return 0;
  }
};

/** Why the programs cannot be built here; undefined if they can. */
export const NO_GO: string | undefined =
  (await minorOf()) >= OLDEST ? undefined : `needs Go 1.${OLDEST} or later, to build a server of its current version`;

const BUILT = join(import.meta.dirname, '../node_modules/.cache/breakerbox-go');

/** Builds a program, or takes the one that was built before. @returns its path. @throws Error with the last words of Go */
export const goProgram = async (name: keyof typeof PROGRAMS): Promise<string> => {
  const { of, version, ...rest } = PROGRAMS[name];
  const program = join(BUILT, `${name}-${version}`);
  if (existsSync(program)) return program;
  await mkdir(BUILT, { recursive: true });
  const module = await mkdtemp(join(BUILT, 'module-'));
  try {
    const go = (...args: readonly string[]) => run('go', args, { cwd: module, maxBuffer: 2 ** 24 });
    await go('mod', 'init', 'example.com/built');
    await go('get', `${of}@${version}`);
    await go('build', ...('flags' in rest ? rest.flags : []), '-o', 'program', of);
    await rename(join(module, 'program'), program);
  } finally {
    await rm(module, { recursive: true, force: true });
  }
  return program;
};

/** Builds the MCP servers in the folder `go`. @returns the folder with them. @throws Error with the last words of Go */
export const goServers = async (): Promise<string> => {
  await mkdir(BUILT, { recursive: true });
  const args = ['build', '-buildvcs=false', '-o', BUILT, './official', './mark'];
  await run('go', args, { cwd: join(import.meta.dirname, 'go'), maxBuffer: 2 ** 24 });
  return BUILT;
};
