import { describe, expect, test } from 'vitest';
import { byHost } from '../circuit/key-circuits.ts';
import type { Settlement } from '../outcome.ts';
import { snapshot } from '../snapshot/snapshot.ts';
import { failOnce, steps, trip } from '../test-support.ts';
import {
  at,
  bringDown,
  DEAD,
  DOWN,
  failAll,
  hear,
  keyed,
  notClosed,
  openKey,
  two,
  visit,
} from './test-support.rules.ts';

const remaining = (session: ReturnType<typeof keyed>['session']) => session.view().budget.remaining;

describe('C15: a call passes the group, the tool, then the key', () => {
  test('C15: the first circuit that rejects gives the reason', () => {
    const { session } = keyed({ tools: { a: { key: byHost(), group: 'g' }, b: { group: 'g' } } });
    openKey(session, 'x.example');
    expect(session.explain('a', at('x.example')).reason).toBe('key_open');
    trip(session, 'a');
    expect(session.explain('a', at('x.example')).reason).toBe('open');
    session.acquire('b').settle({ ...DOWN, blames: 'group' });
    expect(session.explain('a', at('x.example')).reason).toBe('group_open');
  });

  test('C15, C6: a due key takes one probe, and its success closes it', () => {
    const { session } = keyed();
    openKey(session, 'x.example');
    steps(session, 3);
    const probe = session.acquire('a', { input: at('x.example') });
    expect(probe).toMatchObject({ decision: 'probe', reason: 'key_probe_due', state: 'closed' });
    expect(visit(session, 'a', 'x.example')).toBe('probe_in_flight');
    expect(visit(session, 'a', 'y.example')).toBe('closed');
    probe.settle({ outcome: 'success' });
    expect(session.peek('a', at('x.example'))).toMatchObject({ openKeys: 0, key: { state: 'closed', failures: 0 } });
    expect(visit(session, 'a', 'x.example')).toBe('closed');
  });

  test('C14, P2: a probe that fails and blames its key opens the key again and doubles its wait', () => {
    const { session, clock } = keyed({ tools: { a: { key: byHost(), cooldownMs: 1_000 } } });
    openKey(session, 'x.example');
    clock.advance(1_000);
    expect(visit(session, 'a', 'x.example', DEAD)).toBe('key_probe_due');
    clock.advance(1_999);
    expect(visit(session, 'a', 'x.example')).toBe('key_open');
    clock.advance(1);
    expect(visit(session, 'a', 'x.example')).toBe('key_probe_due');
    expect([remaining(session), session.peek('a')?.failures]).toEqual([5, 0]);
  });

  test('C14: a probe that fails and blames the tool counts for the tool, costs as much as any call, and opens the key again', () => {
    const { session } = keyed();
    openKey(session, 'x.example');
    steps(session, 3);
    expect(visit(session, 'a', 'x.example', DOWN)).toBe('key_probe_due');
    expect(session.peek('a', at('x.example'))).toMatchObject({
      state: 'closed',
      failures: 1,
      key: { state: 'open', trip: 'probe' },
    });
    expect(remaining(session)).toBe(4);
  });

  test('C8: an ignored outcome returns the slot', () => {
    const { session } = keyed();
    openKey(session, 'x.example');
    steps(session, 3);
    visit(session, 'a', 'x.example', { outcome: 'ignored', category: 'cancelled' });
    expect(session.peek('a', at('x.example'))?.key?.state).toBe('half_open');
    expect(visit(session, 'a', 'x.example')).toBe('key_probe_due');
  });

  test('C9, C14: a hung probe of a key alone fails when its lease ends, for the key alone', () => {
    const { session, clock, box } = keyed();
    openKey(session, 'x.example');
    steps(session, 3);
    const heard = hear(box, 'outcome');
    const hung = session.acquire('a', { input: at('x.example') });
    clock.advance(59_999);
    expect(visit(session, 'a', 'x.example')).toBe('probe_in_flight');
    clock.advance(1);
    expect(session.peek('a', at('x.example'))).toMatchObject({
      failures: 0,
      key: { state: 'open', category: 'timeout' },
    });
    expect(visit(session, 'a', 'x.example')).toBe('key_open');
    hung.settle({ outcome: 'success' });
    expect(session.peek('a', at('x.example'))).toMatchObject({ failures: 0, key: { state: 'open' } });
    expect(heard.map(({ outcome, category }) => [outcome, category])).toEqual([['ignored', 'timeout']]);
  });

  test.each(['window', 'strict'] as const)(
    'C9, C14, B3: hung probes of three keys cost nothing and open no tool: %s',
    (rule) => {
      const { session, clock } = keyed({ tools: { a: { key: byHost(), group: 'g' } }, budget: { rule } });
      for (const host of ['x.example', 'y.example', 'z.example']) openKey(session, host);
      steps(session, 3);
      for (const host of ['x.example', 'y.example', 'z.example']) session.acquire('a', { input: at(host) });
      clock.advance(60_000);
      session.step();
      expect(session.peek('a')).toMatchObject({ state: 'closed', failures: 0, openKeys: 3 });
      expect([session.peek('group:g')?.failures, remaining(session), session.view().systemic]).toEqual([
        0,
        5,
        undefined,
      ]);
    },
  );

  test('C9, C15: a hung probe of the tool, or of its group, and of the key fails for both', () => {
    const { session, clock } = keyed();
    openKey(session, 'x.example');
    trip(session, 'a');
    steps(session, 3);
    expect(session.acquire('a', { input: at('x.example') }).reason).toBe('probe_due');
    clock.advance(60_000);
    const timedOut = { state: 'open', category: 'timeout' };
    expect(session.peek('a', at('x.example'))).toMatchObject({ ...timedOut, key: timedOut });
    const grouped = keyed({ tools: { a: { key: byHost(), group: 'g' }, b: { group: 'g' } } });
    openKey(grouped.session, 'x.example');
    grouped.session.acquire('b').settle({ ...DOWN, blames: 'group' });
    steps(grouped.session, 3);
    expect(grouped.session.acquire('a', { input: at('x.example') }).reason).toBe('group_probe_due');
    grouped.clock.advance(60_000);
    expect(grouped.session.peek('group:g')).toMatchObject(timedOut);
    expect(grouped.session.peek('a', at('x.example'))).toMatchObject({ failures: 0, key: timedOut });
  });

  test('C8, C14: a cancelled or denied outcome releases the slot, even if it blames the key', () => {
    const { session } = keyed();
    openKey(session, 'x.example');
    steps(session, 3);
    const ended: readonly Settlement[] = [
      { outcome: 'failure', category: 'cancelled', blames: 'key' },
      { outcome: 'failure', category: 'denied', blames: 'key' },
      { error: new Error('x'), verdict: { category: 'cancelled', blames: 'key' } },
      { error: new Error('x'), verdict: { category: 'denied' }, blames: 'key' },
    ];
    for (const how of ended) {
      expect(visit(session, 'a', 'x.example', how)).toBe('key_probe_due');
      expect(session.peek('a', at('x.example'))?.key?.state).toBe('half_open');
      for (let i = 0; i < 3; i += 1) visit(session, 'a', 'y.example', how);
      expect(session.peek('a', at('y.example'))?.key).toBeUndefined();
    }
    expect([remaining(session), session.peek('a')?.failures]).toEqual([5, 0]);
  });

  test('C15: if tool and key are due, one call probes both, and its result settles each', () => {
    const due = () => {
      const { session } = keyed();
      openKey(session, 'x.example');
      trip(session, 'a');
      steps(session, 3);
      return session;
    };
    const well = due();
    expect(visit(well, 'a', 'x.example')).toBe('probe_due');
    expect(well.peek('a', at('x.example'))).toMatchObject({ state: 'closed', key: { state: 'closed' } });
    const dead = due();
    visit(dead, 'a', 'x.example', DEAD);
    expect(dead.peek('a', at('x.example'))).toMatchObject({ state: 'open', key: { state: 'open' } });
    steps(dead, 3);
    expect(visit(dead, 'a', 'y.example')).toBe('probe_due');
    expect(dead.peek('a')?.state).toBe('closed');
    const down = due();
    visit(down, 'a', 'x.example', DOWN);
    expect(down.peek('a', at('x.example'))).toMatchObject({ state: 'open', key: { state: 'open' } });
  });

  test('C15: a call takes all slots or none: while the key rejects, the tool keeps its slot', () => {
    const { session } = keyed();
    trip(session, 'a');
    steps(session, 2);
    session.acquire('c');
    steps(session, 1);
    const other = keyed().session;
    openKey(other, 'x.example');
    steps(other, 1);
    trip(other, 'a');
    steps(other, 2); // The key is due, the tool is not.
    expect(visit(other, 'a', 'x.example')).toBe('open');
    expect(other.peek('a', at('x.example'))?.key?.state).toBe('open');
    const late = keyed().session;
    trip(late, 'a');
    const kept = late.acquire('b', { input: at('x.example') });
    kept.settle(DEAD);
    steps(late, 3);
    const probe = late.acquire('a', { input: at('x.example') });
    expect(probe.reason).toBe('probe_due');
    expect(visit(late, 'a', 'y.example')).toBe('probe_in_flight');
  });

  test("C8, C14, C15: a failure that blames the key leaves the group open, and the group's probe that fails fails the key's", () => {
    const { session } = keyed({ tools: { a: { key: byHost(), group: 'g' }, b: { group: 'g' } } });
    openKey(session, 'x.example');
    session.acquire('b').settle({ ...DOWN, blames: 'group' });
    steps(session, 3);
    expect(visit(session, 'a', 'x.example', DEAD)).toBe('group_probe_due');
    expect(session.peek('group:g')).toMatchObject({ state: 'open', trip: 'transport' });
    steps(session, 6); // C15: another tool of the group is preferred.
    expect(visit(session, 'a', 'x.example', DOWN)).toBe('group_probe_due');
    expect(session.peek('group:g')?.state).toBe('open');
    expect(session.peek('a', at('x.example'))).toMatchObject({ state: 'closed', failures: 0, key: { state: 'open' } });
  });

  test('C13, C14: failures that blame keys count for no group', () => {
    const { session } = keyed({ tools: { a: { key: byHost(), group: 'g' }, b: { key: byHost(), group: 'g' } } });
    for (const tool of ['a', 'b', 'a', 'b', 'a', 'b']) visit(session, tool, 'x.example', DEAD);
    expect(notClosed(session)).toEqual([]);
    expect(session.peek('group:g')?.failures).toBe(0);
    failAll(session, ['a', 'b', 'a']);
    expect(notClosed(session)).toEqual(['group:g open']);
    expect(session.peek('a', at('x.example'))?.key?.state).toBe('open'); // The group absorbs tools, not keys.
  });
});

describe('C7: late results', () => {
  test('C7: a result from before the key opened no longer changes it', () => {
    const { session } = keyed();
    const early = [1, 2].map(() => session.acquire('a', { input: at('x.example') }));
    openKey(session, 'x.example');
    early[0]?.settle({ outcome: 'success' });
    early[1]?.settle(DEAD);
    expect(session.peek('a', at('x.example'))?.key).toMatchObject({ state: 'open', generation: 1 });
  });

  test('C7, C8: a probe of the key that is late for its tool returns its slot', () => {
    const { session } = keyed();
    openKey(session, 'x.example');
    steps(session, 3);
    const probe = session.acquire('a', { input: at('x.example') });
    trip(session, 'a');
    probe.settle({ outcome: 'success' });
    expect(session.peek('a', at('x.example'))).toMatchObject({ state: 'open', key: { state: 'half_open' } });
    steps(session, 3);
    expect(visit(session, 'a', 'x.example')).toBe('probe_due');
    expect(session.peek('a', at('x.example'))).toMatchObject({ state: 'closed', key: { state: 'closed' } });
  });

  test('C8, S5: the late probe returns no slot of an event, whose probe may have the same number', () => {
    const tools = { a: {}, b: {}, c: { key: byHost() } };
    const { session, clock } = two({ tools, loopGuard: false, budget: { failures: 50 } });
    bringDown(session);
    session.confirmRecovered();
    clock.advance(120_000);
    for (const tool of ['a', 'b']) expect(failOnce(session, tool)).toBe('probe'); // The second event.
    openKey(session, 'x.example', 'c');
    clock.advance(300_000);
    expect(session.acquire('a').reason).toBe('probe_due');
    const probe = session.acquire('c', { input: at('x.example') });
    trip(session, 'c', 'permission');
    expect(session.peek('c')?.state).toBe('open');
    probe.settle({ outcome: 'success' });
    expect(session.acquire('b').reason).toBe('systemic');
  });

  test('C14: a tool has at most 100 keys: closed ones are dropped first, then the least recently used', () => {
    const { session } = keyed({ tools: { a: { key: byHost(), failureThreshold: 1, keysThreshold: false } } });
    const open = (n: number) => visit(session, 'a', `${n}.example`, DEAD);
    const isOpen = (n: number) => visit(session, 'a', `${n}.example`) === 'key_open';
    for (let n = 0; n < 100; n += 1) open(n);
    expect(session.peek('a')?.openKeys).toBe(100);
    steps(session, 3);
    visit(session, 'a', '50.example'); // Closes it.
    visit(session, 'a', '0.example', DEAD); // Uses it.
    open(100);
    expect(session.peek('a', at('50.example'))?.key).toBeUndefined();
    expect(session.peek('a')?.openKeys).toBe(100);
    open(101);
    steps(session, 1);
    expect([isOpen(101), isOpen(100), isOpen(0)]).toEqual([true, true, true]);
    expect(session.peek('a', at('1.example'))?.key).toBeUndefined();
    expect(session.peek('a', at('2.example'))?.key).toBeDefined();
    expect(snapshot(session).circuits[0]?.keys).toHaveLength(100);
  });

  test('C7, C14: a late result of a dropped key changes no new circuit of it', () => {
    const { session } = keyed({ tools: { a: { key: byHost(), failureThreshold: 1, keysThreshold: false } } });
    const under = ['success', 'ignored'].map(() => session.acquire('a', { input: at('0.example') }));
    for (let n = 0; n <= 100; n += 1) visit(session, 'a', `${n}.example`, DEAD);
    expect(session.peek('a', at('0.example'))?.key).toBeUndefined();
    under[0]?.settle(DEAD);
    expect(session.peek('a', at('0.example'))?.key).toBeUndefined();
    visit(session, 'a', '0.example', DEAD);
    under[1]?.settle({ outcome: 'success' });
    expect(session.peek('a', at('0.example'))?.key?.state).toBe('open');
  });
});

describe('C1: keys in the modes', () => {
  test('C1: a disabled tool counts nothing', () => {
    const { session } = keyed({ tools: { a: { key: byHost(), mode: 'disabled' } } });
    openKey(session, 'x.example');
    expect(visit(session, 'a', 'x.example')).toBe('disabled');
    expect(session.peek('a')?.openKeys).toBe(0);
  });

  test('C1: an observed tool would skip the call for its key', () => {
    const { session, clock } = keyed({ defaults: { mode: 'observe_only' } });
    openKey(session, 'x.example');
    const permit = session.acquire('a', { input: at('x.example') });
    expect(permit).toMatchObject({ decision: 'call', reason: 'would_skip', wouldDecide: 'skip' });
    permit.settle({ outcome: 'success' });
    expect(session.peek('a', at('x.example'))).toMatchObject({
      state: 'observe_only',
      openKeys: 1,
      key: { state: 'observe_only' },
    });
    clock.advance(60_000);
    expect(visit(session, 'a', 'x.example')).toBe('key_probe_due');
    expect(session.peek('a')?.openKeys).toBe(0);
  });

  test('C1: a tool that an operator takes over begins without keys, and calls under way are late', () => {
    const { session } = keyed();
    openKey(session, 'x.example');
    steps(session, 3);
    const probe = session.acquire('a', { input: at('x.example') });
    session.control('a', 'forced_open');
    expect(session.peek('a', at('x.example'))).toMatchObject({ openKeys: 0 });
    session.control('a', 'automatic');
    visit(session, 'a', 'x.example', DEAD);
    probe.settle({ outcome: 'success' });
    expect(session.peek('a', at('x.example'))?.key?.failures).toBe(1);
  });

  test('B5: a box without circuits has no keys', () => {
    const { session } = keyed({ scope: 'none' });
    openKey(session, 'x.example');
    expect(visit(session, 'a', 'x.example')).toBe('no_circuit');
  });
});
