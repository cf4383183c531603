import type { SessionPermit } from './permit.ts';

const NONE: ReadonlySet<SessionPermit> = new Set();

/** Probes that have not settled, in the order in which they began. Whichever session notices that a lease has ended settles it (C9). */
export class Probing {
  /** Made for the first probe: most sessions never have one. */
  #probes: Set<SessionPermit> | undefined;
  /** No lease ends before that, in monotonic ms: until then the list is not searched. */
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
