import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CASES } from './cases.ts';
import { pagesOf, readResults } from './pages.ts';
import { overviewText, readmeText } from './readme.ts';
import type { Results } from './results.ts';
import { TARGETS } from './targets.ts';

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));
const RUN = ['--conditions=breakerbox-source', MAIN];
/** Time limit of a quick run, in milliseconds. It takes seconds, but other tests run on the machine at the same time. */
const RUN_MS = 240_000;

const read = (file: string): Results => JSON.parse(readFileSync(file, 'utf8')) as Results;
const everything = CASES.flatMap(({ id, sdks }) => sdks.map((sdk) => `${id}/${sdk}`));

describe('a quick run', () => {
  let folder: string;
  let printed = '';
  let results: Results;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'breakerbox-bench-'));
    const file = join(folder, 'results.json');
    printed = execFileSync(process.execPath, [...RUN, '--', '--quick', '--json', file], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: RUN_MS,
    });
    results = read(file);
  }, RUN_MS);
  afterAll(() => rmSync(folder, { recursive: true }));

  it('runs every case in every state, and reports every target', () => {
    expect(results.cases.map(({ id, sdk }) => `${id}/${sdk}`)).toEqual(everything);
    expect(results.targets.map(({ id }) => id)).toEqual(TARGETS.map(({ id }) => id));
    for (const { title } of results.cases) expect(printed).toContain(title);
    for (const { says } of results.targets) expect(printed).toContain(says);
  });

  it('judges no target, and names the number of things it measured', () => {
    expect(results.targets.filter((one) => 'met' in one)).toEqual([]);
    expect(printed).toContain('A quick run judges no target');
    expect(printed).not.toMatch(/^(?:met|MISSED)/m);
    expect(printed).toContain('Memory of one, at 1,000 of each');
    expect(printed).toContain('heap flat over 20,000 of them');
    expect(printed).toContain('2,000 sessions through one process');
  });

  it('has a number in every row, and every row that the pages show', () => {
    expect(overviewText(results) + readmeText(results)).not.toContain('NaN');
    for (const { id, rows } of results.cases) {
      expect(rows.length, id).toBeGreaterThan(0);
      for (const { id: row, median, p25, p75, ratios } of rows) {
        const ordered = 0 < p25 && p25 <= median && median <= p75;
        expect(ordered && Object.values(ratios).every((ratio) => ratio.median > 0), `${id}/${row}`).toBe(true);
      }
    }
    for (const { id, measured, limit } of results.targets)
      expect(Number.isFinite(measured) && limit > 0, id).toBe(true);
  });

  it('counted every call in the cases that have metrics on', () => {
    for (const { id, sdk, facts } of results.cases) {
      if (sdk === 'none' || sdk === 'metrics-own-sdk') continue;
      expect(facts?.decisions, `${id}/${sdk}`).toBeGreaterThan(0);
      expect(facts?.durations, `${id}/${sdk}`).toBe(facts?.outcomes);
    }
  });

  it('lets one caller of a thousand probe, and shows every tool in a scrape', () => {
    const facts = (id: string, row: string) =>
      results.cases.find((one) => one.id === id)?.rows.find((one) => one.id === row)?.facts;
    expect(facts('probe', 'guard')).toEqual({ toolCalls: 1 });
    for (const row of ['start-telemetry', 'prom-client', 'opossum-prometheus']) {
      expect(facts('scrape', row)).toMatchObject({ tools: 1_000 });
    }
  });
});

describe('the committed results', () => {
  it('are of a full run, and match README.md and bench/README.md: if not, run "node scripts/pnpm/pnpm.mjs run generate" and commit the result', () => {
    const results = readResults();
    expect(results.pace).toBe('full');
    expect(results.cases.map(({ id, sdk }) => `${id}/${sdk}`)).toEqual(everything);
    for (const { text, old } of pagesOf(results)) expect(old).toBe(text);
  });

  it('name every target, and each id once', () => {
    expect(readResults().targets.map(({ id, about }) => [id, about])).toEqual(
      TARGETS.map(({ id, about }) => [id, about]),
    );
    expect(new Set(TARGETS.map(({ id }) => id)).size).toBe(TARGETS.length);
  });

  it('do not identify the machine', () => {
    const { machine } = readResults();
    expect(Object.keys(machine).toSorted().join(' ')).toBe('cores cpu load memoryGiB node platform versions');
  });
});

describe('the command', () => {
  const run = (...args: string[]) => spawnSync(process.execPath, [...RUN, ...args], { encoding: 'utf8' });

  it('rejects --write for a quick run or for some of the cases', () => {
    for (const args of [
      ['--quick', '--write'],
      ['--only', 'closed', '--write'],
    ]) {
      const { status, stderr } = run(...args);
      expect(status).toBe(1);
      expect(stderr).toContain('Leave out --quick and --only');
    }
  });

  it('rejects an unknown case and an unknown option', () => {
    const cases = run('--only', 'closed,colsed');
    expect(cases.stderr).toContain('no case is called colsed');
    const options = run('--fast');
    expect(options.stderr).toContain("Unknown option '--fast'");
    expect([cases.status, options.status]).toEqual([1, 1]);
    expect(run('--help').stdout).toContain('--quick');
  });
});
