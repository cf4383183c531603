import type { SessionPermit } from './permit.ts';

/**
 * Settles a probe whose lease ended at that monotonic time, in the session that asked for it (C9). `noticedBy`: the session that
 * noticed it, which sends the events if it is the same one.
 */
export type LapseHandler = (permit: SessionPermit, atMs: number, noticedBy: object) => void;

const NONE: ReadonlyMap<SessionPermit, LapseHandler> = new Map();

/**
 * Probes that have not settled, in the order in which they began. The first session that notices the end of a lease settles the
 * probe (C9).
 */
export class Probing {
  /** Created for the first probe: most sessions never have one. */
  #probes: Map<SessionPermit, LapseHandler> | undefined;
  /** No lease ends before that, in monotonic ms. */
  soonestMs = Number.POSITIVE_INFINITY;

  begin(probe: SessionPermit, onLapse: LapseHandler): void {
    this.#probes ??= new Map();
    this.#probes.set(probe, onLapse);
    this.soonestMs = Math.min(this.soonestMs, probe.leaseUntilMs);
  }

  /** By identity: that of a look ahead is not here. */
  end(probe: object): void {
    this.#probes?.delete(probe as SessionPermit);
  }

  /** C9: takes out the probe whose lease ended first, if it ended by `ms`. */
  takeLapsed(ms: number): readonly [SessionPermit, LapseHandler] | undefined {
    if (ms < this.soonestMs) return undefined;
    let first: readonly [SessionPermit, LapseHandler] | undefined;
    for (const one of this.#probes ?? NONE) {
      if (first === undefined || one[0].leaseUntilMs < first[0].leaseUntilMs) first = one;
    }
    this.soonestMs = first?.[0].leaseUntilMs ?? Number.POSITIVE_INFINITY;
    if (first === undefined || ms < this.soonestMs) return undefined;
    this.end(first[0]);
    return first;
  }

  /** The same probes, to look ahead with (C11). */
  copy(): Probing {
    const copy = new Probing();
    for (const [probe, onLapse] of this.#probes ?? NONE) copy.begin(probe, onLapse);
    return copy;
  }
}
