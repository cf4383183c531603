import { describe, expect, it } from 'vitest';
import { CASES } from './cases.ts';
import { type Findings, FULL, QUICK } from './contest.ts';
import { caseResult, type Found, judge } from './results.ts';
import type { Target } from './targets.ts';

const [closed] = CASES;
if (closed === undefined) throw new Error('There are no cases.');

const findings: Findings = {
  contestants: [
    { id: 'cockatiel', title: 'cockatiel', by: 'cockatiel' },
    { id: 'hand', title: 'ours', by: 'breakerbox' },
    { id: 'wrapper', title: 'a wrapper', by: 'floor' },
    { id: 'clock', title: 'a clock', by: 'floor' },
  ],
  samples: { cockatiel: [100, 120, 110], hand: [150, 240, 220], wrapper: [70, 70, 70], clock: [90, 90, 90] },
  facts: { hand: { grownBytes: 12.4 }, all: { decisions: 3 } },
};
const found: Found = { one: closed, sdk: 'none', findings };
const target: Target = {
  id: 'one',
  says: () => 'as cheap as cockatiel',
  about: 'closed/none/hand',
  limit: { times: 2, of: 'cockatiel' },
  floor: [],
};

describe('the result of a case', () => {
  it('has medians, quartiles and ratios to the peers, round by round', () => {
    const { rows, facts } = caseResult(found, FULL);
    expect(rows.map(({ id, median }) => [id, median])).toEqual([
      ['cockatiel', 110],
      ['hand', 220],
      ['wrapper', 70],
      ['clock', 90],
    ]);
    expect(rows[1]).toMatchObject({
      p25: 185,
      p75: 230,
      ratios: { cockatiel: { median: 2 } },
      facts: { grownBytes: 12 },
    });
    expect(Object.keys(rows[1]?.ratios ?? {})).toEqual(['cockatiel']);
    expect(facts).toEqual({ decisions: 3 });
  });
});

describe('a target', () => {
  it('is met at the limit and missed above it', () => {
    expect(judge(target, [found], FULL)).toMatchObject({
      measured: 2,
      quartiles: [1.75, 2],
      limit: 2,
      met: true,
      about: 'closed/none/hand',
    });
    expect(judge({ ...target, limit: { times: 1.9, of: 'cockatiel' } }, [found], FULL)?.met).toBe(false);
  });

  it('shows the floor, and how far the row is above it', () => {
    const verdict = judge({ ...target, floor: ['wrapper', 'clock'] }, [found], FULL);
    expect(verdict?.floor).toEqual({
      parts: [
        { title: 'a wrapper', median: 70 },
        { title: 'a clock', median: 90 },
      ],
      median: 160,
      above: 60,
    });
  });

  it('reads a counted fact, and is not met if the fact was not counted', () => {
    const limit = { fact: 'grownBytes', atMost: 12 };
    expect(judge({ ...target, limit }, [found], FULL)).toMatchObject({ measured: 12.4, met: false });
    expect(judge({ ...target, limit: { fact: 'nothing', atMost: 12 } }, [found], FULL)?.met).toBe(false);
  });

  it('is not judged after a quick run, and is left out if its case did not run', () => {
    expect(judge(target, [found], QUICK)).not.toHaveProperty('met');
    expect(judge({ ...target, about: 'closed/metrics/hand' }, [found], FULL)).toBeUndefined();
  });
});
