import type { Lease } from './circuit/circuit.ts';
import type { SessionPermit } from './permit.ts';
import type { TrackedCircuit } from './tracked.ts';

/** A probe on its way. */
export interface Probe {
  readonly tracked: TrackedCircuit;
  readonly lease: Lease;
  readonly permit: SessionPermit;
}

const NONE: ReadonlyMap<Lease, Probe> = new Map();

/** The probes on their way, in the order in which they set out: whoever notices that a lease has run out settles it (C9). */
export class Probing {
  /** Made for the first probe: most sessions never have one. */
  #probes: Map<Lease, Probe> | undefined;
  /** No lease runs out before that, in monotonic ms: until then, nobody has to look through them. */
  #soonestMs = Number.POSITIVE_INFINITY;

  get size(): number {
    return this.#probes?.size ?? 0;
  }

  all(): Iterable<Probe> {
    return (this.#probes ?? NONE).values();
  }

  begin(probe: Probe): void {
    this.#probes ??= new Map();
    this.#probes.set(probe.lease, probe);
    this.#soonestMs = Math.min(this.#soonestMs, probe.lease.untilMs);
  }

  end(lease: Lease): void {
    this.#probes?.delete(lease);
  }

  /** C9: of the probes whose lease has run out by `ms`, the one whose lease ran out first. */
  firstLapsed(ms: number): Probe | undefined {
    if (ms < this.#soonestMs) return undefined;
    let first: Probe | undefined;
    for (const probe of this.all()) {
      if (first === undefined || probe.lease.untilMs < first.lease.untilMs) first = probe;
    }
    this.#soonestMs = first?.lease.untilMs ?? Number.POSITIVE_INFINITY;
    return ms < this.#soonestMs ? undefined : first;
  }
}
