import { describe, expect, test } from 'vitest';
import type { Moment } from '../clock.ts';
import {
  admit,
  admits,
  adopted,
  askedWaitOf,
  type Circuit,
  categoryOf,
  closedCircuit,
  fail,
  failedKeysOf,
  failuresInRow,
  giveBack,
  ignore,
  interrupt,
  openCircuit,
  restage,
  succeed,
  type Ticket,
} from './circuit.ts';
import { type CircuitPolicy, gatePolicy, resolveGroupPolicy, resolvePolicy } from './policy.ts';
import { type Asking, type Outage, probeWait } from './schedule.ts';
import { at, call, failure, openAt, outageOf, probing } from './test-support.circuit.ts';

const start = closedCircuit();

test('O3, G4: a wait is as asked until a probe fails, and of a fleet if it is longer than any cooldown', () => {
  const policy = resolvePolicy({ maxCooldownMs: 300_000 });
  const waits = (outage: Partial<Outage>) => {
    const open = openCircuit(at(1_000), 'rate_limit', policy);
    return askedWaitOf({ ...open, outage: { ...open.outage, ...outage } }, policy);
  };
  const none = { notBeforeMs: 0, isAsked: false };
  expect([askedWaitOf(start, policy), waits({})]).toEqual([none, none]);
  expect(waits({ trip: 'consecutive', notBeforeMs: 5_000 })).toEqual({ notBeforeMs: 5_000, isAsked: true });
  expect(waits({ trip: 'probe', notBeforeMs: 5_000 })).toEqual({ notBeforeMs: 5_000, isAsked: false });
  expect(waits({ trip: 'fleet', waitMs: 300_000 })).toEqual(none);
  expect(waits({ trip: 'fleet', waitMs: 300_001 })).toEqual({ notBeforeMs: 301_001, isAsked: true });
});

describe('C2, C3: closed', () => {
  const policy = resolvePolicy({});

  test('C2: every call passes; a call or a success that changes nothing returns the same object', () => {
    const later = closedCircuit(2);
    expect(start).toEqual({ state: 'closed', generation: 0, notBeforeMs: 0, latest: undefined, counts: undefined });
    expect(admit(start, policy, at(1))).toEqual({ verdict: 'call', circuit: start });
    for (const circuit of [start, later]) {
      expect(admit(circuit, policy, at(1)).circuit).toBe(circuit);
      expect(succeed(circuit, circuit, call, policy, at(0))).toBe(circuit);
    }
    expect([closedCircuit(), categoryOf(start), failuresInRow(start)]).toEqual([start, undefined, 0]);
  });

  test('C3: the circuit opens in a new generation, with the category of the failure; a success resets the failures in a row', () => {
    const second = fail(fail(start, start, failure, policy, at(1)), start, failure, policy, at(2));
    expect([second.state, failuresInRow(second)]).toEqual(['closed', 2]);
    expect(succeed(second, start, call, policy, at(2))).toEqual(closedCircuit());
    const open = fail(second, start, failure, policy, at(3));
    expect(open).toMatchObject({ state: 'open', generation: 1, outage: { category: 'network', openedAt: at(3) } });
    expect([categoryOf(open), failuresInRow(open)]).toEqual(['network', 0]);
  });

  test('C3: rejections and ignored outcomes enter no window, and closing clears all counts', () => {
    const rated = resolvePolicy({ failureRate: { rate: 1, minimumCalls: 1 }, cooldownMs: 100 });
    expect(giveBack(start, start)).toBe(start);
    const open = fail(start, start, failure, rated, at(0));
    expect(admit(open, rated, at(99))).toEqual({ verdict: 'reject', circuit: open });
    const { circuit, ticket } = probing(rated, open, at(100));
    expect(succeed(circuit, ticket, call, rated, at(100))).toEqual(closedCircuit(3));
  });
});

describe('C6: half-open', () => {
  const config = { probes: 2, cooldownMs: 100 };
  const policy = resolvePolicy({ failureThreshold: 1, ...config });
  const first = probing(policy, openAt(config, at(0)), at(100));
  const second = probing(policy, first.circuit, at(100));

  test('C6: `probes` calls pass, and the circuit closes when all have succeeded', () => {
    expect(admit(second.circuit, policy, at(100)).verdict).toBe('reject');
    const half = succeed(second.circuit, first.ticket, call, policy, at(0));
    expect(half).toMatchObject({ state: 'half_open', succeeded: 1 });
    expect(admit(half, policy, at(101)).verdict).toBe('reject'); // The successful probe keeps its slot.
    expect(succeed(half, second.ticket, call, policy, at(0))).toEqual(closedCircuit(3));
  });

  test('C6: the first failure opens the circuit again, and the other probe is late', () => {
    const unknown = { ...failure, category: 'unknown' } as const;
    const open = fail(second.circuit, first.ticket, unknown, policy, at(150));
    expect(open).toMatchObject({ state: 'open', generation: 3, outage: { trip: 'probe', category: 'unknown' } });
    expect(succeed(open, second.ticket, call, policy, at(0))).toBe(open);
  });
});

describe('C7: late results change nothing', () => {
  const config = { cooldownMs: 100 };
  const policy = resolvePolicy({ failureThreshold: 1, ...config });
  const open = openAt(config, at(0));
  const half = probing(policy, open, at(100));
  const again = probing(policy, fail(half.circuit, half.ticket, failure, policy, at(100)), at(1_000));

  test.each<[string, Circuit, Ticket]>([
    ['of an ordinary call, while open', open, start],
    ['of an ordinary call, while half-open', half.circuit, start],
    ['with a ticket that was never given', open, { generation: open.generation, lease: { id: 0, untilMs: 1 } }],
    ['of an ordinary call, closed again', succeed(half.circuit, half.ticket, call, policy, at(0)), start],
    ['of a probe, closed again', succeed(half.circuit, half.ticket, call, policy, at(0)), half.ticket],
    ['of a probe of an earlier round', again.circuit, half.ticket],
  ])('C7: %s', (_, circuit, ticket) => {
    expect(succeed(circuit, ticket, call, policy, at(101))).toBe(circuit);
    expect(fail(circuit, ticket, failure, policy, at(101))).toBe(circuit);
    expect(giveBack(circuit, ticket)).toBe(circuit);
  });
});

describe('C8, C9: probe slots', () => {
  const config = { cooldownMs: 100, probeLeaseMs: 50 };
  const policy = resolvePolicy({ failureThreshold: 1, ...config });
  const first = probing(policy, openAt(config, at(0)), at(100));

  test('C8: an ignored probe returns its slot; a ticket without a lease returns none', () => {
    const free = giveBack(first.circuit, first.ticket);
    expect(free).toMatchObject({ state: 'half_open', leases: [], succeeded: 0 });
    expect(admit(free, policy, at(101)).verdict).toBe('probe');
    const { generation } = first.circuit;
    expect(giveBack(first.circuit, { generation })).toBe(first.circuit);
    const two = succeed(first.circuit, { generation }, call, resolvePolicy({ probes: 2 }), at(101));
    expect(two).toMatchObject({ state: 'half_open', succeeded: 1, leases: [{ id: 0 }] });
  });

  test('C9: a slot is kept until its lease ends, and no two leases are the same', () => {
    expect(first.ticket.lease).toEqual({ id: 0, untilMs: 150 });
    const second = probing(policy, giveBack(first.circuit, first.ticket), at(120));
    expect(second.ticket.lease).toEqual({ id: 1, untilMs: 170 });
    expect(giveBack(second.circuit, first.ticket)).toMatchObject({ leases: [{ id: 1 }] });
  });
});

test('C11: a restored circuit waits no longer than the policy allows, and still needs one probe', () => {
  const config = { probes: 3, cooldownMs: 500 };
  const policy = resolvePolicy({ cooldownMs: 100, maxCooldownMs: 200, maxRetryAfterMs: 1_000 });
  const open = openAt(config, at(0), 9_000);
  expect(adopted(open, policy, 50)).toMatchObject({ outage: { waitMs: 200, notBeforeMs: 1_050 } });
  expect(adopted({ ...start, notBeforeMs: 9_000 }, policy, 50)).toMatchObject({ notBeforeMs: 1_050 });
  const { circuit, ticket } = probing(resolvePolicy(config), openAt(config, at(0)), at(500));
  const half = succeed(circuit, ticket, call, resolvePolicy(config), at(501));
  expect(adopted(half, resolvePolicy({ probes: 1 }), 501)).toMatchObject({ state: 'half_open', succeeded: 0 });
  for (const same of [half, openAt({}, at(0)), start])
    expect(adopted(same, resolvePolicy({ probes: 2 }), 501)).toEqual(same);
});

const asking = (
  tool: string,
  policy = resolvePolicy({ probeAfterSteps: 2, cooldownMs: 100, probeLeaseMs: 7 }),
): Asking => ({
  tool,
  policy,
});

const failedProbe = (from: Circuit, policy: CircuitPolicy, moment: Moment, tool = 'a'): Circuit => {
  const { circuit, ticket } = probing(policy, from, moment, asking(tool));
  return fail(circuit, ticket, { ...failure, tool }, policy, moment);
};

describe('C15: the circuit of a group', () => {
  const policy = resolveGroupPolicy({ probeAfterSteps: 3 });
  const open = fail(start, start, { ...failure, tool: 'a', atOnce: 'transport' }, policy, at(0));
  const again = failedProbe(open, policy, at(5, 3));

  test('C15: any tool may probe first; after a failed probe, the same tool waits its own steps in addition', () => {
    for (const tool of ['a', 'b']) expect(admits(open, policy, at(0, 3), asking(tool))).toBe(true);
    expect(again).toMatchObject({ outage: { trip: 'probe', probedBy: 'a' } });
    const due = (tool: string) => [5, 6, 7, 8].map((step) => admits(again, policy, at(5, step), asking(tool)));
    expect([due('b'), due('a')]).toEqual([
      [false, true, true, true],
      [false, false, false, true],
    ]);
    expect(admits(again, policy, at(5, 6))).toBe(true); // Without a tool, the group is due as usual.
  });

  test('C15: by time, the tool waits its own cooldown in addition', () => {
    const byTime = resolveGroupPolicy({ cooldownMs: 1_000 });
    const { outage } = failedProbe(open, byTime, at(60_000)) as Extract<Circuit, { state: 'open' }>;
    const now = at(60_000 + outage.waitMs);
    expect(probeWait(outage, byTime, now, asking('b'))).toEqual({ ms: 0, notBeforeMs: 0 });
    expect(probeWait(outage, byTime, now, asking('a'))).toEqual({ ms: 100, notBeforeMs: 0 });
  });

  test('C15, O3: the longer wait is not a Retry-After, not even at the origin of the clock', () => {
    const slow = asking('a', resolvePolicy({ probeAfterSteps: 2, cooldownMs: 60_000 }));
    expect(admits(again, policy, at(6, 8), slow)).toBe(true);
    expect(probeWait(outageOf(again), policy, at(6, 8), slow)).toMatchObject({ steps: 0, notBeforeMs: 0 });
  });

  test('C8, C15: the latest probe counts; the end of an event keeps it; a returned slot is for any tool', () => {
    const third = failedProbe(again, policy, at(0, 6), 'b');
    expect(restage(third, policy, at(0, 7))).toMatchObject({ outage: { probedBy: 'b' } });
    const byB = probing(policy, again, at(0, 6), asking('b'));
    expect(admits(giveBack(byB.circuit, byB.ticket), policy, at(0, 6), asking('a'))).toBe(true);
    expect(
      failedProbe(openAt({ probeAfterSteps: 3 }, at(0)), resolvePolicy({ probeAfterSteps: 3 }), at(0, 3)),
    ).not.toHaveProperty('outage.probedBy');
  });

  test("C9: a probe has the lease of its tool, or the circuit's own without a tool", () => {
    const two = resolveGroupPolicy({ probes: 2, probeAfterSteps: 1, probeLeaseMs: 99 });
    const first = probing(two, open, at(10, 1), asking('a'));
    expect(first.ticket.lease).toEqual({ id: 0, untilMs: 17 });
    expect(probing(two, first.circuit, at(20, 1), asking('b')).ticket.lease).toEqual({ id: 1, untilMs: 27 });
    expect(admit(open, two, at(10, 1))).toMatchObject({ verdict: 'probe', lease: { untilMs: 109 } });
  });
});

describe('S5: the gate of an event', () => {
  const gate = gatePolicy({ probeAfterMs: 300, maxProbeAfterMs: 1_000 });

  test('S5: the gate is open from the start, and one probe after the wait closes it', () => {
    const open = openCircuit(at(50), 'network', gate);
    expect(open).toEqual({
      state: 'open',
      generation: 0,
      outage: { category: 'network', openedAt: at(50), waitMs: 300, notBeforeMs: 0 },
    });
    expect(admits(open, gate, at(349, 90, 349), asking('a'))).toBe(false);
    const { circuit, ticket } = probing(gate, open, at(350), asking('a'));
    expect(admits(circuit, gate, at(351), asking('b'))).toBe(false);
    expect(succeed(circuit, ticket, call, gate, at(351))).toMatchObject({ state: 'closed' });
  });

  test('S5: a failed probe doubles the wait up to the maximum, and another tool is preferred', () => {
    let circuit: Circuit = openCircuit(at(0), 'network', gate, 4);
    expect(circuit.generation).toBe(4);
    const waits: number[] = [];
    let now = 0;
    for (const tool of ['a', 'b', 'a', 'b']) {
      const { waitMs } = outageOf(circuit);
      waits.push(waitMs);
      now += waitMs;
      if (waits.length > 1) expect(admits(circuit, gate, at(now + 99), asking(tool === 'a' ? 'b' : 'a'))).toBe(false);
      circuit = failedProbe(circuit, gate, at(now), tool);
    }
    expect(waits).toEqual([300, 600, 1_000, 1_000]);
  });
});

describe('C14: the row of failed keys', () => {
  const policy = resolvePolicy({});
  const own = fail(start, start, failure, policy, at(1));
  const failed = fail(own, own, { ...failure, key: 'k', ofKey: true }, policy, at(2));
  const rows = (circuit: Circuit) => [failuresInRow(circuit), failedKeysOf(circuit)];

  test('C14: an answer ends it, and no other count', () => {
    const after = interrupt(failed, failed, policy, at(3));
    expect([failed, after].map(rows)).toEqual([
      [1, 1],
      [1, 0],
    ]);
    expect(interrupt(after, after, policy, at(4))).toBe(after);
  });

  test('C7, C14: a late answer, and one of an open circuit, change nothing', () => {
    const open = openAt({}, at(0));
    expect(interrupt(failed, { generation: 7 }, policy, at(3))).toBe(failed);
    expect(interrupt(open, open, policy, at(3))).toBe(open);
  });
});

test('C8: only a probe has a slot to return', () => {
  const ANSWER = { category: 'network', tool: 'a' } as const;
  const policy = resolvePolicy({ cooldownMs: 100 });
  const { circuit, ticket } = probing(policy, openAt({ cooldownMs: 100 }, at(0)), at(100));
  expect(ignore(circuit, ticket, ANSWER, policy, at(101)).state).toBe('open');
  expect(ignore(circuit, { generation: circuit.generation }, ANSWER, policy, at(101))).toBe(circuit);
  expect(ignore(start, { ...ticket, generation: start.generation }, ANSWER, policy, at(101))).toBe(start);
});
