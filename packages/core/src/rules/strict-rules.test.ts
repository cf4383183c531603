import { describe, expect, test } from 'vitest';
import { bench, failOnce, steps, succeedOnce, trip } from '../test-support.ts';
import {
  bringDown,
  FIVE_STRAY,
  failAll,
  grouped,
  hear,
  inAnotherProcess,
  openGroup,
  stray,
  waste,
} from './test-support.rules.ts';

const strict = { budget: 'strict' } as const;

describe('B6: the rule strict', () => {
  test('B6: every failure costs one, even in an outage, and the fifth pauses the session', () => {
    const { session, box } = bench(strict);
    const exhausted = hear(box, 'budget.exhausted');
    for (const [index, [tool, category]] of FIVE_STRAY.entries()) {
      expect(session.acquire('b')).toMatchObject({
        decision: 'call',
        budgetRemaining: 5 - index,
        caution: index === 4,
      });
      failOnce(session, tool, category);
    }
    expect(session.acquire('b')).toMatchObject({ decision: 'pause', reason: 'budget_exhausted', budgetRemaining: 0 });
    expect(session.view().budget).toMatchObject({ rule: 'strict', limit: 5, consumed: 5, provisional: 0 });
    expect(exhausted).toHaveLength(1);
  });

  test('B6: failed probes cost one each, so one tool alone pauses the session', () => {
    const { session } = bench(strict);
    trip(session, 'a');
    expect(session.view().budget.remaining).toBe(2);
    for (const left of [1, 0]) {
      steps(session, 3);
      expect(failOnce(session, 'a')).toBe('probe');
      expect(session.view().budget.remaining).toBe(left);
    }
    expect(session.acquire('b').decision).toBe('pause');
  });

  test('B6: steps, time and successes return nothing, only resume() does', () => {
    const { session, clock } = bench(strict);
    for (const tool of ['a', 'b', 'c']) stray(session, tool);
    steps(session, 1_000);
    clock.advance(86_400_000);
    expect(session.view().budget.remaining).toBe(2);
    session.resume();
    expect(session.view().budget).toMatchObject({ remaining: 5, cycle: 2, consumed: 3 });
  });

  test('B6, S3: an event returns all of its cost but one', () => {
    const { session } = bench(strict);
    stray(session, 'd', 'server');
    bringDown(session);
    expect(session.view()).toMatchObject({ state: 'paused_systemic', budget: { remaining: 3, provisional: 0 } });
  });

  test('B6, S3: failures beside an open circuit wait for the event, and are charged when its window has passed', () => {
    const { session } = bench(strict);
    trip(session, 'a');
    session.step();
    failOnce(session, 'b');
    expect(session.view().budget).toMatchObject({ remaining: 2, provisional: 1 });
    steps(session, 10);
    expect(session.view().budget).toMatchObject({ remaining: 1, provisional: 0 });
  });

  test('B4, B6: an event that returns tokens ends the token pause', () => {
    const { session } = bench({ budget: { rule: 'strict', failures: 50, tokens: 550 } });
    const slow = session.acquire('b');
    for (const tool of ['a', 'a', 'a', 'b', 'b']) waste(session, tool, 100);
    slow.settle({ outcome: 'failure', category: 'network', tokens: 100 });
    expect(session.view()).toMatchObject({ state: 'paused_systemic', budget: { tokensRemaining: 450 } });
    session.confirmRecovered();
    expect(session.view().state).toBe('active');
  });

  test('B6, C15: an outage of a group costs each of its failures', () => {
    const { session } = grouped(strict);
    openGroup(session);
    expect(session.view().budget).toMatchObject({ remaining: 2, provisional: 0, consumed: 3 });
    steps(session, 3);
    expect(failOnce(session, 'b')).toBe('probe');
    expect(session.view().budget.remaining).toBe(1);
    expect(session.explain('a').charges.map(({ tool }) => tool)).toEqual(['a', 'a']);
  });

  test('B6: the rule is one setting of the budget, and may be set for one session', () => {
    const { box, session } = bench({ budget: { failures: 3, tokens: 100 } });
    const own = box.session({ budget: 'strict' });
    for (const one of [session, own]) trip(one, 'a');
    expect([session, own].map((one) => one.view().budget)).toMatchObject([
      { rule: 'window', limit: 3, remaining: 2, tokensRemaining: 100 },
      { rule: 'strict', limit: 3, remaining: 0, tokensRemaining: 100 },
    ]);
  });

  test('B6, C11: a session keeps its rule in another process', () => {
    const { session, box } = bench(strict);
    failAll(session, ['a', 'a'], 'server');
    const restored = inAnotherProcess(session, bench().box);
    steps(restored, 100);
    expect(restored.view().budget).toMatchObject({ rule: 'strict', remaining: 3 });
    const sliding = inAnotherProcess(bench().session, box);
    expect(sliding.view().budget.rule).toBe('window');
    succeedOnce(sliding, 'a');
  });
});
