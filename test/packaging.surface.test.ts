import { existsSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { ROOT } from './newcomer/commands.ts';
import { packedWorkspace } from './newcomer/pack.ts';
import { published } from './packaging/published.ts';
import { CORE_README, recordedSizes, withSizes } from './packaging/reports.ts';
import { bundled, MINIMAL, MINIMAL_PROGRAM, type Sizes, sized, sizesOf } from './packaging/sizes.ts';
import { type SurfaceReport, surfaceReports } from './packaging/surface.ts';

/*
 * What a user of the packages would notice: names and types of every entry, and how much there is to load. Both stand in `api/` beside each
 * package, so that the reader of a change sees them change. `node scripts/pnpm/pnpm.mjs run surface` writes them again.
 */

let workspace: string;
let reports: readonly SurfaceReport[];
beforeAll(async () => {
  workspace = await packedWorkspace();
  reports = surfaceReports(workspace);
}, 180_000);

const libraries = published.filter(({ manifest }) => manifest.exports);

describe.each(libraries)('$name', ({ folder }) => {
  test('offers what its report says: if that is meant, run `node scripts/pnpm/pnpm.mjs run surface`, and commit what it writes', async () => {
    const now = reports.filter(({ path }) => path.startsWith(`${folder}/api/`));
    expect(now.length).toBeGreaterThan(0);
    for (const { path, text } of now) {
      const recorded = existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), 'utf8') : 'no report';
      expect.soft(text, path).toBe(recorded);
    }
    const kept = await readdir(join(ROOT, folder, 'api'));
    const known = now.map(({ path }) => path.slice(`${folder}/api/`.length));
    expect(kept.filter((name) => !known.includes(name))).toEqual(folder.startsWith('packages/') ? ['size.json'] : []);
  });
});

/** How far a size may be from the one in the report: enough for a corrected word, too little for a new part. */
const SLACK = 0.03;
/** Of what is so small that a word is more than that. */
const SLACK_BYTES = 60;

describe.each(sized)('$name', (one) => {
  test('is as large as its report says: if that is meant, run `node scripts/pnpm/pnpm.mjs run surface`, and commit what it writes', async () => {
    const now = await sizesOf(one, workspace);
    const recorded = recordedSizes(one, ROOT);
    expect(Object.keys(now)).toEqual(Object.keys(recorded));
    const off = Object.entries(now).filter(([what, bytes]) => {
      const before = recorded[what] ?? 0;
      return Math.abs(bytes - before) > Math.max(before * SLACK, SLACK_BYTES);
    });
    expect(off.map(([what, bytes]) => `${what}: ${bytes} bytes, and ${recorded[what]} in the report`)).toEqual([]);
  });
});

const core = published.find(({ name }) => name === '@breakerbox/core') ?? expect.fail('no core');

/** Bytes, minified and gzipped. `surface` writes what there is. Only a new part of the engine may raise these limits: limits of a run took 7 kB, circles 1 kB, the outcome of a run 0.1 kB, copies of runs and tallies in look aheads 0.6 kB, tables that name every reason and category 0.4 kB, and metrics that name the tools of an event 0.7 kB. */
const AT_MOST: Sizes = { [MINIMAL]: MINIMAL_PROGRAM.limit, '. (all)': 76_755, classifyError: 5_500 };

test('core stays below its limits', async () => {
  const gzipped = await sizesOf(core, workspace);
  const over = Object.entries(AT_MOST).filter(([what, most]) => (gzipped[what] ?? Number.POSITIVE_INFINITY) > most);
  expect(over.map(([what, most]) => `${what}: ${gzipped[what]} bytes, and ${most} at most`)).toEqual([]);
});

test('the README of core shows what its report says', () => {
  const readme = readFileSync(join(ROOT, CORE_README), 'utf8');
  expect(readme).toBe(withSizes(readme, recordedSizes(core, ROOT)));
});

test('what is imported from core without createBreakerbox brings no engine along', async () => {
  const names = Object.keys((await import(join(workspace, core.folder, 'dist/index.js'))) as object);
  expect(names).toEqual(expect.arrayContaining(['createBreakerbox', 'METRIC']));
  const sizeOf = async (name: string): Promise<number> =>
    (await bundled(`export { ${name} } from './dist/index.js'`, core, workspace)).code.length;
  const engine = await sizeOf('createBreakerbox');
  const sizes = await Promise.all(names.map(async (name) => [name, await sizeOf(name)] as const));
  expect(sizes.filter(([name, size]) => name !== 'createBreakerbox' && size > engine / 3)).toEqual([]);
});

test('classes of the published files have their names', async () => {
  const { createBreakerbox } = (await import(join(workspace, core.folder, 'dist/index.js'))) as {
    createBreakerbox: (config: object) => { session(): object };
  };
  const session = createBreakerbox({ agent: 'named' }).session();
  expect(inspect(session)).toMatch(/^Session\b/);
});

test.each(sized)('$name has one file for each entry, and source maps', async ({ folder, manifest }) => {
  const files = (await readdir(join(workspace, folder, 'dist'), { recursive: true })).filter(
    (name) => name.endsWith('.js') && !name.startsWith('page/'), // The console's page is for browsers.
  );
  const entries = Object.values(manifest.exports ?? {}).map((entry) => entry.default?.replace('./dist/', ''));
  expect(files).toEqual(expect.arrayContaining(entries));
  // Files that entries share, and none for each source.
  expect(files.length).toBeLessThan(entries.length * 2 + 8);
  const withoutMap = files.filter((name) => !existsSync(join(workspace, folder, 'dist', `${name}.map`)));
  for (const name of withoutMap) {
    // Only imports and exports.
    expect(readFileSync(join(workspace, folder, 'dist', name), 'utf8')).not.toMatch(/^(var|const|function|class) /m);
  }
});
