import { expect, test, vi } from 'vitest';
import { isAffected as isPart, NO_CORRELATION, type SystemicRules } from './budget/systemic.ts';
import { gatePolicy } from './circuit/policy.ts';
import { circuitStore } from './circuit-store.ts';
import { FailureLedgers } from './failure-ledgers.ts';
import { PendingChanges } from './pending-changes.ts';
import { at, policy, sliding } from './test-support.ledger.ts';

/** The ledgers of a session that shares its circuits, and how often it was worked out what an event concerns. */
const shared = () => {
  let version = 0;
  const affectedBy = vi.fn<SystemicRules['affectedBy']>(({ openings }) => new Set(openings.map(({ tool }) => tool)));
  const gate = gatePolicy({ probeAfterMs: 300_000 });
  const rules: SystemicRules = {
    ...policy,
    decision: 'skip',
    joinsAll: false,
    gate,
    affectedBy,
    version: () => version,
  };
  const memory = { circuits: new Map(), correlation: NO_CORRELATION, dryRunCorrelation: undefined };
  const store = circuitStore(memory, { step: 0, stepMs: 0 });
  const ledgers = new FailureLedgers({ real: sliding.ledger, dryRun: undefined }, store, rules, new PendingChanges());
  const open = (tool: string, ms: number) =>
    ledgers.opened('automatic', { tool, category: 'network', at: at(ms), unixMs: 0 }, { fromClosed: true });
  const isAffected = (tool: string) => isPart(rules, ledgers.event, tool);
  const declare = () => {
    version += 1;
  };
  return { ledgers, affectedBy, open, isAffected, declare };
};

test('S2: affected tools are computed once, and again when the event grows or a tool is declared', () => {
  const { affectedBy, open, isAffected, declare } = shared();
  expect(isAffected('a')).toBe(false);
  expect([open('a', 0), open('b', 1)]).toEqual([false, true]);
  expect(affectedBy).not.toHaveBeenCalled();
  expect(['a', 'b', 'c', 'a'].map(isAffected)).toEqual([true, true, false, true]);
  expect(affectedBy).toHaveBeenCalledTimes(1);
  open('c', 2);
  expect([isAffected('c'), isAffected('a')]).toEqual([true, true]);
  expect(affectedBy).toHaveBeenCalledTimes(2);
  declare();
  expect([isAffected('a'), isAffected('b')]).toEqual([true, true]);
  expect(affectedBy).toHaveBeenCalledTimes(3);
});

test('S5: an event has a gate that waits from its latest opening, and no gate once it is over', () => {
  const { ledgers, open } = shared();
  const gate = () => ledgers.sideOf('automatic').failures.gate?.circuit;
  open('a', 0);
  expect(gate()).toBeUndefined();
  open('b', 10);
  expect(gate()).toMatchObject({
    state: 'open',
    outage: { category: 'network', openedAt: { ms: 10 }, waitMs: 300_000 },
  });
  open('c', 5_000);
  expect(gate()).toMatchObject({ state: 'open', outage: { waitFrom: { ms: 5_000 } } });
  ledgers.resolve();
  expect(gate()).toBeUndefined();
});
