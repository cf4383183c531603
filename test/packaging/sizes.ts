import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type Metafile, type Plugin } from 'esbuild';
import { type Published, published } from './published.ts';

/** Bytes by what is imported, minified and gzipped. */
export type Sizes = Readonly<Record<string, number>>;

/** Packages that end up in an agent, whose size counts at each download and cold start. */
export const sized: readonly Published[] = published.filter(
  ({ folder, manifest }) => folder.startsWith('packages/') && manifest.exports,
);

/** What people import alone, by package. */
const SINGLE: Readonly<Record<string, readonly string[]>> = {
  '@breakerbox/core': [
    'createBreakerbox',
    'classifyError',
    'formatReport',
    'parseCapabilities',
    'labelled',
    'describeFreshness',
    'METRIC',
  ],
  '@breakerbox/instrumentation': ['guard', 'guardAll'],
};

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
  for (const name of SINGLE[one.name] ?? []) {
    sizes[name] = await gzipped(`export { ${name} } from '${index}'`, one, workspace);
  }
  return sizes;
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
  plugins: Plugin[] = [],
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
    plugins,
  });
  return { code: outputFiles[0]?.contents ?? new Uint8Array(), metafile };
};

const gzipped = async (...given: Parameters<typeof bundled>): Promise<number> =>
  gzipSync((await bundled(...given)).code, { level: 9 }).length;
