import { describe, expect, test } from 'vitest';
import type { ErrorCategory } from '../classify/taxonomy.ts';
import { bench, failOnce, steps, succeedOnce, trip } from '../test-support.ts';
import { failAll, grouped, notClosed, openGroup, reasonsOf } from './test-support.rules.ts';

/** Tools that open only with their group. */
const lasting = { defaults: { failureThreshold: 50 }, budget: { failures: 50 } } as const;
const reset = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

describe('C13: failures that open a group', () => {
  test('C13: after three failures in a row of two tools all tools of the group are skipped, others continue', () => {
    const { session } = grouped();
    failAll(session, ['a', 'b']);
    expect(notClosed(session)).toEqual([]);
    failOnce(session, 'b');
    expect(session.peek('group:g')).toMatchObject({ state: 'open', category: 'network', trip: 'consecutive' });
    for (const tool of ['a', 'b', 'c']) {
      const permit = session.acquire(tool);
      expect(permit).toMatchObject({ decision: 'skip', reason: 'group_open', group: 'g', state: 'closed' });
      permit.settle({ outcome: 'success' });
    }
    expect(session.acquire('d')).toMatchObject({ decision: 'call', reason: 'closed', group: undefined });
    expect(session.peek('group:g')?.state).toBe('open');
  });

  test('C13: one tool alone opens its own circuit, not that of its group', () => {
    const { session } = grouped();
    trip(session, 'a');
    expect(notClosed(session)).toEqual(['a open']);
    expect(session.acquire('a').reason).toBe('open');
    expect(succeedOnce(session, 'b')).toBe('call');
    const many = grouped(lasting).session;
    for (let i = 0; i < 20; i += 1) failOnce(many, 'a');
    expect(notClosed(many)).toEqual([]);
  });

  test('C13: the number of failures, and of tools, are settings of the group', () => {
    const { session } = grouped({ ...lasting, groups: { g: { failureThreshold: 4, groupThreshold: 3 } } });
    failAll(session, ['a', 'b', 'a', 'b', 'a']);
    expect(notClosed(session)).toEqual([]);
    failOnce(session, 'c');
    expect(notClosed(session)).toEqual(['group:g open']);
    const one = grouped({ ...lasting, groups: { g: { failureThreshold: 1, groupThreshold: 1 } } }).session;
    failOnce(one, 'a');
    expect(one.acquire('b').reason).toBe('group_open');
  });

  test('C13: network, timeout, server and resource count, also mixed', () => {
    const { session } = grouped(lasting);
    for (const [tool, category] of Object.entries({ a: 'resource', b: 'timeout', c: 'server' } as const)) {
      failOnce(session, tool, category);
    }
    expect(session.peek('group:g')).toMatchObject({ state: 'open', category: 'server' });
  });

  test('C13, O6: other categories and ignored outcomes do not change the count', () => {
    const { session } = grouped(lasting);
    failAll(session, ['a', 'b']);
    const others: ErrorCategory[] = ['rate_limit', 'permission', 'filesystem', 'unknown'];
    for (const category of others) failAll(session, ['a', 'b', 'c'], category);
    session.acquire('c').settle({ outcome: 'ignored', category: 'tool_error' });
    expect(session.peek('group:g')).toMatchObject({ state: 'closed', failures: 2 });
    failOnce(session, 'c');
    expect(session.peek('group:g')?.state).toBe('open');
  });

  test('C13: a success of any of its tools resets the count of failures and of tools; a success of another tool does not', () => {
    const { session } = grouped(lasting);
    failAll(session, ['a', 'b']);
    succeedOnce(session, 'c');
    failAll(session, ['b', 'b', 'b']); // Of one tool since.
    expect(notClosed(session)).toEqual([]);
    succeedOnce(session, 'd');
    failOnce(session, 'c');
    expect(notClosed(session)).toEqual(['group:g open']);
  });

  test('C13: failures of a tool outside the group do not count', () => {
    const { session } = grouped(lasting);
    failAll(session, ['a', 'd', 'd', 'b', 'd']);
    expect(session.peek('group:g')).toMatchObject({ state: 'closed', failures: 2 });
  });

  test('C13: it opens at once when a failure blames the group', () => {
    const { session } = grouped();
    session.acquire('a').settle({ error: reset, blames: 'group' });
    expect(session.peek('group:g')).toMatchObject({ state: 'open', trip: 'transport', category: 'network' });
    expect(session.acquire('b').reason).toBe('group_open');
    const weak = grouped().session;
    weak.acquire('c').settle({ outcome: 'failure', blames: 'group' });
    expect(weak.peek('group:g')).toMatchObject({ state: 'open', trip: 'transport', category: 'unknown' });
  });

  test('C13: a classifier may blame the group; what the executor blames comes first', () => {
    const classify = () => ({ category: 'network', blames: 'group' }) as const;
    const { session } = grouped({
      tools: { a: { group: 'g', classify }, b: { group: 'g' }, c: { group: 'g', key: () => 'k' } },
    });
    session.acquire('a').settle({ error: reset, blames: 'tool' });
    const verdict = { category: 'server', blames: 'key' } as const;
    session.acquire('c').settle({ error: new Error('x'), verdict, blames: 'tool' });
    expect(session.peek('group:g')).toMatchObject({ state: 'closed', failures: 2 });
    expect(session.peek('c')?.failures).toBe(1);
    session.acquire('a').settle({ error: new Error('y') });
    expect(session.peek('group:g')).toMatchObject({ state: 'open', trip: 'transport' });
  });

  test('C13: blaming the group is for failures of its tools: elsewhere it changes nothing', () => {
    const { session } = grouped();
    session.acquire('a').settle({ outcome: 'success', blames: 'group' });
    session.acquire('a').settle({ outcome: 'ignored', category: 'cancelled', blames: 'group' });
    session.acquire('a').settle({ outcome: 'success', blames: 'nonsense' } as never);
    session.acquire('d').settle({ outcome: 'failure', category: 'network', blames: 'group' });
    session.acquire('made_up').settle({ outcome: 'failure', category: 'network', blames: 'group' });
    expect(notClosed(session)).toEqual([]);
    expect(session.peek('d')?.failures).toBe(1);
  });

  test('C4, C13: its profile is default, and only its own settings change it', () => {
    const { session, clock } = grouped({ defaults: { profile: 'slow', probeAfterSteps: 9, probes: 2 } });
    openGroup(session);
    expect(session.peek('group:g')?.nextProbe).toEqual({ steps: 3, ms: 60_000, notBeforeMs: 0 });
    const own = grouped({ groups: { g: { profile: 'fast', probes: 2 } } });
    openGroup(own.session);
    own.clock.advance(30_000);
    expect([own.session.acquire('a').decision, own.session.acquire('b').decision]).toEqual(['probe', 'probe']);
    expect(own.session.acquire('c').reason).toBe('probe_in_flight');
    clock.advance(59_999);
    expect(session.acquire('a').reason).toBe('group_open');
  });

  test('C13, O3: a Retry-After of the failure that opens the group applies to the whole group', () => {
    const { session } = grouped();
    failAll(session, ['a', 'b']);
    failOnce(session, 'a', 'server', 90_000);
    steps(session, 3);
    expect(session.acquire('c')).toMatchObject({ reason: 'group_open' });
    expect(session.peek('group:g')?.nextProbe).toMatchObject({ notBeforeMs: 90_000 });
  });

  test('C12, C13: in scope process failures of all sessions count, and probes wait by time', () => {
    const { session, box, clock } = grouped({ scope: 'process' });
    const other = box.session();
    failOnce(session, 'a');
    failOnce(other, 'b');
    failOnce(session, 'a');
    expect(other.acquire('c').reason).toBe('group_open');
    steps(session, 20);
    expect(other.acquire('c').reason).toBe('group_open');
    clock.advance(60_000);
    expect(succeedOnce(other, 'c')).toBe('probe');
    expect(session.acquire('a').decision).toBe('call');
  });

  test('B5, C13: a box without circuits has no groups', () => {
    const { session } = grouped({ scope: 'none', budget: { failures: 50 } });
    for (let i = 0; i < 5; i += 1) session.acquire('a').settle({ error: new Error('x'), blames: 'group' });
    expect(session.acquire('b')).toMatchObject({ decision: 'call', reason: 'no_circuit', group: 'g' });
    expect([session.view().circuits, session.peek('group:g')]).toEqual([[], undefined]);
  });
});

describe('S1: a group counts as one opening', () => {
  const two = { a: { group: 'g' }, b: { group: 'g' }, c: { group: 'h' }, d: { group: 'h' }, e: {} };

  test('C15, S1: a group makes no event with its own members, whichever opened first', () => {
    const { session } = grouped();
    trip(session, 'a');
    failOnce(session, 'b');
    expect(notClosed(session)).toEqual(['group:g open']);
    expect(session.view()).toMatchObject({ state: 'active', systemic: undefined });
  });

  test('C13, S1, S4: two groups of one category make an event', () => {
    const { session } = bench({ tools: two });
    openGroup(session);
    failAll(session, ['c', 'd', 'c']);
    expect(session.view()).toMatchObject({
      state: 'paused_systemic',
      systemic: { category: 'network', openings: [{ tool: 'group:g' }, { tool: 'group:h' }] },
    });
    const apart = bench({ tools: two }).session;
    openGroup(apart);
    failAll(apart, ['c', 'd', 'c'], 'server');
    expect(apart.view().systemic).toBeUndefined();
    expect(reasonsOf(apart, 'a', 'd')).toEqual(['group_open', 'group_open']);
  });

  test('C13, S1: a group and a tool outside it make an event too, and so do a group and two others of any category', () => {
    const { session } = bench({ tools: two });
    openGroup(session);
    trip(session, 'e');
    expect(session.view().systemic?.openings.map(({ tool }) => tool)).toEqual(['group:g', 'e']);
    const mixed = bench({ tools: { ...two, f: {} } }).session;
    openGroup(mixed);
    trip(mixed, 'e', 'server');
    expect(mixed.view().systemic).toBeUndefined();
    trip(mixed, 'f', 'permission');
    expect(mixed.view().systemic?.openings).toHaveLength(3);
  });

  test('C13, S1: a group that has closed again is not evidence', () => {
    const { session } = grouped();
    openGroup(session);
    steps(session, 3);
    succeedOnce(session, 'a');
    trip(session, 'd');
    expect(session.view().systemic).toBeUndefined();
  });

  test('P3: after an event the group probes by the ladder, on a different step than the tool', () => {
    const { session } = grouped();
    openGroup(session);
    trip(session, 'd');
    session.confirmRecovered();
    expect(session.peek('group:g')?.nextProbe?.steps).toBe(3);
    expect(session.peek('d')?.nextProbe?.steps).toBe(4);
    steps(session, 3);
    expect(failOnce(session, 'b')).toBe('probe');
    expect(session.peek('group:g')?.nextProbe?.steps).toBe(6);
  });
});
