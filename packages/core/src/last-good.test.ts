import { describe, expect, test } from 'vitest';
import { createLastGood } from './last-good.ts';

const UNIX = Date.UTC(2026, 10, 20, 21, 14, 3);

describe('F2: last good results', () => {
  test('F2: the last one for these arguments, with the time it was retrieved', () => {
    const lastGood = createLastGood();
    lastGood.keep('weather', '1:2', 'rain', UNIX, 1000);
    lastGood.keep('weather', '1:2', 'sun', UNIX + 500, 1500);
    expect(lastGood.find('weather', '1:2', 60_000, 2000)).toEqual({ result: 'sun', retrievedUnixMs: UNIX + 500 });
  });

  test('F2: of another tool, or for other arguments, there is none', () => {
    const lastGood = createLastGood();
    lastGood.keep('weather', '1:2', 'rain', UNIX, 0);
    expect(lastGood.find('weather', '1:3', 60_000, 0)).toBeUndefined();
    expect(lastGood.find('news', '1:2', 60_000, 0)).toBeUndefined();
    expect(lastGood.find('2 weather', '1:', 60_000, 0)).toBeUndefined();
  });

  test('F2: it may be as old as is allowed, by the monotonic clock, and no older', () => {
    const lastGood = createLastGood();
    lastGood.keep('weather', '1', 'rain', UNIX, 5000);
    const isThere = (maxAgeMs: number, ms: number) => lastGood.find('weather', '1', maxAgeMs, ms) !== undefined;
    expect([isThere(600, 5600), isThere(600, 5601), isThere(0, 5000), isThere(0, 5001)]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(isThere(601, 5601)).toBe(true); // Being too old for one does not throw it away.
  });

  test.each([undefined, null, false, 0, ''])('F2: %s is a result too', (result) => {
    const lastGood = createLastGood();
    lastGood.keep('weather', '1', result, UNIX, 0);
    expect(lastGood.find('weather', '1', 1000, 0)).toEqual({ result, retrievedUnixMs: UNIX });
  });

  test('F2: the result is the very value, not a copy', () => {
    const lastGood = createLastGood();
    const result = { celsius: 4 };
    lastGood.keep('weather', '1', result, UNIX, 0);
    expect(lastGood.find('weather', '1', 1000, 0)?.result).toBe(result);
  });

  test('F2: 200 are kept, and the one that was kept longest ago goes first', () => {
    const lastGood = createLastGood();
    const isThere = (index: number) => lastGood.find('weather', `${index}`, 1000, 0) !== undefined;
    for (let index = 0; index < 200; index += 1) lastGood.keep('weather', `${index}`, index, UNIX, 0);
    lastGood.keep('weather', '0', 'again', UNIX, 0);
    expect(isThere(1)).toBe(true); // Being found keeps nothing.
    lastGood.keep('news', 'x', 'one more', UNIX, 0);
    expect([isThere(0), isThere(1), isThere(2), isThere(199)]).toEqual([true, false, true, true]);
  });
});

describe('F1: identical to the last answer', () => {
  test('F1: the same result for the same arguments, one call after the other', () => {
    const { identical } = createLastGood();
    const answers = ['r', 'r', 's', 'r', 'r'].map((result) => identical('weather', '1', result));
    expect(answers).toEqual([false, true, false, false, true]);
  });

  test('F1: other arguments and other tools have answers of their own', () => {
    const { identical } = createLastGood();
    identical('weather', '1', 'r');
    expect([identical('weather', '2', 'r'), identical('news', '1', 'r')]).toEqual([false, false]);
    expect(identical('weather', '1', 'r')).toBe(true);
  });

  test('F1: 200 answers are remembered, the latest ones', () => {
    const { identical } = createLastGood();
    for (let index = 0; index < 200; index += 1) identical('weather', `${index}`, 'r');
    expect(identical('weather', '0', 'r')).toBe(true);
    identical('weather', 'one more', 'r');
    expect([identical('weather', '0', 'r'), identical('weather', '1', 'r')]).toEqual([true, false]);
  });

  test('F1: what is kept for open circuits is none of its business', () => {
    const lastGood = createLastGood();
    lastGood.identical('weather', '1', 'r');
    expect(lastGood.find('weather', '1', 1000, 0)).toBeUndefined();
  });
});

test('Q2: nothing of what is kept can be listed or written down', () => {
  const lastGood = createLastGood();
  lastGood.keep('weather', '1', 'secret', UNIX, 0);
  expect(JSON.stringify(lastGood)).toBe('{}');
});
