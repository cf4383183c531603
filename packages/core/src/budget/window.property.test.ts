import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ErrorCategory } from '../classify/taxonomy.ts';
import type { Moment } from '../clock.ts';
import {
  chargeFailure,
  createWindowBudget,
  isWindowSpent,
  markClosed,
  markSucceeded,
  mergeEvent,
  mergeGroup,
  mergeOpening,
  passTime,
  renewWindow,
  type WindowBudget,
  windowProvisional,
  windowTokensRemaining,
  withCharges,
} from './window.ts';

const at = (ms: number, step = 0): Moment => ({ ms, step, stepMs: 0 });

/** What may happen to a budget. */
interface Act {
  readonly kind:
    | 'fail'
    | 'fail free'
    | 'succeed'
    | 'open'
    | 'group'
    | 'close'
    | 'event'
    | 'joins'
    | 'time'
    | 'renewWindow';
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly tokens: number;
  readonly shared: boolean;
  /** How much time passes before. */
  readonly ms: number;
  readonly steps: number;
}

const kinds: readonly Act['kind'][] = [
  'fail free',
  'succeed',
  'open',
  'group',
  'close',
  'event',
  'joins',
  'time',
  'renewWindow',
];
const actOf = (kind: fc.Arbitrary<Act['kind']>, names: readonly string[]): fc.Arbitrary<Act> =>
  fc.record({
    kind,
    tool: fc.constantFrom(...names),
    category: fc.constantFrom('network', 'server'),
    tokens: fc.constantFrom(0, 0, 7, Number.NaN),
    shared: fc.boolean(),
    ms: fc.constantFrom(0, 1, 90_000),
    steps: fc.constantFrom(0, 0, 0, 1, 8),
  });
const anyKind = fc.oneof({ weight: 2, arbitrary: fc.constant('fail' as const) }, fc.constantFrom(...kinds));
const budgets = fc.record({ limit: fc.constantFrom(1, 2, 5, 7, 150), tokenLimit: fc.constantFrom(undefined, 60) });

const groupOf = (tool: string): string | undefined => (tool < 'c' ? 'group:g' : undefined);
/** Tool `z` has no circuit. */
const act = (budget: WindowBudget, { kind, tool, category, tokens, shared }: Act, now: Moment): WindowBudget => {
  const failure = { tool, category, at: now, tokens, mayBeShared: shared, hasCircuit: tool !== 'z' };
  switch (kind) {
    case 'fail':
      return chargeFailure(budget, { ...failure, free: false });
    case 'fail free':
      return chargeFailure(budget, { ...failure, free: true });
    case 'succeed':
      return markSucceeded(budget, tool, groupOf(tool));
    case 'open':
      return mergeOpening(budget, { tool, category, at: now });
    case 'group':
      return mergeGroup(budget, { tool: 'group:g', category, at: now }, (one) => groupOf(one) !== undefined);
    case 'close':
      return markClosed(budget, shared ? tool : 'group:g');
    case 'event':
    case 'joins':
      return mergeEvent(budget, (one) => one.category === category, kind === 'joins');
    case 'time':
      return passTime(budget, now, (one) => now.ms - one.at.ms <= 120_000);
    default:
      return renewWindow(budget);
  }
};

/** What the charges count, reckoned in the simplest way. */
const counted = ({ charges, limit }: WindowBudget): number => {
  const free = charges.filter((one) => one.event || one.uncapped);
  const capped = charges.filter((one) => !free.includes(one));
  const perTool = [...new Set(capped.map(({ tool }) => tool))].map((tool) => capped.filter((one) => one.tool === tool));
  const cap = Math.max(1, limit - 1);
  for (const one of perTool) expect(one.length).toBeLessThanOrEqual(2 * cap);
  const own = perTool.reduce((sum, one) => sum + Math.min(one.length, cap), 0);
  return own + free.reduce((sum, { count = 1 }) => sum + count, 0);
};

/** Checks after each act of many runs. */
const whatever = (
  acts: fc.Arbitrary<Act>,
  length: number,
  check: (next: WindowBudget, before: WindowBudget, one: Act, now: Moment) => void,
): void =>
  fc.assert(
    fc.property(budgets, fc.array(acts, { maxLength: length, size: 'max' }), (options, all) => {
      let budget = createWindowBudget(options);
      let now = at(0);
      for (const one of all) {
        now = at(now.ms + one.ms, now.step + one.steps);
        const next = act(freeze(budget), one, now);
        check(next, budget, one, now);
        budget = next;
      }
    }),
    { numRuns: length > 100 ? 50 : 500 },
  );

/** So that a function that changes what it was given fails. */
const freeze = (budget: WindowBudget): WindowBudget => {
  for (const one of [...budget.charges, ...budget.spent]) Object.freeze(one);
  for (const one of [budget.charges, budget.spent]) Object.freeze(one);
  return Object.freeze(budget);
};

describe('the window budget, whatever happens', { timeout: 60_000 }, () => {
  const any = actOf(anyKind, ['a', 'b', 'c', 'd', 'z']);

  test('B1: what remains is the limit less what the charges count, and consumed never shrinks', () => {
    whatever(any, 60, (next, before) => {
      expect(next.remaining).toBe(Math.max(0, next.limit - counted(next)));
      expect(withCharges(next)).toEqual(next);
      expect(next.consumed).toBeGreaterThanOrEqual(before.consumed);
    });
  });

  test('S3: at most five charges are provisional, and these alone never pause the session', () => {
    whatever(any, 60, (next) => {
      const { charges } = next;
      expect(windowProvisional(next)).toBe(charges.filter(({ provisional }) => provisional).length);
      expect(windowProvisional(next)).toBeLessThanOrEqual(5);
      const areAllProvisional = windowProvisional(next) === charges.length;
      if (windowTokensRemaining(next) !== 0 && (areAllProvisional || next.remaining > 0))
        expect(isWindowSpent(next)).toBe(false);
    });
  });

  test('B3, S3, C15: no merge takes from what remains, and no merge pauses the session', () => {
    const merges = new Set<Act['kind']>(['open', 'group', 'event', 'joins']);
    whatever(any, 60, (next, before, { kind }) => {
      if (merges.has(kind)) expect(next.remaining).toBeGreaterThanOrEqual(before.remaining);
    });
  });

  test('C11: where nothing changes, the budget is the same object', () => {
    whatever(any, 40, (next, before, one, now) => {
      if (one.kind === 'fail' || one.kind === 'renewWindow') return;
      if (isDeepStrictEqual(next, before)) expect(next).toBe(before);
      if (one.kind !== 'fail free') expect(act(next, one, now)).toBe(next); // Once more is no news.
    });
  });

  test('B1: one tool with a circuit alone never exhausts a budget of two or more', () => {
    const alone = actOf(fc.constantFrom('fail', 'fail', 'succeed', 'open', 'close', 'time'), ['a']);
    whatever(alone, 60, (next) => {
      if (next.limit >= 2 && windowTokensRemaining(next) !== 0) expect(isWindowSpent(next)).toBe(false);
    });
  });

  test('B1, B4: lists have at most 200 entries', () => {
    whatever(actOf(fc.constantFrom('fail', 'fail free'), ['a', 'z']), 600, (next) => {
      expect(next.charges.length).toBeLessThanOrEqual(200);
      expect(next.spent.length).toBeLessThanOrEqual(200);
    });
  });
});
