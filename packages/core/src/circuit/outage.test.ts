import { describe, expect, test } from 'vitest';
import type { Moment } from '../clock.ts';
import { admit, type Circuit, closedCircuit, fail, release, succeed } from './circuit.ts';
import { freeSteps } from './free-steps.ts';
import { restage } from './outage.ts';
import { type CircuitConfig, type CircuitPolicy, resolvePolicy } from './policy.ts';
import { dueStep, probeDue, probeWait } from './schedule.ts';

const at = (ms: number, step = 0, stepMs = 0): Moment => ({ ms, step, stepMs });
const call = { durationMs: 5, tokens: 0 };
const failure = { category: 'network', ...call } as const;
const policyOf = (config: CircuitConfig): CircuitPolicy => resolvePolicy({ failureThreshold: 1, ...config });

const openAt = (policy: CircuitPolicy, moment: Moment, capMs?: number): Circuit =>
  fail(closedCircuit(), closedCircuit(), failure, policy, moment, { capMs });

const outageOf = (circuit: Circuit) => {
  if (circuit.state === 'closed') throw new Error('expected a circuit that is not closed');
  return circuit.outage;
};

const probing = (circuit: Circuit, policy: CircuitPolicy, moment: Moment) => {
  const admission = admit(circuit, policy, moment);
  if (admission.verdict !== 'probe') throw new Error(`expected a probe, got ${admission.verdict}`);
  return { circuit: admission.circuit, ticket: { generation: admission.circuit.generation, lease: admission.lease } };
};

const notAsked = (): number => {
  throw new Error('a schedule of time alone asks for no step');
};

/** The steps that each of `rounds` failed probes waited, from a restaged circuit on. */
const ladder = (config: CircuitConfig, rounds: number, freeFrom?: (step: number) => number): number[] => {
  const policy = policyOf(config);
  let step = 100;
  let circuit = restage(openAt(policy, at(0)), policy, at(5, step, 5), freeFrom);
  const waits: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const due = dueStep(outageOf(circuit), policy) ?? Number.NaN;
    waits.push(due - step);
    const early = at(5, due - 1, 5);
    expect(admit(circuit, policy, early).verdict).toBe('reject');
    step = due;
    const probe = probing(circuit, policy, at(5, step, 5));
    circuit = fail(probe.circuit, probe.ticket, failure, policy, at(5, step, 5), { freeFrom });
  }
  return waits;
};

describe('P3: after a systemic event was confirmed as over', () => {
  test.each([
    [3, [3, 6, 12, 20, 20, 20]],
    [1, [1, 2, 4, 8, 16, 20]],
    [20, [20, 20, 20]],
    [25, [25, 25, 25]],
  ])('P3: with probeAfterSteps %i the rungs are %j', (probeAfterSteps, rungs) => {
    expect(ladder({ probeAfterSteps }, rungs.length)).toEqual(rungs);
  });

  test('P3: by default too', () => {
    expect(ladder({}, 5)).toEqual([3, 6, 12, 20, 20]);
  });

  test('P3: a wait is longer where other tools are due on its step, and the next rung is not', () => {
    const others = freeSteps([103, 104, 111]); // 100 + 3 and the next; 105 + 6.
    expect(ladder({}, 4, others.from)).toEqual([5, 7, 12, 20]);
  });

  test('P3: the wait begins with the confirmation, and the opening stays where it was', () => {
    const policy = policyOf({ probeAfterSteps: 3 });
    const opened = openAt(policy, at(10, 1, 10));
    const restaged = restage(opened, policy, at(500, 50, 500));
    expect(probeDue(outageOf(opened), policy, at(500, 50, 500))).toBe(true);
    expect(probeWait(outageOf(restaged), policy, at(500, 50, 500))).toEqual({ steps: 3, notBeforeMs: 0 });
    expect(outageOf(restaged).openedAt).toEqual(at(10, 1, 10));
    expect(restaged.generation).toBe(opened.generation);
  });

  test('P3: by time, the wait begins again and is as long as it was', () => {
    const policy = policyOf({ cooldownMs: 100 });
    const first = probing(openAt(policy, at(0)), policy, at(100));
    const reopened = fail(first.circuit, first.ticket, failure, policy, at(100));
    const restaged = restage(reopened, policy, at(1_000), notAsked);
    expect(probeWait(outageOf(restaged), policy, at(1_000))).toEqual({ ms: 200, notBeforeMs: 0 });
    expect(dueStep(outageOf(restaged), policy)).toBeUndefined();
    const second = probing(restaged, policy, at(1_200));
    const third = fail(second.circuit, second.ticket, failure, policy, at(1_200), { freeFrom: notAsked });
    expect(probeWait(outageOf(third), policy, at(1_200))).toEqual({ ms: 400, notBeforeMs: 0 });
  });

  test('P3: a schedule of both begins both again', () => {
    const policy = policyOf({ probeAfterSteps: 2, cooldownMs: 100 });
    const restaged = restage(openAt(policy, at(0)), policy, at(1_000, 9, 900));
    expect(probeWait(outageOf(restaged), policy, at(1_001, 10, 1_001))).toEqual({ steps: 1, ms: 99, notBeforeMs: 0 });
  });

  test('P3: by default, time counts from the confirmation while steps stand still', () => {
    const policy = policyOf({});
    const restaged = restage(openAt(policy, at(0)), policy, at(1_000, 9, 900));
    expect(probeWait(outageOf(restaged), policy, at(2_000, 9, 900)).ms).toBe(59_000);
    expect(probeWait(outageOf(restaged), policy, at(2_000, 10, 1_500)).ms).toBe(59_500);
  });

  test('O3: a Retry-After still holds', () => {
    const policy = policyOf({ probeAfterSteps: 1 });
    const opened = fail(closedCircuit(), closedCircuit(), { ...failure, retryAfterMs: 5_000 }, policy, at(0));
    expect(probeWait(outageOf(restage(opened, policy, at(1_000))), policy, at(1_000)).notBeforeMs).toBe(4_000);
  });

  test('P3: closing ends the ladder', () => {
    const policy = policyOf({ probeAfterSteps: 3 });
    const probe = probing(restage(openAt(policy, at(0)), policy, at(1)), policy, at(1, 3));
    const closed = succeed(probe.circuit, probe.ticket, call, policy, at(2, 3));
    expect(closed).toEqual(closedCircuit(3));
    const again = fail(closed, closed, failure, policy, at(3, 3));
    const second = probing(again, policy, at(3, 6));
    expect(dueStep(outageOf(again), policy)).toBe(6);
    const reopened = fail(second.circuit, second.ticket, failure, policy, at(3, 6));
    expect(outageOf(reopened).ladder).toBeUndefined();
    expect(dueStep(outageOf(reopened), policy)).toBe(9);
  });

  test('P3: a closed circuit stays the same object', () => {
    const closed = closedCircuit();
    expect(restage(closed, policyOf({}), at(0))).toBe(closed);
  });

  test('P3: one whose probe is under way gets on the first rung if it fails', () => {
    const policy = policyOf({ probeAfterSteps: 3 });
    const probe = probing(openAt(policy, at(0)), policy, at(0, 3));
    const restaged = restage(probe.circuit, policy, at(0, 4));
    expect(outageOf(restaged).ladder).toEqual({ rung: 0, dueStep: 4 });
    expect(admit(restaged, policy, at(0, 4)).verdict).toBe('reject');
    const first = fail(restaged, probe.ticket, failure, policy, at(0, 5));
    expect(outageOf(first).ladder).toEqual({ rung: 3, dueStep: 8 });
    const second = probing(first, policy, at(0, 8));
    expect(outageOf(fail(second.circuit, second.ticket, failure, policy, at(0, 8))).ladder).toEqual({
      rung: 6,
      dueStep: 14,
    });
  });

  test('C8: an ignored probe leaves the ladder where it is', () => {
    const policy = policyOf({ probeAfterSteps: 3 });
    const restaged = restage(openAt(policy, at(0)), policy, at(1));
    const probe = probing(restaged, policy, at(1, 3));
    expect(outageOf(release(probe.circuit, probe.ticket)).ladder).toEqual(outageOf(restaged).ladder);
  });

  test('P3: by time alone, one whose probe is under way stays the same object', () => {
    const policy = policyOf({ cooldownMs: 10 });
    const { circuit } = probing(openAt(policy, at(0)), policy, at(10));
    expect(restage(circuit, policy, at(11))).toBe(circuit);
  });
});

describe('P4: the share of a chain', () => {
  const policy = policyOf({ cooldownMs: 60_000 });

  test('P4: bounds the first wait', () => {
    expect(outageOf(openAt(policy, at(0), 45_000)).waitMs).toBe(45_000);
    expect(outageOf(openAt(policy, at(0), 75_000)).waitMs).toBe(60_000);
    expect(outageOf(openAt(policy, at(0))).waitMs).toBe(60_000);
  });

  test('P4: bounds what doubling makes of it', () => {
    let circuit = openAt(policy, at(0), 100_000);
    const waits: number[] = [];
    for (let now = 0; waits.length < 3; ) {
      now += outageOf(circuit).waitMs;
      waits.push(outageOf(circuit).waitMs);
      const probe = probing(circuit, policy, at(now));
      circuit = fail(probe.circuit, probe.ticket, failure, policy, at(now), { capMs: 100_000 });
    }
    expect(waits).toEqual([60_000, 100_000, 100_000]);
  });

  test('P4: bounds the wait after an opening by a success', () => {
    const slow = resolvePolicy({ slowCallRate: { rate: 1, slowerThanMs: 1, minimumCalls: 1 } });
    const start = closedCircuit();
    const opened = succeed(start, start, { durationMs: 2, tokens: 0 }, slow, at(0), { capMs: 1_000 });
    expect(outageOf(opened).waitMs).toBe(1_000);
  });
});
