import { describe, expect, it } from 'vitest';
import { readResults } from './pages.ts';
import { overviewText, readmeText } from './readme.ts';
import { benchText } from './tables.ts';

describe('what was measured', () => {
  it('has four rows in the README', () => {
    const lines = readmeText(readResults()).split('\n');
    expect(lines.filter((line) => line.startsWith('| a call '))).toHaveLength(4);
    expect(lines.join('\n')).not.toMatch(/NaN|–/);
  });

  it('has an overview in one unit, with the bare calls, and with a different title on each line', () => {
    const lines = overviewText(readResults())
      .split('\n')
      .filter((line) => line.startsWith('| a call '));
    const names = lines.map((line) => line.split(' | ')[0]);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toContain('| a call that succeeds, alone');
    expect(lines.join('\n')).not.toMatch(/NaN|ns|×/);
  });

  it('is in bench/README.md row by row with spread and ratios, and each target with its floor', () => {
    const results = readResults();
    const text = benchText(results);
    for (const { title, rows } of results.cases) {
      expect(text).toContain(`### ${title}: `);
      for (const row of rows) expect(text).toContain(`\n| ${row.title} | `);
    }
    for (const { says, floor } of results.targets) {
      expect(text).toContain(`\n| ${says} | `);
      for (const { title } of floor?.parts ?? []) expect(text).toContain(title);
    }
    expect(text).toContain('p25 – p75 | × bare | × cockatiel');
    expect(text).not.toContain('NaN');
  });

  it('reports a missing row, and says how to measure it', () => {
    expect(() => readmeText({ ...readResults(), cases: [] })).toThrow(
      'README.md shows the row guard of closed/none, but the results have no such row. Run "npm run bench -- --write".',
    );
  });
});
