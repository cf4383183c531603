import { describe, expect, test } from 'vitest';
import { formatReport } from '../report/format.ts';
import { report } from '../report/report.ts';
import type { Session } from '../session-api.ts';
import { restore } from '../snapshot/restore.ts';
import { snapshot } from '../snapshot/snapshot.ts';
import { bench, steps, succeedOnce, trip } from '../test-support.ts';
import { callWith, grouped, hear, inAnotherProcess } from './test-support.rules.ts';

/** An error of which an executor knows nothing but a digest of its text. */
const mystery = (digest = 'text 1', category: 'tool_error' | 'unknown' = 'tool_error', ofTool = true) => ({
  error: new Error('nothing says why'),
  verdict: { category, unexplained: { digest, ofTool } },
});

/** Calls with these inputs, each of which ends in such an error. */
const failWith = (session: Session, inputs: readonly unknown[], tool = 'a', text?: string): string[] =>
  inputs.map((input) => callWith(session, tool, input, mystery(text)));

describe('O8: a tool that has failed with every input so far', () => {
  test('O8: the fourth unexplained error of 4 different inputs opens the circuit at once, and the text says so', () => {
    const { session, box } = bench();
    const heard = hear(box, 'outcome');
    expect(failWith(session, [1, 2, 3])).toEqual(['closed', 'closed', 'closed']);
    expect(session.peek('a')).toMatchObject({ state: 'closed', failures: 0 });
    failWith(session, [4]);
    expect(session.peek('a')).toMatchObject({ state: 'open', category: 'unusable', trip: 'unusable' });
    expect(heard.map(({ outcome, category }) => `${outcome} ${category}`)).toEqual([
      'ignored tool_error',
      'ignored tool_error',
      'ignored tool_error',
      'failure unusable',
    ]);
    expect(session.acquire('a').message).toContain("'a' is unavailable: it has failed with every input so far.");
    expect(formatReport(report(session))).toContain('Check the installation, the settings and the credentials of a:');
  });

  test('O8: an error that does not speak of the tool itself takes 6 inputs, because a healthy tool may refuse some', () => {
    const { session } = bench();
    for (const input of [1, 2, 3, 4, 5]) callWith(session, 'a', input, mystery('shipped', 'tool_error', false));
    expect(session.peek('a')?.state).toBe('closed');
    callWith(session, 'a', 6, mystery('shipped', 'tool_error', false));
    expect(session.peek('a')).toMatchObject({ state: 'open', trip: 'unusable' });
  });

  test('O8: it opens whatever the threshold is, and `outcomes` may ignore it', () => {
    const { session } = bench({ defaults: { failureThreshold: false, failureRate: { rate: 1, windowCalls: 100 } } });
    failWith(session, [1, 2, 3, 4]);
    expect(session.peek('a')?.state).toBe('open');
    const ignoring = bench({ defaults: { outcomes: { unusable: 'ignored' } } }).session;
    failWith(ignoring, [1, 2, 3, 4, 5, 6]);
    expect(ignoring.peek('a')?.state).toBe('closed');
  });

  test.each([
    ['the same input', [1, 1, 1, 2, 2, 3, 3, 3]],
    ['calls whose input is not known', [undefined, undefined, undefined, undefined, undefined]],
    ['equal inputs with keys in another order', [{ a: 1, b: 2 }, { b: 2, a: 1 }, 3, { a: 1, b: 2 }, 4].slice(0, 4)],
  ])('O8: %s counts once', (_, inputs) => {
    const { session } = bench({ loopGuard: false });
    failWith(session, inputs);
    expect(session.peek('a')?.state).toBe('closed');
  });

  test('O8: the same input in another session counts as another input, with or without the loop guard', () => {
    for (const loopGuard of [{}, false] as const) {
      const { box } = bench({ loopGuard });
      const sessions = [1, 2, 3, 4].map((id) => box.session({ id: `s${id}` }));
      for (const session of sessions) failWith(session, ['x', 'x']);
      expect(sessions.map((session) => session.peek('a')?.state)).toEqual(['closed', 'closed', 'closed', 'open']);
    }
  });

  test('O8: a restored session is the same session: its inputs do not count again', () => {
    const { session, box } = bench();
    let now = session;
    for (let turn = 0; turn < 6; turn += 1) {
      failWith(now, ['x']);
      now = inAnotherProcess(now, box);
    }
    expect(now.peek('a')?.state).toBe('closed');
  });

  test('O8: an error with another text begins again, and an explained one does neither', () => {
    const { session } = bench();
    failWith(session, [1, 2, 3]);
    callWith(session, 'a', 4, { outcome: 'ignored', category: 'tool_error' });
    failWith(session, [5], 'a', 'text 2');
    failWith(session, [6, 7, 8]);
    expect(session.peek('a')?.state).toBe('closed');
    failWith(session, [9]);
    expect(session.peek('a')?.state).toBe('open');
  });

  test('O8: tools have histories of their own', () => {
    const { session } = bench();
    for (const tool of ['a', 'b', 'c', 'd']) failWith(session, [1, 2, 3], tool);
    expect(session.view().circuits.map(({ state }) => state)).toEqual(['closed', 'closed', 'closed', 'closed']);
  });

  test('O8: while it lasts, each such error is unusable: probes fail, and in later sessions the first one opens the circuit', () => {
    const { session, box } = bench();
    failWith(session, [1, 2, 3, 4]);
    steps(session, 3);
    expect(failWith(session, [1])).toEqual(['probe_due']);
    expect(session.peek('a')).toMatchObject({ state: 'open', category: 'unusable', trip: 'probe' });
    expect(session.acquire('a').message).toContain('it has failed with every input so far');
    const later = box.session();
    failWith(later, ['anything'], 'a', 'text 2');
    expect(later.peek('a')?.state).toBe('closed');
    failWith(later, [1]);
    expect(later.peek('a')).toMatchObject({ state: 'open', trip: 'unusable' });
  });

  test('O8: one success clears it for good, also a late one', () => {
    const { session, box } = bench();
    const slow = session.acquire('a', { input: 0 });
    failWith(session, [1, 2, 3, 4]);
    slow.settle({ outcome: 'success' }); // C7: it does not close the circuit.
    expect(session.peek('a')?.state).toBe('open');
    const later = box.session();
    failWith(later, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(later.peek('a')?.state).toBe('closed');
  });

  test('O8: a tool that has succeeded before is never unusable', () => {
    const { session } = bench();
    succeedOnce(session, 'a');
    failWith(session, [1, 2, 3, 4, 5, 6]);
    expect(session.peek('a')?.state).toBe('closed');
  });

  test('E3, O8: an error that passes through nested calls is counted for the inner tool alone', () => {
    const { session } = bench();
    for (const input of [1, 2, 3, 4]) {
      const [outer, inner] = [session.acquire('b', { input }), session.acquire('a', { input })];
      const how = mystery();
      inner.settle(how);
      outer.settle(how);
    }
    expect(session.peek('a')?.state).toBe('open');
    expect(session.peek('b')?.state).toBe('closed');
  });

  test('C1, O8: an observed tool opens only in its dry run', () => {
    const { session } = bench({ defaults: { mode: 'observe_only' } });
    failWith(session, [1, 2, 3, 4]);
    expect(session.acquire('a').wouldDecide).toBe('skip');
    expect(session.acquire('a').decision).toBe('call');
  });
});

describe('O8: it is the tool, and nothing that tools share', () => {
  test('B1, O8: it costs no budget and no tokens', () => {
    const { session } = bench({ budget: { failures: 2, tokens: 10 } });
    for (const input of [1, 2, 3, 4]) callWith(session, 'a', input, { ...mystery(), tokens: 9 });
    steps(session, 3);
    callWith(session, 'a', 5, { ...mystery(), tokens: 9 });
    expect(session.view()).toMatchObject({ state: 'active', budget: { remaining: 2, tokensRemaining: 10 } });
  });

  test('B3, O8: earlier charges of the tool become one, as at any opening', () => {
    const { session } = bench();
    for (const input of [1, 2, 3, 4]) callWith(session, 'a', input, mystery('text', 'unknown'));
    expect(session.view().budget.remaining).toBe(4);
  });

  test('S1, O8: it counts in no clause: not with openings, and not with failures', () => {
    const { session } = bench();
    for (const tool of ['a', 'b', 'c']) failWith(session, [1, 2, 3, 4], tool);
    expect(session.view()).toMatchObject({ state: 'active', systemic: undefined });
    trip(session, 'd');
    expect(session.view()).toMatchObject({ state: 'active', systemic: undefined });
  });

  test('C13, O8: a group does not count it', () => {
    const { session } = grouped();
    for (const tool of ['a', 'b', 'c']) failWith(session, [1, 2, 3, 4], tool);
    expect(session.peek('group:g')).toMatchObject({ state: 'closed', failures: 0 });
  });
});

describe('C11: what a snapshot says of the history', () => {
  test('C11, O8: it has the names of tools that have succeeded, and restoring adds them to the box', () => {
    const first = bench();
    succeedOnce(first.session, 'b');
    succeedOnce(first.box.session(), 'a');
    expect(snapshot(first.session).succeeded).toEqual(['b', 'a']);
    const other = bench();
    failWith(other.session, [1, 2, 3]);
    inAnotherProcess(first.session, other.box);
    failWith(other.session, [4, 5]);
    expect(other.session.peek('a')?.state).toBe('closed');
  });

  test('C11, O8: it has nothing of the errors, an older snapshot restores, and a wrong one is rejected', () => {
    const { session, box } = bench();
    failWith(session, [1, 2, 3]);
    const kept = snapshot(session);
    expect(JSON.stringify(kept)).not.toContain('text 1');
    expect('succeeded' in kept).toBe(false);
    expect(restore(box, kept).view().id).toBe('run-1');
    expect(() => restore(box, { ...kept, succeeded: 'a' })).toThrow("snapshot.succeeded: is 'a'. Give a list.");
  });

  test('C11, O8: names that no tool has are bounded: 1,000 in a snapshot, and 1,000 in a box', () => {
    const { session, box } = bench();
    const kept = snapshot(session);
    const named = (from: number, count: number) => Array.from({ length: count }, (_, n) => `made-up-${from + n}`);
    expect(() => restore(box, { ...kept, succeeded: named(0, 1_001) })).toThrow(
      'snapshot.succeeded: has 1001 names. Give at most 1000, as snapshot() does.',
    );
    restore(box, { ...kept, succeeded: named(0, 999) });
    const last = restore(box, { ...kept, succeeded: ['a', ...named(2_000, 9), 'b'] });
    expect(snapshot(last).succeeded?.slice(-3)).toEqual(['made-up-998', 'a', 'b']);
  });

  test('C11, O8: an open circuit stays open in the other process', () => {
    const { session } = bench();
    failWith(session, [1, 2, 3, 4]);
    expect(inAnotherProcess(session, bench().box).peek('a')).toMatchObject({ state: 'open', category: 'unusable' });
  });
});
