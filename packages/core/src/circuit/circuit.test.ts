import { describe, expect, test } from 'vitest';
import { admit, adopted, type Circuit, categoryOf, closedCircuit, fail, release, succeed } from './circuit.ts';
import { resolvePolicy } from './policy.ts';
import { at, call, failure, openAt, probing } from './test-support.ts';

describe('C2, C3: closed', () => {
  const policy = resolvePolicy({});

  test('C2: starts closed with zero counts', () => {
    expect(closedCircuit()).toEqual({
      state: 'closed',
      generation: 0,
      failures: 0,
      weak: 0,
      by: undefined,
      notBeforeMs: 0,
      counts: undefined,
    });
  });

  test('C2: lets every call through, and stays the same object', () => {
    const start = closedCircuit();
    expect(admit(start, policy, at(1))).toEqual({ verdict: 'call', circuit: start });
    expect(admit(start, policy, at(1)).circuit).toBe(start);
    expect(categoryOf(start)).toBeUndefined();
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
      circuit =
        outcome === 'f' ? fail(circuit, start, failure, policy, at(1)) : succeed(circuit, start, call, policy, at(0));
    }
    expect(circuit).toMatchObject({ state: 'closed', failures: 2 });
  });

  test('C3: a success without failures before it allocates nothing', () => {
    const start = closedCircuit();
    expect(succeed(start, start, call, policy, at(0))).toBe(start);
  });

  test('C3: an opening says which trip policy it was', () => {
    expect(openAt({}, at(0))).toMatchObject({ outage: { trip: 'consecutive' } });
  });

  test('C3: with failureThreshold false, failures in a row alone open nothing', () => {
    const never = resolvePolicy({ failureThreshold: false });
    const start = closedCircuit();
    let circuit: Circuit = start;
    for (let round = 0; round < 1_000; round += 1) circuit = fail(circuit, start, failure, never, at(round));
    expect(circuit).toMatchObject({ state: 'closed', failures: 1_000 });
  });
});

describe('K1: a failure of a tool that a check called degraded', () => {
  const degraded = { ...failure, degraded: true };
  const start = closedCircuit();

  test('K1: lowers the threshold by one for that failure', () => {
    const policy = resolvePolicy({ failureThreshold: 3 });
    const once = fail(start, start, degraded, policy, at(1));
    expect(once).toMatchObject({ state: 'closed', failures: 1 });
    expect(fail(once, start, failure, policy, at(2))).toMatchObject({ state: 'closed', failures: 2 });
    expect(fail(once, start, degraded, policy, at(2))).toMatchObject({ state: 'open' });
  });

  test('K1: never below 1: a threshold of 1 opens with the first failure, not without one', () => {
    const policy = resolvePolicy({ failureThreshold: 1 });
    expect(fail(start, start, degraded, policy, at(1))).toMatchObject({ state: 'open' });
    expect(succeed(start, start, call, policy, at(1))).toBe(start);
  });

  test('K1: leaves failureThreshold false as it is', () => {
    const policy = resolvePolicy({ failureThreshold: false });
    expect(fail(start, start, degraded, policy, at(1))).toMatchObject({ state: 'closed', failures: 1 });
  });
});

describe('C5: open', () => {
  test('C5: a rejection changes nothing, not even the object', () => {
    const open = openAt({}, at(0));
    const { verdict, circuit } = admit(open, resolvePolicy({}), at(10));
    expect(verdict).toBe('reject');
    expect(circuit).toBe(open);
  });

  test('C5: says what it opened with', () => {
    expect(categoryOf(openAt({}, at(0)))).toBe('network');
  });

  test('C7: a ticket that was never given changes nothing', () => {
    const open = openAt({}, at(0));
    const forged = { generation: open.generation, lease: { id: 0, untilMs: 1 } };
    expect(succeed(open, forged, call, resolvePolicy({}), at(1))).toBe(open);
    expect(fail(open, forged, failure, resolvePolicy({}), at(1))).toBe(open);
    expect(release(open, forged)).toBe(open);
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
    const half = succeed(second.circuit, first.ticket, call, policy, at(0));
    expect(half).toMatchObject({ state: 'half_open', succeeded: 1 });
    expect(admit(half, policy, at(101)).verdict).toBe('reject'); // The successful probe keeps its place.
    expect(succeed(half, second.ticket, call, policy, at(0))).toEqual(closedCircuit(3));
  });

  test('C6: the first failure reopens, and the other probe is late', () => {
    const first = probing(config, openAt(config, at(0)), at(100));
    const second = probing(config, first.circuit, at(100));
    const reopened = fail(second.circuit, first.ticket, failure, policy, at(150));
    expect(reopened).toMatchObject({ state: 'open', generation: 3, outage: { trip: 'probe' } });
    expect(succeed(reopened, second.ticket, call, policy, at(0))).toBe(reopened);
  });
});

describe('C7: late results', () => {
  const config = { cooldownMs: 100 };
  const policy = resolvePolicy({ failureThreshold: 1, ...config });
  const before = closedCircuit();

  test('C7: a late success does not close an open circuit', () => {
    const open = openAt(config, at(0));
    expect(succeed(open, before, call, policy, at(0))).toBe(open);
  });

  test('C7: a late success of an ordinary call does not close a half-open circuit', () => {
    const { circuit } = probing(config, openAt(config, at(0)), at(100));
    expect(succeed(circuit, before, call, policy, at(0))).toBe(circuit);
  });

  test('C7: a late failure does not reopen a circuit that has closed', () => {
    const { circuit, ticket } = probing(config, openAt(config, at(0)), at(100));
    const closed = succeed(circuit, ticket, call, policy, at(0));
    expect(fail(closed, before, failure, policy, at(101))).toBe(closed);
    expect(fail(closed, ticket, failure, policy, at(101))).toBe(closed);
  });

  test('C7: a probe of an earlier round does not close a later one', () => {
    const first = probing(config, openAt(config, at(0)), at(100));
    const reopened = fail(first.circuit, first.ticket, failure, policy, at(100));
    const second = probing(config, reopened, at(1_000));
    expect(succeed(second.circuit, first.ticket, call, policy, at(0))).toBe(second.circuit);
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

  test('C8: a ticket without a place gives none back', () => {
    const { circuit } = probing(config, openAt(config, at(0)), at(100));
    expect(release(circuit, { generation: circuit.generation })).toBe(circuit);
    const two = resolvePolicy({ probes: 2 });
    const succeeded = succeed(circuit, { generation: circuit.generation }, call, two, at(101));
    expect(succeeded).toMatchObject({ state: 'half_open', succeeded: 1, leases: [{ id: 0 }] });
  });

  test('C9: a place is kept until its lease runs out, and no two leases are the same', () => {
    const first = probing(config, openAt(config, at(0)), at(100));
    expect(first.ticket.lease).toEqual({ id: 0, untilMs: 150 });
    const second = probing(config, release(first.circuit, first.ticket), at(120));
    expect(second.ticket.lease).toEqual({ id: 1, untilMs: 170 });
    expect(release(second.circuit, first.ticket)).toMatchObject({ leases: [{ id: 1 }] });
  });
});

describe('C11: a circuit from a snapshot', () => {
  const config = { probes: 3, cooldownMs: 100 };
  const first = probing(config, openAt(config, at(0)), at(100));
  const half = succeed(first.circuit, first.ticket, call, resolvePolicy(config), at(101));

  test('C11: where fewer probes are wanted now, one is still to come', () => {
    expect(adopted(half, resolvePolicy({ probes: 1 }), 101)).toMatchObject({ state: 'half_open', succeeded: 0 });
    expect(adopted(half, resolvePolicy({ probes: 2 }), 101)).toEqual(half);
  });

  test('C11: it waits no longer than the policy lets it now', () => {
    const open = openAt({ cooldownMs: 500 }, at(0));
    if (open.state !== 'open') throw new Error('openAt opens');
    const asked = { ...open, outage: { ...open.outage, notBeforeMs: 9_000 } };
    const policy = resolvePolicy({ cooldownMs: 100, maxCooldownMs: 200, maxRetryAfterMs: 1_000 });
    expect(adopted(asked, policy, 50)).toMatchObject({ outage: { waitMs: 200, notBeforeMs: 1_050 } });
    expect(adopted({ ...closedCircuit(), notBeforeMs: 9_000 }, policy, 50)).toMatchObject({ notBeforeMs: 1_050 });
  });

  test('C11: any other stays as it is', () => {
    const open = openAt({}, at(0));
    expect(adopted(open, resolvePolicy({}), 0)).toEqual(open);
    expect(adopted(closedCircuit(), resolvePolicy({}), 0)).toEqual(closedCircuit());
  });
});

test('C2, C7: a success that changes nothing gives the same object, in any generation', () => {
  const policy = resolvePolicy({});
  expect(closedCircuit()).toBe(closedCircuit());
  const again = closedCircuit(2);
  expect(succeed(again, again, call, policy, at(1))).toBe(again);
});
