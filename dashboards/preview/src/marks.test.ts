import { expect, test } from 'vitest';
import { marksOf } from './marks.ts';

const MINUTE = 60_000;
const face = { name: 'Pause', color: 'red', title: 'Pause' };

test('samples above zero that follow each other are one mark, and a gap begins another', () => {
  const points = [
    [MINUTE, 0],
    [2 * MINUTE, 1],
    [3 * MINUTE, 3],
    [4 * MINUTE, 0],
    [5 * MINUTE, null],
    [6 * MINUTE, 1],
  ] as const;
  expect(marksOf({ name: 'Pause' }, [{ metric: {}, points }], MINUTE)).toEqual([
    { ...face, fromMs: 2 * MINUTE, toMs: 3 * MINUTE },
    { ...face, fromMs: 6 * MINUTE, toMs: 6 * MINUTE },
  ]);
});

test('a value that is a time is one mark at that time, for any number of samples, with the labels in its title', () => {
  const series = {
    metric: { tool: 'search' },
    points: [10, 20, 30].map((at) => [at * MINUTE, 5 * MINUTE + 0.5] as const),
  };
  const annotation = {
    name: 'Openings',
    iconColor: '#E69F00',
    useValueForTime: true,
    titleFormat: '{{tool}} opened{{none}}',
  };
  expect(marksOf(annotation, [series], MINUTE)).toEqual([
    { name: 'Openings', color: '#E69F00', title: 'search opened', fromMs: 5 * MINUTE, toMs: 5 * MINUTE },
  ]);
});
