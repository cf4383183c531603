import { describe, expect, test, vi } from 'vitest';
import { planScope } from '../scope/scope.ts';
import { bench, failOnce, steps, succeedOnce, trip } from '../test-support.ts';
import { bringDown, hear, openGroup, reasonsOf, two, words } from './test-support.rules.ts';

const MINUTE = 60_000;

describe('S5: in scope process a probe ends an event', () => {
  test('S5: after five minutes from its latest opening the next call of an affected tool is the only probe', () => {
    const { session, other, clock } = two();
    trip(session, 'a');
    clock.advance(MINUTE);
    trip(session, 'b');
    clock.advance(5 * MINUTE - 1);
    expect(reasonsOf(other, 'a', 'b')).toEqual(['systemic', 'systemic']);
    clock.advance(1);
    expect(reasonsOf(other, 'a', 'b', 'c')).toEqual(['probe_due', 'probe_due', 'closed']);
    expect(other.acquire('a')).toMatchObject({ decision: 'probe', reason: 'probe_due', message: '' });
    for (const one of [session, other]) {
      for (const tool of ['a', 'b']) expect(one.acquire(tool)).toMatchObject({ decision: 'skip', reason: 'systemic' });
    }
  });

  test('P3, S5: its success ends the event for all, closes its circuit, and the others probe after their own wait', () => {
    const { session, other, box, clock } = two({ defaults: { probeAfterSteps: 3 } });
    const resolved = hear(box, 'systemic.resolved');
    for (const tool of ['a', 'b', 'c']) trip(session, tool);
    steps(session, 3); // Each circuit alone would be due now.
    clock.advance(5 * MINUTE);
    expect(succeedOnce(other, 'b')).toBe('probe');
    expect(resolved.map(({ session: id, by }) => `${id} ${by}`)).toEqual(['run-2 probe']);
    expect(session.view().systemic).toBeUndefined();
    expect(reasonsOf(session, 'a', 'b', 'c')).toEqual(['open', 'closed', 'open']);
    expect(['a', 'c'].map((tool) => session.peek(tool)?.nextProbe?.steps)).toEqual([3, 4]); // On different steps.
  });

  test('S5: a failed probe starts another wait, twice as long, up to twenty minutes', () => {
    const { session, clock } = two();
    bringDown(session);
    const tools = ['a', 'b'];
    for (const [turn, minutes] of [5, 10, 20, 20].entries()) {
      const tool = tools[turn % 2] ?? '';
      clock.advance(minutes * MINUTE - 1);
      expect(session.acquire(tool).reason).toBe('systemic');
      clock.advance(1);
      expect(failOnce(session, tool)).toBe('probe');
    }
    expect(session.view()).toMatchObject({ state: 'active', systemic: { category: 'network' } });
  });

  test('S5: the next probe prefers a different affected tool; the same one waits its own time in addition', () => {
    const { session, clock } = two();
    bringDown(session);
    clock.advance(5 * MINUTE);
    expect(failOnce(session, 'a')).toBe('probe');
    clock.advance(10 * MINUTE);
    expect(reasonsOf(session, 'a', 'b')).toEqual(['systemic', 'probe_due']);
    clock.advance(MINUTE - 1);
    expect(session.acquire('a').reason).toBe('systemic');
    clock.advance(1);
    expect(session.acquire('a').decision).toBe('probe');
  });

  test('B3, S5: a failed probe of the event costs nothing, even in a session that has paid nothing for it', () => {
    const { session, other, clock } = two();
    bringDown(session);
    clock.advance(5 * MINUTE);
    expect(failOnce(other, 'a')).toBe('probe');
    expect([session, other].map((one) => one.view().budget.remaining)).toEqual([4, 5]);
  });

  test('S5: a circuit that joins the event restarts the wait', () => {
    const { session, clock } = two();
    const late = [1, 2, 3].map(() => session.acquire('c'));
    bringDown(session);
    clock.advance(100_000);
    for (const permit of late) permit.settle({ outcome: 'failure', category: 'network' });
    clock.advance(5 * MINUTE - 1);
    expect(reasonsOf(session, 'a', 'c')).toEqual(['systemic', 'systemic']);
    clock.advance(1);
    expect(session.acquire('c').decision).toBe('probe');
  });

  test('C8, S5: an ignored outcome returns the probe; a probe that never settles fails when its lease ends', () => {
    const { session, other, clock } = two();
    bringDown(session);
    clock.advance(5 * MINUTE);
    session.acquire('a').settle({ outcome: 'ignored', category: 'cancelled' });
    const hanging = other.acquire('b');
    expect(hanging.decision).toBe('probe');
    clock.advance(MINUTE - 1);
    expect(session.acquire('a').reason).toBe('systemic');
    clock.advance(1);
    expect(session.acquire('a').reason).toBe('systemic'); // Waits again.
    hanging.settle({ outcome: 'success' });
    expect(session.view().systemic).toBeDefined();
    clock.advance(10 * MINUTE);
    expect(succeedOnce(session, 'a')).toBe('probe');
    expect(session.view().systemic).toBeUndefined();
  });

  test('C15, O3, S5: a Retry-After of a failed probe ends at the same time for all tools of the event', () => {
    const { session, clock } = two();
    bringDown(session);
    clock.advance(5 * MINUTE);
    expect(failOnce(session, 'a', 'network', 11 * MINUTE)).toBe('probe'); // Alone, `a` waits 10 + 1 minutes, and `b` 10.
    clock.advance(11 * MINUTE - 1);
    expect(reasonsOf(session, 'a', 'b')).toEqual(['systemic', 'systemic']);
    clock.advance(1);
    expect(reasonsOf(session, 'a', 'b')).toEqual(['probe_due', 'probe_due']);
  });

  test('C7, C8, S5: a probe returns its slot and does not end the event if an operator takes over its tool', () => {
    for (const mode of ['disabled', 'observe_only'] as const) {
      const { session, clock } = two();
      bringDown(session);
      clock.advance(5 * MINUTE);
      const probe = session.acquire('a');
      session.control('a', mode);
      probe.settle({ outcome: 'success' });
      expect(session.view().systemic, mode).toBeDefined();
      expect(session.acquire('b').decision, mode).toBe('probe');
    }
  });

  test('S5: an affected tool whose circuit is closed may probe; other circuits stay open until their own probes', () => {
    const tools = { a: {}, b: {}, ui: { dependsOn: ['a'] } };
    const { session, clock } = two({ tools });
    bringDown(session);
    clock.advance(5 * MINUTE);
    expect(session.acquire('ui')).toMatchObject({ decision: 'probe', state: 'closed' });
    expect(session.acquire('a').reason).toBe('systemic');
  });

  test('C15, S5: a probe of a group in the event settles gate, group and tool', () => {
    const tools = { a: { group: 'g' }, b: { group: 'g' }, d: {} };
    const { session, clock } = two({ tools });
    openGroup(session);
    trip(session, 'd');
    clock.advance(5 * MINUTE);
    const probe = session.acquire('b');
    expect(probe).toMatchObject({ decision: 'probe', reason: 'group_probe_due' });
    expect(session.peek('group:g')?.state).toBe('half_open');
    probe.settle({ outcome: 'ignored', category: 'cancelled' });
    expect(succeedOnce(session, 'a')).toBe('probe');
    expect(session.peek('group:g')?.state).toBe('closed');
    expect(reasonsOf(session, 'a', 'b', 'd')).toEqual(['closed', 'closed', 'open']);
  });

  test('R3, S5, W1: a skip, an explanation and a plan say when the event ends', () => {
    const { session, clock } = two({ tools: { a: { fallback: 'ask the user' }, b: {}, c: {} } });
    bringDown(session);
    clock.advance(MINUTE);
    const { message } = session.acquire('a');
    expect(message).toContain("Tool 'a' is unavailable: 'a' and 'b' failed in the same way (network)");
    expect(message).toContain('Do not call it now. It may work again in about 4 min');
    expect(message).toContain('Instead: ask the user.');
    expect(words(message)).toBeLessThanOrEqual(60);
    expect(session.note().split('\n')).toHaveLength(3);
    expect(session.explain('a')).toMatchObject({ rejectedBy: 'systemic', nextProbe: { ms: 4 * MINUTE } });
    const [deferred] = planScope(session, [{ name: 'x', tools: ['a'] }]).deferred;
    expect(deferred?.blockers[0]?.unblock).toContain('a probe of an affected tool succeeds (due in about 4 min)');
  });

  test('B1, S5: a session whose budget is spent does not probe, another one does', () => {
    const { session, other, clock } = two({ budget: { failures: 1 } });
    bringDown(session);
    clock.advance(5 * MINUTE);
    expect(session.acquire('a').reason).toBe('budget_exhausted');
    expect(other.acquire('a').decision).toBe('probe');
  });

  test('S5: the wait is configurable, and a recovery without it has no probe', () => {
    const quick = two({ systemic: { recovery: { probeAfterMs: 1_000, maxProbeAfterMs: 1_500 } } });
    bringDown(quick.session);
    quick.clock.advance(MINUTE);
    expect(failOnce(quick.session, 'a')).toBe('probe');
    quick.clock.advance(1_499);
    expect(quick.session.acquire('b').reason).toBe('systemic');
    quick.clock.advance(1);
    expect(quick.session.acquire('b').decision).toBe('probe');
    const byCheck = two({ systemic: { recovery: { afterMs: 20 * MINUTE } } });
    bringDown(byCheck.session);
    byCheck.clock.advance(20 * MINUTE - 1);
    expect(reasonsOf(byCheck.session, 'a', 'b')).toEqual(['systemic', 'systemic']);
  });
});

describe('S2, S5: pauses during an event', () => {
  test('S2, S5: with pause all an affected tool probes too, and every other decision is pause', () => {
    const { session, clock } = two({ systemic: { pause: 'all' } });
    bringDown(session);
    clock.advance(5 * MINUTE - 1);
    expect(reasonsOf(session, 'a', 'b', 'c')).toEqual(['systemic', 'systemic', 'systemic']);
    clock.advance(1);
    expect(session.acquire('c')).toMatchObject({ decision: 'pause', reason: 'systemic' });
    expect(session.acquire('b').decision).toBe('probe');
    expect(session.acquire('a').decision).toBe('pause');
  });

  test('S2: in scope session no probe passes during the event', () => {
    const { session, clock } = bench();
    bringDown(session);
    steps(session, 100);
    clock.advance(24 * 60 * MINUTE);
    expect(reasonsOf(session, 'a', 'b', 'c')).toEqual(['systemic', 'systemic', 'systemic']);
  });
});

describe('C12, S5: other ways in which an event ends', () => {
  test('C12, P3, S5: a confirmation counts for all sessions; probes are staggered across them', () => {
    const { session, other, box } = two({ defaults: { probeAfterSteps: 3 } });
    const resolved = hear(box, 'systemic.resolved');
    trip(session, 'a');
    trip(other, 'b');
    other.confirmRecovered();
    expect(reasonsOf(box.session(), 'a', 'b')).toEqual(['open', 'open']);
    session.acquire('c');
    expect(resolved.map(({ session: id, by }) => `${id} ${by}`)).toEqual(['run-2 operator']);
    expect(session.view().circuits.map(({ nextProbe }) => nextProbe?.steps)).toEqual([3, 4, undefined]);
  });

  test('C12, S5: an end by time is emitted once, as an end by time', () => {
    const { session, other, box, clock } = two({ systemic: { recovery: { afterMs: MINUTE } } });
    const resolved = hear(box, 'systemic.resolved');
    bringDown(session);
    clock.advance(MINUTE);
    succeedOnce(other, 'c');
    succeedOnce(session, 'c');
    expect(resolved.map(({ session: id, by }) => `${id} ${by}`)).toEqual(['run-2 time']);
  });

  test('C12, S5: scores of pre-call checks are forgotten once for all', () => {
    const precheck = vi.fn(() => 'available' as const);
    const { session, other } = two({ tools: { a: {}, b: {}, c: { precheck } } });
    other.acquire('c');
    bringDown(session);
    other.confirmRecovered();
    other.acquire('c');
    session.acquire('c');
    expect(precheck).toHaveBeenCalledTimes(2);
  });

  test('C1, S5: an operator who takes over a circuit of the event does not end it', () => {
    const { session, other, box } = two();
    bringDown(session);
    session.control('a', 'forced_open');
    for (const one of [session, other, box.session()])
      expect(reasonsOf(one, 'a', 'b')).toEqual(['systemic', 'systemic']);
    box.session().confirmRecovered();
    expect(reasonsOf(session, 'a', 'b')).toEqual(['forced_open', 'open']);
  });
});
