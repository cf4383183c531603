import type { Moment } from '../clock.ts';
import type { Ladder, Outage } from './circuit.ts';
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

/** P1, P2, P3: how long until a probe is due. Everything is 0 or less once it is. */
export const probeWait = (outage: Outage, policy: CircuitPolicy, at: Moment): ProbeWait => {
  const steps = stepsLeft(outage, policy, at);
  const ms = msLeft(outage, policy, at);
  return {
    ...(steps !== undefined && { steps }),
    ...(ms !== undefined && { ms }),
    notBeforeMs: Math.max(0, outage.notBeforeMs - at.ms),
  };
};

/** Whether a probe may go now. */
export const probeDue = (outage: Outage, policy: CircuitPolicy, at: Moment): boolean => {
  if (outage.notBeforeMs > at.ms) return false;
  return (stepsLeft(outage, policy, at) ?? 1) <= 0 || (msLeft(outage, policy, at) ?? 1) <= 0;
};

const stepsLeft = (outage: Outage, policy: CircuitPolicy, at: Moment): number | undefined => {
  const due = dueStep(outage, policy);
  return due === undefined ? undefined : due - at.step;
};

const msLeft = (outage: Outage, { schedule }: CircuitPolicy, at: Moment): number | undefined => {
  if (schedule === 'steps') return undefined;
  const { ms } = outage.waitFrom ?? outage.openedAt;
  // In `auto`, time counts only while the steps stand still: an agent that stops stepping still gets its probe.
  const since = schedule === 'auto' ? Math.max(ms, at.stepMs) : ms;
  return since + outage.waitMs - at.ms;
};

/** Whether steps bring a probe nearer (P1). */
export const countsSteps = ({ schedule }: CircuitPolicy): boolean => schedule !== 'time';

/** The step on which an open circuit's probe is due; undefined where the schedule counts time alone. */
export const dueStep = (outage: Outage, policy: CircuitPolicy): number | undefined => {
  if (!countsSteps(policy)) return undefined;
  return outage.ladder?.dueStep ?? (outage.waitFrom ?? outage.openedAt).step + policy.probeAfterSteps;
};

/** P3: the ladder goes no higher, unless its first rung is. */
const TOP_RUNG = 20;

/** P3: from the first rung, or the next one after a failed probe; skips steps on which other tools probe. */
export const climb = (
  ladder: Ladder | undefined,
  policy: CircuitPolicy,
  at: Moment,
  taken: (step: number) => boolean,
): Ladder | undefined => {
  if (!countsSteps(policy)) return undefined;
  const below = ladder?.rung ?? 0;
  const rung = below === 0 ? policy.probeAfterSteps : Math.max(below, Math.min(below * 2, TOP_RUNG));
  let due = at.step + rung;
  while (taken(due)) due += 1;
  return { rung, dueStep: due };
};
