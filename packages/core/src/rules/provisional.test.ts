import { describe, expect, test } from 'vitest';
import { bench, failOnce, steps, succeedOnce, trip } from '../test-support.ts';
import { bringDown, FIVE_STRAY, failAll, hear, inAnotherProcess, stray } from './test-support.rules.ts';

const tools = { a: {}, b: {}, c: {}, d: {}, e: {}, f: {}, g: {} } as const;

/** Five tools fail, each in its own way. */
const five = (session: ReturnType<typeof bench>['session']) => {
  for (const [tool, category] of FIVE_STRAY) failOnce(session, tool, category);
};

describe('S3: charges that may belong to an event are provisional', () => {
  test('S3: they count in the budget left and in caution before any circuit opens, and do not pause the session', () => {
    const { session, box } = bench({ tools });
    const exhausted = hear(box, 'budget.exhausted');
    five(session);
    expect(session.view()).toMatchObject({ state: 'active', budget: { remaining: 0, provisional: 5, consumed: 0 } });
    expect(session.acquire('e')).toMatchObject({ decision: 'call', caution: true, budgetRemaining: 0 });
    expect(exhausted).toEqual([]);
  });

  test('S3: all become final when the tool of one of them succeeds', () => {
    const { session, box } = bench({ tools });
    const exhausted = hear(box, 'budget.exhausted');
    five(session);
    succeedOnce(session, 'e'); // It was never suspected.
    expect(session.view().budget.provisional).toBe(5);
    succeedOnce(session, 'c');
    expect(session.view()).toMatchObject({ state: 'paused_budget', budget: { provisional: 0, consumed: 5 } });
    expect(exhausted).toHaveLength(1);
    expect(session.acquire('e').reason).toBe('budget_exhausted');
  });

  test('S3: they also become final when the window has passed, by steps or by time', () => {
    const { session } = bench({ tools });
    session.step();
    five(session);
    steps(session, 10);
    expect(session.acquire('e').decision).toBe('call');
    session.step();
    expect(session.acquire('e').reason).toBe('budget_exhausted');
    const timed = bench({ tools });
    five(timed.session);
    timed.clock.advance(120_000);
    expect(timed.session.acquire('e').decision).toBe('call');
    timed.clock.advance(1);
    expect(timed.session.acquire('e').reason).toBe('budget_exhausted');
  });

  test('B1, S3: a charge counts as consumed also if nothing uses the session until it has left the budget', () => {
    const { session, clock } = bench({ tools });
    failOnce(session, 'a');
    for (const consumed of [1, 1]) {
      clock.advance(400_000);
      expect(session.view().budget).toMatchObject({ consumed, provisional: 0 });
    }
    succeedOnce(session, 'b');
    expect(session.view().budget).toMatchObject({ consumed: 1, remaining: 5 });
  });

  test('B1, S3: a charge whose window has passed during a pause is final after it, and no later event takes it back', () => {
    const { session, clock } = bench({ tools });
    failOnce(session, 'c', 'server');
    succeedOnce(session, 'g'); // Otherwise all seven failures are one event.
    trip(session, 'a');
    trip(session, 'b');
    expect(session.view()).toMatchObject({ state: 'paused_systemic', budget: { consumed: 1, provisional: 1 } });
    steps(session, 11);
    session.confirmRecovered();
    clock.advance(60_000);
    for (const tool of ['a', 'b']) expect(failOnce(session, tool)).toBe('probe');
    expect(session.view()).toMatchObject({ state: 'paused_systemic', budget: { consumed: 2, provisional: 0 } });
  });

  test('S3: at most five are provisional; the next is final, and pauses the session', () => {
    const { session } = bench({ tools });
    five(session);
    failOnce(session, 'e', 'server');
    expect(session.view()).toMatchObject({ state: 'paused_budget', budget: { provisional: 5, consumed: 1 } });
  });

  test('S3: a final charge beside provisional ones pauses only if the charges up to it are enough', () => {
    const { session } = bench({ tools, budget: { failures: 6 } });
    for (const [tool, category] of FIVE_STRAY.slice(0, 4)) failOnce(session, tool, category);
    failOnce(session, 'made_up'); // Final: it has no circuit.
    expect(session.view()).toMatchObject({ state: 'active', budget: { remaining: 1, provisional: 4 } });
    failOnce(session, 'e', 'server');
    expect(session.view()).toMatchObject({ state: 'active', budget: { remaining: 0, provisional: 5 } });
    failOnce(session, 'made_up');
    expect(session.view().state).toBe('paused_budget');
  });

  test('S1, S3: without systemic, and for tools without a circuit, charges are final at once', () => {
    const { session } = bench({ tools, systemic: false });
    five(session);
    expect(session.view()).toMatchObject({ state: 'paused_budget', budget: { provisional: 0, consumed: 5 } });
    const undeclared = bench({ tools }).session;
    failOnce(undeclared, 'made_up');
    expect(undeclared.view().budget).toMatchObject({ provisional: 0, consumed: 1 });
  });

  test('B3, S3: the one charge of an outage is provisional if all of its parts were', () => {
    const { session } = bench({ tools });
    trip(session, 'a');
    expect(session.view().budget).toMatchObject({ remaining: 4, provisional: 1, consumed: 0 });
    const parted = bench({ tools }).session;
    stray(parted, 'a');
    trip(parted, 'a');
    expect(parted.view().budget).toMatchObject({ remaining: 4, provisional: 0, consumed: 1 });
  });

  test('C11, S3: charges stay provisional in another process, and time passes for them', () => {
    const { session, box } = bench({ tools });
    five(session);
    const restored = inAnotherProcess(session, box);
    expect(restored.view()).toMatchObject({ state: 'active', budget: { remaining: 0, provisional: 5 } });
    expect(inAnotherProcess(session, box, { elapsedMs: 120_001 }).acquire('e').reason).toBe('budget_exhausted');
    succeedOnce(restored, 'a');
    expect(restored.acquire('e').reason).toBe('budget_exhausted');
  });
});

describe('S3: an event costs one failure', () => {
  test('S3: it covers earlier failures of its tools or its category; other failures stay separate', () => {
    const { session } = bench({ tools });
    failOnce(session, 'c'); // Its category.
    failOnce(session, 'a', 'server'); // Its tool.
    failOnce(session, 'd', 'permission'); // Neither.
    bringDown(session);
    expect(session.view()).toMatchObject({ state: 'paused_systemic', budget: { remaining: 3, consumed: 1 } });
    expect(session.explain('c').charges).toMatchObject([{ standing: 'systemic', count: 1 }]);
    expect(session.explain('d').charges).toMatchObject([{ standing: 'provisional' }]);
  });

  test('S3: failures before the window of the event stay separate', () => {
    const { session } = bench({ tools });
    session.step();
    stray(session, 'a');
    steps(session, 11);
    bringDown(session, 'b', 'c');
    expect(session.view().budget.remaining).toBe(3);
  });

  test('S3: failures during the event are free, and so is a circuit that joins', () => {
    const { session } = bench({ tools });
    const underWay = ['c', 'c', 'c', 'd'].map((tool) => session.acquire(tool));
    bringDown(session);
    expect(session.view().budget.remaining).toBe(4);
    for (const permit of underWay) permit.settle({ outcome: 'failure', category: 'server' });
    expect(session.view()).toMatchObject({ budget: { remaining: 4 }, systemic: { openings: [{}, {}, { tool: 'c' }] } });
  });

  test('S3: an earlier charge of a circuit that joins is absorbed, not charged again', () => {
    const { session } = bench({ tools, systemic: { mixedFailures: 99 } });
    const underWay = [1, 2, 3].map(() => session.acquire('c'));
    failOnce(session, 'c', 'server');
    bringDown(session);
    expect(session.view().budget.remaining).toBe(3);
    for (const permit of underWay) permit.settle({ outcome: 'failure', category: 'server' });
    expect(session.view().systemic?.openings).toHaveLength(3);
    expect(session.view().budget.remaining).toBe(4);
  });

  test('B1, S3: the event is judged as a whole: charges that it merges do not pause the session', () => {
    const { session } = bench({ tools, budget: { failures: 2 } });
    bringDown(session);
    expect(session.view()).toMatchObject({ state: 'paused_systemic', budget: { remaining: 1, consumed: 1 } });
    session.confirmRecovered();
    expect(session.acquire('c')).toMatchObject({ decision: 'call', caution: true });
  });

  test('B1, S3: an event may cost less than the charges that paused the session', () => {
    const { session } = bench({ tools, budget: { failures: 3 } });
    const underWay = ['a', 'a', 'a', 'b', 'b', 'b'].map((tool) => session.acquire(tool));
    for (const tool of ['a', 'b']) stray(session, tool);
    failOnce(session, 'made_up', 'server');
    expect(session.acquire('c').reason).toBe('budget_exhausted');
    for (const permit of underWay) permit.settle({ outcome: 'failure', category: 'network' });
    expect(session.view()).toMatchObject({ state: 'paused_systemic', budget: { remaining: 1 } });
    session.confirmRecovered();
    expect(session.acquire('c').decision).toBe('call');
  });

  test('S3: the next event costs one more', () => {
    const { session } = bench({ tools });
    bringDown(session);
    session.confirmRecovered();
    bringDown(session, 'c', 'd');
    expect(session.view().budget).toMatchObject({ remaining: 3, consumed: 2 });
  });

  test('S3: an event whose failures were cleared by resume() costs nothing', () => {
    const { session } = bench({ tools });
    trip(session, 'a');
    const last = session.acquire('b');
    failAll(session, ['b', 'b']);
    session.resume();
    expect(session.view().budget.remaining).toBe(5);
    last.settle({ outcome: 'failure', category: 'network' }); // Its own failure is all that is left to charge.
    expect(session.view()).toMatchObject({ state: 'paused_systemic', budget: { remaining: 4 } });
  });
});
