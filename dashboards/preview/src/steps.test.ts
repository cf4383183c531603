import { describe, expect, test } from 'vitest';
import { duration, parseDuration, rateIntervalMs, stepMs } from './steps.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('step', () => {
  test.each([
    ['an hour over 780 pixels', { rangeMs: HOUR, points: 780, scrapeMs: 1000 }, 5000],
    ['six hours over 780 pixels', { rangeMs: 6 * HOUR, points: 780, scrapeMs: 1000 }, 30_000],
    ['a week over 500 pixels', { rangeMs: 168 * HOUR, points: 500, scrapeMs: 1000 }, 20 * MINUTE],
    ['no shorter than a scrape', { rangeMs: 10 * MINUTE, points: 780, scrapeMs: 15_000 }, 15_000],
    ["the panel's own shortest interval", { rangeMs: 10 * MINUTE, points: 780, scrapeMs: 15_000, leastMs: 5000 }, 5000],
    ['no more points than Prometheus returns', { rangeMs: 10 * HOUR, points: 100_000, scrapeMs: 100 }, 4000],
  ])('%s', (_, asking, expected) => {
    expect(stepMs(asking)).toBe(expected);
  });

  test('a rate looks back over four scrapes, or a step and a scrape', () => {
    expect(rateIntervalMs(1000, 15_000)).toBe(60_000);
    expect(rateIntervalMs(120_000, 15_000)).toBe(135_000);
  });
});

describe('durations', () => {
  test.each([
    ['15s', 15_000],
    ['1m30s', 90_000],
    ['500ms', 500],
    ['>10s', 10_000],
    ['2h', 2 * HOUR],
  ])('%s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });
  test.each(['', '5', 's', '5 s', '-5s', '1.5h', 'Infinity'])('"%s" is not a duration', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
  test('are written in the notation of Prometheus', () => {
    expect([duration(90_000), duration(200)]).toEqual(['90s', '200ms']);
  });
});
