import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { closedCircuit, fail } from './circuit.ts';
import { freeSteps } from './free-steps.ts';
import { restage } from './outage.ts';
import { resolvePolicy } from './policy.ts';
import { dueStep } from './schedule.ts';
import { at, failure } from './test-support.ts';

describe('P3: steps on which no other tool probes', () => {
  test('P3: without any taken, each step is free', () => {
    expect(freeSteps([]).from(7)).toBe(7);
  });

  test('P3: the first one after those that are taken', () => {
    const steps = freeSteps([3, 4, 6, 4]);
    expect([1, 3, 4, 5, 6].map(steps.from)).toEqual([1, 5, 5, 5, 7]);
    steps.take(5);
    expect([2, 3, 4, 5, 6].map(steps.from)).toEqual([2, 7, 7, 7, 7]);
  });

  test('P3: to ask takes nothing, and to take twice changes nothing', () => {
    const steps = freeSteps([3]);
    expect([steps.from(3), steps.from(3)]).toEqual([4, 4]);
    steps.take(3);
    expect(steps.from(3)).toBe(4);
  });

  test('P3: the same as to try one step after the other', () => {
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

  test('P3: a search shortens the path for those that follow', () => {
    const count = 1_000;
    const steps = freeSteps(Array.from({ length: count }, (_, step) => step));
    const reads = vi.spyOn(Map.prototype, 'get');
    for (let step = 0; step < count; step += 1) expect(steps.from(step)).toBe(count);
    const { length } = reads.mock.calls;
    reads.mockRestore();
    expect(length).toBeLessThan(10 * count); // Without, half a million.
  });

  test('P3: 20,000 circuits get 20,000 different steps, and each costs the same', () => {
    const policy = resolvePolicy({ failureThreshold: 1, probeAfterSteps: 3 });
    const opened = fail(closedCircuit(), closedCircuit(), failure, policy, at(0));
    const steps = freeSteps([]);
    let asked = 0;
    const probes = Array.from({ length: 20_000 }, () => {
      const circuit = restage(opened, policy, at(0), (step) => {
        asked += 1;
        return steps.from(step);
      });
      if (circuit.state !== 'open') throw new Error('restage closes nothing');
      const step = dueStep(circuit.outage, policy) ?? Number.NaN;
      steps.take(step);
      return step;
    });
    expect(probes).toEqual(Array.from({ length: 20_000 }, (_, index) => index + 3));
    expect(asked).toBe(20_000);
  });
});
