import { describe, expect, test } from 'vitest';
import type { Moment } from '../clock.ts';
import { type Budget, chargesOf, createBudget, isCautious, mayChange, provisionalCount } from './budget.ts';
import * as strict from './strict.ts';
import * as sliding from './window.ts';

const at: Moment = { ms: 1, step: 2, stepMs: 1 };
const facts = { category: 'network', at } as const;
const anchor = { tool: 'x', at };

/** By each rule, a budget with the charge of an event of `a`, a charge of `b`, and a provisional one of `c`. */
const byWindow = (): Budget => {
  const created = createBudget({ failures: 3 });
  if (created.rule !== 'window') throw new Error('The default is the rule window.');
  const more = { ...facts, tokens: 5, hasCircuit: true, free: false };
  const event = sliding.mergeEvent(
    sliding.chargeFailure(created, { ...more, tool: 'a', mayBeShared: true }),
    () => true,
    false,
  );
  const charged = sliding.chargeFailure(event, { ...more, tool: 'b', mayBeShared: false });
  return sliding.chargeFailure(charged, { ...more, tool: 'c', mayBeShared: true });
};
const byStrict = (): Budget => {
  const created = createBudget({ rule: 'strict', failures: 3 });
  if (created.rule !== 'strict') throw new Error('The rule strict was set.');
  const event = strict.mergeIntoOne(strict.charge(created, { ...facts, tool: 'a', tokens: 5 }), () => true);
  const charged = strict.charge(event, { ...facts, tool: 'b', tokens: 5 });
  return strict.chargeProvisionally(charged, { ...facts, tool: 'c', tokens: 5, anchor });
};
const rules: readonly (readonly [string, () => Budget, number])[] = [
  ['window', byWindow, 0],
  ['strict', byStrict, 5],
];

describe('B1, B6: both rules answer the same questions about a budget', () => {
  test.each(rules)('B2, S3: caution and the number of provisional charges: %s', (_, make) => {
    expect([isCautious(make()), provisionalCount(make())]).toEqual([true, 1]);
    const { rule } = make();
    const full = createBudget({ rule });
    expect([isCautious(full), provisionalCount(full), mayChange(full)]).toEqual([false, 0, false]);
  });

  test.each(rules)('B1, S3: charges in the order in which reports show them: %s', (_, make, tokens) => {
    expect(chargesOf(make())).toEqual([
      { ...facts, tool: 'a', tokens, count: 1, standing: 'systemic' },
      { ...facts, tool: 'b', tokens, count: 1, standing: 'charged' },
      { ...facts, tool: 'c', tokens, count: 1, standing: 'provisional' },
    ]);
  });

  test('B1: a charge that merges many charges says how many', () => {
    const charge = { ...facts, tool: 'a', provisional: false, uncapped: true, count: 7 } as const;
    const budget = sliding.withCharges({ ...sliding.createWindowBudget({ limit: 9 }), charges: [charge] });
    expect(chargesOf(budget)).toEqual([{ ...facts, tool: 'a', tokens: 0, count: 7, standing: 'charged' }]);
  });

  test('B4: time may change a budget that counts only tokens', () => {
    const probe = { ...facts, tool: 'a', tokens: 5, hasCircuit: true, free: true, mayBeShared: true };
    expect(mayChange(sliding.chargeFailure(sliding.createWindowBudget({ limit: 5 }), probe))).toBe(true);
  });
});
