import { describe, expect, it } from 'vitest';
import { ratioOf, spreadOf } from './stats.ts';

describe('spreadOf', () => {
  it('gives the median and the quartiles of an odd and an even number of values', () => {
    expect(spreadOf([5, 1, 3, 2, 4])).toEqual({ median: 3, p25: 2, p75: 4 });
    expect(spreadOf([4, 1, 3, 2])).toEqual({ median: 2.5, p25: 1.75, p75: 3.25 });
    expect(spreadOf([7])).toEqual({ median: 7, p25: 7, p75: 7 });
  });

  it('does not change the values', () => {
    const values = [3, 1, 2];
    spreadOf(values);
    expect(values).toEqual([3, 1, 2]);
  });

  it('throws if there are no values', () => {
    expect(() => spreadOf([])).toThrow('Measure at least once');
  });
});

describe('ratioOf', () => {
  it('compares values of the same round, so that a slow round slows both', () => {
    expect(ratioOf([2, 20, 4], [1, 10, 2])).toEqual({ median: 2, p25: 2, p75: 2 });
  });
});
