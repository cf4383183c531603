import type { Moment } from '../clock.ts';
import type { ErrorCategory } from '../outcome/taxonomy.ts';
import type { CircuitPolicy } from './policy.ts';
import { climb, countsSteps } from './schedule.ts';
import type { Circuit, Failure, Outage } from './state.ts';
import type { Trip } from './trips/counts.ts';

/** What other circuits have to do with this one's next wait. */
export interface Surroundings {
  /** The longest wait by time: this tool's share of what its chain of `dependsOn` may wait (P4). */
  readonly capMs?: number | undefined;
  /** The first step from the given one on, on which no other tool probes (P3). */
  readonly freeFrom?: ((step: number) => number) | undefined;
}

/** From closed to open: nothing doubles (P2). */
export const firstOutage = (
  trip: Trip,
  category: ErrorCategory,
  notBeforeMs: number,
  { cooldownMs }: CircuitPolicy,
  at: Moment,
  { capMs = Number.POSITIVE_INFINITY }: Surroundings,
): Outage => ({ category, trip, openedAt: at, waitMs: Math.min(cooldownMs, capMs), notBeforeMs });

/**
 * After a failed probe: the wait doubles by time (P2), and on a ladder by steps (P3). A circuit that prefers others remembers which tool
 * probed (C15).
 */
export const nextOutage = (
  { waitMs, ladder }: Outage,
  { category, tool }: Pick<Failure, 'category' | 'tool'>,
  notBeforeMs: number,
  policy: CircuitPolicy,
  at: Moment,
  { capMs = Number.POSITIVE_INFINITY, freeFrom }: Surroundings,
): Outage => ({
  category,
  trip: 'probe',
  openedAt: at,
  waitMs: Math.min(waitMs * 2, policy.maxCooldownMs, capMs),
  notBeforeMs,
  ...(ladder && { ladder: climb(ladder, policy, at, freeFrom) }),
  ...(policy.prefersOthers && { probedBy: tool }),
});

/**
 * P3: a systemic event has been confirmed as over, and an open circuit's wait begins again: by steps on the ladder's first
 * rung, by time as long as it was. One whose probes are under way gets on the ladder if they fail.
 */
export const restage = (
  circuit: Circuit,
  policy: CircuitPolicy,
  at: Moment,
  freeFrom?: (step: number) => number,
): Circuit => {
  switch (circuit.state) {
    case 'closed':
      return circuit;
    case 'open': {
      const ladder = climb(undefined, policy, at, freeFrom);
      return { ...circuit, outage: { ...circuit.outage, waitFrom: at, ladder } };
    }
    case 'half_open':
      if (!countsSteps(policy)) return circuit;
      return { ...circuit, outage: { ...circuit.outage, ladder: { rung: 0, dueStep: at.step } } };
  }
};
