import { expect, test } from 'vitest';
import { paletteOf, shade } from './heat.ts';

const alpha = (color: string, opacity: number): string => `${color}/${opacity}`;

test('a scheme for dark backgrounds stays as it is, and others are reversed', () => {
  const viridis = paletteOf({ scheme: 'Viridis', steps: 2 }, alpha);
  expect(viridis).toEqual(['#440154', '#fde725']);
  expect(paletteOf({ scheme: 'Viridis', steps: 2, reverse: true }, alpha)).toEqual([...viridis].reverse());
  const light = 'rgb(255, 245, 235)';
  expect(paletteOf({ scheme: 'Oranges', steps: 3 }, alpha).at(-1)).toBe(light);
});

test('one colour with varying opacity', () => {
  expect(paletteOf({ mode: 'opacity', fill: 'blue', steps: 3, exponent: 2 }, alpha)).toEqual([
    'blue/0',
    'blue/0.25',
    'blue/1',
  ]);
});

test('values are spread over all colours', () => {
  expect([0, 5, 10, 99, -1].map((value) => shade(value, 0, 10, 4))).toEqual([0, 2, 3, 3, 0]);
  expect(shade(3, 3, 3, 4)).toBe(0);
});
