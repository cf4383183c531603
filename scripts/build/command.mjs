// `node ../../scripts/build/command.mjs` in packages/cli writes `dist`: the whole command, with all that it imports. So `npx breakerbox`
// downloads one package, and a relay reads a few files. `main.js` is the command, and `code/` has what it loads.
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { rolldown } from 'rolldown';
import { carriedIn, writeNames } from './bundled-names.mjs';

const ROOT = '../..';
/** Optional: the application has it, or not. */
const EXTERNAL = ['@grpc/grpc-js'];
/** Packages of this workspace whose `dist` has code of others. */
const CARRYING = ['packages/telemetry', 'packages/control'];

/** Files that the code reads beside itself, as it does in its own package. */
const BESIDE = {
  'alerts/runbooks': 'dist/runbooks',
  'alerts/src/settings.ts': 'dist/src/settings.ts',
  'stack/alertmanager': 'dist/alertmanager',
  'packages/control/dist/page': 'dist/code/page',
};

const checkTypes = () => {
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
  const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
};

/** The main file of jsonc-parser asks for its parts while it runs, so it cannot be bundled. Its ES modules can, and have no default export. */
const wholeJsonc = {
  name: 'whole-jsonc-parser',
  resolveId: (id) => (id === 'jsonc-parser' ? `\0${id}` : null),
  load: (id) => {
    if (id !== '\0jsonc-parser') return null;
    const modules = createRequire(resolve('package.json')).resolve('jsonc-parser/lib/esm/main.js');
    return `import * as whole from ${JSON.stringify(modules)}; export default whole;`;
  },
};

const writeCode = async () => {
  const bundle = await rolldown({
    input: { main: 'src/main.ts' },
    platform: 'node',
    plugins: [wholeJsonc],
    external: EXTERNAL,
    experimental: { attachDebugInfo: 'none' },
  });
  const { output } = await bundle.write({
    dir: 'dist',
    chunkFileNames: 'code/[name]-[hash].js',
    comments: { legal: true, annotation: true, jsdoc: false },
  });
  return output.flatMap(({ modules = {} }) => Object.keys(modules));
};

rmSync('dist', { recursive: true, force: true });
checkTypes();
writeNames(
  await writeCode(),
  CARRYING.flatMap((folder) => carriedIn(join(ROOT, folder))),
);
for (const [from, to] of Object.entries(BESIDE)) cpSync(join(ROOT, from), to, { recursive: true });
