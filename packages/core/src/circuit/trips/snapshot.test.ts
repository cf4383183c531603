import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { resolvePolicy } from '../policy.ts';
import { type Counts, recordCall, trippedBy } from './counts.ts';
import { checkCounts, countsFrom, snapshotOfCounts } from './snapshot.ts';

const policy = resolvePolicy({
  failureRate: { rate: 1, windowCalls: 9 },
  slowCallRate: { rate: 1, slowerThanMs: 10, windowMs: 1_000 },
  wastedTokens: { tokens: 1e9, windowMs: 500 },
});

const calls = fc.array(
  fc.record({
    wait: fc.nat({ max: 300 }),
    category: fc.constantFrom(undefined, 'network' as const, 'server' as const),
    durationMs: fc.nat({ max: 20 }),
    tokens: fc.nat({ max: 9 }),
  }),
  { minLength: 1, maxLength: 40 },
);

const pathsOf = (value: unknown) => checkCounts('counts', value).map(({ path }) => path);

describe('C11: counts in a snapshot', () => {
  test('C11: on another clock they go on as they would have, and give the same snapshot', () => {
    fc.assert(
      fc.property(calls, calls, fc.nat({ max: 2_000 }), (before, after, idle) => {
        const ORIGIN = 1e6; // The other process: its clock has another origin.
        let ms = 0;
        let counts: Counts | undefined;
        for (const { wait, ...call } of before) {
          ms += wait;
          counts = recordCall(counts, call, policy, ms);
        }
        ms += idle;
        const kept = snapshotOfCounts(counts, ms);
        expect(checkCounts('counts', JSON.parse(JSON.stringify(kept)))).toEqual([]);
        let restored = countsFrom(JSON.parse(JSON.stringify(kept)) as typeof kept, ms + ORIGIN);
        expect(snapshotOfCounts(restored, ms + ORIGIN)).toEqual(kept);
        for (const { wait, ...call } of after) {
          ms += wait;
          counts = recordCall(counts, call, policy, ms);
          restored = recordCall(restored, call, policy, ms + ORIGIN);
          expect(trippedBy(restored, policy, ms + ORIGIN)).toBe(trippedBy(counts, policy, ms));
        }
        expect(snapshotOfCounts(restored, ms + ORIGIN)).toEqual(snapshotOfCounts(counts, ms));
      }),
      { numRuns: 500 },
    );
  });

  test('C11: ages, not points in time; the oldest call first', () => {
    const facts = { durationMs: 5, tokens: 7 };
    const first = recordCall(undefined, { ...facts, category: 'network' }, policy, 40);
    const second = recordCall(first, { ...facts, category: undefined }, policy, 60);
    const counts = recordCall(second, { ...facts, durationMs: 11, category: 'server' }, policy, 240);
    expect(snapshotOfCounts(counts, 540)).toEqual({
      category: 'server',
      failureRate: { windowCalls: 9, calls: 3, outcomes: '5' },
      slowCallRate: {
        windowMs: 1_000,
        buckets: [
          { ageMs: 500, calls: 2, amount: 0 },
          { ageMs: 300, calls: 1, amount: 1 },
        ],
      },
      wastedTokens: { windowMs: 500, buckets: [{ ageMs: 300, calls: 1, amount: 7 }] }, // The other bucket has aged out.
    });
  });

  test('C11: a circuit that counts nothing in windows keeps null', () => {
    expect(snapshotOfCounts(undefined, 5)).toBeNull();
    expect(countsFrom(null, 5)).toBeUndefined();
    expect(pathsOf(null)).toEqual([]);
  });

  test('C11: a window that is not configured is null', () => {
    const counts = recordCall(undefined, { category: undefined, durationMs: 1, tokens: 0 }, resolvePolicy({}), 0);
    const kept = { category: null, failureRate: null, slowCallRate: null, wastedTokens: null };
    expect(snapshotOfCounts(counts, 0)).toEqual(kept);
    expect(pathsOf(kept)).toEqual([]);
    expect(countsFrom(kept, 0)).toEqual(counts);
  });

  test('C11: buckets that no snapshot wrote are put together, so that there are never more than 10', () => {
    const buckets = Array.from({ length: 1_000 }, () => ({ ageMs: 1, calls: 1, amount: 1 }));
    const empty = { category: null, failureRate: null, slowCallRate: null };
    const counts = countsFrom({ ...empty, wastedTokens: { windowMs: 100, buckets } }, 50);
    expect(counts?.wastedTokens).toEqual({ spanMs: 100, buckets: [{ startMs: 49, calls: 1_000, amount: 1_000 }] });
  });

  describe('C11: the malformed is refused', () => {
    const sound = { category: null, failureRate: null, slowCallRate: null, wastedTokens: null };
    const byCalls = { windowCalls: 9, calls: 5, outcomes: '1f' };
    const byTime = { windowMs: 10, buckets: [{ ageMs: 1, calls: 2, amount: 1 }] };

    test('C11: both kinds of window are fine for a rate', () => {
      expect(pathsOf({ ...sound, failureRate: byCalls, slowCallRate: byTime, wastedTokens: byTime })).toEqual([]);
      const tokens = { windowMs: 10, buckets: [{ ageMs: 1, calls: 2, amount: 0.5 }] };
      expect(pathsOf({ ...sound, wastedTokens: tokens })).toEqual([]);
      const many = { windowMs: 10, buckets: [{ ageMs: 1, calls: 2, amount: 2 ** 41 }] };
      expect(pathsOf({ ...sound, wastedTokens: many })).toEqual([]);
    });

    test('C11: the largest window is fine', () => {
      const largest = { windowCalls: 100_000, calls: 0, outcomes: '' };
      expect(pathsOf({ ...sound, failureRate: largest })).toEqual([]);
    });

    test.each<[unknown, string]>([
      [{ ...byCalls, windowCalls: 100_001 }, 'is 100001. Set at most 100000, as session.snapshot() wrote it.'],
      [{ ...byCalls, calls: 10 }, 'is 10 of a window of 9. Set at most that many.'],
      [{ ...byCalls, outcomes: '1' }, "is '1'. Set 2 hexadecimal digits, as session.snapshot() wrote it."],
      [
        { windowMs: 1, buckets: [{ ageMs: 1, calls: 2, amount: 3 }] },
        'is 3 of 2 calls. Set a whole number that is no more',
      ],
    ])('C11: says what is wrong in %j', (failureRate, message) => {
      expect(checkCounts('counts', { ...sound, failureRate })[0]?.message).toContain(message);
    });

    test.each<[string, unknown, readonly string[]]>([
      ['a text', 'counts', ['counts']],
      ['a missing window', { ...sound, wastedTokens: undefined }, ['counts.wastedTokens']],
      ['an unknown key', { ...sound, more: 1 }, ['counts.more']],
      ['an unknown category', { ...sound, category: 'weather' }, ['counts.category']],
      ['a window that is a number', { ...sound, failureRate: 5 }, ['counts.failureRate']],
      [
        'calls for tokens',
        { ...sound, wastedTokens: byCalls },
        ['windowCalls', 'calls', 'outcomes', 'windowMs', 'buckets'].map((key) => `counts.wastedTokens.${key}`),
      ],
      ['half a call', { ...sound, failureRate: { ...byCalls, windowCalls: 9.5 } }, ['counts.failureRate.windowCalls']],
      [
        'null for a bucket',
        { ...sound, failureRate: { ...byTime, buckets: [null] } },
        ['counts.failureRate.buckets[0]'],
      ],
      ['no calls', { ...sound, failureRate: { ...byCalls, windowCalls: 0 } }, ['counts.failureRate.windowCalls']],
      [
        'too large a window',
        { ...sound, failureRate: { ...byCalls, windowCalls: 1e6 } },
        ['counts.failureRate.windowCalls'],
      ],
      ['more calls than fit', { ...sound, failureRate: { ...byCalls, windowCalls: 4 } }, ['counts.failureRate.calls']],
      ['half a call in it', { ...sound, failureRate: { ...byCalls, calls: 4.5 } }, ['counts.failureRate.calls']],
      [
        'half a call in a bucket',
        { ...sound, wastedTokens: { windowMs: 10, buckets: [{ ageMs: 1, calls: 1.5, amount: 1 }] } },
        ['counts.wastedTokens.buckets[0].calls'],
      ],
      ['fewer digits than calls', { ...sound, failureRate: { ...byCalls, calls: 9 } }, ['counts.failureRate.outcomes']],
      ['more digits than calls', { ...sound, failureRate: { ...byCalls, calls: 4 } }, ['counts.failureRate.outcomes']],
      ['other than digits', { ...sound, failureRate: { ...byCalls, outcomes: '1g' } }, ['counts.failureRate.outcomes']],
      [
        'digits that are a list',
        { ...sound, failureRate: { ...byCalls, outcomes: ['1', 'f'] } },
        ['counts.failureRate.outcomes'],
      ],
      [
        'one digit in a list',
        { ...sound, failureRate: { ...byCalls, calls: 4, outcomes: ['f'] } },
        ['counts.failureRate.outcomes'],
      ],
      ['a key beside', { ...sound, failureRate: { ...byCalls, windowMs: 5 } }, ['counts.failureRate.windowMs']],
      ['no span', { ...sound, slowCallRate: { ...byTime, windowMs: 0 } }, ['counts.slowCallRate.windowMs']],
      ['no list', { ...sound, slowCallRate: { ...byTime, buckets: {} } }, ['counts.slowCallRate.buckets']],
      [
        'more slow calls than calls',
        { ...sound, slowCallRate: { windowMs: 10, buckets: [{ ageMs: 1, calls: 2, amount: 3 }] } },
        ['counts.slowCallRate.buckets[0].amount'],
      ],
      [
        'half a slow call',
        { ...sound, slowCallRate: { windowMs: 10, buckets: [{ ageMs: 1, calls: 2, amount: 0.5 }] } },
        ['counts.slowCallRate.buckets[0].amount'],
      ],
      [
        'the future',
        { ...sound, wastedTokens: { windowMs: 10, buckets: [{ ageMs: -1, calls: 2, amount: 1 }] } },
        ['counts.wastedTokens.buckets[0].ageMs'],
      ],
    ])('C11: %s', (_, value, paths) => {
      expect(pathsOf(value)).toEqual(paths);
    });
  });
});
