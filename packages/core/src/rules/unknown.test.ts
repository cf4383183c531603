import { describe, expect, test } from 'vitest';
import type { ErrorCategory } from '../classify/taxonomy.ts';
import { bench, failOnce, steps, trip } from '../test-support.ts';
import { failAll, grouped, inAnotherProcess } from './test-support.rules.ts';

/** After how many of these failures, one after the other, the circuit of `a` is open. */
const opensAfter = (categories: readonly ErrorCategory[], config: Parameters<typeof bench>[0] = {}) => {
  const { session } = bench(config);
  for (const [index, category] of categories.entries()) {
    failOnce(session, 'a', category);
    if (session.peek('a')?.state === 'open') return index + 1;
  }
  return undefined;
};
const unknown = (count: number): ErrorCategory[] => Array(count).fill('unknown');

describe('O6: unknown is weak evidence', () => {
  test('O6: an unknown failure counts half: six of them open the circuit, or two of them and two others, in any order', () => {
    expect(opensAfter(unknown(9))).toBe(6);
    expect(opensAfter(['network', 'network', ...unknown(9)])).toBe(4);
    expect(opensAfter(['unknown', 'network', 'unknown', 'server'])).toBe(4);
  });

  test('O6: a success resets the count, including halves', () => {
    const { session } = bench();
    for (let i = 0; i < 5; i += 1) failOnce(session, 'a', 'unknown');
    session.acquire('a').settle({ outcome: 'success' });
    for (let i = 0; i < 5; i += 1) failOnce(session, 'a', 'unknown');
    expect(session.peek('a')).toMatchObject({ state: 'closed', failures: 5 }); // All in a row are shown.
    failOnce(session, 'a', 'unknown');
    expect(session.peek('a')).toMatchObject({ state: 'open', trip: 'consecutive', category: 'unknown' });
  });

  test('C4, K1, O6: it counts half at every threshold, including one that a check lowers', () => {
    expect(opensAfter(unknown(9), { defaults: { failureThreshold: 1 } })).toBe(2);
    expect(opensAfter(unknown(9), { defaults: { profile: 'slow' } })).toBe(4);
    const degraded = (failureThreshold: number) => ({
      tools: { a: { precheck: () => 'degraded' as const, failureThreshold } },
    });
    expect(opensAfter(unknown(9), degraded(3))).toBe(4);
    expect(opensAfter(unknown(9), degraded(1))).toBe(2); // Never below one.
  });

  test('O6: an error without any information has the category unknown', () => {
    const { session } = bench();
    for (let i = 0; i < 5; i += 1) session.acquire('a').settle({ error: new Error('something went wrong') });
    expect(session.peek('a')).toMatchObject({ state: 'closed', failures: 5 });
    expect(session.view().budget.remaining).toBe(1); // Each costs one failure, as others do.
  });

  test('C13, O6: it does not count for a group', () => {
    const { session } = grouped();
    failAll(session, ['a', 'b', 'c', 'a', 'b', 'c'], 'unknown');
    expect(session.peek('group:g')).toMatchObject({ state: 'closed', failures: 0 });
  });

  test('C6, O6: a probe that fails with it opens the circuit again', () => {
    const { session } = bench();
    trip(session, 'a');
    steps(session, 3);
    failOnce(session, 'a', 'unknown');
    expect(session.peek('a')).toMatchObject({ state: 'open', trip: 'probe' });
  });

  test('O6, S1: two tools do not share it as a category; three open circuits make an event', () => {
    const { session } = bench({ budget: { failures: 50 } });
    const down = (tool: string) => failAll(session, Array(6).fill(tool), 'unknown');
    down('a');
    down('b');
    expect(session.view().systemic).toBeUndefined();
    down('c');
    expect(session.view().systemic).toMatchObject({ category: undefined, layer: 'unknown' });
  });

  test('O6, S1: six unknown failures of three tools make no event', () => {
    const { session } = bench({ budget: { failures: 50 } });
    failAll(session, ['a', 'b', 'c', 'a', 'b', 'd'], 'unknown');
    expect(session.view().systemic).toBeUndefined();
  });

  test('C11, O6: it also counts half in another process', () => {
    const { session, box } = bench();
    for (let i = 0; i < 5; i += 1) failOnce(session, 'a', 'unknown');
    const restored = inAnotherProcess(session, box);
    expect(restored.peek('a')).toMatchObject({ state: 'closed', failures: 5 });
    failOnce(restored, 'a', 'unknown');
    expect(restored.peek('a')?.state).toBe('open');
  });
});
