import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { expect, onTestFinished, test } from 'vitest';
import { ROOT } from './newcomer/commands.ts';
import { entriesOf, published } from './packaging/published.ts';

/*
 * What the entries need of Node, by their sources. `packaging.use.test.ts` runs bundles where there is no Node.
 */

const INSTRUMENTATION = '@breakerbox/instrumentation';

/** Leaves all packages but ours out of a bundle. */
const oursAlone: Plugin = {
  name: 'ours-alone',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^[^./]/ }, ({ path }) =>
      path.startsWith('@breakerbox/') ? undefined : { path, external: true },
    ),
};

/** The modules of Node that a bundle of an entry imports. */
const needsOf = async (entry: string): Promise<readonly string[]> => {
  const { metafile } = await build({
    stdin: { contents: `export * from '${entry}';`, resolveDir: join(ROOT, 'test') },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    conditions: ['breakerbox-source'],
    plugins: [oursAlone],
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  const imported = Object.values(metafile.inputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  return [...new Set(imported.filter(isBuiltin))].sort();
};

const readme = readFileSync(join(ROOT, 'packages/instrumentation/README.md'), 'utf8');
const [, table = ''] = /## Browsers and edge workers\n(.*?)\n## /s.exec(readme) ?? [];
const documented = new Map(
  [...table.matchAll(/^\| `(\/[\w-]+)` \| (.*?) \|/gm)].map(([, entry = '', needs = '']) => [entry, needs]),
);

const entries = published
  .filter(({ name }) => name === INSTRUMENTATION || name === '@breakerbox/core')
  .flatMap(entriesOf);

test.each(entries)('%s needs of Node what the README says', async (entry) => {
  const needs = await needsOf(entry);
  const said = documented.get(entry.replace(INSTRUMENTATION, '')) ?? '';
  expect(said.match(/node:[\w/]+/g) ?? []).toEqual(needs);
});

const advice = readFileSync(join(ROOT, 'docs/troubleshooting.md'), 'utf8');
const [, banner = ''] = /--banner:js="(.*)"/.exec(advice) ?? [];

test('an ES module of esbuild reads a configuration file, with the banner of docs/troubleshooting.md', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-bundle-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const outfile = join(folder, 'agent.mjs');
  const contents = `import { loadConfig } from '${INSTRUMENTATION}/config'; console.log(loadConfig('${folder}/a.yaml').budget);`;
  await build({
    stdin: { contents, resolveDir: join(ROOT, 'test') },
    bundle: true,
    format: 'esm',
    platform: 'node',
    conditions: ['breakerbox-source'],
    banner: { js: banner },
    outfile,
  });
  writeFileSync(join(folder, 'a.yaml'), 'budget: { failures: 7 }\n');
  expect(execFileSync(process.execPath, [outfile], { encoding: 'utf8' })).toBe('{ failures: 7 }\n');
});
