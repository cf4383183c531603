import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CallWindow, callsOf, callWindow, pushCall } from './call-window.ts';

const filled = (size: number, calls: readonly boolean[]): CallWindow => calls.reduce(pushCall, callWindow(size));

describe('C3: a window of calls', () => {
  test('C3: after any calls, it holds what a plain list of the last calls holds', () => {
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

  test('C3: goes round a window of several pages', () => {
    const calls = Array.from({ length: 5_000 }, (_, index) => index % 7 === 0 || index % 31 === 3);
    expect(callsOf(filled(2_100, calls))).toEqual(calls.slice(-2_100));
  });

  test('what was given out before is not changed by what comes after', () => {
    const before = filled(3, [true, false, true]);
    const copy = structuredClone(before);
    pushCall(pushCall(before, false), true);
    expect(before).toEqual(copy);
  });

  describe('a call costs the same, however many there are', () => {
    const pagesCopied = (one: CallWindow, other: CallWindow) =>
      other.pages.filter((page, index) => page !== one.pages[index]).length;

    test('one page of a hundred is copied, in an empty window as in a full one', () => {
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

    test('none is copied if the call equals the one that it pushes out', () => {
      const window = filled(2, [true, false]);
      expect(pushCall(window, true).pages).toBe(window.pages);
    });
  });
});
