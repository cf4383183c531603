import { expect } from 'vitest';
import { SPREAD_MS } from './course.ts';
import type { Figures } from './run-fault.ts';

/** A decision that waits for a Redis that hangs takes at least as long as a command may. A busy machine pauses a process for less. */
const NO_WAIT_MS = 1_000;

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
