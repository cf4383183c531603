import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import type { Moment } from '../clock.ts';
import { admit, type Circuit, closedCircuit, dueNow, fail, giveBack, restage, succeed } from './circuit.ts';
import { type CircuitConfig, type CircuitPolicy, resolvePolicy } from './policy.ts';
import { dueStep, freeSteps, probeDue, probeWait } from './schedule.ts';
import { at, call, failure, openAt, outageOf, probing } from './test-support.circuit.ts';

const policyOf = (config: CircuitConfig): CircuitPolicy => resolvePolicy({ failureThreshold: 1, ...config });
const waitOf = (circuit: Circuit, policy: CircuitPolicy, moment: Moment) =>
  probeWait(outageOf(circuit), policy, moment);

const both = { probeAfterSteps: 3, cooldownMs: 100 };

test.each<[CircuitConfig, Moment, boolean]>([
  [{ probeAfterSteps: 3 }, at(299_999, 2, 1), false],
  [{ probeAfterSteps: 3 }, at(300_000, 2, 1), true], // However long a step takes.
  [{ probeAfterSteps: 3, maxCooldownMs: 70_000 }, at(70_000, 2, 69_000), true],
  [{ maxCooldownMs: 70_000 }, at(70_000, 2, 69_000), true],
  [{ probeAfterSteps: 3 }, at(1, 3, 1), true],
  [{ cooldownMs: 100 }, at(99, 50, 99), false],
  [{ cooldownMs: 100 }, at(100), true],
  [both, at(99, 2, 1), false],
  [both, at(100, 0), true],
  [both, at(1, 3, 1), true],
  // By default steps count while they advance, even if they take longer than the cooldown; time counts when they do not.
  [{}, at(59_000, 2, 58_000), false],
  [{}, at(30, 3, 30), true],
  [{}, at(100_000, 2, 90_000), false],
  [{}, at(60_000), true],
  [{}, at(70_000, 1, 10_000), true],
])('P1: with %j, opened at 0, a probe at %j is due: %s', (config, now, due) => {
  expect(probeDue(outageOf(openAt(config, at(0))), resolvePolicy(config), now)).toBe(due);
});

test('P1: a wait has steps only if steps count; if they alone count, it shows the longest time that they may take', () => {
  const wait = (config: CircuitConfig) => waitOf(openAt(config, at(0)), resolvePolicy(config), at(0));
  expect(wait({ cooldownMs: 5 })).toEqual({ ms: 5, notBeforeMs: 0 });
  expect(wait({ probeAfterSteps: 5 })).toEqual({ steps: 5, ms: 300_000, notBeforeMs: 0 });
});

test('M7, P3: the next call is the probe of what has come back, on the ladder of an event too', () => {
  const policy = policyOf({});
  const staged = restage(openAt({}, at(0)), policy, at(1, 1, 1));
  expect([staged, dueNow(staged, policy, at(1, 1, 1))].map((one) => admit(one, policy, at(1, 1, 1)).verdict)).toEqual([
    'reject',
    'probe',
  ]);
});

test.each<[CircuitConfig['probeAfterSteps'], readonly number[]]>([
  [undefined, [3, 3, 3, 6, 6, 12, 12, 20, 20, 20]],
  [1, [1, 1, 1, 2, 2, 4, 4, 7, 7]],
  [2, [2, 2, 2, 4, 4, 8, 8, 14]],
  [
    [2, 1, 9],
    [2, 1, 9, 9],
  ],
])('P1: with probeAfterSteps %j, the waits by steps are %j while probes fail', (probeAfterSteps, waits) => {
  const policy = policyOf(probeAfterSteps === undefined ? {} : { probeAfterSteps });
  let circuit: Circuit = openAt(probeAfterSteps === undefined ? {} : { probeAfterSteps }, at(0));
  let step = 0;
  for (const wait of waits) {
    const [early, due] = [step + wait - 1, step + wait].map((one) => admit(circuit, policy, at(1, one, 1)));
    expect([wait, early?.verdict, due?.verdict]).toEqual([wait, 'reject', 'probe']);
    step += wait;
    circuit = fail(due?.circuit ?? circuit, { generation: circuit.generation + 1 }, failure, policy, at(1, step, 1));
  }
});

describe('O3: Retry-After', () => {
  test('O3: it is the minimum wait, also by steps', () => {
    const policy = policyOf({ probeAfterSteps: 1 });
    const circuit = openAt({ probeAfterSteps: 1 }, at(0), 500);
    expect([499, 500].map((ms) => admit(circuit, policy, at(ms, 9, 1)).verdict)).toEqual(['reject', 'probe']);
    expect(waitOf(restage(circuit, policy, at(100)), policy, at(100)).notBeforeMs).toBe(400); // P3
  });

  test('O3: the longest one among the failures that opened the circuit counts, up to the maximum', () => {
    const policy = resolvePolicy({ failureThreshold: 2, cooldownMs: 10, maxRetryAfterMs: 1_000 });
    const start = closedCircuit();
    const first = fail(start, start, { ...failure, retryAfterMs: 1e12 }, policy, at(0));
    const open = fail(first, start, { ...failure, retryAfterMs: 5 }, policy, at(1));
    expect([999, 1_000].map((ms) => admit(open, policy, at(ms)).verdict)).toEqual(['reject', 'probe']);
  });
});

describe('P2, P4: the wait by time', () => {
  const config = { cooldownMs: 60_000 };
  const policy = policyOf(config);

  test.each([
    [undefined, [60_000, 120_000, 240_000, 300_000, 300_000]],
    [100_000, [60_000, 100_000, 100_000]],
    [45_000, [45_000, 45_000]],
  ])('P2, P4: with a cap of %s the wait doubles as %j; closing resets it to the base', (capMs, waits) => {
    let circuit = openAt(config, at(0), undefined, capMs);
    let now = 0;
    for (const wait of waits) {
      expect(outageOf(circuit).waitMs).toBe(wait);
      now += wait;
      const probe = probing(policy, circuit, at(now));
      circuit = fail(probe.circuit, probe.ticket, failure, policy, at(now), { capMs });
    }
    const last = probing(policy, circuit, at(now + 300_000));
    const closed = succeed(last.circuit, last.ticket, call, policy, at(0));
    expect(outageOf(fail(closed, closed, failure, policy, at(0))).waitMs).toBe(60_000);
  });

  test('P4: the cap limits the wait after an opening by a success', () => {
    const slow = resolvePolicy({ slowCallRate: { rate: 1, slowerThanMs: 1, minimumCalls: 1 } });
    const opened = succeed(closedCircuit(), closedCircuit(), { durationMs: 2 }, slow, at(0), { capMs: 1_000 });
    expect(outageOf(opened).waitMs).toBe(1_000);
  });
});

/** The steps that each of `rounds` failed probes waited, after the end of an event. */
const ladder = (config: CircuitConfig, rounds: number, freeFrom?: (step: number) => number): number[] => {
  const policy = policyOf(config);
  let step = 100;
  let circuit = restage(openAt(config, at(0)), policy, at(5, step, 5), freeFrom);
  const waits: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const due = dueStep(outageOf(circuit), policy) ?? Number.NaN;
    waits.push(due - step);
    expect(admit(circuit, policy, at(5, due - 1, 5)).verdict).toBe('reject');
    step = due;
    const probe = probing(policy, circuit, at(5, step, 5));
    circuit = fail(probe.circuit, probe.ticket, failure, policy, at(5, step, 5), { freeFrom });
  }
  return waits;
};

describe('P3: after a systemic event is over', () => {
  test.each([
    [{}, [3, 6, 12, 20, 20]],
    [{ probeAfterSteps: 3 }, [3, 6, 12, 20, 20, 20]],
    [{ probeAfterSteps: 1 }, [1, 2, 4, 8, 16, 20]],
    [{ probeAfterSteps: 20 }, [20, 20, 20]],
    [{ probeAfterSteps: 25 }, [25, 25, 25]],
  ])('P3: with %j the rungs are %j', (config, rungs) => {
    expect(ladder(config, rungs.length)).toEqual(rungs);
  });

  test('P3: a wait is longer if other tools are due on its step, but the next rung is unchanged', () => {
    expect(ladder({}, 4, freeSteps([103, 104, 111]).from)).toEqual([5, 7, 12, 20]); // 100 + 3 and the next; 105 + 6.
  });

  test('P3: the wait begins at the end of the event; opening and generation do not change', () => {
    const policy = policyOf({ probeAfterSteps: 3 });
    const opened = openAt({ probeAfterSteps: 3 }, at(10, 1, 10));
    const restaged = restage(opened, policy, at(500, 50, 500));
    expect(waitOf(restaged, policy, at(500, 50, 500))).toEqual({ steps: 3, ms: 300_000, notBeforeMs: 0 });
    expect([outageOf(restaged).openedAt, restaged.generation]).toEqual([at(10, 1, 10), opened.generation]);
  });

  test('P3: by time, the wait begins again with the same length; no step is needed', () => {
    const policy = policyOf({ cooldownMs: 100 });
    const notAsked = (): number => {
      throw new Error('a schedule of time alone asks for no step');
    };
    const first = probing(policy, openAt({ cooldownMs: 100 }, at(0)), at(100));
    const reopened = fail(first.circuit, first.ticket, failure, policy, at(100));
    const restaged = restage(reopened, policy, at(1_000), notAsked);
    expect(waitOf(restaged, policy, at(1_000))).toEqual({ ms: 200, notBeforeMs: 0 });
    expect(dueStep(outageOf(restaged), policy)).toBeUndefined();
    const second = probing(policy, restaged, at(1_200));
    expect(restage(second.circuit, policy, at(1_200))).toBe(second.circuit);
    const third = fail(second.circuit, second.ticket, failure, policy, at(1_200), { freeFrom: notAsked });
    expect(waitOf(third, policy, at(1_200))).toEqual({ ms: 400, notBeforeMs: 0 });
  });

  test.each<[CircuitConfig, Moment, object]>([
    [{ probeAfterSteps: 2, cooldownMs: 100 }, at(1_001, 10, 1_001), { steps: 1, ms: 99 }],
    [{}, at(2_000, 9, 900), { ms: 59_000 }],
    [{}, at(2_000, 10, 1_500), { ms: 59_500 }],
  ])('P3: with %j both waits begin again', (config, now, wait) => {
    const policy = policyOf(config);
    expect(waitOf(restage(openAt(config, at(0)), policy, at(1_000, 9, 900)), policy, now)).toMatchObject(wait);
  });

  test('P3, C8: closing ends the ladder, an ignored probe does not; a closed circuit stays the same object', () => {
    const policy = policyOf({ probeAfterSteps: 3 });
    const restaged = restage(openAt({ probeAfterSteps: 3 }, at(0)), policy, at(1));
    const probe = probing(policy, restaged, at(1, 3));
    expect(outageOf(giveBack(probe.circuit, probe.ticket)).ladder).toEqual(outageOf(restaged).ladder);
    const closed = succeed(probe.circuit, probe.ticket, call, policy, at(2, 3));
    expect([closed, restage(closed, policy, at(0))]).toEqual([closedCircuit(3), closed]);
    const second = probing(policy, fail(closed, closed, failure, policy, at(3, 3)), at(3, 6));
    const reopened = outageOf(fail(second.circuit, second.ticket, failure, policy, at(3, 6)));
    expect([reopened.ladder, dueStep(reopened, policy)]).toEqual([undefined, 9]);
  });

  test('P3: a circuit with a probe under way starts on the first rung if the probe fails', () => {
    const policy = policyOf({ probeAfterSteps: 3 });
    const probe = probing(policy, openAt({ probeAfterSteps: 3 }, at(0)), at(0, 3));
    const restaged = restage(probe.circuit, policy, at(0, 4));
    expect(outageOf(restaged).ladder).toEqual({ rung: 0, dueStep: 4 });
    expect(admit(restaged, policy, at(0, 4)).verdict).toBe('reject');
    const first = fail(restaged, probe.ticket, failure, policy, at(0, 5));
    expect(outageOf(first).ladder).toEqual({ rung: 3, dueStep: 8 });
  });
});

describe('P3: steps on which no other tool probes', () => {
  test('P3: the search finds the same step as trying one step after the other', () => {
    const step = fc.nat({ max: 30 });
    fc.assert(
      fc.property(fc.array(step), fc.array(fc.tuple(fc.boolean(), step)), (taken, asked) => {
        const steps = freeSteps(taken);
        const set = new Set(taken);
        for (const [takes, from] of asked) {
          let free = from;
          while (set.has(free)) free += 1;
          expect(steps.from(from)).toBe(free);
          if (!takes) continue;
          steps.take(free);
          set.add(free);
        }
      }),
    );
  });

  test('P3: a search shortens the path for later searches', () => {
    const count = 1_000;
    const steps = freeSteps(Array.from({ length: count }, (_, step) => step));
    const reads = vi.spyOn(Map.prototype, 'get');
    for (let step = 0; step < count; step += 1) expect(steps.from(step)).toBe(count);
    const { length } = reads.mock.calls;
    reads.mockRestore();
    expect(length).toBeLessThan(10 * count); // Without, half a million.
  });
});
