import { describe, expect, test } from 'vitest';
import { failOnce, journal, steps, succeedOnce, trip } from '../test-support.ts';
import { failAll, grouped, hear, notClosed, openGroup, stray, waste } from './test-support.rules.ts';

describe('C15: state that a group absorbs when it opens', () => {
  test("C15: the circuits of its members close, and the event for this precedes the group's opening", () => {
    const { session, box } = grouped();
    const lines = journal(box);
    const transitions = hear(box, 'circuit.transition');
    trip(session, 'a');
    failOnce(session, 'b');
    expect(lines).toEqual(['a closed>open', 'a open>closed', 'group:g closed>open']);
    expect(transitions.at(-1)).toMatchObject({ tool: 'group:g', category: 'network', observed: false });
    expect(notClosed(session)).toEqual(['group:g open']);
    expect(session.acquire('a').reason).toBe('group_open');
  });

  test('C15: members return to zero counts, of failures in a row and in windows', () => {
    const failureRate = { rate: 0.5, minimumCalls: 3 };
    const { session } = grouped({
      tools: { a: { group: 'g' }, b: { group: 'g', failureRate, failureThreshold: 9 }, d: {} },
    });
    openGroup(session);
    expect(session.view().circuits.map(({ tool, failures }) => `${tool} ${failures}`)).toEqual([
      'group:g 0',
      'a 0',
      'b 0',
    ]);
    steps(session, 3);
    succeedOnce(session, 'a');
    failAll(session, ['b', 'b']);
    expect(session.peek('b')).toMatchObject({ state: 'closed', failures: 2 }); // The third call of its new window decides.
    failAll(session, ['d', 'd']);
    expect(notClosed(session)).toEqual([]);
  });

  test('C15: each member circuit begins a new generation, other circuits do not', () => {
    const { session } = grouped();
    for (const tool of ['a', 'b', 'c', 'd']) succeedOnce(session, tool);
    openGroup(session);
    const generations = ['a', 'b', 'c', 'd'].map((tool) => session.peek(tool)?.generation);
    expect(generations).toEqual([1, 1, 1, 0]);
  });

  test('B3, C15: charges of its members become one, dated at the opening; charges of other tools stay', () => {
    const { session } = grouped({ budget: { windowSteps: 5 } });
    for (const tool of ['a', 'd', 'b', 'a']) {
      failOnce(session, tool);
      session.step();
    }
    expect(session.view().budget.remaining).toBe(3);
    expect(session.explain('b').charges).toMatchObject([{ tool: 'group:g', category: 'network', step: 3, count: 1 }]);
    expect(session.explain('d').charges).toMatchObject([{ tool: 'd', step: 1 }]);
    steps(session, 4); // Step 8: five after the opening.
    expect(session.view().budget.remaining).toBe(4);
    session.step();
    expect(session.view().budget.remaining).toBe(5);
  });

  test('B3, C15: charges of a member before its last success stay separate', () => {
    const { session } = grouped();
    stray(session, 'a', 'rate_limit');
    openGroup(session);
    expect(session.view().budget.remaining).toBe(3);
    expect(session.explain('a').charges.map(({ tool }) => tool)).toEqual(['a', 'group:g']);
  });

  test('B3, C15: the charge of an outage of a member is absorbed too', () => {
    const { session } = grouped();
    trip(session, 'a');
    expect(session.view().budget.remaining).toBe(4);
    failOnce(session, 'b');
    expect(session.view().budget.remaining).toBe(4);
    expect(session.explain('a').charges.map(({ tool }) => tool)).toEqual(['group:g']);
  });

  test('B4, C15: their tokens are not absorbed', () => {
    const { session } = grouped({ budget: { tokens: 1_000 } });
    for (const tool of ['a', 'b', 'a']) waste(session, tool, 100);
    expect(session.view().budget).toMatchObject({ remaining: 4, tokensRemaining: 700 });
  });

  test('C7, C15: results of calls that were under way are late: they cost nothing and change nothing', () => {
    const { session, box } = grouped();
    const outcomes = hear(box, 'outcome');
    const [failing, succeeding, outside] = ['c', 'c', 'd'].map((tool) => session.acquire(tool));
    openGroup(session);
    const before = session.view();
    failing?.settle({ outcome: 'failure', category: 'network' });
    succeeding?.settle({ outcome: 'success' });
    expect(session.view()).toEqual(before);
    expect(outcomes.slice(-2).map(({ late }) => late)).toEqual([true, true]);
    outside?.settle({ outcome: 'failure', category: 'server' });
    expect(outcomes.at(-1)?.late).toBe(false);
    expect(session.peek('d')?.failures).toBe(1);
  });

  test('C15: a group that a failed probe opens again does not change the circuit of that tool', () => {
    const { session } = grouped();
    openGroup(session);
    steps(session, 3);
    expect(failOnce(session, 'a')).toBe('probe');
    expect(session.peek('group:g')).toMatchObject({ state: 'open', trip: 'probe' });
    expect(session.peek('a')).toMatchObject({ state: 'closed', failures: 0 });
    expect(session.view().budget.remaining).toBe(4); // And the probe was free (B3).
  });

  test('B3, C15: a second outage of the group costs one more', () => {
    const { session } = grouped();
    openGroup(session);
    steps(session, 3);
    succeedOnce(session, 'b');
    failAll(session, ['c', 'b', 'c'], 'server');
    expect(session.view().budget.remaining).toBe(3);
    expect(session.explain('a').charges.map(({ category }) => category)).toEqual(['network', 'server']);
  });

  test('C15, S3: provisional charges of members become one provisional charge; a success of a member makes it final', () => {
    const { session } = grouped();
    failAll(session, ['d', 'a', 'b', 'a']);
    expect(session.view().budget).toMatchObject({ remaining: 3, provisional: 2 });
    steps(session, 3);
    expect(succeedOnce(session, 'c')).toBe('probe');
    expect(session.view().budget).toMatchObject({ remaining: 3, provisional: 0, consumed: 2 });
  });

  test('C15, S1: failures of members before the opening become one entry of the group', () => {
    const { session } = grouped();
    openGroup(session); // Three failures, which count as one from now on.
    failAll(session, ['d', 'd', 'e']);
    expect(session.view().systemic).toBeUndefined();
    failOnce(session, 'e');
    expect(session.view().systemic?.openings.map(({ tool }) => tool)).toEqual(['group:g', 'd', 'e']);
  });
});
