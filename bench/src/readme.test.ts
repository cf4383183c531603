import { describe, expect, it } from 'vitest';
import { readResults } from './pages.ts';
import { readmeText, verdictsText } from './readme.ts';
import type { Verdict } from './results.ts';
import { benchText } from './tables.ts';

const verdict = (says: string, more: Partial<Verdict>): Verdict => ({
  ...{ id: says, says, about: 'closed/none/hand', measured: 0.5, limit: 1, met: true, quartiles: [0.48, 0.52] },
  ...more,
});

describe('how the targets stand', () => {
  const targets = [
    verdict('Bare: at most cockatiel', { reading: 'lean' }),
    verdict('In its context: at most cockatiel', {
      ...{ reading: 'full', met: false, measured: 1.247, quartiles: [1.196, 1.286] },
    }),
    verdict('Flat: at most so much', { quartiles: [0.9, 1.1], measured: 0.998 }),
    verdict('Full window: as an empty one', { met: false, measured: 1.004, quartiles: [0.98, 1.2] }),
  ];

  it('is counted in each reading, and a miss in one of them is shown', () => {
    const text = verdictsText(targets);
    expect(text).toMatch(
      /^3 targets were set for it, of which 1 can be read in two ways\. 2 of 3 are met by hand without the context/,
    );
    expect(text).toContain('\n1 of 3 are met in the context, with the text read');
    expect(text).toContain('\n- In its context: at most cockatiel. It is 1.2 ×.');
  });

  it('is said to be by chance where the limit lies within the spread, whether it is met or missed', () => {
    const text = verdictsText(targets);
    expect(text).toContain('\n- Full window: as an empty one. It is 1.004 ×, and the limit lies within the spread.');
    expect(text).toMatch(/so that another run may miss it:\n\n- Flat: at most so much\.$/);
    expect(text).not.toContain('- Bare');
  });

  it('needs no list where all are met, and not by chance', () => {
    const text = verdictsText([verdict('Bare: at most cockatiel', {})]);
    expect(text).not.toContain('Missed');
    expect(text).not.toContain('\n-');
  });
});

describe('what was measured', () => {
  it('stands in the README in one unit, with the calls alone beside it, each line under a name of its own', () => {
    const lines = readmeText(readResults())
      .split('\n')
      .filter((line) => line.startsWith('| a call '));
    const names = lines.map((line) => line.split(' | ')[0]);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toContain('| a call that succeeds, alone');
    expect(lines.join('\n')).not.toMatch(/NaN|ns|×/);
  });

  it('stands in bench/README.md row by row, with spread and ratios, and each target with its floor', () => {
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

  it('is refused where a row is missing, which says how to have it', () => {
    expect(() => readmeText({ ...readResults(), cases: [] })).toThrow(
      'README.md wants the row guard of closed/none, and the results have none. Run "npm run bench -- --write".',
    );
  });
});
