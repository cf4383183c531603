import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { type Charge, createBudget, isSpent, mergeIntoOne, remaining, tokensRemaining } from './budget.ts';
import type { Moment } from './clock.ts';
import {
  chargeFailure,
  createLedger,
  type Ledger,
  matureCharges,
  noticeExhaustion,
  recordClosing,
  recordOpening,
  recordOpenings,
  renewBudget,
  resolveEvent,
} from './ledger.ts';
import type { ErrorCategory } from './outcome/taxonomy.ts';
import { type Correlation, DEFAULT_SYSTEMIC, inWindow, type Opening, type SystemicPolicy } from './systemic.ts';

/** What may happen to a ledger. `trip`: a failure that opens the circuit; `adopt`: others' failures did (C12). */
type Happening =
  | { readonly kind: 'fail' | 'trip' | 'adopt'; readonly tool: string; category: ErrorCategory; tokens: number }
  | { readonly kind: 'close'; readonly tool: string }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'step' | 'resume' | 'confirm' };

const tool = fc.constantFrom('a', 'b', 'c', 'd');
const category = fc.constantFrom<ErrorCategory>('network', 'network', 'server', 'timeout');
const tokens = fc.constantFrom(0, 50, 300, Number.NaN);

const happening = (...kinds: readonly ('fail' | 'trip' | 'adopt')[]): fc.Arbitrary<Happening> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constantFrom(...kinds), tool, category, tokens }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('close' as const), tool }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('wait' as const),
        ms: fc.constantFrom(1_000, 60_000, 119_999, 500_000),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constantFrom('step' as const, 'resume' as const, 'confirm' as const) }),
    },
  );

const policies = fc.record<SystemicPolicy>({
  sameCategory: fc.constantFrom(2, 3),
  anyCategory: fc.constantFrom(2, 3),
  windowSteps: fc.constantFrom(1, 10),
  windowMs: fc.constant(120_000),
});
const budgets = fc
  .tuple(fc.constantFrom(1, 2, 5, 50), fc.constantFrom(undefined, 500))
  .map((of) => createBudget(...of));

/** A ledger on its way, with the fate of each failure. Each has a time of its own, which is how it is recognised. */
interface Run {
  readonly policy: SystemicPolicy;
  ledger: Ledger;
  at: Moment;
  /** Failures that stand charged in a cycle that is over. */
  readonly counted: number[];
  /** Failures that a systemic event has swallowed, the one that stands for it apart. */
  readonly merged: number[];
  /** Failures while an event lasted. */
  readonly free: number[];
  /** How many events there were. */
  events: number;
}

const runOf = (budget: Ledger['budget'], policy: SystemicPolicy): Run => ({
  policy,
  ledger: createLedger(budget),
  at: { ms: 0, step: 0, stepMs: 0 },
  counted: [],
  merged: [],
  free: [],
  events: 0,
});

const timesOf = (charges: readonly Charge[]): number[] => charges.map(({ at }) => at.ms);
const standing = ({ budget }: Ledger): number[] => timesOf([...budget.charges, ...budget.provisional]);

/** In the order in which the expeditor does it. */
const happen = (run: Run, one: Happening): void => {
  const { policy } = run;
  run.at = { ...run.at, ms: run.at.ms + 1 };
  if (one.kind === 'wait') run.at = { ...run.at, ms: run.at.ms + one.ms };
  if (one.kind === 'step') run.at = { ms: run.at.ms, step: run.at.step + 1, stepMs: run.at.ms };
  run.ledger = noticeExhaustion(matureCharges(run.ledger, run.at, policy));
  const before = run.ledger;
  if (one.kind === 'fail' || one.kind === 'trip') {
    if (before.event !== undefined) run.free.push(run.at.ms);
    run.ledger = chargeFailure(run.ledger, { ...one, at: run.at, mayWait: 3 }, policy);
  }
  if (one.kind === 'trip' || one.kind === 'adopt') {
    const known = standing(run.ledger);
    const opening = { tool: one.tool, category: one.category, at: run.at, unixMs: 0 };
    run.ledger = recordOpening(run.ledger, opening, policy);
    run.merged.push(...known.filter((ms) => !standing(run.ledger).includes(ms)));
  }
  if (one.kind === 'close') run.ledger = recordClosing(run.ledger, one.tool);
  if (one.kind === 'resume') {
    run.counted.push(...standing(run.ledger));
    run.ledger = renewBudget(run.ledger);
  }
  if (one.kind === 'confirm') run.ledger = resolveEvent(run.ledger);
  if (before.event === undefined && run.ledger.event !== undefined) run.events += 1;
  run.ledger = noticeExhaustion(run.ledger);
};

/** Checks after each happening of many runs. */
const always = (kinds: readonly ('fail' | 'trip' | 'adopt')[], check: (run: Run, before: Ledger) => void) =>
  fc.assert(
    fc.property(budgets, policies, fc.array(happening(...kinds), { maxLength: 40 }), (budget, policy, all) => {
      const run = runOf(budget, policy);
      for (const one of all) {
        const before = run.ledger;
        happen(run, one);
        check(run, before);
      }
    }),
    { numRuns: 2_000 },
  );

const SESSION = ['fail', 'fail', 'trip'] as const;
const PROCESS = [...SESSION, 'adopt'] as const;

/** What a fold over the openings gives, and what they give at once. */
const ways = (ledger: Ledger, openings: readonly Opening[], policy: Correlation) => [
  openings.reduce((before, one) => recordOpening(before, one, policy), ledger),
  recordOpenings(ledger, openings, policy),
];

describe("openings of others' doing, all at once (C12)", { timeout: 60_000 }, () => {
  test('C12, S3: come to the same as one by one, whatever was before', () => {
    const tools = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { minLength: 1 });
    const ages = fc.array(fc.constantFrom(0, 1_000, 119_999, 500_000), { minLength: 6, maxLength: 6 });
    const categories = fc.array(category, { minLength: 6, maxLength: 6 });
    const before = fc.array(happening(...PROCESS), { maxLength: 25 });
    fc.assert(
      fc.property(budgets, policies, before, tools, ages, categories, (budget, policy, all, names, old, as) => {
        const run = runOf(budget, policy);
        for (const one of all) happen(run, one);
        const openings = names.map((name, index) => ({
          tool: name,
          category: as[index] ?? 'network',
          at: { ...run.at, ms: run.at.ms - (old[index] ?? 0) },
          unixMs: index,
        }));
        const [one, atOnce] = ways(run.ledger, openings, policy);
        expect(atOnce).toEqual(one);
      }),
      { numRuns: 5_000 },
    );
  });

  test('C12: however many join an event, it is put together for all of them at once', () => {
    const sharedDependency = vi.fn(() => undefined);
    const policy = { ...DEFAULT_SYSTEMIC, sharedDependency };
    const at = { ms: 0, step: 0, stepMs: 0 };
    const openings = Array.from({ length: 1_000 }, (_, n) => ({
      tool: `t${n}`,
      category: n < 500 ? ('network' as const) : ('server' as const),
      at,
      unixMs: n,
    }));
    const atOnce = recordOpenings(createLedger(createBudget(5)), openings, policy);
    expect(atOnce.event?.openings).toHaveLength(1_000);
    expect(sharedDependency).toHaveBeenCalledTimes(2); // When it began, and when the others joined.
  });
});

describe('the ledger, whatever happens', { timeout: 60_000 }, () => {
  test('B1, C12: granted less consumed is the limit less what stands charged, and both only grow', () => {
    always(PROCESS, ({ ledger: { budget } }, before) => {
      expect(budget.granted - budget.consumed).toBe(budget.limit - budget.earlier.failures - budget.charges.length);
      expect(remaining(budget)).toBe(Math.max(0, budget.granted - budget.consumed));
      expect(budget.granted).toBeGreaterThanOrEqual(before.budget.granted);
      expect(budget.consumed).toBeGreaterThanOrEqual(before.budget.consumed);
    });
  });

  test('B1, B4: it is exhausted while failures or tokens have run out, and at no other time', () => {
    always(PROCESS, ({ ledger }) => {
      const left = tokensRemaining(ledger.budget);
      expect(left === undefined || left >= 0).toBe(true);
      expect(ledger.exhausted).toBe(isSpent(ledger.budget));
    });
  });

  test('S3: an event is counted once, and never twice', () => {
    always(SESSION, ({ ledger: { budget, event }, policy, events }, before) => {
      const marked = (of: Ledger['budget']) => of.charges.filter((one) => one.event).length;
      const isNew = before.event === undefined && event !== undefined;
      if (budget.cycle === before.budget.cycle) expect(marked(budget) - marked(before.budget)).toBe(isNew ? 1 : 0);
      expect(marked(budget)).toBeLessThanOrEqual(events);
      // Of the tools of an event nothing else stands charged that failed within the window of their openings.
      const parts = [...budget.charges, ...budget.provisional].filter(
        (one) =>
          !one.event && event?.openings.some(({ tool, at }) => tool === one.tool && inWindow(policy, one.at, at)),
      );
      expect(parts).toEqual([]);
    });
  });

  test('S3: each failure stands in one place, and comes to one end', () => {
    always(SESSION, ({ ledger, counted, merged, free }) => {
      const all = [...standing(ledger), ...counted, ...merged, ...free];
      expect(new Set(all).size).toBe(all.length);
    });
  });

  test('S3: no failure lasts free for ever: a provisional one counts in the end, or is part of an event', () => {
    fc.assert(
      fc.property(budgets, policies, fc.array(happening(...SESSION), { maxLength: 40 }), (budget, policy, all) => {
        const run = runOf(budget, policy);
        const failed = all.flatMap((one) => {
          happen(run, one);
          return one.kind === 'fail' || one.kind === 'trip' ? [run.at.ms] : [];
        });
        happen(run, { kind: 'confirm' });
        // By time, and by steps where the opening lies steps ago.
        happen(run, { kind: 'wait', ms: policy.windowMs });
        for (let step = 0; step <= policy.windowSteps; step += 1) happen(run, { kind: 'step' });
        happen(run, { kind: 'wait', ms: 0 });
        const { ledger, counted, merged, free, events } = run;
        expect(ledger.budget.provisional).toEqual([]);
        const ends = [...timesOf(ledger.budget.charges), ...counted, ...merged, ...free];
        expect(ends.toSorted((one, other) => one - other)).toEqual(failed);
        if (events === 0) expect([merged, free]).toEqual([[], []]);
      }),
      { numRuns: 2_000 },
    );
  });

  test('S3: merging is idempotent, whatever the ledger', () => {
    always(PROCESS, ({ ledger: { budget } }) => {
      for (const paid of [false, true]) {
        const merged = mergeIntoOne(budget, ({ category }) => category === 'network', paid);
        expect(mergeIntoOne(merged, ({ category }) => category === 'network', paid)).toBe(merged);
        expect(merged.granted - merged.consumed).toBe(merged.limit - merged.charges.length);
      }
    });
  });
});
