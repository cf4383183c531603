import { describe, expect, test } from 'vitest';
import {
  type Charge,
  charge,
  chargeProvisionally,
  createStrictBudget,
  isStrictCautious,
  isStrictSpent,
  mature,
  matureStrictly,
  mergeIntoOne,
  nextCycle,
  provisionalOf,
  type StrictBudget,
  strictRemaining,
  strictTokensRemaining,
  suspend,
} from './strict.ts';

const at = { ms: 0, step: 0, stepMs: 0 };
const failure = (tokens = 0, tool = 'a'): Charge => ({ tool, category: 'network', at, tokens });
const spent = (budget: StrictBudget, ...tokens: readonly number[]): StrictBudget =>
  charge(budget, ...tokens.map((one) => failure(one)));

describe('B2: caution', () => {
  test('B2: a decision carries caution only with one failure left', () => {
    const states = [3, 2, 1, 0].map((left) =>
      isStrictCautious(spent(createStrictBudget(4), ...Array<number>(4 - left).fill(0))),
    );
    expect(states).toEqual([false, false, true, false]);
  });

  test.each([
    ['nothing was charged', [], false],
    ['no cost is known', [0, 0], false],
    ['more is left than a failure costs', [300], false],
    ['as much is left as a failure costs', [500], true],
    ['less is left than a failure costs, and costs that are unknown are no part of the mean', [400, 0, 0, 300], true],
    ['an expensive failure is outweighed by cheap ones', [600, 10, 10], false],
    ['nothing is left', [1000], true],
  ])('B2, B4: of 1,000 tokens, when %s', (_, tokens, cautious) => {
    expect(isStrictCautious(spent(createStrictBudget(100, 1000), ...tokens))).toBe(cautious);
  });

  test('B2, B4: without a token budget, tokens never cause caution', () => {
    expect(isStrictCautious(spent(createStrictBudget(100), 1e9))).toBe(false);
  });
});

describe('B4: token budget', () => {
  test('B4: the tokens left are the limit minus the charges of this cycle, and never below 0', () => {
    const budget = createStrictBudget(9, 1000);
    expect(strictTokensRemaining(spent(budget, 300, 0, 200))).toBe(500);
    expect(strictTokensRemaining(spent(budget, 1300))).toBe(0);
    expect(strictTokensRemaining(nextCycle(spent(budget, 1300)))).toBe(1000);
    expect(strictTokensRemaining(createStrictBudget(9))).toBeUndefined();
  });

  test.each([
    ['failures are left, tokens are not limited', createStrictBudget(2), [0], false],
    ['no failure is left', createStrictBudget(2), [0, 0], true],
    ['both are left', createStrictBudget(2, 10), [9], false],
    ['no token is left', createStrictBudget(2, 10), [10], true],
    ['no failure is left, tokens are', createStrictBudget(2, 10), [1, 1], true],
  ])('B1, B4: whether the budget is spent: %s', (_, budget, tokens, expected) => {
    expect(isStrictSpent(spent(budget, ...tokens))).toBe(expected);
  });

  test('B4: granted and consumed still count failures', () => {
    expect(spent(createStrictBudget(5, 1000), 700, 200)).toMatchObject({ granted: 5, consumed: 2 });
  });

  test('S3, B4: a charge that is returned returns its tokens', () => {
    const budget = suspend(
      spent(createStrictBudget(5, 1000), 700, 200),
      { tool: 'b', at },
      ({ tokens }) => tokens === 700,
    );
    expect([strictTokensRemaining(budget), strictRemaining(budget)]).toEqual([800, 4]);
    expect(budget.provisional).toEqual([{ ...failure(700), anchor: { tool: 'b', at } }]);
  });

  test('S3: without a suspect no charge is returned', () => {
    const budget = spent(createStrictBudget(5), 0);
    expect(suspend(budget, { tool: 'b', at }, () => false)).toBe(budget);
  });
});

describe('B1: a budget too large to keep each failure', () => {
  const many = (count: number, priceOf = (index: number) => index % 3): StrictBudget => {
    let budget = createStrictBudget(100_000, 100_000);
    for (let index = 0; index < count; index += 1) budget = charge(budget, failure(priceOf(index), `tool ${index}`));
    return budget;
  };

  test('B1: it keeps the last 200 failures, and one sum of the older ones', () => {
    const budget = many(1_000);
    expect(budget.charges.map(({ tool }) => tool)).toEqual(
      Array.from({ length: 200 }, (_, index) => `tool ${800 + index}`),
    );
    expect(budget.earlier).toEqual({ failures: 800, tokens: 799, priced: 533 });
    expect(many(200).earlier).toEqual({ failures: 0, tokens: 0, priced: 0 });
  });

  test('B1, B2, B4: the budget left, and caution, count all failures', () => {
    const budget = many(1_000);
    expect([strictRemaining(budget), strictTokensRemaining(budget)]).toEqual([99_000, 99_001]);
    const costly = many(999, (index) => (index < 500 ? 198 : 0)); // 1,000 tokens are left, and the mean is 198.
    expect([
      strictTokensRemaining(costly),
      isStrictCautious(costly),
      isStrictCautious(charge(costly, failure(810))),
    ]).toEqual([1_000, false, true]);
    expect(isStrictSpent(charge(costly, failure(1_000)))).toBe(true);
  });

  test('B1: a new cycle begins without failures', () => {
    const next = nextCycle(many(1_000));
    expect([next.earlier.failures, next.charges, strictRemaining(next), strictTokensRemaining(next)]).toEqual([
      0,
      [],
      100_000,
      100_000,
    ]);
  });

  test('S3: an opening returns at most the last 200, and an event makes one of them', () => {
    const anchor = { tool: 'b', at };
    const taken = suspend(many(1_000), anchor, () => true);
    expect([taken.provisional.length, taken.charges.length, strictRemaining(taken)]).toEqual([200, 0, 99_200]);
    const full = suspend(charge(taken, failure()), anchor, () => true);
    expect([full.provisional.length, full.charges.length]).toEqual([200, 1]);
    const merged = mergeIntoOne(full, () => true);
    expect([merged.charges.length, merged.provisional.length, strictRemaining(merged)]).toEqual([1, 0, 99_199]);
    expect(mature(taken, () => true)).toMatchObject({
      charges: { length: 200 },
      earlier: { failures: 800 },
      consumed: 1_200,
    });
  });
});

describe('S3: one charge for an event', () => {
  test('S3, B4: the first charge stays, with its tokens; if all charges were provisional, the event is charged now', () => {
    const merged = mergeIntoOne(spent(createStrictBudget(5, 1000), 100, 700), () => true);
    expect([strictRemaining(merged), strictTokensRemaining(merged), merged.granted, merged.consumed]).toEqual([
      4, 900, 6, 2,
    ]);
    const pending = suspend(spent(createStrictBudget(5, 1000), 100, 700), { tool: 'b', at }, () => true);
    const one = mergeIntoOne(pending, () => true);
    expect([strictRemaining(one), strictTokensRemaining(one), one.granted, one.consumed]).toEqual([4, 900, 7, 3]);
    expect(one.charges).toEqual([{ ...failure(100), event: true }]);
  });

  test('S3: an event that is already paid returns all other charges', () => {
    const merged = mergeIntoOne(spent(createStrictBudget(5, 1000), 100, 700), () => true, true);
    expect([strictRemaining(merged), strictTokensRemaining(merged), merged.charges]).toEqual([5, 1000, []]);
  });

  test('S3: merging is idempotent, and merging nothing changes nothing', () => {
    const merged = mergeIntoOne(spent(createStrictBudget(5), 0, 0), () => true);
    expect(mergeIntoOne(merged, () => true)).toBe(merged);
    expect(mergeIntoOne(merged, () => true, true)).toBe(merged);
  });
});

describe('S3: provisional charges', () => {
  const anchor = { tool: 'c', at };
  const pending = ['a', 'b', 'a'].reduce(
    (budget, tool) => chargeProvisionally(budget, { ...failure(10, tool), anchor }),
    createStrictBudget(5, 100),
  );

  test('S3: they are counted by tool, and cost nothing', () => {
    expect(['a', 'b', 'c'].map((tool) => provisionalOf(pending, tool))).toEqual([2, 1, 0]);
    expect([strictRemaining(pending), strictTokensRemaining(pending)]).toEqual([5, 100]);
  });

  test('S3, B4: those whose window is over count, the others continue to wait', () => {
    const some = mature(pending, ({ tool }) => tool === 'a');
    expect([
      strictRemaining(some),
      strictTokensRemaining(some),
      provisionalOf(some, 'a'),
      provisionalOf(some, 'b'),
    ]).toEqual([3, 80, 0, 1]);
    expect(mature(pending, () => false)).toBe(pending);
  });

  test('S3: those outside the event continue to wait', () => {
    const merged = mergeIntoOne(pending, ({ tool }) => tool === 'a');
    expect([strictRemaining(merged), provisionalOf(merged, 'a'), provisionalOf(merged, 'b')]).toEqual([4, 0, 1]);
    expect(mergeIntoOne(pending, () => false)).toBe(pending);
  });

  test('S3: the one charge of an event is not returned', () => {
    const merged = mergeIntoOne(spent(createStrictBudget(5), 0), () => true);
    expect(suspend(merged, anchor, () => true)).toBe(merged);
  });
});

test('S3, E5: each opening is read once, however many charges are provisional', () => {
  const many = 300_000;
  let reads = 0;
  const moments = Array.from({ length: many }, (_, ms) => ({ ms, step: 0, stepMs: 0 }));
  const openings = moments.map((one) => ({
    tool: 'a',
    category: 'network' as const,
    unixMs: 0,
    get at() {
      reads += 1;
      return one;
    },
  }));
  const provisional = moments.map((one) => ({ ...failure(), anchor: { tool: 'a', at: one } }));
  const budget = { ...createStrictBudget(5), provisional };
  const kept = matureStrictly(budget, at, openings, () => true);
  expect([kept.provisional.length, reads <= 2 * many]).toEqual([many, true]);
  expect(matureStrictly(budget, at, openings, () => false)).toMatchObject({ consumed: many, provisional: [] });
});
