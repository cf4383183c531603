import type { Permit, SessionPermit } from './permit.ts';

/**
 * Lets a probe take longer (C9), such as a call that goes on as a task. A lease never becomes shorter. A permit without a lease stays as it is.
 *
 * @param untilMs When the probe counts as failed, on the box's clock.
 */
export const extendLease = (permit: Permit, untilMs: number): void => {
  const own = permit as SessionPermit; // Sessions make no others.
  for (const { lease } of [own, ...own.passes]) {
    // The circuit and the permit share the object, and circuits tell leases apart by their ids.
    if (lease !== undefined && untilMs > lease.untilMs) (lease as { untilMs: number }).untilMs = untilMs;
  }
};
