import { afterEach, expect, test, vi } from 'vitest';
import { systemClock } from './clock.ts';

afterEach(() => vi.restoreAllMocks());

test('C10: the system clock never goes back, and continues at the pace of the function that replaced it', () => {
  const start = systemClock.now();
  const now = vi.spyOn(performance, 'now').mockReturnValue(0); // Fake timers begin at 0.
  const stood = systemClock.now();
  expect(stood).toBeGreaterThanOrEqual(start);
  expect(systemClock.now()).toBe(stood);
  now.mockReturnValue(250);
  expect(systemClock.now() - stood).toBeCloseTo(250, 6);
  now.mockReturnValue(100); // Back once more.
  expect(systemClock.now() - stood).toBeCloseTo(250, 6);
  now.mockReturnValue(130);
  expect(systemClock.now() - stood).toBeCloseTo(280, 6);
  vi.restoreAllMocks();
  const given = systemClock.now() - stood; // Back to the real one, which is ahead by all that the process has lived.
  expect(given).toBeGreaterThanOrEqual(280 - 1e-6);
  expect(given).toBeLessThan(280 + start);
});

test('C10: time continues if performance.now is a different function at each reading', () => {
  const start = systemClock.now();
  let ms = start;
  const real = Object.getOwnPropertyDescriptor(performance, 'now');
  Object.defineProperty(performance, 'now', { configurable: true, get: () => () => ms });
  const times = [1_000, 2_000, 10_000_000].map((later) => {
    ms = start + later;
    return systemClock.now();
  });
  Reflect.deleteProperty(performance, 'now');
  if (real) Object.defineProperty(performance, 'now', real);
  const [first = 0] = times;
  expect(times.map((time) => time - first)).toEqual([0, 1_000, 9_999_000].map((gap) => expect.closeTo(gap, 3)));
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, undefined])(
  'C10: a reading of %s is not a time, and time continues with the next one',
  (reading) => {
    const start = systemClock.now();
    const now = vi.spyOn(performance, 'now').mockReturnValueOnce(reading as number);
    expect(systemClock.now()).toBe(start);
    now.mockReturnValue(start);
    const stood = systemClock.now();
    now.mockReturnValue(start + 250);
    expect(systemClock.now() - stood).toBeCloseTo(250, 6);
  },
);
