import { type Circuit, closedCircuit, type Lease, type Ticket } from '../circuit/circuit.ts';
import type { CircuitPolicy } from '../circuit/policy.ts';
import type { Outage } from '../circuit/schedule.ts';
import type { Moment } from '../clock.ts';

/**
 * One circuit, the calls that it let through, and what an observer remembers of them. Canonical: the clock always shows NOW and
 * the step counter STEP, all that has passed lies before them, and what is too long ago to matter lies just long enough ago.
 */
export interface CircuitState {
  readonly circuit: Circuit;
  /** Calls under way, those that are late among them. At most MOST_UNDER_WAY. */
  readonly underWay: readonly Ticket[];
  readonly stepMs: number;
  /** What the observer has counted: failures in a row while closed, how many of them were unknown, failed probes since then. */
  readonly failures: number;
  readonly weak: number;
  readonly failedProbes: number;
}

export const NOW = 1_000;
export const STEP = 1_000;
const GENERATION = 10;

export const circuitStart: CircuitState = {
  circuit: closedCircuit(GENERATION),
  underWay: [],
  stepMs: NOW,
  failures: 0,
  weak: 0,
  failedProbes: 0,
};

/** The same state as seen from NOW and STEP. */
export const canonical = (state: CircuitState, policy: CircuitPolicy, at: Moment): CircuitState => {
  const longest = policy.maxCooldownMs;
  const msAgo = (ms: number, most = longest) => NOW - Math.min(at.ms - ms, most);
  const ahead = (ms: number) => (ms > at.ms ? NOW + ms - at.ms : 0);
  const moment = (one: Moment): Moment => {
    const step = STEP - Math.min(at.step - one.step, Math.max(...policy.probeAfterSteps));
    return { ms: msAgo(one.ms), step, stepMs: msAgo(one.ms) };
  };
  const outage = ({ trip: _, ...one }: Outage): Outage => ({
    ...one,
    openedAt: moment(one.openedAt),
    notBeforeMs: ahead(one.notBeforeMs),
    ...(one.waitFrom && { waitFrom: moment(one.waitFrom) }),
    ...(one.ladder && { ladder: { ...one.ladder, dueStep: STEP + Math.max(0, one.ladder.dueStep - at.step) } }),
  });
  const { circuit } = state;
  const ids = circuit.state === 'half_open' ? circuit.leases.map(({ id }) => id) : [];
  const lease = ({ id, untilMs }: Lease): Lease => ({ id: ids.indexOf(id), untilMs: NOW + untilMs - at.ms });
  const ticket = ({ generation, lease: own }: Ticket): Ticket =>
    generation === circuit.generation
      ? { generation: GENERATION, ...(own && { lease: lease(own) }) }
      : // Late ones are all alike but for what they carry: to tell them apart is what generations are for.
        {
          generation: GENERATION - 1,
          ...(own && { lease: { id: 0, untilMs: Math.max(NOW, NOW + own.untilMs - at.ms) } }),
        };
  const seen = (one: Circuit): Circuit => {
    const generation = GENERATION;
    if (one.state === 'closed') return { ...one, generation, notBeforeMs: ahead(one.notBeforeMs) };
    if (one.state === 'open') return { ...one, generation, outage: outage(one.outage) };
    return { ...one, generation, outage: outage(one.outage), leases: one.leases.map(lease), issued: ids.length };
  };
  const rungs = policy.schedule === 'time' ? 0 : policy.probeAfterSteps.length - 1;
  const doublings = Math.ceil(Math.log2(longest / policy.cooldownMs));
  return {
    circuit: seen(circuit),
    underWay: state.underWay.map(ticket).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
    stepMs: policy.schedule === 'auto' ? msAgo(state.stepMs) : NOW, // No other schedule asks.
    failures: state.failures,
    weak: state.weak,
    failedProbes: Math.min(state.failedProbes, Math.max(doublings, rungs)),
  };
};
