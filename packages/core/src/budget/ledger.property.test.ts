import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ErrorCategory } from '../classify/taxonomy.ts';
import type { Moment } from '../clock.ts';
import {
  closed,
  failed,
  type Kept,
  opened,
  passed,
  policy,
  resolved,
  settled,
  startOf,
  strictOf,
  within,
} from '../test-support.ledger.ts';
import { type BudgetOptions, isSpent } from './budget.ts';
import { chargesOf } from './charges.ts';
import { renewBudget } from './ledger.ts';
import { mergeIntoOne, strictRemaining } from './strict.ts';

/** What may happen to a ledger. `trip`: a failure that opens the circuit; `adopt`: failures of others did (C12). */
interface Happening {
  readonly kind: 'fail' | 'trip' | 'adopt' | 'close' | 'wait' | 'step' | 'resume' | 'confirm';
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly tokens: number;
  readonly ms: number;
}
type Kind = Happening['kind'];

const happening = (...others: readonly Kind[]): fc.Arbitrary<Happening> =>
  fc.record({
    kind: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom<Kind>('fail', 'fail', 'trip', ...others) },
      { weight: 4, arbitrary: fc.constantFrom<Kind>('close', 'wait', 'step', 'step', 'resume', 'confirm') },
    ),
    tool: fc.constantFrom('a', 'b', 'c', 'd'),
    category: fc.constantFrom<ErrorCategory>('network', 'network', 'server', 'timeout', 'unknown'),
    tokens: fc.constantFrom(0, 50, 300, Number.NaN),
    ms: fc.constantFrom(1_000, 60_000, 119_999, 500_000),
  });

const budgets = (rule: NonNullable<BudgetOptions['rule']>) =>
  fc
    .record({ failures: fc.constantFrom(1, 2, 5, 50), tokens: fc.constantFrom(undefined, 500) })
    .map(({ failures, tokens }) => startOf({ rule, failures, ...(tokens !== undefined && { tokens }) }));

/** A ledger on its way, with what became of each failure. Each has a time of its own, which is how it is recognised. */
interface Run {
  kept: Kept;
  at: Moment;
  readonly failed: number[];
  /** Failures that were charged in a cycle that is over. */
  readonly counted: number[];
  /** Failures that a systemic event has merged, except the one that stays. */
  readonly merged: number[];
  /** Failures while an event lasted. */
  readonly free: number[];
}

const standing = ({ ledger }: Kept): number[] => chargesOf(ledger.budget).map(({ at }) => at.ms);

/** In the order in which a session does it. */
const happen = (run: Run, { kind, tool, category, tokens, ms }: Happening): void => {
  run.at = { ...run.at, ms: run.at.ms + 1 + (kind === 'wait' ? ms : 0) };
  if (kind === 'step') run.at = { ms: run.at.ms, step: run.at.step + 1, stepMs: run.at.ms };
  const isPaused = run.kept.correlation.event !== undefined;
  let next = settled(isPaused ? run.kept : passed(run.kept, run.at));
  const known = standing(next);
  if (kind === 'fail' || kind === 'trip') {
    run.failed.push(run.at.ms);
    (isPaused ? run.free : known).push(run.at.ms);
    next = failed(next, tool, category, run.at, 1, tokens);
  }
  if (kind === 'trip' || kind === 'adopt') next = opened(next, tool, category, run.at);
  run.merged.push(...known.filter((one) => !standing(next).includes(one)));
  if (kind === 'close') next = closed(next, tool);
  if (kind === 'resume') {
    run.counted.push(...standing(next));
    next = { ...next, ledger: renewBudget(next.ledger) };
  }
  if (kind === 'confirm') next = resolved(next);
  run.kept = settled(next);
};

/** Checks after each happening of many runs. */
const always = (
  rule: NonNullable<BudgetOptions['rule']>,
  all: fc.Arbitrary<Happening>,
  check: (run: Run, before: Kept) => void,
  end: (run: Run) => void = () => {},
) =>
  fc.assert(
    fc.property(budgets(rule), fc.array(all, { maxLength: 40 }), (start, happenings) => {
      const at = { ms: 0, step: 0, stepMs: 0 };
      const run: Run = { kept: start, at, failed: [], counted: [], merged: [], free: [] };
      for (const one of happenings) {
        const before = run.kept;
        happen(run, one);
        check(run, before);
      }
      end(run);
    }),
    { numRuns: 1_000 },
  );

describe('the ledger, whatever happens', { timeout: 60_000 }, () => {
  test.each(['window', 'strict'] as const)('S3: an event is charged once at most: %s', (rule) => {
    always(rule, happening('adopt'), ({ kept }, before) => {
      const { ledger, correlation } = kept;
      expect(ledger.event).toBe(correlation.event);
      const marked = (of: Kept) => chargesOf(of.ledger.budget).filter(({ standing: how }) => how === 'systemic').length;
      const isNewlyPaid = ledger.paid && !before.ledger.paid;
      expect(marked(kept) - marked(before)).toBeLessThanOrEqual(isNewlyPaid ? 1 : 0);
      // Nothing else is charged to the tools of an event that failed in the window of their openings.
      const parts = chargesOf(ledger.budget).filter(
        (one) =>
          one.standing !== 'systemic' &&
          correlation.event?.openings.some(({ tool, at }) => tool === one.tool && within(one.at, at)),
      );
      expect(parts).toEqual([]);
    });
  });

  test('B6, C12: granted less consumed is the limit less what is charged, and both only grow', () => {
    always('strict', happening('adopt'), ({ kept }, before) => {
      const budget = strictOf(kept);
      expect(budget.granted - budget.consumed).toBe(budget.limit - budget.earlier.failures - budget.charges.length);
      expect(strictRemaining(budget)).toBe(Math.max(0, budget.granted - budget.consumed));
      expect(budget.granted).toBeGreaterThanOrEqual(strictOf(before).granted);
      expect(budget.consumed).toBeGreaterThanOrEqual(strictOf(before).consumed);
    });
  });

  test('B6, B4: it is exhausted while failures or tokens have run out, and at no other time', () => {
    always('strict', happening('adopt'), ({ kept: { ledger } }) => {
      expect(ledger.exhausted).toBe(isSpent(ledger.budget));
    });
  });

  test('B6, S3: each failure stands in one place, and none stays free for ever', () => {
    const once = ({ kept, counted, merged, free }: Run): number[] => [
      ...standing(kept),
      ...counted,
      ...merged,
      ...free,
    ];
    always(
      'strict',
      happening(),
      (run) => expect(once(run).toSorted((one, other) => one - other)).toEqual(run.failed),
      (run) => {
        const quiet = { tool: 'a', category: 'network', tokens: 0, ms: policy.windowMs } as const;
        happen(run, { ...quiet, kind: 'confirm' });
        happen(run, { ...quiet, kind: 'wait' });
        for (let step = 0; step <= policy.windowSteps; step += 1) happen(run, { ...quiet, kind: 'step' });
        happen(run, { ...quiet, kind: 'wait' });
        expect(strictOf(run.kept).provisional).toEqual([]);
      },
    );
  });

  test('B6, S3: merging is idempotent, whatever the ledger', () => {
    always('strict', happening('adopt'), ({ kept }) => {
      for (const paid of [false, true]) {
        const merged = mergeIntoOne(strictOf(kept), ({ category }) => category === 'network', paid);
        expect(mergeIntoOne(merged, ({ category }) => category === 'network', paid)).toBe(merged);
        expect(merged.granted - merged.consumed).toBe(merged.limit - merged.charges.length);
      }
    });
  });
});
