import { expect, test } from 'vitest';
import { FAULTS } from './faults.ts';
import { keepsItsPromises } from './promises.ts';
import { runFault } from './run-fault.ts';
import { runStoppedProber, runThresholds } from './scenarios.ts';

// `npm test` plays the outage without a fault.
test.each(Object.entries(FAULTS).filter(([name]) => name !== 'none'))('G7: %s', async (_name, fault) => {
  keepsItsPromises(await runFault(fault));
});

test('G4: the settlement of a prober that was stopped beyond its lease is dropped', async () => {
  keepsItsPromises(await runStoppedProber());
});

test('G9: processes of a rolling deploy with other thresholds do not fight, and new ones know from their first read on', async () => {
  const figures = await runThresholds();
  keepsItsPromises(figures);
  // Three processes with threshold 3 and two with threshold 5, each kind with its own circuit; and calls in flight.
  expect(figures.opening.calls).toBeLessThanOrEqual(3 * 2 + 2 + 2 * 4 + 2 + 5);
  // A new process may call before Redis has answered it for the first time.
  expect(figures.opening.inFlight).toBeLessThanOrEqual(3 * 2);
});
