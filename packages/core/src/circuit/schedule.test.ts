import { describe, expect, test } from 'vitest';
import type { Moment } from '../clock.ts';
import { admit, closedCircuit, fail, succeed } from './circuit.ts';
import { type CircuitConfig, resolvePolicy } from './policy.ts';
import { probeDue, probeWait } from './schedule.ts';
import { at, call, failure, openAt, probing } from './test-support.ts';

describe('P1: when a probe is due', () => {
  const due = (config: CircuitConfig, opened: Moment, now: Moment) => {
    const circuit = openAt(config, opened);
    if (circuit.state !== 'open') throw new Error('expected an open circuit');
    return probeDue(circuit.outage, resolvePolicy(config), now);
  };

  test('P1: by steps, the third after opening is due', () => {
    expect(due({ probeAfterSteps: 3 }, at(0, 5), at(1e9, 7, 1))).toBe(false);
    expect(due({ probeAfterSteps: 3 }, at(0, 5), at(1, 8, 1))).toBe(true);
  });

  test('P1: by time, the exact end of the cooldown is due', () => {
    expect(due({ cooldownMs: 100 }, at(0), at(99, 50, 99))).toBe(false);
    expect(due({ cooldownMs: 100 }, at(0), at(100))).toBe(true);
  });

  test('P1: with both set, the first that is due', () => {
    const both = { probeAfterSteps: 3, cooldownMs: 100 };
    expect(due(both, at(0), at(99, 2, 1))).toBe(false);
    expect(due(both, at(0), at(100, 0))).toBe(true);
    expect(due(both, at(0), at(1, 3, 1))).toBe(true);
  });

  test('P1: by default steps count while they advance', () => {
    expect(due({}, at(0), at(59_000, 2, 58_000))).toBe(false);
    expect(due({}, at(0), at(30, 3, 30))).toBe(true);
    // Long steps: two of them took longer than the cooldown, and neither stood still for it.
    expect(due({}, at(0), at(100_000, 2, 90_000))).toBe(false);
  });

  test('P1: by default time counts where steps stand still, before or after some have passed', () => {
    expect(due({}, at(0), at(60_000))).toBe(true);
    expect(due({}, at(0), at(70_000, 1, 10_000))).toBe(true);
  });

  test('O3: Retry-After is the least wait, by steps too', () => {
    const circuit = openAt({ probeAfterSteps: 1 }, at(0), 500);
    const policy = resolvePolicy({ failureThreshold: 1, probeAfterSteps: 1 });
    expect(admit(circuit, policy, at(499, 9, 1)).verdict).toBe('reject');
    expect(admit(circuit, policy, at(500, 9, 1)).verdict).toBe('probe');
  });

  test('O3: the longest Retry-After of the failures that opened the circuit counts, up to the maximum', () => {
    const policy = resolvePolicy({ failureThreshold: 2, cooldownMs: 10, maxRetryAfterMs: 1_000 });
    const start = closedCircuit();
    const first = fail(start, start, { ...failure, retryAfterMs: 1e12 }, policy, at(0));
    const open = fail(first, start, { ...failure, retryAfterMs: 5 }, policy, at(1));
    expect(admit(open, policy, at(999)).verdict).toBe('reject');
    expect(admit(open, policy, at(1_000)).verdict).toBe('probe');
  });
});

describe('P2: the wait doubles', () => {
  test('P2: 60, 120, 240, 300, 300 s; closing returns it to the base', () => {
    const config = { cooldownMs: 60_000 };
    const policy = resolvePolicy({ failureThreshold: 1, ...config });
    let circuit = openAt(config, at(0));
    const waits: number[] = [];
    let now = 0;
    for (let round = 0; round < 5; round += 1) {
      if (circuit.state !== 'open') throw new Error('expected an open circuit');
      const wait = probeWait(circuit.outage, policy, circuit.outage.openedAt).ms ?? 0;
      waits.push(wait);
      now += wait;
      const { circuit: half, ticket } = probing(config, circuit, at(now));
      circuit = fail(half, ticket, failure, policy, at(now));
    }
    expect(waits).toEqual([60_000, 120_000, 240_000, 300_000, 300_000]);
    const { circuit: half, ticket } = probing(config, circuit, at(now + 300_000));
    const closed = succeed(half, ticket, call, policy, at(0));
    expect(fail(closed, closed, failure, policy, at(now))).toMatchObject({ outage: { waitMs: 60_000 } });
  });
});

test('P1: a wait has the steps only where they count, and the time only where that does', () => {
  const keys = (config: CircuitConfig) => {
    const circuit = openAt(config, at(0));
    if (circuit.state !== 'open') throw new Error('expected an open circuit');
    return Object.keys(probeWait(circuit.outage, resolvePolicy(config), at(0)));
  };
  expect([keys({ cooldownMs: 5 }), keys({ probeAfterSteps: 5 })]).toEqual([
    ['ms', 'notBeforeMs'],
    ['steps', 'notBeforeMs'],
  ]);
});
