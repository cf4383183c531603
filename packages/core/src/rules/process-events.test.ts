import { metrics } from '@opentelemetry/api';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { newAgent, registerMetrics, seriesOf } from '../telemetry/test-support.ts';
import { bench, failOnce, succeedOnce, trip } from '../test-support.ts';
import { hear } from './test-support.ts';

afterEach(() => metrics.disable());

/** Two sessions of a box that shares its circuits. */
const two = (config: Parameters<typeof bench>[0] = {}) => {
  const made = bench({ scope: 'process', ...config });
  return { ...made, other: made.box.session({ id: 'run-2' }) };
};

describe('C12: systemic failure of sessions that share circuits', () => {
  test('C12, S2: what opens in different sessions is one event, and all of them pause, new ones too', () => {
    const { session, other, box } = two();
    trip(session, 'a');
    trip(other, 'b');
    for (const one of [session, other, box.session()]) {
      expect(one.acquire('c')).toMatchObject({ decision: 'pause', reason: 'systemic' });
    }
  });

  test('C12, S3: each session pays for its own failures, once', () => {
    const { session, other, box } = two();
    trip(session, 'a');
    trip(other, 'b');
    const third = box.session();
    for (const one of [session, other, third]) one.acquire('c');
    expect([session, other, third].map((one) => one.view().budget.consumed - one.view().budget.granted)).toEqual([
      -4, -4, -5,
    ]);
  });

  test('C12, S5: whoever confirms does so for all; probes are staggered for all', () => {
    const { session, other, box } = two({ defaults: { probeAfterSteps: 3 } });
    const resolved = hear(box, 'systemic.resolved');
    trip(session, 'a');
    trip(other, 'b');
    session.acquire('c');
    other.confirmRecovered();
    expect(session.acquire('c').decision).toBe('call');
    expect(box.session().acquire('c').decision).toBe('call');
    expect(resolved.map(({ session: id, by }) => `${id} ${by}`)).toEqual(['run-2 operator', 'run-1 operator']);
    expect(session.view().circuits.map(({ nextProbe }) => nextProbe?.steps)).toEqual([3, 4, undefined]);
  });

  test('C12, S5: what ends it by itself is told to the others as what it was', () => {
    const { session, other, box, clock } = two({ systemic: { recovery: { afterMs: 60_000 } } });
    const resolved = hear(box, 'systemic.resolved');
    trip(session, 'a');
    trip(session, 'b');
    other.acquire('c');
    clock.advance(60_000);
    succeedOnce(other, 'c');
    succeedOnce(session, 'c');
    expect(resolved.map(({ session: id, by }) => `${id} ${by}`)).toEqual(['run-2 time', 'run-1 time']);
  });

  test('C12: an event is counted once, and told to each session', async () => {
    const { scrape } = registerMetrics();
    const agent = newAgent();
    const { session, other, box } = two({ agent });
    const detected = hear(box, 'systemic.detected');
    trip(session, 'a');
    trip(session, 'b');
    other.acquire('c');
    expect(detected.map(({ session: id }) => id)).toEqual(['run-1', 'run-2']);
    expect(seriesOf(agent, await scrape(), 'breakerbox_systemic_events_total')).toContain(
      'breakerbox_systemic_events_total{error_type="network"} 1',
    );
  });

  test('C12, S1: a circuit that a session has closed again is evidence for none', () => {
    const { session, other, clock } = two({ systemic: { windowMs: 3_600_000 } });
    trip(session, 'a');
    other.acquire('c');
    clock.advance(60_000);
    expect(succeedOnce(other, 'a')).toBe('probe');
    trip(session, 'b');
    expect(session.view().systemic).toBeUndefined();
    other.acquire('c');
    expect(other.view().systemic).toBeUndefined();
  });

  test('C12, S5: scores of pre-call checks are forgotten once for all', () => {
    const precheck = vi.fn(() => 'available' as const);
    const { session, other } = two({ tools: { a: {}, b: {}, c: { precheck } } });
    trip(session, 'a');
    trip(session, 'b');
    other.confirmRecovered();
    other.acquire('c');
    session.acquire('c');
    expect(precheck).toHaveBeenCalledTimes(1);
  });

  test('B1, C12, S3: the one charge of an event that another session made may be the last of this one', () => {
    const { session, other, box } = two({ budget: { failures: 1 } });
    const exhausted = hear(box, 'budget.exhausted');
    for (let i = 0; i < 3; i += 1) box.session().acquire('a').settle({ outcome: 'failure', category: 'network' });
    failOnce(other, 'b');
    expect(other.view().budget).toMatchObject({ remaining: 1, provisional: 1 });
    failOnce(session, 'b');
    failOnce(box.session(), 'b');
    expect(other.acquire('c').reason).toBe('systemic');
    expect(other.view().budget).toMatchObject({ remaining: 0, provisional: 0 });
    other.confirmRecovered();
    expect(other.acquire('c').reason).toBe('budget_exhausted');
    expect(exhausted.filter(({ session: id }) => id === 'run-2')).toHaveLength(1);
  });
});

describe('C12: probes of sessions that share circuits', () => {
  test('C6, C12: there is one place for all', () => {
    const { session, other, clock } = two();
    trip(session, 'a');
    clock.advance(60_000);
    const probe = other.acquire('a');
    expect(probe.decision).toBe('probe');
    expect(session.acquire('a').reason).toBe('probe_in_flight');
    probe.settle({ outcome: 'success' });
    expect(session.acquire('a').decision).toBe('call');
  });

  test('C8, C12: a session that ends gives its place back', () => {
    const { session, other, clock } = two();
    trip(session, 'a');
    clock.advance(60_000);
    const probe = other.acquire('a');
    other.end();
    expect(session.peek('a')?.state).toBe('half_open');
    expect(session.acquire('a').decision).toBe('probe');
    probe.settle({ outcome: 'success' });
    expect(session.peek('a')?.state).toBe('half_open'); // What the ended one brings counts for nothing.
  });

  test('C9, C12: a lease that runs out is a failure of the session that asked, whoever notices', () => {
    const { session, other, clock, box } = two();
    const outcomes = hear(box, 'outcome');
    trip(session, 'a');
    clock.advance(60_000);
    const probe = other.acquire('a');
    clock.advance(60_000);
    expect(session.acquire('a').decision).toBe('skip');
    expect(session.peek('a')).toMatchObject({ state: 'open', category: 'timeout' });
    expect([session.view().budget.consumed, other.view().budget.consumed]).toEqual([3, 1]);
    expect(outcomes.at(-1)).toMatchObject({ session: 'run-2', outcome: 'failure', category: 'timeout' });
    probe.settle({ outcome: 'success' });
    expect(session.peek('a')?.state).toBe('open');
    expect(other.view().budget.consumed).toBe(1);
  });

  test('C9, C12: a session whose probe another one has settled still learns what else has happened', () => {
    const { session, other, clock } = two();
    trip(session, 'a');
    clock.advance(60_000);
    expect(other.acquire('a').decision).toBe('probe');
    trip(session, 'b');
    expect(session.view().state).toBe('paused_systemic');
    clock.advance(60_000);
    session.acquire('c'); // Settles the other's probe.
    expect(other.acquire('c')).toMatchObject({ decision: 'pause', reason: 'systemic' });
  });

  test('C9, C12: so does one whose own probe has lapsed meanwhile', () => {
    const { session, other, clock } = two();
    trip(session, 'a');
    clock.advance(60_000);
    expect(session.acquire('a').decision).toBe('probe');
    trip(other, 'b');
    clock.advance(60_000);
    expect(session.acquire('c')).toMatchObject({ decision: 'pause', reason: 'systemic' });
  });

  test('C1, C12: a probe under way when another session takes the circuit in hand is late, and free', () => {
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
    expect(other.view().budget.consumed).toBe(0);
  });
});
