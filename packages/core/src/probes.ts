import type { Lease } from './circuit/circuit.ts';
import type { SessionPermit } from './permit.ts';
import type { TrackedCircuit } from './tracked.ts';

/** A probe on its way. */
export interface Probe {
  readonly tracked: TrackedCircuit;
  readonly lease: Lease;
  readonly permit: SessionPermit;
}

/** The probes on their way, in the order in which they set out: whoever notices that a lease has run out settles it (C9). */
export type Probing = Map<Lease, Probe>;

/** C9: of the probes whose lease has run out by `ms`, the one whose lease ran out first. */
export const firstLapsed = (probing: Probing, ms: number): Probe | undefined => {
  let first: Probe | undefined;
  for (const probe of probing.values()) {
    const { untilMs } = probe.lease;
    if (untilMs <= ms && (first === undefined || untilMs < first.lease.untilMs)) first = probe;
  }
  return first;
};
