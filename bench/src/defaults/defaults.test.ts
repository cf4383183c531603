import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { withDefaults } from '../../../docs/reference/defaults.ts';
import { broken, LIMITS } from './limits.ts';
import { FULL_SIZE, playAll, QUICK_SIZE, readDefaults } from './play.ts';
import { SCENARIOS } from './scenarios.ts';
import { percent } from './table.ts';

const AGAIN =
  'else run "npm run bench -- defaults --write" and "node scripts/pnpm/pnpm.mjs run generate", look at what changed, and commit it';

describe('the simulation of the defaults', () => {
  const played = playAll(QUICK_SIZE);

  it('B1, B3, S1, S3: the defaults keep their limits, and a false event in scope process costs no other tool a call (S2, S5)', () => {
    expect(broken(played)).toEqual([]);
  });

  it(`gives the same results as the committed file for the same runs: ${AGAIN}`, () => {
    const { first } = readDefaults();
    expect({ runs: QUICK_SIZE.runs, rows: played.rows, falseEvents: played.falseEvents }).toEqual(first);
  });

  it('B6: strict pauses nearly every run with one dead tool, as the old defaults did', () => {
    const { cells } = played.rows.find(({ id }) => id === 'dead-50') ?? expect.fail();
    expect(cells.strict.pausedByBudget).toBeGreaterThan(0.98);
  });
});

describe('the committed results', () => {
  const written = readDefaults();

  it('are of a full run, with every row, and keep the limits', () => {
    expect(written.runs).toBe(FULL_SIZE.runs);
    expect(written.rows.map(({ id }) => id)).toEqual(SCENARIOS.map(({ id }) => id));
    expect(broken(written)).toEqual([]);
  });

  it('match docs/concepts.md: else run "node scripts/pnpm/pnpm.mjs run generate" and commit the result', () => {
    const page = readFileSync(new URL('../../../docs/concepts.md', import.meta.url), 'utf8');
    expect(page).toBe(withDefaults(page));
  });
});

describe('the limits', () => {
  it('are broken by results without rows, and by a false event that does not end', () => {
    const { falseEvents } = readDefaults();
    expect(broken({ rows: [], falseEvents })).toHaveLength(LIMITS.length);
    const { longestSeconds, ...endless } = falseEvents;
    expect(longestSeconds).toBeGreaterThan(0);
    expect(broken({ rows: readDefaults().rows, falseEvents: { ...endless, longestSeconds: undefined } })).toEqual([
      'false event: it ends after five minutes',
    ]);
  });
});

it.each([
  [0, '0 %'],
  [0.0005, '< 0.1 %'],
  [0.0065, '0.7 %'],
  [0.126, '13 %'],
  [0.9995, '99.9 %'],
  [0.994, '99.4 %'],
  [1, '100 %'],
])('a share of %d is written as %s', (share, text) => {
  expect(percent(share)).toBe(text);
});
