import type { Permit } from './permit.ts';
import { SessionPermit } from './permit.ts';

/**
 * Lets a probe take longer (C9), such as a call that goes on as a task. A lease never becomes shorter. Other permits stay as they are.
 *
 * @param untilMs When the probe counts as failed, on the box's clock.
 */
export const extendLease = (permit: Permit, untilMs: number): void => {
  if (!(permit instanceof SessionPermit)) return;
  for (const { lease } of [permit, ...permit.passes]) {
    // The circuit and the permit share the object, and circuits tell leases apart by their ids.
    if (lease !== undefined && untilMs > lease.untilMs) (lease as { untilMs: number }).untilMs = untilMs;
  }
};
