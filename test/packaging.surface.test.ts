import { existsSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { ROOT } from './newcomer/commands.ts';
import { packedWorkspace } from './newcomer/pack.ts';
import { withLadder } from './packaging/ladder.ts';
import { published } from './packaging/published.ts';
import { CORE_README, recordedSizes, type SizeReport, sizeReportOf } from './packaging/reports.ts';
import { bundled, type Sizes, sized } from './packaging/sizes.ts';
import { type SurfaceReport, surfaceReports } from './packaging/surface.ts';

/*
 * What a user of the packages would notice: names and types of every entry, and how much there is to load. Both stand in `api/` beside each
 * package, so that the reader of a change sees them change. `pnpm run surface` writes them again.
 */

let workspace: string;
let reports: readonly SurfaceReport[];
beforeAll(async () => {
  workspace = await packedWorkspace();
  reports = surfaceReports(workspace);
}, 180_000);

const libraries = published.filter(({ manifest }) => manifest.exports);

describe.each(libraries)('$name', ({ folder }) => {
  test('offers what its report says: if that is meant, run `npx pnpm run surface`, and commit what it writes', async () => {
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

/** Bytes by what they are of. */
const flat = ({ gzipped, floor = [] }: SizeReport): Sizes => ({
  ...gzipped,
  ...Object.fromEntries(
    floor.flatMap((rung) => [
      [`without ${rung.without}, minified`, rung.minified],
      [`without ${rung.without}, gzipped`, rung.gzipped],
    ]),
  ),
});

describe.each(sized)('$name', (one) => {
  test('is as large as its report says: if that is meant, run `npx pnpm run surface`, and commit what it writes', async () => {
    const now = flat(await sizeReportOf(one, workspace));
    const recorded = flat(recordedSizes(one, ROOT));
    expect(Object.keys(now)).toEqual(Object.keys(recorded));
    const off = Object.entries(now).filter(([what, bytes]) => {
      const before = recorded[what] ?? 0;
      return Math.abs(bytes - before) > Math.max(before * SLACK, SLACK_BYTES);
    });
    expect(off.map(([what, bytes]) => `${what}: ${bytes} bytes, and ${recorded[what]} in the report`)).toEqual([]);
  });
});

const core = published.find(({ name }) => name === '@breakerbox/core') ?? expect.fail('no core');

/**
 * Bytes, minified and gzipped. Written by hand: `surface` follows what is there, and this says how far.
 *
 * 55,000 and 60,000 until there were groups (C13, C15), two rules of the budget (B1 to B4, B6), systemic failures of single tools in scope
 * `process` with a probe of their own (S2, S5), and `session.explain()`.
 */
const AT_MOST: Sizes = { createBreakerbox: 67_000, '. (all)': 72_000, classifyError: 15_000 };

test('core stays below a bound that is moved only with a reason', async () => {
  const { gzipped } = await sizeReportOf(core, workspace);
  const over = Object.entries(AT_MOST).filter(([what, most]) => (gzipped[what] ?? Number.POSITIVE_INFINITY) > most);
  expect(over.map(([what, most]) => `${what}: ${gzipped[what]} bytes, and ${most} at most`)).toEqual([]);
});

test('the README of core shows what its report says, part by part', () => {
  const readme = readFileSync(join(ROOT, CORE_README), 'utf8');
  const report = recordedSizes(core, ROOT);
  expect(readme).toBe(withLadder(readme, report));
  // Each part takes something, and what is left after all of them is what decides.
  const left = (report.floor ?? []).map(({ gzipped }) => gzipped);
  expect(left.length).toBeGreaterThan(10);
  expect(left).toEqual(left.toSorted((a, b) => b - a));
  expect(left[0]).toBe(report.gzipped.createBreakerbox);
});

test('what is imported from core without createBreakerbox brings no engine along', async () => {
  const index = join(workspace, core.folder, 'dist/index.js');
  const names = Object.keys((await import(index)) as object).filter((name) => name !== 'createBreakerbox');
  expect(names).toEqual(expect.arrayContaining(['classifyError', 'describeFreshness', 'formatReport', 'METRIC']));
  const engine = /\/(breakerbox|expeditor|session|circuits|budget|systemic)\.js$/;
  const bringsEngine = async (name: string): Promise<boolean> => {
    const { metafile } = await bundled(`export { ${name} } from './dist/index.js'`, core, workspace);
    const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs));
    return inputs.some(([path, { bytesInOutput }]) => bytesInOutput > 0 && engine.test(path));
  };
  expect(await bringsEngine('createBreakerbox')).toBe(true);
  const each = await Promise.all(names.map(async (name) => [name, await bringsEngine(name)] as const));
  expect(each.filter(([, brings]) => brings)).toEqual([]);
});
