import type { DataFrame, DisplayValue, Field } from '@grafana/data';
import { describe, expect, test } from 'vitest';
import { bandsOf, roomy, timeTicks } from './bands.ts';

const NAMES = ['closed', 'open'];
const display = (value: unknown): DisplayValue => ({ text: NAMES[Number(value)] ?? '', numeric: Number(value) });
const frame = (times: number[], values: (number | null)[]): [DataFrame, Field] => {
  const field = { name: 'Value', type: 'number', values, config: {}, display } as Field;
  const time = { name: 'Time', type: 'time', values: times, config: { interval: 10 } } as Field;
  return [{ fields: [time, field], length: times.length }, field];
};
const drawn = (times: number[], values: (number | null)[], merge: boolean) =>
  bandsOf(...frame(times, values), 45, merge).map(({ fromMs, toMs, display: { text } }) => [text, fromMs, toMs]);

describe('bands', () => {
  test('equal neighbours are one band', () => {
    expect(drawn([0, 10, 20, 30, 40], [0, 0, 1, 1, 0], true)).toEqual([
      ['closed', 0, 20],
      ['open', 20, 40],
      ['closed', 40, 45],
    ]);
  });
  test('or one band each', () => {
    expect(drawn([0, 10, 20, 30, 40], [0, 0, 1, 1, 0], false)).toHaveLength(5);
  });
  test('nothing is drawn without samples, and a missing sample ends a band', () => {
    expect(drawn([0, 10, 30, 40], [0, null, 1, 1], true)).toEqual([
      ['closed', 0, 10],
      ['open', 30, 45],
    ]);
    expect(drawn([0, 30], [0, 0], true)).toEqual([
      ['closed', 0, 10],
      ['closed', 30, 45],
    ]);
  });
  test('as in Grafana, merged values with the colour mode thresholds lose their mappings', () => {
    const base = { value: Number.NEGATIVE_INFINITY, color: 'transparent' };
    const named = (steps: object[], merge: boolean) => {
      const [all, field] = frame([0, 10, 20], [0, 0, 1]);
      const config = { color: { mode: 'thresholds' }, thresholds: { mode: 'absolute', steps } } as Field['config'];
      return bandsOf(all, { ...field, config }, 45, merge).map(({ display: { text, color } }) => [text, color]);
    };
    expect(named([base], true)).toEqual([['-∞+', 'transparent']]);
    expect(named([base, { value: 1, color: 'red' }], true)).toEqual([
      ['< 1', 'transparent'],
      ['1+', 'red'],
    ]);
    expect(named([base], false).map(([text]) => text)).toEqual(['closed', 'closed', 'open']);
  });
});

test('a time axis has ticks at round times', () => {
  const minute = 60_000;
  expect(timeTicks(30_000, 10 * minute, 6)).toEqual([2, 4, 6, 8, 10].map((at) => at * minute));
  expect(timeTicks(0, 4000, 5)).toEqual([0, 1000, 2000, 3000, 4000]);
});

test('if labels would touch each other, those nearest to the last are kept', () => {
  expect(roomy([10, 14, 30, 50, 60], 12)).toEqual([1, 2, 4]);
  expect(roomy([], 12)).toEqual([]);
});
