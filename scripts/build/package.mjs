// `node ../../scripts/build/package.mjs [CARRIED …]` in the folder of a package writes `dist`. tsc makes the types, one file for each
// source. Rolldown makes the code, one file for each entry of `exports` and a few that entries share: Node takes longer to find a
// hundred files than to run them.
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { rolldown } from 'rolldown';
import { writeNames } from './bundled-names.mjs';
import { deferredImports } from './deferred.mjs';
import { pureConstants } from './pure.mjs';
import { ownVersion } from './version.mjs';

const API = '@opentelemetry/api';
const folder = process.cwd();
const require = createRequire(import.meta.url);
const readManifest = (below) => JSON.parse(readFileSync(join(below, 'package.json'), 'utf8'));

/** Packages of this workspace that no manifest of a release names, and their folders: their code becomes a part of `dist`. */
const INTERNAL = { '@breakerbox/listen': 'packages/listen' };
const manifest = readManifest(folder);
const { devDependencies = {} } = manifest;
const internal = Object.keys(INTERNAL).filter((name) => name in devDependencies);

/** Beginnings of the names of other packages whose code becomes part of `dist`. All others are imported. */
const carried = process.argv.slice(2);
const isCarried = (name) => internal.includes(name) || carried.some((beginning) => name.startsWith(beginning));
const isOurs = (path) => path?.startsWith(join(folder, 'src') + sep);

/** Carried code imports the API from a module of ours, which adds what the application's API may not have yet. */
const sharedApi = {
  name: 'shared API',
  resolveId: (name, importer) => (name === API && !isOurs(importer) ? join(folder, 'src/otel-api.ts') : null),
};

/** Sources by the names of the files in `dist`, from `exports`. */
const entries = Object.fromEntries(
  Object.values(manifest.exports).flatMap(({ 'breakerbox-source': source, default: file }) =>
    source === undefined ? [] : [[relative('dist', file).replace(/\.js$/, ''), source]],
  ),
);

/** All that the main entry imports becomes one file, which other entries share. */
const oneFile = { name: (id, context) => (neededByMain(context).has(id) ? 'main' : null), debugName: 'main' };

let needed;
const neededByMain = (context) => {
  if (needed !== undefined) return needed;
  needed = new Set([join(folder, entries.index)]);
  // A set gives those too that are added while it is read.
  for (const id of needed) for (const one of context.getModuleInfo(id)?.importedIds ?? []) needed.add(one);
  return needed;
};

const writeTypes = (below = folder) => {
  const compiler = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc');
  const { status } = spawnSync(process.execPath, [compiler, '-p', join(below, 'tsconfig.build.json')], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
};

const writeCode = async () => {
  const bundle = await rolldown({
    input: entries,
    platform: 'node',
    external: (name, importer) => /^[\w@]/.test(name) && (name === API ? isOurs(importer) : !isCarried(name)),
    plugins: carried.length > 0 ? [sharedApi, deferredImports] : [ownVersion(manifest.version), pureConstants],
    experimental: { nativeMagicString: true, attachDebugInfo: 'none' },
  });
  const { output } = await bundle.write({
    dir: 'dist',
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: carried.length > 0 || { groups: [oneFile] },
    sourcemap: true,
    sourcemapExcludeSources: true,
    // The sources of carried packages are elsewhere.
    sourcemapPathTransform: (path) =>
      path
        .replace(/^.*\/node_modules\//, 'node_modules/')
        .replace(/^(?:\.\.\/)+listen\//, 'node_modules/@breakerbox/listen/'),
    comments: { legal: true, annotation: true, jsdoc: false },
  });
  return output.flatMap(({ modules = {} }) => Object.keys(modules));
};

rmSync('dist', { recursive: true, force: true });
for (const name of internal) writeTypes(join(folder, '../..', INTERNAL[name]));
writeTypes();
const modules = await writeCode();
if (carried.length > 0) writeNames(modules);
