import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type Metafile } from 'esbuild';
import { type Published, published } from './published.ts';

/** Bytes by what is imported, minified and gzipped. */
export type Sizes = Readonly<Record<string, number>>;

/** Packages that end up in an agent, whose size counts at each download and cold start. */
export const sized: readonly Published[] = published.filter(
  ({ folder, manifest }) => folder.startsWith('packages/') && manifest.exports,
);

const CORE = '@breakerbox/core';

/** Names that are often imported alone, by package. */
const SINGLE: Readonly<Record<string, readonly string[]>> = {
  [CORE]: ['classifyError', 'METRIC'],
  '@breakerbox/instrumentation': ['guard', 'guardAll'],
};

/** The least that an application of core does: one call, decided and settled. */
const minimalProgram = (index: string): string => `import { createBreakerbox } from '${index}';
const session = createBreakerbox({ agent: 'agent', tools: { search: {} } }).session();
session.acquire('search').settle({ outcome: 'success' });`;

/** The name of the minimal program among the sizes of core. */
export const MINIMAL = 'minimal program';

/** The most that the minimal program may have in bytes, minified and gzipped, and the goal. Lower the limit when the code gets smaller. */
export const MINIMAL_PROGRAM = { limit: 76_210, target: 25_000 };

/**
 * How large the packages are that were built in `workspace`. What a package depends on is not counted with it: it may be there
 * already, and has a size of its own.
 */
export const sizesOf = async (one: Published, workspace: string): Promise<Sizes> => {
  const sizes: Record<string, number> = {};
  for (const [entry, { default: file = '' }] of Object.entries(one.manifest.exports ?? {})) {
    sizes[`${entry} (all)`] = await gzipped(`export * from '${file}'`, one, workspace);
  }
  const index = one.manifest.exports?.['.']?.default ?? '';
  if (one.name === CORE) sizes[MINIMAL] = await gzipped(minimalProgram(index), one, workspace);
  for (const name of SINGLE[one.name] ?? []) {
    sizes[name] = await gzipped(`export { ${name} } from '${index}'`, one, workspace);
  }
  return sizes;
};

/** The minimal program, bundled from the sources of core in `workspace`. */
export interface MinimalProgram {
  /** Bytes. */
  readonly minified: number;
  readonly gzipped: number;
  /** Minified bytes by file of `src`. */
  readonly files: Sizes;
}

export const minimalProgramOf = async (workspace: string): Promise<MinimalProgram> => {
  const core = published.find(({ name }) => name === CORE);
  if (core === undefined) throw new Error(`There is no package ${CORE}.`);
  const { code, metafile } = await bundled(minimalProgram('./src/index.ts'), core, workspace);
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs));
  const files = inputs.flatMap(([path, { bytesInOutput }]) => {
    const [, file] = /(?:^|\/)src\/(.+)$/.exec(path) ?? [];
    return file === undefined || bytesInOutput === 0 ? [] : [[file, bytesInOutput] as const];
  });
  return { minified: code.length, gzipped: gzipSync(code, { level: 9 }).length, files: Object.fromEntries(files) };
};

export interface Bundled {
  readonly code: Uint8Array;
  readonly metafile: Metafile;
}

/** A module of the package's folder, bundled with all of the package that it takes and nothing else. */
export const bundled = async (
  contents: string,
  { folder, manifest }: Published,
  workspace: string,
): Promise<Bundled> => {
  const others = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: join(workspace, folder) },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'silent', // What it can't build, it throws.
    external: others.flatMap((name) => [name, `${name}/*`]),
  });
  return { code: outputFiles[0]?.contents ?? new Uint8Array(), metafile };
};

const gzipped = async (...given: Parameters<typeof bundled>): Promise<number> =>
  gzipSync((await bundled(...given)).code, { level: 9 }).length;
