import fc from 'fast-check';
import { expect, test } from 'vitest';
import { resolveGroupPolicy, resolvePolicy } from '../policy.ts';
import { type Counts, checkCounts, countsFrom, recordCall, snapshotOfCounts, trippedBy } from './trip-policies.ts';

const policy = resolvePolicy({
  failureThreshold: 9,
  failureRate: { rate: 1, windowCalls: 9 },
  slowCallRate: { rate: 1, slowerThanMs: 10, windowMs: 1_000 },
  wastedTokens: { tokens: 1e9, windowMs: 500 },
});

const calls = fc.array(
  fc.record({
    wait: fc.nat({ max: 300 }),
    category: fc.constantFrom(undefined, 'network' as const, 'unknown' as const),
    key: fc.constantFrom(undefined, 'k', 'l', 'm'),
    durationMs: fc.nat({ max: 20 }),
    tokens: fc.nat({ max: 9 }),
  }),
  { minLength: 1, maxLength: 40 },
);

test('C11: with another clock, counts continue as before, and give the same snapshot', () => {
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
        expect(trippedBy(restored, call, policy, ms + ORIGIN)).toBe(trippedBy(counts, call, policy, ms));
      }
      expect(snapshotOfCounts(restored, ms + ORIGIN)).toEqual(snapshotOfCounts(counts, ms));
    }),
    { numRuns: 500 },
  );
});

test('C11: a snapshot has ages, not points in time, with the oldest call first', () => {
  const facts = { durationMs: 5, tokens: 7, key: 'k' };
  const first = recordCall(undefined, { ...facts, category: 'network' }, policy, 40);
  const second = recordCall(first, { ...facts, category: undefined }, policy, 60);
  const counts = recordCall(second, { ...facts, durationMs: 11, category: 'server' }, policy, 240);
  const kept = {
    consecutive: { failures: 1, weak: 0, tools: [] },
    keys: { ofTool: ['k'], row: [{ key: 'k', category: 'server' }] },
    failure_rate: { windowCalls: 9, calls: 3, outcomes: '5' },
    slow_call_rate: {
      windowMs: 1_000,
      buckets: [
        { ageMs: 500, calls: 2, amount: 0 },
        { ageMs: 300, calls: 1, amount: 1 },
      ],
    },
    wasted_tokens: { windowMs: 500, buckets: [{ ageMs: 300, calls: 1, amount: 7 }] }, // The other bucket has aged out.
  };
  expect(snapshotOfCounts(counts, 540)).toEqual(kept);
  expect(snapshotOfCounts(countsFrom(kept, 40), 40)).toEqual(kept); // On a clock that began later than the window.
  expect(countsFrom({ wasted_tokens: kept.wasted_tokens }, 0)).toEqual({
    wasted_tokens: { spanMs: 500, buckets: [{ startMs: -300, calls: 1, amount: 7 }] },
  });
});

test('C11, C13: a group keeps its tools; a circuit that counts nothing keeps null', () => {
  const call = { category: 'network', tool: 'a' } as const;
  const counts = recordCall(undefined, call, resolveGroupPolicy({}), 0);
  expect(snapshotOfCounts(counts, 0)).toEqual({ consecutive: { failures: 1, weak: 0, tools: ['a'] } });
  expect([snapshotOfCounts(undefined, 5), countsFrom(null, 5), checkCounts('counts', null)]).toEqual([
    null,
    undefined,
    [],
  ]);
});

test('C11: buckets that no snapshot wrote are merged, so that there are at most 10', () => {
  const buckets = Array.from({ length: 1_000 }, () => ({ ageMs: 1, calls: 1, amount: 1 }));
  expect(countsFrom({ wasted_tokens: { windowMs: 100, buckets } }, 50)).toEqual({
    wasted_tokens: { spanMs: 100, buckets: [{ startMs: 49, calls: 1_000, amount: 1_000 }] },
  });
});

const byCalls = { windowCalls: 9, calls: 5, outcomes: '1f' };
const byTime = { windowMs: 10, buckets: [{ ageMs: 1, calls: 2, amount: 1 }] };
const row = { failures: 2, weak: 1, tools: ['a'] };
const bucket = (over: object) => ({ windowMs: 10, buckets: [{ ageMs: 1, calls: 2, amount: 1, ...over }] });

test.each<[object]>([
  [{}],
  [{ consecutive: row, keys: ['k', ''], failure_rate: byCalls, slow_call_rate: byTime, wasted_tokens: byTime }],
  [{ wasted_tokens: bucket({ amount: 0.5 }) }],
  [{ wasted_tokens: bucket({ amount: 2 ** 41 }) }],
  [{ failure_rate: { windowCalls: 100_000, calls: 0, outcomes: '' } }],
])('C11: %j is accepted', (counts) => {
  expect(checkCounts('counts', counts)).toEqual([]);
});

test.each<[unknown, string, string]>([
  ['counts', '', "is 'counts'. Give an object"],
  [{ more: 1 }, '.more', 'is not allowed here. Allowed here: consecutive, keys, failure_rate'],
  [{ constructor: {} }, '.constructor', 'is not allowed here'],
  [{ consecutive: { ...row, failures: -1 } }, '.consecutive.failures', 'is -1. Set a whole number'],
  [{ consecutive: { ...row, weak: 0.5 } }, '.consecutive.weak', 'is 0.5'],
  [{ consecutive: { ...row, tools: 'a' } }, '.consecutive.tools', "is 'a'. Give a list."],
  [{ keys: [7] }, '.keys[0]', 'is 7. Set a string of at most 256 characters, as snapshot(session) wrote it.'],
  [{ keys: [''.padEnd(300)] }, '.keys[0]', 'is a string of 300 characters.'],
  [{ failure_rate: 5 }, '.failure_rate', 'is 5'],
  [{ failure_rate: { ...byCalls, windowCalls: 9.5 } }, '.failure_rate.windowCalls', 'is 9.5'],
  [{ failure_rate: { ...byCalls, windowCalls: 0 } }, '.failure_rate.windowCalls', 'is 0'],
  [
    { failure_rate: { ...byCalls, windowCalls: 100_001 } },
    '.failure_rate.windowCalls',
    'Set at most 100000, as snapshot',
  ],
  [{ failure_rate: { ...byCalls, calls: 10 } }, '.failure_rate.calls', 'is 10, but windowCalls is 9. Set at most 9'],
  [{ failure_rate: { ...byCalls, calls: 4.5 } }, '.failure_rate.calls', 'is 4.5'],
  [
    { failure_rate: { ...byCalls, calls: 9 } },
    '.failure_rate.outcomes',
    "is '1f'. Set 3 hexadecimal digits, as snapshot",
  ],
  [{ failure_rate: { ...byCalls, calls: 4 } }, '.failure_rate.outcomes', 'Set 1 hexadecimal digits'],
  [{ failure_rate: { ...byCalls, outcomes: '1g' } }, '.failure_rate.outcomes', "is '1g'"],
  [{ failure_rate: { ...byCalls, outcomes: ['1', 'f'] } }, '.failure_rate.outcomes', 'is a list'],
  [{ failure_rate: { ...byCalls, calls: 4, outcomes: ['f'] } }, '.failure_rate.outcomes', 'is a list'],
  [{ failure_rate: { ...byCalls, windowMs: 5 } }, '.failure_rate.windowMs', 'is not allowed here'],
  [{ failure_rate: { ...byTime, buckets: [null] } }, '.failure_rate.buckets[0]', 'is null'],
  [{ slow_call_rate: { ...byTime, windowMs: 0 } }, '.slow_call_rate.windowMs', 'is 0'],
  [{ slow_call_rate: { ...byTime, buckets: {} } }, '.slow_call_rate.buckets', 'Give a list'],
  [
    { slow_call_rate: bucket({ amount: 3 }) },
    '.slow_call_rate.buckets[0].amount',
    'is 3, but calls is 2. Set a whole number of at most 2',
  ],
  [{ slow_call_rate: bucket({ amount: 0.5 }) }, '.slow_call_rate.buckets[0].amount', 'is 0.5, but calls is 2'],
  [{ wasted_tokens: bucket({ calls: 1.5 }) }, '.wasted_tokens.buckets[0].calls', 'is 1.5'],
  [{ wasted_tokens: bucket({ ageMs: -1 }) }, '.wasted_tokens.buckets[0].ageMs', 'is -1'],
  [{ wasted_tokens: { windowMs: 10 } }, '.wasted_tokens.buckets', 'is undefined'],
  [{ custom: { of: 5 } }, '.custom', 'is not what snapshot(session) wrote.'],
  [{ custom: { of: 'thrice', counts: 2, ms: 'soon' } }, '.custom', 'is not what snapshot(session) wrote.'],
  [{ custom: 'thrice' }, '.custom', 'is not what snapshot(session) wrote.'],
])('C11: %j is rejected', (counts, where, message) => {
  const [issue, ...more] = checkCounts('counts', counts);
  expect([issue, more]).toEqual([{ path: `counts${where}`, message: expect.stringContaining(message) as string }, []]);
});
