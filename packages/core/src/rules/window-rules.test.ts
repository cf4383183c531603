import { describe, expect, test } from 'vitest';
import { report } from '../report/report.ts';
import { restore } from '../snapshot/restore.ts';
import type { WindowBudgetSnapshot } from '../snapshot/session-snapshot.ts';
import { snapshot as snapshotOf } from '../snapshot/snapshot.ts';
import { bench, failOnce, steps, succeedOnce, trip } from '../test-support.ts';
import { failAll, hear, inAnotherProcess, stray } from './test-support.rules.ts';

const HOUR = 3_600_000;
const five = { tools: { a: {}, b: {}, c: {}, d: {}, e: {}, f: {} } } as const;

describe('B1: five failures in a sliding window', () => {
  test('B1: five failures in consecutive steps pause the session, with no failure left and caution', () => {
    const { session, box } = bench(five);
    const exhausted = hear(box, 'budget.exhausted');
    for (const [index, tool] of ['a', 'b', 'c', 'd'].entries()) {
      stray(session, tool);
      session.step();
      expect(session.view().budget.remaining).toBe(4 - index);
    }
    stray(session, 'e');
    expect(session.acquire('f')).toMatchObject({ decision: 'pause', reason: 'budget_exhausted', budgetRemaining: 0 });
    expect(session.view()).toMatchObject({ state: 'paused_budget', budget: { rule: 'window', limit: 5, consumed: 5 } });
    expect(exhausted).toHaveLength(1);
  });

  test('B1: a charge counts for 20 steps, and not in the next one', () => {
    const run = (gap: number) => {
      const { session } = bench(five);
      session.step();
      stray(session, 'a');
      steps(session, gap);
      for (const tool of ['b', 'c', 'd', 'e']) stray(session, tool);
      return session.acquire('f').decision;
    };
    expect([run(20), run(21)]).toEqual(['pause', 'call']);
  });

  test('B1: in a session that never steps a charge counts for ten minutes', () => {
    const run = (gapMs: number) => {
      const { session, clock } = bench(five);
      stray(session, 'a');
      clock.advance(gapMs);
      for (const tool of ['b', 'c', 'd', 'e']) stray(session, tool);
      return session.acquire('f').decision;
    };
    expect([run(600_000), run(600_001)]).toEqual(['pause', 'call']);
  });

  test('B1: in a session that never steps a charge leaves after 20 later settled calls', () => {
    const run = (later: number) => {
      const { session } = bench(five);
      stray(session, 'a'); // A failure, and a success that makes it final.
      for (let i = 0; i < later; i += 1) succeedOnce(session, 'f');
      for (const tool of ['b', 'c', 'd', 'e']) stray(session, tool);
      return session.acquire('f').decision;
    };
    expect([run(11), run(12)]).toEqual(['pause', 'call']);
  });

  test('B1: ignored calls, late ones and probes count as later calls; skips and unsettled calls do not', () => {
    const { session, clock } = bench({ tools: { a: {}, b: { cooldownMs: 1 }, c: {} }, budget: { windowCalls: 5 } });
    const late = session.acquire('b');
    stray(session, 'a');
    trip(session, 'b');
    session.acquire('c');
    expect(succeedOnce(session, 'b')).toBe('skip');
    expect(session.view().budget.remaining).toBe(3);
    session.acquire('c').settle({ outcome: 'ignored', category: 'denied' });
    late.settle({ outcome: 'success' });
    expect(session.view().budget.remaining).toBe(4); // That was the fifth call after the failure of a.
    clock.advance(1);
    expect(succeedOnce(session, 'b')).toBe('probe');
    succeedOnce(session, 'c');
    expect(session.view().budget.remaining).toBe(4);
    late.settle({ outcome: 'success' }); // It had settled.
    expect(session.view().budget.remaining).toBe(4);
    succeedOnce(session, 'c');
    expect(session.view().budget.remaining).toBe(5);
  });

  test('B1, C1: a call of an observed tool that would have been skipped ages no charge of the dry run', () => {
    const next = (mode: 'automatic' | 'observe_only') => {
      const { session } = bench({ ...five, defaults: { mode }, budget: { windowCalls: 14 } });
      for (const tool of ['a', 'b', 'c', 'd']) stray(session, tool);
      trip(session, 'e');
      for (let i = 0; i < 20; i += 1) session.acquire('e').settle({ outcome: 'failure', category: 'network' });
      stray(session, 'f');
      const permit = session.acquire('a');
      return permit.wouldDecide ?? permit.decision;
    };
    expect([next('automatic'), next('observe_only')]).toEqual(['pause', 'pause']);
  });

  test('B1: a session that has called step() keeps its charges for 20 steps, however many calls they have', () => {
    const { session } = bench(five);
    stray(session, 'a');
    session.step();
    for (let i = 0; i < 100; i += 1) succeedOnce(session, 'b');
    expect(session.view().budget.remaining).toBe(4);
  });

  test('B1: while a session is paused its charges stay, however many calls settle', () => {
    const { session } = bench({ ...five, budget: { failures: 2, windowCalls: 3 } });
    const underWay = ['d', 'e', 'f'].map((tool) => session.acquire(tool));
    for (const tool of ['a', 'b']) stray(session, tool);
    for (const permit of underWay) permit.settle({ outcome: 'success' });
    expect(session.acquire('a').reason).toBe('budget_exhausted');
  });

  test('B1: in a session with steps, time does not count; without steps between them, failures from hours ago stay', () => {
    const { session, clock } = bench(five);
    stray(session, 'a');
    clock.advance(600_001);
    session.step(); // A charge that has left stays out.
    expect(session.view().budget.remaining).toBe(5);
    stray(session, 'b');
    clock.advance(HOUR);
    expect(session.view().budget.remaining).toBe(4);
    steps(session, 21);
    expect(session.view().budget.remaining).toBe(5);
  });

  test('B1: a long run with a failure every five steps never pauses', () => {
    const { session } = bench(five);
    for (let step = 0; step < 500; step += 1) {
      const tool = 'abcde'[((step / 6) % 5) | 0] ?? 'a';
      if (step % 6 === 0) stray(session, tool);
      else expect(succeedOnce(session, tool)).toBe('call');
      session.step();
    }
    expect(session.view()).toMatchObject({ state: 'active', budget: { cycle: 1 } });
  });

  test('B1: the number of failures and their lifetime are settings; a session may have its own', () => {
    const { box, clock } = bench({ budget: { failures: 2, windowSteps: 3, windowMs: 1_000 } });
    const stepping = box.session();
    stray(stepping, 'a');
    steps(stepping, 4);
    stray(stepping, 'b');
    expect(stepping.view()).toMatchObject({ state: 'active', budget: { remaining: 1 } });
    const timed = box.session({ budget: { failures: 3 } });
    for (const tool of ['a', 'b']) stray(timed, tool);
    expect(timed.view().budget).toMatchObject({ limit: 3, remaining: 1 });
    clock.advance(1_001);
    expect(timed.view().budget.remaining).toBe(3);
  });

  test('B1, E6: settings that have no effect, or are impossible, are rejected', () => {
    expect(() => bench({ budget: { rule: 'strict', windowSteps: 3 } })).toThrow(/budget\.windowSteps: has no effect/);
    expect(() => bench({ budget: { windowSteps: 0 } })).toThrow(/budget\.windowSteps/);
    expect(() => bench({ budget: 'lenient' as never })).toThrow(/budget/);
  });
});

describe('B1: one tool alone never exhausts the budget', () => {
  test('B1, B2: its charges count at most the limit minus one', () => {
    const { session } = bench();
    for (let i = 0; i < 30; i += 1) stray(session, 'a');
    expect(session.view()).toMatchObject({ state: 'active', budget: { remaining: 1 } });
    expect(session.acquire('b')).toMatchObject({ decision: 'call', caution: true, budgetRemaining: 1 });
    stray(session, 'b');
    expect(session.acquire('c').decision).toBe('pause');
  });

  test('B1, B3: a tool that is down for a whole run costs one', () => {
    const { session } = bench();
    for (let turn = 0; turn < 60; turn += 1) {
      failOnce(session, 'a');
      expect(session.acquire('b').decision).toBe('call');
      session.step();
    }
    expect(session.view().budget.remaining).toBe(5); // The one has left the window, too.
  });

  test('B1, B5: a tool without a circuit has no such limit', () => {
    const { session } = bench();
    for (let i = 0; i < 5; i += 1) failOnce(session, 'made_up');
    expect(session.acquire('b').decision).toBe('pause');
    const none = bench({ scope: 'none' }).session;
    for (let i = 0; i < 5; i += 1) stray(none, 'a');
    expect(none.acquire('b').decision).toBe('pause');
  });

  test('B1: a limit of one has no room for this rule', () => {
    const { session } = bench({ budget: { failures: 1 } });
    stray(session, 'a');
    expect(session.acquire('b').decision).toBe('pause');
  });
});

describe('B1: a paused session, resume() and another process', () => {
  const paused = () => {
    const made = bench(five);
    for (const tool of ['a', 'b', 'c', 'd', 'e']) stray(made.session, tool);
    expect(made.session.view().state).toBe('paused_budget');
    return made;
  };

  test('B1: while the session is paused no charge leaves the window', () => {
    const { session, clock } = paused();
    steps(session, 100);
    clock.advance(100 * HOUR);
    expect(session.acquire('f')).toMatchObject({ decision: 'pause', budgetRemaining: 0 });
  });

  test('B1: resume() clears all charges, including provisional ones', () => {
    const { session } = paused();
    session.resume();
    expect(session.view()).toMatchObject({ state: 'active', budget: { remaining: 5, cycle: 2, consumed: 5 } });
    failAll(session, ['a', 'b'], 'server');
    expect(session.view().budget).toMatchObject({ remaining: 3, provisional: 2 });
    session.resume();
    succeedOnce(session, 'a'); // Makes nothing final: there is nothing.
    expect(session.view().budget).toMatchObject({ remaining: 5, provisional: 0, consumed: 5, cycle: 3 });
  });

  test('B1, C11: restore adds no calls, and calls before it count', () => {
    const { session, box } = bench(five);
    failOnce(session, 'a');
    for (let i = 0; i < 12; i += 1) succeedOnce(session, 'b');
    const restored = inAnotherProcess(session, box);
    expect(report(restored).budget.charges).toMatchObject([{ leavesIn: { calls: 8 } }]);
    for (let i = 0; i < 7; i += 1) succeedOnce(restored, 'b');
    expect(restored.view().budget.remaining).toBe(4);
    succeedOnce(restored, 'b');
    expect(restored.view().budget.remaining).toBe(5);
  });

  test('B1, C11: a snapshot of an older version restores, and its charges leave after 20 calls', () => {
    const { session, box } = bench(five);
    failOnce(session, 'a');
    const { ledger, ...rest } = snapshotOf(session);
    const { windowCalls, ...budget } = ledger.budget as WindowBudgetSnapshot;
    expect(windowCalls).toBe(20);
    const charges = budget.charges.map(({ at: { step, ageMs }, ...one }) => ({ ...one, at: { step, ageMs } }));
    const restored = restore(box, { ...rest, ledger: { ...ledger, budget: { ...budget, charges } } });
    for (let i = 0; i < 19; i += 1) succeedOnce(restored, 'b');
    expect(restored.view().budget.remaining).toBe(4);
    succeedOnce(restored, 'b');
    expect(restored.view().budget.remaining).toBe(5);
  });

  test('B1, C11: restore adds time and no steps', () => {
    const { session, box, clock } = bench();
    stray(session, 'a');
    const snapshot = JSON.parse(JSON.stringify(snapshotOf(session)));
    clock.advance(600_001);
    expect(restore(box, snapshot).view().budget.remaining).toBe(5);
    expect(restore(box, snapshot, { elapsedMs: 600_000 }).view().budget.remaining).toBe(4);
    const stepping = bench();
    stepping.session.step();
    stray(stepping.session, 'a');
    const restored = inAnotherProcess(stepping.session, stepping.box, { elapsedMs: 100 * HOUR });
    steps(restored, 20);
    expect(restored.view().budget.remaining).toBe(4);
    restored.step();
    expect(restored.view().budget.remaining).toBe(5);
  });

  test('B1, C11: a paused session stays paused', () => {
    const { session, box } = paused();
    const restored = inAnotherProcess(session, box, { elapsedMs: 100 * HOUR });
    expect(restored.acquire('f')).toMatchObject({ decision: 'pause', reason: 'budget_exhausted', budgetRemaining: 0 });
    restored.resume();
    expect(restored.acquire('f').decision).toBe('call');
  });
});

describe('B2: caution', () => {
  test('B2: decisions carry caution with one failure or none left, of any tool', () => {
    const { session } = bench({ budget: { failures: 3 }, tools: five.tools });
    stray(session, 'a');
    expect(session.acquire('b').caution).toBe(false);
    stray(session, 'b');
    expect(session.acquire('c')).toMatchObject({ caution: true, decision: 'call' });
    failOnce(session, 'c');
    expect(session.acquire('d')).toMatchObject({ caution: true, decision: 'call', budgetRemaining: 0 });
    session.resume();
    expect(session.acquire('d').caution).toBe(false);
  });
});
