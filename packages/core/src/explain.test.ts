import { describe, expect, test } from 'vitest';
import { bench, failOnce, steps, trip } from './test-support.ts';

/** A session with tools `a` and `b` in a group and others alone, and what it says of a tool. */
const explaining = (config: Parameters<typeof bench>[0] = {}) => {
  const made = bench({ tools: { a: { group: 'g' }, b: { group: 'g' }, c: {}, d: {} }, ...config });
  const rejectedBy = (tool: string) => made.session.explain(tool).rejectedBy;
  return { ...made, rejectedBy };
};
const blame = (session: ReturnType<typeof bench>['session'], tool: string) =>
  session.acquire(tool).settle({ outcome: 'failure', category: 'network', blames: 'group' });

describe('C15: which circuit rejects a call', () => {
  test('C15: if the call would pass, no circuit rejects it', () => {
    const { session } = explaining();
    expect(session.explain('a')).toEqual({
      tool: 'a',
      decision: 'call',
      reason: 'closed',
      rejectedBy: undefined,
      nextProbe: undefined,
      charges: [],
      circuits: [],
      ignored: [],
      text: '',
    });
  });

  test("C15: the group's circuit, until when, what was charged, and the circuits in the order in which a call passes them", () => {
    const { session, clock } = explaining();
    failOnce(session, 'c', 'server');
    blame(session, 'a');
    clock.advance(10_000);
    const { rejectedBy, nextProbe, charges, circuits, text } = session.explain('b');
    expect([rejectedBy, nextProbe]).toEqual(['group:g', { steps: 3, ms: 50_000, notBeforeMs: 0 }]);
    expect(charges).toEqual([
      { tool: 'group:g', category: 'network', step: 0, agoMs: 10_000, tokens: 0, count: 1, standing: 'provisional' },
    ]);
    expect(circuits.map(({ tool, state }) => `${tool} ${state}`)).toEqual(['group:g open']);
    expect(text).toBe(session.acquire('b').message);
    expect(session.explain('a').circuits.map(({ tool }) => tool)).toEqual(['group:g', 'a']);
  });

  test("C15: the tool's own circuit, also while a probe of either is under way", () => {
    const { session, rejectedBy } = explaining({ systemic: false });
    trip(session, 'c');
    expect(rejectedBy('c')).toBe('c');
    blame(session, 'a');
    steps(session, 3);
    for (const tool of ['a', 'c']) expect(session.acquire(tool).decision).toBe('probe');
    expect([rejectedBy('b'), rejectedBy('c')]).toEqual(['group:g', 'c']);
  });

  test('C1, C15: the circuit that an operator switched off', () => {
    const { session, rejectedBy } = explaining();
    session.control('group:g', 'forced_open');
    session.control('b', 'forced_open');
    session.control('c', 'forced_open');
    expect(['a', 'b', 'c', 'd'].map(rejectedBy)).toEqual(['group:g', 'b', 'c', undefined]);
  });

  test('B1, S2, K1, K2, O5: or the setting that rejects it', () => {
    const unable = explaining({
      allowedTools: ['c', 'd'],
      tools: { c: { precheck: () => 'unavailable' }, d: {}, x: {} },
    });
    const input = { city: 'Oslo' };
    for (let call = 0; call < 3; call += 1) {
      unable.session.acquire('d', { input }).settle({ outcome: 'ignored', category: 'invalid_input' });
    }
    expect(['x', 'c', 'd'].map(unable.rejectedBy)).toEqual(['allowedTools', 'precheck', undefined]);
    expect(unable.session.explain('d', input)).toMatchObject({ rejectedBy: 'loopGuard', reason: 'repeat' });
    const spent = explaining({ budget: { failures: 1 }, systemic: false });
    failOnce(spent.session, 'c');
    expect(spent.rejectedBy('d')).toBe('budget');
    const systemic = explaining();
    for (const tool of ['c', 'd']) trip(systemic.session, tool);
    expect(systemic.rejectedBy('a')).toBe('systemic');
  });
});
