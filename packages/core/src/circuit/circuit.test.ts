import { describe, expect, test } from 'vitest';
import type { Moment } from '../clock.ts';
import { admit, type Circuit, closedCircuit, fail, release, succeed, type Ticket } from './circuit.ts';
import { type CircuitConfig, resolvePolicy } from './policy.ts';
import { probeDue, probeWait } from './schedule.ts';

const at = (ms: number, step = 0, stepMs = 0): Moment => ({ ms, step, stepMs });
const failure = { category: 'network' } as const;

/** Opens a circuit at `moment`. */
const openAt = (config: CircuitConfig, moment: Moment, retryAfterMs?: number): Circuit => {
  const policy = resolvePolicy({ failureThreshold: 1, ...config });
  return fail(closedCircuit(), closedCircuit(), { ...failure, retryAfterMs }, policy, moment);
};

/** A circuit with one probe on its way, and that probe's ticket. */
const probing = (config: CircuitConfig, opened: Circuit, moment: Moment): { circuit: Circuit; ticket: Ticket } => {
  const admission = admit(opened, resolvePolicy({ failureThreshold: 1, ...config }), moment);
  if (admission.verdict !== 'probe') throw new Error(`expected a probe, got ${admission.verdict}`);
  return { circuit: admission.circuit, ticket: { generation: admission.circuit.generation, lease: admission.lease } };
};

describe('C2, C3: closed', () => {
  const policy = resolvePolicy({});

  test('C2: starts closed with zero counts', () => {
    expect(closedCircuit()).toEqual({ state: 'closed', generation: 0, failures: 0, notBeforeMs: 0 });
  });

  test('C3: the third failure in a row opens, the second does not', () => {
    const start = closedCircuit();
    const second = fail(fail(start, start, failure, policy, at(1)), start, failure, policy, at(2));
    expect(second).toMatchObject({ state: 'closed', failures: 2 });
    expect(fail(second, start, failure, policy, at(3))).toMatchObject({
      state: 'open',
      generation: 1,
      outage: { category: 'network', openedAt: at(3) },
    });
  });

  test('C3: a success between resets the count to 0', () => {
    const start = closedCircuit();
    let circuit: Circuit = start;
    for (const outcome of ['f', 'f', 's', 'f', 'f'] as const) {
      circuit = outcome === 'f' ? fail(circuit, start, failure, policy, at(1)) : succeed(circuit, start, policy);
    }
    expect(circuit).toMatchObject({ state: 'closed', failures: 2 });
  });

  test('a success without failures before it allocates nothing', () => {
    const start = closedCircuit();
    expect(succeed(start, start, policy)).toBe(start);
  });
});

describe('C4: profiles', () => {
  test.each([
    ['default', 3, 60_000],
    ['fast', 3, 30_000],
    ['slow', 2, 120_000],
    ['provider', 5, 60_000],
  ] as const)('C4: %s opens after %i failures and waits %i ms', (profile, failureThreshold, cooldownMs) => {
    expect(resolvePolicy({ profile })).toMatchObject({ failureThreshold, cooldownMs, maxCooldownMs: 300_000 });
  });

  test('C4: a single setting beside the profile wins', () => {
    expect(resolvePolicy({ profile: 'slow', failureThreshold: 7 })).toMatchObject({
      failureThreshold: 7,
      cooldownMs: 120_000,
    });
  });
});

describe('C5: open', () => {
  test('C5: a rejection changes nothing, not even the object', () => {
    const open = openAt({}, at(0));
    const { verdict, circuit } = admit(open, resolvePolicy({}), at(10));
    expect(verdict).toBe('reject');
    expect(circuit).toBe(open);
  });
});

describe('C6: half-open', () => {
  const config = { probes: 2, cooldownMs: 100 };
  const policy = resolvePolicy({ failureThreshold: 1, ...config });

  test('C6: lets `probes` calls through at once and rejects the rest', () => {
    const first = probing(config, openAt(config, at(0)), at(100));
    const second = probing(config, first.circuit, at(100));
    expect(admit(second.circuit, policy, at(100)).verdict).toBe('reject');
  });

  test('C6: closes when all probes succeeded, not before', () => {
    const first = probing(config, openAt(config, at(0)), at(100));
    const second = probing(config, first.circuit, at(100));
    const half = succeed(second.circuit, first.ticket, policy);
    expect(half).toMatchObject({ state: 'half_open', succeeded: 1 });
    expect(admit(half, policy, at(101)).verdict).toBe('reject'); // The successful probe keeps its place.
    expect(succeed(half, second.ticket, policy)).toEqual(closedCircuit(3));
  });

  test('C6: the first failure reopens, and the other probe is late', () => {
    const first = probing(config, openAt(config, at(0)), at(100));
    const second = probing(config, first.circuit, at(100));
    const reopened = fail(second.circuit, first.ticket, failure, policy, at(150));
    expect(reopened).toMatchObject({ state: 'open', generation: 3 });
    expect(succeed(reopened, second.ticket, policy)).toBe(reopened);
  });
});

describe('C7: late results', () => {
  const config = { cooldownMs: 100 };
  const policy = resolvePolicy({ failureThreshold: 1, ...config });
  const before = closedCircuit();

  test('C7: a late success does not close an open circuit', () => {
    const open = openAt(config, at(0));
    expect(succeed(open, before, policy)).toBe(open);
  });

  test('C7: a late success of an ordinary call does not close a half-open circuit', () => {
    const { circuit } = probing(config, openAt(config, at(0)), at(100));
    expect(succeed(circuit, before, policy)).toBe(circuit);
  });

  test('C7: a late failure does not reopen a circuit that has closed', () => {
    const { circuit, ticket } = probing(config, openAt(config, at(0)), at(100));
    const closed = succeed(circuit, ticket, policy);
    expect(fail(closed, before, failure, policy, at(101))).toBe(closed);
    expect(fail(closed, ticket, failure, policy, at(101))).toBe(closed);
  });

  test('C7: a probe of an earlier round does not close a later one', () => {
    const first = probing(config, openAt(config, at(0)), at(100));
    const reopened = fail(first.circuit, first.ticket, failure, policy, at(100));
    const second = probing(config, reopened, at(1_000));
    expect(succeed(second.circuit, first.ticket, policy)).toBe(second.circuit);
    expect(release(second.circuit, first.ticket)).toBe(second.circuit);
  });
});

describe('C8: places of probes', () => {
  const config = { cooldownMs: 100, probeLeaseMs: 50 };
  const policy = resolvePolicy({ failureThreshold: 1, ...config });

  test('C8: an ignored probe gives its place back and leaves the circuit half-open', () => {
    const { circuit, ticket } = probing(config, openAt(config, at(0)), at(100));
    const free = release(circuit, ticket);
    expect(free).toMatchObject({ state: 'half_open', leases: [], succeeded: 0 });
    expect(admit(free, policy, at(101)).verdict).toBe('probe');
  });
});

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
    const closed = succeed(half, ticket, policy);
    expect(fail(closed, closed, failure, policy, at(now))).toMatchObject({ outage: { waitMs: 60_000 } });
  });
});
