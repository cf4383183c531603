import type { Moment } from '../clock.ts';
import type { ErrorCategory } from '../outcome/taxonomy.ts';
import type { CircuitPolicy } from './policy.ts';
import { climb, countsSteps } from './schedule.ts';
import type { Circuit, Failure, Outage } from './state.ts';
import type { Trip } from './trips/counts.ts';

/** How other circuits affect this one's next wait. */
export interface Surroundings {
  /** The longest wait by time: this tool's share of the total wait of its `dependsOn` chain (P4). */
  readonly capMs?: number | undefined;
  /** The first step, at or after the given one, on which no other tool probes (P3). */
  readonly freeFrom?: ((step: number) => number) | undefined;
}

/** From closed to open: the wait is not doubled (P2). */
export const firstOutage = (
  trip: Trip,
  category: ErrorCategory,
  notBeforeMs: number,
  { cooldownMs }: CircuitPolicy,
  at: Moment,
  { capMs = Number.POSITIVE_INFINITY }: Surroundings,
): Outage => ({ category, trip, openedAt: at, waitMs: Math.min(cooldownMs, capMs), notBeforeMs });

/**
 * After a failed probe: the wait by time doubles (P2), and the wait by steps climbs the ladder (P3). A circuit that prefers other
 * tools remembers which tool probed (C15).
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
 * P3: a systemic event has been confirmed as over, and an open circuit's wait begins again: by steps on the ladder's first rung, by
 * time with the same length. A circuit with probes under way starts the ladder if they fail.
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
