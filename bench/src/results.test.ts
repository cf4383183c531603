import { describe, expect, it } from 'vitest';
import { CASES } from './cases.ts';
import { type Findings, FULL, inWords, QUICK } from './contest.ts';
import { type Found, judge, tell } from './results.ts';
import { TARGETS, type Target } from './targets.ts';

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
  says: 'as cheap as cockatiel',
  case: 'closed',
  sdk: 'none',
  row: 'hand',
  limit: { times: 2, of: 'cockatiel' },
};

describe('tell', () => {
  it('has medians, quartiles and ratios to the peers of the case', () => {
    const { rows, facts } = tell(found, FULL);
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

describe('judge', () => {
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

  it('reads a counted fact', () => {
    const limit = { fact: 'grownBytes', atMost: 12 };
    expect(judge({ ...target, limit }, [found], FULL)).toMatchObject({ measured: 12.4, met: false });
  });

  it('is not met if the fact was not counted', () => {
    expect(judge({ ...target, limit: { fact: 'nothing', atMost: 12 } }, [found], FULL)?.met).toBe(false);
  });

  it('shows the findings of a quick run, and does not judge them', () => {
    expect(judge(target, [found], QUICK)).toMatchObject({ measured: 2, limit: 2 });
    expect(judge(target, [found], QUICK)).not.toHaveProperty('met');
  });

  it('leaves out a case that did not run', () => {
    expect(judge({ ...target, sdk: 'metrics' }, [found], FULL)).toBeUndefined();
  });
});

describe('the targets', () => {
  it('have as many lean as full readings, on different rows of the same cases', () => {
    const cases = (reading: Target['reading']) =>
      TARGETS.filter((one) => one.reading === reading).map(
        (one) => `${one.case}/${one.sdk} ${JSON.stringify(one.limit)}`,
      );
    expect(cases('lean').length).toBeGreaterThan(0);
    expect(cases('full')).toEqual(cases('lean'));
  });

  it('name the number of things, which depends on the pace', () => {
    const said = (pace: typeof FULL) => TARGETS.map(({ says }) => inWords(says, pace)).join('\n');
    expect(said(FULL)).toContain('heap flat over 1,000,000 of them');
    expect(said(QUICK)).toContain('heap flat over 20,000 of them');
    expect(said(QUICK)).toContain('2,000 sessions through one process');
  });

  it('refer to cases that exist, and have unique ids', () => {
    for (const one of TARGETS) {
      expect(CASES.find(({ id }) => id === one.case)?.sdks, one.id).toContain(one.sdk);
    }
    expect(new Set(TARGETS.map(({ id }) => id)).size).toBe(TARGETS.length);
  });
});
