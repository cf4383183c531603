import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addCalls,
  bucketsAt,
  type CallWindow,
  callsOf,
  callWindow,
  pushCall,
  timeWindow,
  totalAt,
} from './recent-calls.ts';

const filled = (size: number, calls: readonly boolean[]): CallWindow => calls.reduce(pushCall, callWindow(size));

describe('C3: a window of calls', () => {
  test('C3: after any calls, it holds the same calls as a plain list of the last ones', () => {
    const sizes = fc.oneof(fc.integer({ min: 1, max: 70 }), fc.constantFrom(1_023, 1_024, 1_025, 2_049));
    fc.assert(
      fc.property(sizes, fc.array(fc.boolean(), { maxLength: 300 }), (size, calls) => {
        let window = callWindow(size);
        const naive: boolean[] = [];
        for (const hit of calls) {
          window = pushCall(window, hit);
          naive.push(hit);
          if (naive.length > size) naive.shift();
          expect([window.calls, window.hits]).toEqual([naive.length, naive.filter(Boolean).length]);
        }
        expect(callsOf(window)).toEqual(naive);
      }),
      { numRuns: 1_000 },
    );
  });

  test('C3: it wraps around in a window of several pages', () => {
    const calls = Array.from({ length: 5_000 }, (_, index) => index % 7 === 0 || index % 31 === 3);
    expect(callsOf(filled(2_100, calls))).toEqual(calls.slice(-2_100));
  });

  test('later calls do not change a window that was returned before', () => {
    const before = filled(3, [true, false, true]);
    const copy = structuredClone(before);
    pushCall(pushCall(before, false), true);
    expect(before).toEqual(copy);
  });

  describe('a call costs the same in a window of any size', () => {
    const pagesCopied = (one: CallWindow, other: CallWindow) =>
      other.pages.filter((page, index) => page !== one.pages[index]).length;

    test('a call copies one page of a hundred, in an empty window and in a full one', () => {
      const empty = callWindow(100_000);
      const full = filled(
        100_000,
        Array.from({ length: 150_000 }, () => false),
      );
      expect(empty.pages.length).toBe(98);
      expect(full.pages.length).toBe(98);
      for (const window of [empty, full]) expect(pagesCopied(window, pushCall(window, true))).toBe(1);
    });

    test('an empty window costs one page, however large it is', () => {
      const [page, ...others] = new Set(callWindow(100_000).pages);
      expect(page).toEqual(Array.from({ length: 32 }, () => 0));
      expect(others).toEqual([]);
    });

    test('a call copies no page if it equals the call that it replaces', () => {
      const window = filled(2, [true, false]);
      expect(pushCall(window, true).pages).toBe(window.pages);
    });
  });
});

describe('C3: a window of time', () => {
  const SPAN = 1_000;
  const BUCKET = 100;

  test('C3: it never counts a call as old as the window, and never forgets one that is a bucket younger', () => {
    const calls = fc.array(fc.record({ wait: fc.nat({ max: 400 }), amount: fc.nat({ max: 5 }) }), { maxLength: 60 });
    fc.assert(
      fc.property(calls, fc.nat({ max: 1_500 }), fc.nat({ max: 1_000_000 }), (all, idle, origin) => {
        let window = timeWindow(SPAN);
        let now = origin;
        const naive: { ms: number; amount: number }[] = [];
        const look = (ms: number) => {
          const { calls, amount } = totalAt(window, ms);
          const certain = naive.filter((one) => ms - one.ms < SPAN - BUCKET);
          const possible = naive.filter((one) => ms - one.ms < SPAN);
          const sum = (list: typeof naive) => list.reduce((total, one) => total + one.amount, 0);
          expect(calls).toBeGreaterThanOrEqual(certain.length);
          expect(calls).toBeLessThanOrEqual(possible.length);
          expect(amount).toBeGreaterThanOrEqual(sum(certain));
          expect(amount).toBeLessThanOrEqual(sum(possible));
          expect(window.buckets.length).toBeLessThanOrEqual(10);
        };
        for (const { wait, amount } of all) {
          now += wait;
          window = addCalls(window, now, { calls: 1, amount });
          naive.push({ ms: now, amount });
          look(now);
        }
        look(now + idle);
      }),
      { numRuns: 1_000 },
    );
  });

  test('it begins empty', () => {
    expect(timeWindow(SPAN)).toEqual({ spanMs: SPAN, buckets: [] });
  });

  test('C3: an idle window is empty again', () => {
    const window = addCalls(addCalls(timeWindow(SPAN), 0), 50);
    expect(totalAt(window, 999)).toEqual({ calls: 2, amount: 2 });
    expect(totalAt(window, 1_000)).toEqual({ calls: 0, amount: 0 });
    expect(addCalls(window, 1_000).buckets).toEqual([{ startMs: 1_000, calls: 1, amount: 1 }]);
  });

  test('a bucket is a tenth of the span', () => {
    let window = timeWindow(SPAN);
    for (const ms of [7, 106, 107, 206]) window = addCalls(window, ms);
    expect(bucketsAt(window, 206)).toEqual([
      { startMs: 7, calls: 2, amount: 2 },
      { startMs: 107, calls: 2, amount: 2 },
    ]);
  });

  test('it has at most 10 buckets, however long it runs', () => {
    let window = timeWindow(SPAN);
    for (let ms = 0; ms < 10_000; ms += 1) {
      window = addCalls(window, ms);
      expect(window.buckets.length).toBeLessThanOrEqual(10);
    }
    expect(window.buckets.length).toBe(10);
  });

  test('later calls do not change a window that was returned before', () => {
    const before = addCalls(timeWindow(SPAN), 0);
    addCalls(before, 1);
    expect(totalAt(before, 1)).toEqual({ calls: 1, amount: 1 });
  });
});
