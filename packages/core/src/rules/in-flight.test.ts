import { describe, expect, test } from 'vitest';
import { planScope } from '../scope/scope.ts';
import { bench, failOnce, steps } from '../test-support.ts';
import { grouped } from './test-support.rules.ts';

const OK = { outcome: 'success' } as const;

describe('C17: calls that may be under way at once', () => {
  test('C17: a call above the limit is skipped, costs nothing, and goes once another one is over', () => {
    const { session, box } = bench({ tools: { db: { maxInFlight: 2 } } });
    const [first, second] = [session.acquire('db'), session.acquire('db')];
    const third = session.acquire('db');
    expect(third).toMatchObject({ decision: 'skip', reason: 'busy', state: 'closed', budgetRemaining: 5 });
    expect(third.message).toBe(
      "Tool 'db' was not called: as many calls as it may have are under way. Try again in your next turn. [breakerbox:not-called]",
    );
    expect(session.acquire('other').decision).toBe('call');
    second.settle({ outcome: 'failure', category: 'network' });
    const next = session.acquire('db');
    expect(next.reason).toBe('closed');
    expect(session.acquire('db').reason).toBe('busy');
    second.settle(OK); // Only the first report counts.
    expect(session.acquire('db').reason).toBe('busy');
    for (const permit of [first, next]) permit.settle(OK);
    expect(session.acquire('db').reason).toBe('closed');
    expect(box.session().acquire('db').reason).toBe('closed');
  });

  test('C17: no alternative takes the place of a busy tool, and the tool is not told as unavailable', () => {
    const { session } = bench({ tools: { db: { maxInFlight: 1, alternatives: [{ tool: 'copy' }] }, copy: {} } });
    const permit = session.acquire('db');
    expect(session.acquire('db').route).toEqual({ kind: 'defer' });
    expect(session.explain('db')).toMatchObject({ reason: 'busy', rejectedBy: 'maxInFlight' });
    expect([session.unavailable(), session.note()]).toEqual([[], '']);
    expect(planScope(session, [{ name: 'sum', tools: ['db'] }]).decision).toBe('proceed');
    permit.settle({ outcome: 'failure', category: 'network' });
    expect(permit.message).toBe('');
  });

  test('C17: the circuit is asked first, and a probe is never busy', () => {
    const { session } = bench({ tools: { db: { maxInFlight: 1, failureThreshold: 1, probes: 2 } } });
    failOnce(session, 'db');
    expect(session.acquire('db').reason).toBe('open');
    steps(session, 3);
    expect([session.acquire('db').reason, session.acquire('db').reason]).toEqual(['probe_due', 'probe_due']);
    expect(session.acquire('db').reason).toBe('probe_in_flight');
  });

  test('C1, C17: a change of mode ends no call that is under way', () => {
    const { session } = bench({ tools: { db: { maxInFlight: 1 } } });
    const permit = session.acquire('db');
    session.control('db', 'disabled');
    expect(session.acquire('db').reason).toBe('disabled');
    session.control('db', 'automatic');
    expect(session.acquire('db').reason).toBe('busy');
    permit.settle(OK);
    expect(session.acquire('db').reason).toBe('closed');
  });

  test('C17: a group counts the calls of all of its tools', () => {
    const { session } = grouped({ groups: { g: { maxInFlight: 2 } } });
    const permits = [session.acquire('a'), session.acquire('b')];
    expect(session.acquire('c')).toMatchObject({ decision: 'skip', reason: 'busy', group: 'g' });
    expect(session.acquire('d').decision).toBe('call');
    for (const permit of permits) permit.settle(OK);
    expect(session.acquire('c').decision).toBe('call');
  });

  test('C17: sessions that share their circuits share the places', () => {
    const { box } = bench({ scope: 'process', tools: { db: { maxInFlight: 1 } } });
    const permit = box.session().acquire('db');
    expect(box.session().acquire('db').reason).toBe('busy');
    permit.settle(OK);
    expect(box.session().acquire('db').reason).toBe('closed');
  });

  test('C17: sub-agents share the places of the root, because its circuits are theirs', () => {
    const { session } = bench({ tools: { db: { maxInFlight: 1 } } });
    const permit = session.child({ id: 'one' }).acquire('db');
    const other = session.child({ id: 'two' });
    expect([session.acquire('db').reason, other.acquire('db').reason]).toEqual(['busy', 'busy']);
    permit.settle(OK);
    expect(other.acquire('db').reason).toBe('closed');
  });

  test('C17: a call that never settles gives its place back after probeLeaseMs', () => {
    const { session, clock } = bench({ tools: { db: { maxInFlight: 1, probeLeaseMs: 5_000 } } });
    session.acquire('db');
    clock.advance(4_999);
    expect(session.acquire('db').reason).toBe('busy');
    clock.advance(1);
    expect(session.acquire('db').reason).toBe('closed');
  });

  test('C1, C17: for a tool that is only observed, the decision is reported', () => {
    const { session } = bench({ tools: { db: { maxInFlight: 1, mode: 'observe_only' } } });
    session.acquire('db');
    expect(session.acquire('db')).toMatchObject({ decision: 'call', reason: 'would_skip', wouldDecide: 'skip' });
  });
});
