import { describe, expect, it } from 'vitest';
import { about, exact, figure, kib, micro, milli, sure } from './figures.ts';

const spread = (median: number, p25 = median, p75 = median) => ({ median, p25, p75 });

describe('a figure without its spread', () => {
  it.each([
    { values: spread(121.4, 120.1, 130.6), text: '0.12' },
    { values: spread(1032, 1017, 1049), text: '1.0' },
    { values: spread(5606, 4651, 6266), text: '6' },
    { values: spread(5366, 4894, 9493), text: '5' },
    { values: spread(1516, 916.5, 1792), text: '1.5' },
    { values: spread(27430, 23180, 34070), text: '30' },
    { values: spread(168100, 127600, 231400), text: '200' },
    { values: spread(1_234_000), text: '1,200' },
  ])('has only the digits that the spread supports: $values is $text', ({ values, text }) => {
    expect(micro(values)).toBe(text);
  });

  it('has at least one digit, and its unit', () => {
    expect(sure(spread(3, 1, 900))).toBe('3');
    expect(about(88_086)).toBe('88,000');
    expect(kib(spread(1646))).toBe('1.6 KiB');
    expect(milli(spread(82.72, 64.4, 89.9))).toBe('80 ms');
  });
});

it('a figure beside its spread has three digits, and a limit has four decimals', () => {
  expect([5606.4, 35.83, 0.03506, 7].map(figure)).toEqual(['5,606', '35.8', '0.035', '7']);
  expect(exact(0.99821)).toBe('0.9982');
});
