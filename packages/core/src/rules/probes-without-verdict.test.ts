import { describe, expect, test } from 'vitest';
import { byHost } from '../circuit/key-circuits.ts';
import type { Settlement } from '../outcome.ts';
import { bench, failOnce, steps, succeedOnce, trip } from '../test-support.ts';
import { at, bringDown, hear, keyed, openKey, visit } from './test-support.rules.ts';

const ANSWERS: readonly Settlement[] = [
  { outcome: 'ignored', category: 'tool_error' },
  { outcome: 'ignored', category: 'unknown' },
  { outcome: 'ignored', category: 'invalid_input' },
  { outcome: 'ignored', category: 'network' },
  { error: new Error('no such order'), verdict: { category: 'tool_error' } },
  { error: new Error('Request failed'), verdict: { category: 'server', blames: 'key' } },
  { outcome: 'broken' as 'ignored' },
];

describe('C8: a probe that ends without a verdict', () => {
  test.each(ANSWERS)('C8: after %j the circuit is open again until the next rung, and nothing is charged', (answer) => {
    const { session } = bench();
    trip(session, 'a');
    steps(session, 3);
    const { category, trip: by, openForMs } = session.peek('a') ?? expect.fail();
    const charges = session.explain('a').charges.length;
    session.acquire('a').settle(answer);
    expect(session.peek('a')).toMatchObject({ state: 'open', category, trip: by, openForMs, nextProbe: { steps: 3 } });
    expect([session.explain('a').charges.length, session.view().budget.remaining]).toEqual([charges, 4]);
    for (const wait of [3, 3, 6]) {
      steps(session, wait - 1);
      expect(session.acquire('a').reason).toBe('open');
      session.step();
      const probe = session.acquire('a');
      expect([wait, probe.reason]).toEqual([wait, 'probe_due']);
      probe.settle(answer);
    }
    steps(session, 6);
    expect(succeedOnce(session, 'a')).toBe('probe');
    expect(session.peek('a')?.state).toBe('closed');
  });

  test.each(['tool_error', 'invalid_input', 'network'] as const)(
    'C8: an agent that gets the same answer (%s) again and again makes 10 calls in 60 steps',
    (category) => {
      const { session } = bench();
      let calls = 0;
      for (let step = 0; step < 60; step += 1) {
        const permit = session.acquire('a', { input: { step } });
        if (permit.decision !== 'skip') calls += 1;
        permit.settle(step < 3 ? { outcome: 'failure', category: 'server' } : { outcome: 'ignored', category });
        session.step();
      }
      expect(calls).toBe(10);
    },
  );

  test('C8, P2: by time, the doubled wait begins with the end of the probe', () => {
    const { session, clock } = bench({ tools: { a: { cooldownMs: 60_000 } } });
    trip(session, 'a');
    clock.advance(60_000);
    session.acquire('a').settle({ outcome: 'ignored', category: 'tool_error' });
    expect(session.peek('a')).toMatchObject({ openForMs: 60_000, nextProbe: { ms: 120_000 } });
  });

  test('C8: a cancelled or denied probe only returns its slot', () => {
    for (const category of ['cancelled', 'denied'] as const) {
      const { session } = bench();
      trip(session, 'a');
      steps(session, 3);
      session.acquire('a').settle({ outcome: 'ignored', category });
      expect([category, session.peek('a')?.state, failOnce(session, 'a')]).toEqual([category, 'half_open', 'probe']);
    }
  });

  test('C8, C6: the other probes of that round are late', () => {
    const { session } = bench({ tools: { a: { probes: 2 } } });
    trip(session, 'a');
    steps(session, 3);
    const [one, other] = [session.acquire('a'), session.acquire('a')];
    one.settle({ outcome: 'ignored', category: 'tool_error' });
    other.settle({ outcome: 'success' });
    expect(session.peek('a')).toMatchObject({ state: 'open', nextProbe: { steps: 3 } });
  });

  test('C8, S1: it is no opening, so that no correlated failure begins or grows', () => {
    const { session, box } = bench({ systemic: { sameCategory: 2, windowSteps: 5 } });
    const detected = hear(box, 'systemic.detected');
    trip(session, 'a');
    steps(session, 6); // Too long ago for an event with the next opening.
    session.acquire('a').settle({ outcome: 'ignored', category: 'unknown' });
    trip(session, 'b');
    expect([detected.length, session.view().systemic]).toEqual([0, undefined]);
  });

  test('C8, S5: the probe of an event does not end it, and the next one waits longer', () => {
    const { session, clock } = bench({
      scope: 'process',
      systemic: { sameCategory: 2, recovery: { probeAfterMs: 60_000 } },
    });
    bringDown(session);
    clock.advance(60_000);
    session.acquire('a').settle({ outcome: 'ignored', category: 'tool_error' });
    expect(session.acquire('b').reason).toBe('systemic');
    clock.advance(119_999);
    expect(session.acquire('b').reason).toBe('systemic');
    clock.advance(1);
    session.acquire('b').settle({ outcome: 'success' });
    expect(session.view().systemic).toBeUndefined();
  });

  test('C8, C13, C15: the circuit of a group waits too, and prefers another tool', () => {
    const { session } = bench({ tools: { a: { group: 'g' }, b: { group: 'g' } } });
    session.acquire('a').settle({ outcome: 'failure', category: 'network', blames: 'group' });
    steps(session, 3);
    session.acquire('a').settle({ outcome: 'ignored', category: 'tool_error' });
    expect(session.peek('group:g')).toMatchObject({ state: 'open', trip: 'transport', nextProbe: { steps: 3 } });
    steps(session, 3);
    expect([session.explain('a').reason, session.explain('b').reason]).toEqual(['group_open', 'group_probe_due']);
  });

  test.each(['setting', 'nested call'] as const)(
    'C8, E3: an outage that does not count because of a %s opens it again',
    (by) => {
      const { session } = bench({ tools: { a: by === 'setting' ? { outcomes: { network: 'ignored' } } : {} } });
      trip(session, 'a', 'server');
      steps(session, 3);
      const error = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
      const outer = session.acquire('a');
      if (by === 'nested call') session.acquire('b').settle({ error });
      outer.settle({ error });
      expect([outer.reason, session.peek('a')]).toMatchObject(['probe_due', { state: 'open', trip: 'consecutive' }]);
    },
  );

  test('C8, C14: a probe that blames its key leaves the tool open, too', () => {
    const { session } = keyed({ tools: { a: { key: byHost() } } });
    trip(session, 'a');
    steps(session, 3);
    expect(visit(session, 'a', 'x.example', { outcome: 'failure', category: 'server', blames: 'key' })).toBe(
      'probe_due',
    );
    expect(session.peek('a', at('x.example'))).toMatchObject({ state: 'open', nextProbe: { steps: 3 } });
  });

  test('C8, C14: the circuit of a key waits too', () => {
    const { session } = keyed({ tools: { a: { key: byHost() } } });
    openKey(session, 'x.example');
    steps(session, 3);
    visit(session, 'a', 'x.example', { outcome: 'ignored', category: 'tool_error' });
    expect(session.peek('a', at('x.example'))?.key).toMatchObject({ state: 'open', nextProbe: { steps: 3 } });
  });
});
