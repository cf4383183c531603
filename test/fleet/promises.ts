import { expect } from 'vitest';
import { SPREAD_MS } from './course.ts';
import type { Figures } from './run-fault.ts';

/** Far below the faults of Redis, which take seconds, and above the pauses of a busy machine. */
const NO_WAIT_MS = 250;

/** What holds in each scenario, whatever happens to Redis (G1, G4, G5, G7). */
export const keepsItsPromises = (figures: Figures): void => {
  const { title } = figures;
  expect(figures.longestAcquireMs, `${title}: no decision waits`).toBeLessThan(NO_WAIT_MS);
  expect(figures.healthyRejected, `${title}: no healthy tool is rejected`).toBe(0);
  expect(figures.probes.perRound, `${title}: probes of a round`).toBe(1);
  expect(figures.probes.others, `${title}: calls of a tool that all know to be dead`).toBe(0);
  expect(figures.recoveredMs, `${title}: all processes call again`).toBeLessThanOrEqual(SPREAD_MS);
  expect(figures.writtenTwice, `${title}: nothing is written twice`).toBe(0);
};
