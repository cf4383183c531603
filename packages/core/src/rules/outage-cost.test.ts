import { describe, expect, test } from 'vitest';
import { bench, failOnce, steps, succeedOnce, trip } from '../test-support.ts';
import { hear, stray } from './test-support.rules.ts';

describe('B3: cost of an outage', () => {
  test('B3: an opening merges all charges since the circuit last closed into one, dated at the opening', () => {
    const { session } = bench();
    stray(session, 'a'); // A success does not part them: only a closing does.
    for (let i = 0; i < 3; i += 1) {
      session.step();
      failOnce(session, 'a');
    }
    expect(session.view().budget.remaining).toBe(4);
    expect(session.explain('a').charges).toMatchObject([{ tool: 'a', step: 3, count: 1 }]);
    steps(session, 20);
    expect(session.view().budget.remaining).toBe(4);
    session.step();
    expect(session.view().budget.remaining).toBe(5);
  });

  test('B3: failed probes cost nothing, however many', () => {
    const { session } = bench();
    trip(session, 'a');
    for (const wait of [3, 3, 3, 6]) {
      steps(session, wait);
      expect(failOnce(session, 'a')).toBe('probe');
    }
    expect(session.view().budget).toMatchObject({ remaining: 4 });
    steps(session, 6);
    expect(session.view().budget.remaining).toBe(5);
  });

  test('B3: each outage costs one: charges from before the circuit closed are not merged again', () => {
    const { session } = bench();
    for (let outage = 1; outage <= 3; outage += 1) {
      trip(session, 'a');
      steps(session, 3);
      expect(succeedOnce(session, 'a')).toBe('probe');
      expect(session.view().budget.remaining).toBe(5 - outage);
    }
  });

  test('B3: an operator who takes over the circuit closes it, too', () => {
    const { session } = bench();
    for (let i = 0; i < 2; i += 1) failOnce(session, 'a');
    session.control('a', 'disabled');
    session.control('a', 'automatic');
    trip(session, 'a');
    expect(session.view().budget.remaining).toBe(2);
  });

  test('B3: skips, pauses, ignored outcomes and unavailable checks cost nothing', () => {
    const { session } = bench({ tools: { a: {}, b: { precheck: () => 'unavailable' }, c: {} } });
    session.control('a', 'forced_open');
    for (const tool of ['a', 'b']) failOnce(session, tool);
    session.acquire('c').settle({ outcome: 'ignored', category: 'tool_error' });
    expect(session.view().budget).toMatchObject({ remaining: 5, consumed: 0, provisional: 0 });
  });

  test('B1, B3: exhaustion is checked after the merge', () => {
    const { session, box } = bench({ budget: { failures: 3 }, systemic: false, defaults: { failureThreshold: 2 } });
    const exhausted = hear(box, 'budget.exhausted');
    stray(session, 'b');
    failOnce(session, 'a');
    expect(session.view().budget.remaining).toBe(1);
    failOnce(session, 'a'); // The third charge, and the one that opens the circuit.
    expect(session.view()).toMatchObject({ state: 'active', budget: { remaining: 1 } });
    expect(exhausted).toEqual([]);
  });
});
