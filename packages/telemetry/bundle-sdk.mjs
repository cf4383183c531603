// Puts the OpenTelemetry SDK into `dist`, where tsc has built before. A dependency on it would keep `npm install` from working beside other
// telemetry packages: each line of the SDK wants a line of the API, and npm has one copy of a package in the root. So the API is all that is
// shared, and 1.9 is enough.
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
const dist = join(here, 'dist');
const manifest = JSON.parse(await readFile(join(here, 'package.json'), 'utf8'));
const entries = Object.entries(manifest.exports)
  .filter(([name]) => name !== './package.json')
  .map(([, { default: file }]) => join(here, file));

/** The SDK gets what may be missing in the application's API from a module of ours. */
const sharedApi = {
  name: 'shared API',
  setup({ onResolve }) {
    onResolve({ filter: /^@opentelemetry\/api$/ }, ({ importer }) =>
      importer.startsWith(dist + sep)
        ? { path: '@opentelemetry/api', external: true }
        : { path: join(dist, 'otel-api.js') },
    );
  },
};

const { metafile } = await build({
  absWorkingDir: here,
  entryPoints: entries,
  outdir: dist,
  outbase: dist,
  allowOverwrite: true,
  bundle: true,
  splitting: true,
  chunkNames: 'parts/[hash]',
  format: 'esm',
  platform: 'node',
  target: 'node22',
  legalComments: 'inline',
  metafile: true,
  external: [...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies), 'prom-client'].filter(
    (name) => name !== '@opentelemetry/api',
  ),
  plugins: [sharedApi],
});

// The licences ask for the names of what is in there.
const require = createRequire(import.meta.url);
const files = Object.values(metafile.outputs).flatMap(({ inputs }) =>
  Object.keys(inputs).filter((file) => inputs[file].bytesInOutput > 0),
);
const folders = new Set(files.flatMap((file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []));
const lines = [...folders]
  .map((folder) => require(join(here, folder, 'package.json')))
  .map(({ name, version, license }) => `${name} ${version}, ${license}\n`)
  .toSorted();
await writeFile(join(dist, 'BUNDLED.txt'), ['Code of these packages is in this folder:\n\n', ...lines].join(''));
// What is left of the modules before they were bundled.
const outputs = new Set(Object.keys(metafile.outputs).map((file) => join(here, file)));
for (const name of await readdir(dist)) {
  if (/\.js(\.map)?$/.test(name) && !outputs.has(join(dist, name))) await rm(join(dist, name));
}
