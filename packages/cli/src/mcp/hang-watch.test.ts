import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { HangWatch } from './hang-watch.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('M6: after a long call whose pings were answered, the next silence is noticed after 5 s again', () => {
  const pingedMs: number[] = [];
  let answersPings = true;
  const watch = new HangWatch({
    now: () => Date.now(),
    isWaiting: () => true,
    ping: () => {
      pingedMs.push(Date.now());
      if (answersPings) watch.heard(true);
    },
    hung: () => {},
    returned: () => {},
  });
  watch.began();
  vi.advanceTimersByTime(200_000);
  expect(pingedMs.length).toBeLessThan(10); // A server that answers pings is asked less and less often.
  answersPings = false;
  watch.heard();
  const silentSinceMs = Date.now();
  watch.began();
  vi.advanceTimersByTime(31_000);
  expect((pingedMs.at(-1) ?? 0) - silentSinceMs).toBeLessThanOrEqual(10_000);
  expect(watch.isHang(31_000)).toBe(true);
  watch.reset();
});
