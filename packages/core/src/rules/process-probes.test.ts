import { describe, expect, test } from 'vitest';
import { trip } from '../test-support.ts';
import { hear, two } from './test-support.rules.ts';

describe('C12: probes of sessions that share circuits', () => {
  test('C6, C12: all sessions share one slot', () => {
    const { session, other, clock } = two();
    trip(session, 'a');
    clock.advance(60_000);
    const probe = other.acquire('a');
    expect(probe.decision).toBe('probe');
    expect(session.acquire('a').reason).toBe('probe_in_flight');
    probe.settle({ outcome: 'success' });
    expect(session.acquire('a').decision).toBe('call');
  });

  test('C8, C12: a session that ends keeps the slot of its probe until the call returns', () => {
    const { session, other, clock } = two();
    trip(session, 'a');
    clock.advance(60_000);
    const probe = other.acquire('a');
    other.end();
    expect(session.acquire('a')).toMatchObject({ decision: 'skip', reason: 'probe_in_flight' });
    probe.settle({ outcome: 'success' });
    expect(session.acquire('a')).toMatchObject({ decision: 'call', state: 'closed' });
  });

  test('C8, C9, C12: or it keeps the slot until its lease ends', () => {
    const { session, other, clock } = two();
    trip(session, 'a');
    clock.advance(60_000);
    other.acquire('a');
    other.end();
    clock.advance(59_999);
    expect(session.acquire('a').reason).toBe('probe_in_flight');
    clock.advance(1);
    expect(session.acquire('a').reason).toBe('open');
    expect(session.peek('a')).toMatchObject({ category: 'timeout', trip: 'probe' });
  });

  test('B3, C9, C12: a lease that expires is a free failure of the session that probed, whichever session notices', () => {
    const { session, other, clock, box } = two();
    const outcomes = hear(box, 'outcome');
    trip(session, 'a');
    clock.advance(60_000);
    const probe = other.acquire('a');
    clock.advance(60_000);
    expect(session.acquire('a').decision).toBe('skip');
    expect(session.peek('a')).toMatchObject({ state: 'open', category: 'timeout' });
    expect([session.view().budget.remaining, other.view().budget.remaining]).toEqual([4, 5]);
    expect(outcomes.at(-1)).toMatchObject({ session: 'run-2', outcome: 'failure', category: 'timeout' });
    probe.settle({ outcome: 'success' });
    expect(session.peek('a')?.state).toBe('open');
  });

  test('B6, C9, C12: by the rule strict the session that probed pays for it', () => {
    const { session, other, clock } = two({ budget: 'strict' });
    trip(session, 'a');
    clock.advance(60_000);
    other.acquire('a');
    clock.advance(60_000);
    session.acquire('a');
    expect([session.view().budget.remaining, other.view().budget.remaining]).toEqual([2, 4]);
  });

  test('C9, C12: a session whose probe another session has settled still gets the other changes', () => {
    const { session, other, clock } = two();
    trip(session, 'a');
    clock.advance(60_000);
    expect(other.acquire('a').decision).toBe('probe');
    trip(session, 'b');
    expect(session.view().systemic).toBeDefined();
    clock.advance(60_000);
    session.acquire('c'); // Settles the other's probe.
    expect(other.acquire('b')).toMatchObject({ decision: 'skip', reason: 'systemic' });
  });

  test('C9, C12: a session whose own probe has lapsed gets them too', () => {
    const { session, other, clock } = two();
    trip(session, 'a');
    clock.advance(60_000);
    expect(session.acquire('a').decision).toBe('probe');
    trip(other, 'b');
    clock.advance(60_000);
    expect(session.acquire('b')).toMatchObject({ decision: 'skip', reason: 'systemic' });
  });

  test('C1, C12: a probe under way is late, and free, when another session takes over the circuit', () => {
    const { session, other, clock } = two();
    trip(session, 'a');
    clock.advance(60_000);
    const probe = other.acquire('a');
    session.control('a', 'forced_open');
    session.control('a', 'automatic');
    clock.advance(60_000);
    expect(session.acquire('a').decision).toBe('call');
    probe.settle({ outcome: 'failure', category: 'network' });
    expect(session.peek('a')).toMatchObject({ state: 'closed', failures: 0 });
    expect(other.view().budget.remaining).toBe(5);
  });
});
