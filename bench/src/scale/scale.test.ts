import { describe, expect, it } from 'vitest';
import {
  callsAfter,
  callsUntilKnown,
  type FleetShape,
  knownMs,
  meanQuorumMs,
  quorumChance,
  readsPerSecond,
} from './model.ts';
import { OUTAGE, SHAPE } from './scale-command.ts';
import { simulate } from './simulate.ts';

/** `npm run test:all` simulates the ten thousand of docs/scale.md. */
const PROCESSES = process.env.BREAKERBOX_MODEL_CASES === undefined ? 400 : 10_000;
const MINUTES = 60_000;

/** A measured value is near an expected one, or differs by no more than a few. */
const near = (measured: number, expected: number, share: number, few: number): void =>
  expect(Math.abs(measured - expected), `${measured} for ${expected}`).toBeLessThanOrEqual(share * expected + few);

describe('the formulas of docs/scale.md', () => {
  const shape: FleetShape = { ...SHAPE, processes: 2 };

  it('have the values of cases that can be computed by hand', () => {
    // Two processes with threshold 1 and quorum 2: the later of two exponential times has the mean 1.5.
    expect(meanQuorumMs({ ...shape, threshold: 1, callsPerSecond: 1 })).toBeCloseTo(1_500, 0);
    expect(quorumChance(shape, 0)).toBeCloseTo(0, 9);
    expect(quorumChance(shape, 1e6)).toBeCloseTo(1, 9);
    // Each process ends at its threshold.
    expect(callsAfter({ ...shape, processes: 10 }, 1e6)).toBeCloseTo(30, 6);
    expect(callsUntilKnown({ ...shape, processes: 10 }, 1e6)).toBeCloseTo(30, 6);
    expect(knownMs({ ...shape, hints: false }, 0)).toBe(0);
    expect(knownMs({ ...shape, hints: false }, 1)).toBeCloseTo(1_200, 6);
    expect(readsPerSecond({ ...shape, processes: 10_000 })).toBeLessThan(10_000);
  });
});

describe.each([true, false])(`${PROCESSES} simulated processes, hints arrive: %s`, (hints) => {
  it('agree with the formulas', { timeout: 20 * MINUTES }, async () => {
    const shape: FleetShape = { ...SHAPE, processes: PROCESSES, hints };
    const found = await simulate({ ...shape, ...OUTAGE, seed: 1, shared: true });
    near(found.healthy.scriptsPerSecond, readsPerSecond(shape), 0.02, 0);
    expect(found.healthy.writes).toBe(0);
    // Chance decides when the quorum has seen it. What follows from that moment is certain in large numbers.
    const chance = quorumChance(shape, found.quorumMs);
    expect(chance).toBeGreaterThan(0.001);
    expect(chance).toBeLessThan(0.999);
    near(found.callsUntilQuorum, callsAfter(shape, found.quorumMs), 0.05, 4 * Math.sqrt(found.callsUntilQuorum));
    near(found.calls, callsUntilKnown(shape, found.quorumMs), 0.1, 4 * Math.sqrt(found.calls));
    // Without hints, four standard errors of a median of reads that are spread over 1.1 s.
    near(found.knownP50Ms, knownMs(shape, 0.5), 0.1, hints ? 10 : 2_200 / Math.sqrt(PROCESSES));
    near(found.knownP99Ms, knownMs(shape, 0.99), 0.1, 20);
    // One in a round, of which there is time for three at most. In one round of seven, the process that may probe has no call within 10 s.
    expect(found.probes).toBeGreaterThanOrEqual(1);
    expect(found.probes).toBeLessThanOrEqual(OUTAGE.outageMs / OUTAGE.cooldownMs);
    expect(found.againP99Ms).toBeLessThanOrEqual(2_000 + (hints ? 0 : 300));
  });
});

it('processes that learn alone make all the calls, and most send a probe', { timeout: 20 * MINUTES }, async () => {
  const found = await simulate({ ...SHAPE, processes: PROCESSES, ...OUTAGE, seed: 7, shared: false });
  const shape: FleetShape = { ...SHAPE, processes: PROCESSES };
  // Some do not call three times while it is dead.
  expect(found.calls).toBeLessThanOrEqual(PROCESSES * SHAPE.threshold);
  near(found.calls, callsAfter(shape, OUTAGE.outageMs), 0.02, 4 * Math.sqrt(PROCESSES));
  // Most of them have opened long enough ago for one.
  expect(found.probes).toBeGreaterThan(PROCESSES / 2);
});
