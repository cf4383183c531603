import type { Moment } from '../clock.ts';
import type { Outage } from './circuit.ts';
import type { CircuitPolicy } from './policy.ts';

/** How far the next probe is away: whichever is reached first, but never before `notBeforeMs`. */
export interface ProbeWait {
  /** Steps left, where the schedule counts steps. */
  readonly steps?: number;
  /** Milliseconds left, where the schedule counts time. */
  readonly ms?: number;
  /** Milliseconds left of a Retry-After; 0 for none (O3). */
  readonly notBeforeMs: number;
}

/** P1, P2: how long until a probe is due. Everything is 0 or less once it is. */
export const probeWait = (outage: Outage, policy: CircuitPolicy, at: Moment): ProbeWait => {
  const { schedule } = policy;
  const steps = policy.probeAfterSteps - (at.step - outage.openedAt.step);
  // In `auto`, time counts only while the steps stand still: an agent that stops stepping still gets its probe.
  const since = schedule === 'auto' ? Math.max(outage.openedAt.ms, at.stepMs) : outage.openedAt.ms;
  const ms = since + outage.waitMs - at.ms;
  return {
    ...(schedule !== 'time' && { steps }),
    ...(schedule !== 'steps' && { ms }),
    notBeforeMs: Math.max(0, outage.notBeforeMs - at.ms),
  };
};

/** Whether a probe may go now. */
export const probeDue = (outage: Outage, policy: CircuitPolicy, at: Moment): boolean => {
  const { steps = 1, ms = 1, notBeforeMs } = probeWait(outage, policy, at);
  return notBeforeMs === 0 && (steps <= 0 || ms <= 0);
};
