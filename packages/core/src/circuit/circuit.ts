import type { ErrorCategory } from '../classify/taxonomy.ts';
import type { Moment } from '../clock.ts';
import type { CircuitPolicy } from './policy.ts';
import { firstOutage, nextOutage, probeDue, type Surroundings } from './schedule.ts';
import {
  type Asking,
  type CallFacts,
  type Circuit,
  closedCircuit,
  type Failure,
  type HalfOpen,
  type Lease,
  type Open,
  type Outage,
  type Ticket,
} from './state.ts';
import { recordCall, trippedBy } from './trip-policies/trip-policies.ts';

export * from './state.ts';

/**
 * One circuit as a pure state machine: every function takes a circuit and returns the next one, or the same object if nothing
 * changed. It uses no clock, no telemetry and no promise.
 */

export type Admission =
  | { readonly verdict: 'call' | 'reject'; readonly circuit: Circuit; readonly lease?: undefined }
  | { readonly verdict: 'probe'; readonly circuit: HalfOpen; readonly lease: Lease };

const NO_SURROUNDINGS: Surroundings = {};

/** Whether a call may pass now: C5, C6, P1. `asking` is the tool that calls, if several share the circuit (C15). */
export const admits = (circuit: Circuit, policy: CircuitPolicy, at: Moment, asking?: Asking): boolean => {
  switch (circuit.state) {
    case 'closed':
      return true;
    case 'open':
      return probeDue(circuit.outage, policy, at, asking);
    case 'half_open':
      return circuit.leases.length + circuit.succeeded < policy.probes;
  }
};

/** The same, with the circuit after the call has taken its slot. A probe's lease is that of the tool that asks (C9, C15). */
export const admit = (circuit: Circuit, policy: CircuitPolicy, at: Moment, asking?: Asking): Admission => {
  if (!admits(circuit, policy, at, asking)) return { verdict: 'reject', circuit };
  if (circuit.state === 'closed') return { verdict: 'call', circuit };
  const { probeLeaseMs } = asking?.policy ?? policy;
  if (circuit.state === 'half_open') return lend(circuit, at.ms + probeLeaseMs);
  const { generation, outage } = circuit;
  const halfOpen = {
    state: 'half_open',
    generation: generation + 1,
    outage,
    leases: [],
    succeeded: 0,
    issued: 0,
  } as const;
  return lend(halfOpen, at.ms + probeLeaseMs);
};

const lend = (circuit: HalfOpen, untilMs: number): Admission => {
  const lease = { id: circuit.issued, untilMs };
  return {
    verdict: 'probe',
    lease,
    circuit: { ...circuit, leases: [...circuit.leases, lease], issued: circuit.issued + 1 },
  };
};

/** Whether the circuit has moved on since the ticket was given: then its result changes nothing (C7). */
export const isLate = (circuit: Circuit, ticket: Ticket): boolean => circuit.generation !== ticket.generation;

/** Whether a success leaves the circuit as it is: nearly always. */
export const isUntouched = (circuit: Circuit, policy: CircuitPolicy): boolean =>
  circuit.state === 'closed' && circuit.counts === undefined && !policy.countsSuccesses;

/** A call succeeded. A closed circuit may still find that too many calls failed or were slow. C3, C6, C7. */
export const succeed = (
  circuit: Circuit,
  ticket: Ticket,
  call: CallFacts,
  policy: CircuitPolicy,
  at: Moment,
  surroundings: Surroundings = NO_SURROUNDINGS,
): Circuit => {
  if (isLate(circuit, ticket) || isUntouched(circuit, policy)) return circuit;
  switch (circuit.state) {
    case 'closed': {
      if (!policy.countsSuccesses) return closedCircuit(circuit.generation);
      const counted = { ...call, category: undefined };
      const counts = recordCall(circuit.counts, counted, policy, at.ms);
      const trip = trippedBy(counts, counted, policy, at.ms);
      if (trip === undefined) return { ...circuit, counts };
      const category = trip.category ?? circuit.latest ?? 'unknown';
      return opened(circuit, firstOutage(trip.name, category, circuit.notBeforeMs, policy, at, surroundings));
    }
    case 'open': // No ticket carries an open circuit's generation.
      return circuit;
    case 'half_open': {
      const succeeded = circuit.succeeded + 1;
      if (succeeded >= policy.probes) return closedCircuit(circuit.generation + 1);
      return { ...circuit, succeeded, leases: without(circuit.leases, ticket.lease) };
    }
  }
};

/** A call failed. C3, C6, C7, C13, C14, K1, O3, O6, P2, P3, P4. */
export const fail = (
  circuit: Circuit,
  ticket: Ticket,
  failure: Failure,
  policy: CircuitPolicy,
  at: Moment,
  surroundings: Surroundings = NO_SURROUNDINGS,
): Circuit => {
  if (isLate(circuit, ticket)) return circuit;
  const { category, retryAfterMs } = failure;
  const notBeforeMs = retryAfterMs === undefined ? 0 : at.ms + Math.min(retryAfterMs, policy.maxRetryAfterMs);
  switch (circuit.state) {
    case 'closed': {
      const latestMs = Math.max(circuit.notBeforeMs, notBeforeMs);
      const counts = recordCall(circuit.counts, failure, policy, at.ms);
      const trip = failure.atOnce ? 'transport' : trippedBy(counts, failure, policy, at.ms)?.name;
      if (trip !== undefined) return opened(circuit, firstOutage(trip, category, latestMs, policy, at, surroundings));
      const latest = policy.countsSuccesses && category !== 'unknown' ? category : circuit.latest;
      return { ...circuit, notBeforeMs: latestMs, latest, counts };
    }
    case 'open':
      return circuit;
    case 'half_open':
      return opened(circuit, nextOutage(circuit.outage, failure, notBeforeMs, policy, at, surroundings));
  }
};

/** A call ended without saying anything about the tool: its slot is free again. C8. */
export const release = (circuit: Circuit, ticket: Ticket): Circuit =>
  circuit.state === 'half_open' && ticket.lease !== undefined && !isLate(circuit, ticket)
    ? { ...circuit, leases: without(circuit.leases, ticket.lease) }
    : circuit;

/** The category that keeps a circuit from closing. */
export const categoryOf = (circuit: Circuit): ErrorCategory | undefined =>
  circuit.state === 'closed' ? undefined : circuit.outage.category;

/**
 * A circuit from a snapshot that may have been written under another policy (C11). It waits no longer than this policy allows. If
 * fewer probes are needed now, one more probe must still close it.
 */
export const adopted = (circuit: Circuit, policy: CircuitPolicy, ms: number): Circuit => {
  const latestMs = ms + policy.maxRetryAfterMs;
  if (circuit.state === 'closed') return { ...circuit, notBeforeMs: Math.min(circuit.notBeforeMs, latestMs) };
  const { waitMs, notBeforeMs } = circuit.outage;
  const outage = {
    ...circuit.outage,
    waitMs: Math.min(waitMs, policy.maxCooldownMs),
    notBeforeMs: Math.min(notBeforeMs, latestMs),
  };
  return circuit.state === 'open'
    ? { ...circuit, outage }
    : { ...circuit, outage, succeeded: Math.min(circuit.succeeded, policy.probes - 1) };
};

const opened = ({ generation }: Circuit, outage: Outage): Open => ({
  state: 'open',
  generation: generation + 1,
  outage,
});

const without = (leases: readonly Lease[], lease: Lease | undefined): readonly Lease[] =>
  leases.filter(({ id }) => id !== lease?.id);
