import { describe, expect, test } from 'vitest';
import type { Session } from '../session-api.ts';
import { restore as restoreOf } from '../snapshot/restore.ts';
import { snapshot } from '../snapshot/snapshot.ts';
import { failOnce, steps, succeedOnce } from '../test-support.ts';
import { failAll, grouped, hear, inAnotherProcess, notClosed, openGroup, reasonsOf } from './test-support.rules.ts';

const both = (session: Session) => ['group:g', 'a'].map((name) => session.peek(name)?.state);

describe('C13: one probe serves the whole group', () => {
  test('C13: the first call of any of its tools is the probe; success closes the group for all', () => {
    const { session, box } = grouped();
    const transitions = hear(box, 'circuit.transition');
    openGroup(session);
    steps(session, 3);
    const probe = session.acquire('c');
    expect(probe).toMatchObject({ decision: 'probe', reason: 'group_probe_due', state: 'closed', group: 'g' });
    for (const tool of ['a', 'b', 'c']) {
      expect(session.acquire(tool)).toMatchObject({ decision: 'skip', reason: 'probe_in_flight' });
    }
    probe.settle({ outcome: 'success' });
    for (const tool of ['a', 'b', 'c']) expect(session.acquire(tool).reason).toBe('closed');
    expect(transitions.map(({ tool, from, to }) => `${tool} ${from}>${to}`)).toEqual([
      'group:g closed>open',
      'group:g open>half_open',
      'group:g half_open>closed',
    ]);
  });

  test('C6, C13: with several probes all must succeed, and the first failure of any category opens the group again', () => {
    const { session } = grouped({ groups: { g: { probes: 2 } } });
    openGroup(session);
    steps(session, 3);
    expect(succeedOnce(session, 'a')).toBe('probe');
    expect(session.peek('group:g')?.state).toBe('half_open');
    expect(failOnce(session, 'b', 'permission')).toBe('probe');
    expect(session.peek('group:g')).toMatchObject({ state: 'open', category: 'permission', trip: 'probe' });
    steps(session, 6);
    for (const tool of ['a', 'c']) expect(succeedOnce(session, tool)).toBe('probe');
    expect(notClosed(session)).toEqual([]);
  });

  test('B3, C9: a probe that never settles fails when the lease of its tool ends, and costs nothing', () => {
    const { session, clock } = grouped({ tools: { a: { group: 'g', probeLeaseMs: 5_000 }, b: { group: 'g' } } });
    openGroup(session);
    steps(session, 3);
    session.acquire('a');
    clock.advance(4_999);
    expect(session.acquire('b').reason).toBe('probe_in_flight');
    clock.advance(1);
    expect(session.acquire('b').reason).toBe('group_open');
    expect(session.peek('group:g')).toMatchObject({ state: 'open', category: 'timeout', trip: 'probe' });
    expect(session.view().budget.remaining).toBe(4);
  });

  test('C8: an ignored outcome returns the slot, and another tool may probe', () => {
    const { session } = grouped();
    openGroup(session);
    steps(session, 3);
    session.acquire('a').settle({ outcome: 'ignored', category: 'cancelled' });
    expect(session.peek('group:g')?.state).toBe('half_open');
    expect(succeedOnce(session, 'b')).toBe('probe');
    expect(notClosed(session)).toEqual([]);
  });

  test('C7: a probe returns its slot and changes nothing if an operator takes over its tool', () => {
    const { session } = grouped();
    openGroup(session);
    steps(session, 3);
    const probe = session.acquire('a');
    session.control('a', 'disabled');
    probe.settle({ outcome: 'success' });
    expect(session.peek('group:g')?.state).toBe('half_open');
    expect(session.acquire('b').reason).toBe('group_probe_due');
  });
});

describe('C15: after a failed probe', () => {
  test('C15: another tool of the group is preferred; the same one waits its own time in addition', () => {
    const { session } = grouped();
    openGroup(session);
    steps(session, 3);
    expect(failOnce(session, 'a')).toBe('probe');
    expect([session.explain('a').nextProbe?.steps, session.explain('b').nextProbe?.steps]).toEqual([6, 3]);
    steps(session, 3);
    expect(reasonsOf(session, 'a', 'b', 'c')).toEqual(['group_open', 'group_probe_due', 'group_probe_due']);
    steps(session, 2);
    expect(session.acquire('a').reason).toBe('group_open');
    session.step();
    expect(session.acquire('a').reason).toBe('group_probe_due');
  });

  test('C15, P2: the same applies by time, with the wait of the tool itself', () => {
    const tools = { a: { group: 'g', cooldownMs: 45_000 }, b: { group: 'g' } };
    const { session, clock } = grouped({ tools, groups: { g: { cooldownMs: 60_000 } } });
    openGroup(session);
    clock.advance(60_000);
    expect(failOnce(session, 'a')).toBe('probe');
    clock.advance(120_000);
    expect(reasonsOf(session, 'a', 'b')).toEqual(['group_open', 'group_probe_due']);
    clock.advance(44_999);
    expect(session.acquire('a').reason).toBe('group_open');
    clock.advance(1);
    expect(session.acquire('a').reason).toBe('group_probe_due');
  });

  test('C15, O3: a Retry-After that is over delays the same tool no further, also after a restore', () => {
    const { session, clock, box } = grouped();
    openGroup(session);
    steps(session, 3);
    session.acquire('a').settle({ outcome: 'failure', category: 'network', retryAfterMs: 1_000 });
    clock.advance(1_000);
    expect(session.explain('a').nextProbe).toMatchObject({ steps: 6, notBeforeMs: 0 });
    const restored = inAnotherProcess(session, box, { elapsedMs: 0 });
    for (const one of [session, restored]) {
      steps(one, 6);
      expect(one.acquire('a').reason).toBe('group_probe_due');
    }
  });

  test('C15: the preference avoids the tool that failed last, and closing ends it', () => {
    const { session } = grouped();
    openGroup(session);
    steps(session, 3);
    failOnce(session, 'a');
    steps(session, 3);
    failOnce(session, 'b');
    steps(session, 3);
    expect(reasonsOf(session, 'a', 'b')).toEqual(['group_probe_due', 'group_open']);
    succeedOnce(session, 'a');
    failAll(session, ['b', 'a', 'b']);
    steps(session, 3);
    expect(reasonsOf(session, 'a', 'b')).toEqual(['group_probe_due', 'group_probe_due']);
  });
});

describe('C15: a call that passes both group and tool', () => {
  /** The circuits of the group and of `a` opened on step 3: `a` joined the group when it was open already, by an adapter's hint. */
  const bothOpen = (probeAfterSteps = 3) => {
    const tools = { a: { failureThreshold: 1, probeAfterSteps }, b: { group: 'g' }, c: { group: 'g' } };
    const made = grouped({ tools });
    const { session } = made;
    failAll(session, ['b', 'c', 'b']);
    steps(session, 3);
    expect(failOnce(session, 'b')).toBe('probe');
    failOnce(session, 'a', 'server');
    session.declare('a', { group: 'g' });
    expect(both(session)).toEqual(['open', 'open']);
    return made;
  };

  test('C15: if both are due the call takes a slot of each, and its success closes both', () => {
    const { session } = bothOpen();
    steps(session, 6);
    const probe = session.acquire('a');
    expect(probe.reason).toBe('group_probe_due');
    expect(both(session)).toEqual(['half_open', 'half_open']);
    probe.settle({ outcome: 'success' });
    expect(notClosed(session)).toEqual([]);
  });

  test('C15: its failure opens both again; each waits by its own rule', () => {
    const { session, clock } = bothOpen();
    steps(session, 6);
    expect(failOnce(session, 'a', 'server')).toBe('probe');
    expect(['group:g', 'a'].map((name) => session.peek(name)?.trip)).toEqual(['probe', 'probe']);
    expect(session.view().budget.remaining).toBe(3);
    clock.advance(1);
  });

  test('C8, C15: an ignored outcome returns both slots', () => {
    const { session } = bothOpen();
    steps(session, 6);
    session.acquire('a').settle({ outcome: 'ignored', category: 'denied' });
    expect(both(session)).toEqual(['half_open', 'half_open']);
    expect(reasonsOf(session, 'a', 'b')).toEqual(['group_probe_due', 'group_probe_due']);
    expect(succeedOnce(session, 'a')).toBe('probe');
    expect(notClosed(session)).toEqual([]);
  });

  test('C9, C15: one lease ends both probes', () => {
    const { session, clock } = bothOpen();
    steps(session, 6);
    session.acquire('a');
    clock.advance(60_000);
    expect(session.acquire('b').reason).toBe('group_open');
    expect(both(session)).toEqual(['open', 'open']);
    expect(session.peek('a')?.category).toBe('timeout');
  });

  test('C15: a call takes all slots or none: if its own circuit is not due, it takes no slot of the group', () => {
    const { session } = bothOpen(20);
    steps(session, 3);
    expect(failOnce(session, 'c')).toBe('probe'); // Now the preference is against c.
    steps(session, 3);
    expect(session.acquire('a')).toMatchObject({ decision: 'skip', reason: 'open' });
    expect(both(session)).toEqual(['open', 'open']);
    expect(session.explain('a')).toMatchObject({ rejectedBy: 'a', nextProbe: { steps: 14 } });
    expect(succeedOnce(session, 'b')).toBe('probe');
    expect(both(session)).toEqual(['closed', 'open']);
  });

  test('C15: the group rejects first: while it waits, the tool uses no slot of its own', () => {
    const { session } = bothOpen(1);
    steps(session, 1); // The tool alone would be due.
    expect(session.acquire('a').reason).toBe('group_open');
    expect(both(session)).toEqual(['open', 'open']);
    expect(session.explain('a')).toMatchObject({ rejectedBy: 'group:g', nextProbe: { steps: 2 } });
  });

  test('C15, O5: a probe for the group may repeat a call', () => {
    const { session } = grouped({ loopGuard: { repeats: 1 } });
    for (const tool of ['a', 'b', 'a'])
      session.acquire(tool, { input: tool }).settle({ outcome: 'failure', category: 'network' });
    steps(session, 3);
    expect(session.acquire('a', { input: 'a' }).reason).toBe('group_probe_due');
  });
});

describe('C11, C15: groups in a snapshot', () => {
  test('C11: the state and the tool of the failed probe continue in another process; a slot is free again', () => {
    const { session, box } = grouped();
    openGroup(session);
    steps(session, 3);
    failOnce(session, 'a');
    const restore = () => restoreOf(box, JSON.parse(JSON.stringify(snapshot(session))));
    const restored = restore();
    steps(restored, 3);
    expect(reasonsOf(restored, 'a', 'b', 'd')).toEqual(['group_open', 'group_probe_due', 'closed']);
    steps(session, 3);
    session.acquire('b'); // Under way when the snapshot is taken.
    expect(succeedOnce(restore(), 'c')).toBe('probe');
  });

  test('C11, C13: the count of a closed group continues too, with its tools', () => {
    const { session, box } = grouped({ defaults: { failureThreshold: 9 } });
    failAll(session, ['a', 'a']);
    const restored = restoreOf(box, JSON.parse(JSON.stringify(snapshot(session))));
    expect(restored.peek('group:g')?.failures).toBe(2);
    failOnce(restored, 'a');
    expect(notClosed(restored)).toEqual([]);
    failOnce(restored, 'b');
    expect(notClosed(restored)).toEqual(['group:g open']);
  });
});
