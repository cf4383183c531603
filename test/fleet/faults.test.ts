import { expect, test } from 'vitest';
import { FAULTS } from './faults.ts';
import { keepsItsPromises } from './promises.ts';
import { runFault } from './run-fault.ts';
import { runThresholds } from './scenarios.ts';

/** What `npm test` plays already. */
const FAST = ['none', 'frozen'];

test.each(Object.entries(FAULTS).filter(([name]) => !FAST.includes(name)))('G7: %s', async (_name, fault) => {
  keepsItsPromises(await runFault(fault));
});

test('G9: processes of a rolling deploy with other thresholds do not fight, and new ones know from their first read on', async () => {
  const figures = await runThresholds();
  keepsItsPromises(figures);
  // Three processes with threshold 3 and two with threshold 5, each kind with its own circuit; and calls in flight.
  expect(figures.opening.calls).toBeLessThanOrEqual(3 * 2 + 2 + 2 * 4 + 2 + 5);
  // A new process may call before Redis has answered it for the first time.
  expect(figures.opening.inFlight).toBeLessThanOrEqual(3 * 2);
});
