import type { SessionPermit } from './permit.ts';

const NONE: ReadonlySet<SessionPermit> = new Set();

/**
 * Probes that have not settled, in the order in which they began. The first session that notices the end of a lease settles the
 * probe (C9).
 */
export class Probing {
  /** Created for the first probe: most sessions never have one. */
  #probes: Set<SessionPermit> | undefined;
  /** The earliest end of a lease, in monotonic ms. The list is not searched before that. */
  #soonestMs = Number.POSITIVE_INFINITY;

  get size(): number {
    return this.#probes?.size ?? 0;
  }

  begin(probe: SessionPermit): void {
    this.#probes ??= new Set();
    this.#probes.add(probe);
    this.#soonestMs = Math.min(this.#soonestMs, probe.leaseUntilMs);
  }

  end(probe: SessionPermit): void {
    this.#probes?.delete(probe);
  }

  /** C9: of the probes whose lease has ended by `ms`, the one whose lease ended first. */
  firstLapsed(ms: number): SessionPermit | undefined {
    if (ms < this.#soonestMs) return undefined;
    let first: SessionPermit | undefined;
    for (const probe of this.#probes ?? NONE) {
      if (first === undefined || probe.leaseUntilMs < first.leaseUntilMs) first = probe;
    }
    this.#soonestMs = first?.leaseUntilMs ?? Number.POSITIVE_INFINITY;
    return ms < this.#soonestMs ? undefined : first;
  }

  /** The same probes, to look ahead with (C11). */
  copy(): Probing {
    const copy = new Probing();
    for (const probe of this.#probes ?? NONE) copy.begin(probe);
    return copy;
  }
}
