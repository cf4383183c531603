import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { nextRead } from './next-read.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('A8: changes that come without a pause do not put off the next read', async () => {
  const read = vi.fn(async () => {});
  const next = nextRead(read);
  for (let change = 0; change < 20; change += 1) {
    next.within(200);
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(read.mock.calls.length).toBeGreaterThan(5);
  next.stop();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(vi.getTimerCount()).toBe(0);
});

test('A8: changes during a slow read cause one more read, after it', async () => {
  const ends: (() => void)[] = [];
  const read = vi.fn(() => new Promise<void>((resolve) => ends.push(resolve)));
  const next = nextRead(read);
  next.within(0);
  for (let change = 0; change < 20; change += 1) {
    await vi.advanceTimersByTimeAsync(100);
    next.within(200);
  }
  expect(read).toHaveBeenCalledTimes(1);
  ends[0]?.();
  await vi.advanceTimersByTimeAsync(200);
  expect(read).toHaveBeenCalledTimes(2);
});
