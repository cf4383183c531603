import type { Lease } from './circuit/circuit.ts';
import type { SessionPermit } from './permit.ts';
import type { TrackedCircuit } from './tracked.ts';

/** The circuits of a session that have probes on their way. */
export type Probing = Set<TrackedCircuit>;

/** A probe is on its way. */
export const beginProbe = (probing: Probing, tracked: TrackedCircuit, lease: Lease, permit: SessionPermit): void => {
  tracked.probes.set(lease, permit);
  probing.add(tracked);
};

/** A probe is over. */
export const endProbe = (probing: Probing, tracked: TrackedCircuit, lease: Lease): void => {
  tracked.probes.delete(lease);
  if (tracked.probes.size === 0) probing.delete(tracked);
};

/** C9: of the probes whose lease has run out by `ms`, the one whose lease ran out first. */
export const firstLapsed = (probing: Probing, ms: number) => {
  let first: { readonly tracked: TrackedCircuit; readonly lease: Lease; readonly permit: SessionPermit } | undefined;
  for (const tracked of probing) {
    for (const [lease, permit] of tracked.probes) {
      if (lease.untilMs <= ms && (first === undefined || lease.untilMs < first.lease.untilMs)) {
        first = { tracked, lease, permit };
      }
    }
  }
  return first;
};
