import { expect, test } from 'vitest';
import { clockTime, parseDuration, prometheusDuration, shortSeconds } from './duration.ts';

test.each([
  ['90s', 90_000],
  ['2m', 120_000],
  ['1m30s', 90_000],
  ['500ms', 500],
  ['1h', 3_600_000],
  ['1.5s', 1500],
  ['2d', 172_800_000],
  ['0', 0],
])('%s is %i ms', (text, ms) => expect(parseDuration(text)).toBe(ms));

test.each(['', '5', 's', '5 s', '-5s', '5x', '5sx', 'x5s', '1e3s', 'Infinity'])("'%s' is not a duration", (text) =>
  expect(parseDuration(text)).toBeUndefined(),
);

test('writes durations that Prometheus can parse', () => {
  expect([5000, 166.67, 0, 61_000].map(prometheusDuration)).toEqual(['5s', '167ms', '0s', '61s']);
});

test('writes durations for people', () => {
  expect([0, 999, 65_000, 3_600_000 + 5000].map(clockTime)).toEqual(['00:00', '00:00', '01:05', '1:00:05']);
  expect([3420, -1].map(shortSeconds)).toEqual(['3.4 s', '0.0 s']);
});
