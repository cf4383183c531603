import type { Moment } from '../clock.ts';
import type { ErrorCategory } from '../outcome/taxonomy.ts';
import { firstOutage, nextOutage, type Surroundings } from './outage.ts';
import type { CircuitPolicy } from './policy.ts';
import { probeDue } from './schedule.ts';
import { consecutiveReached } from './trips/consecutive.ts';
import { type Counts, hasWindows, recordCall, type Trip, trippedBy } from './trips/counts.ts';

/**
 * One circuit as a pure state machine: every function takes a circuit and gives the next one, the same object where
 * nothing changed. No clock, no telemetry, no promise.
 */
export type Circuit = Closed | Open | HalfOpen;

export type CircuitState = Circuit['state'];

/** Calls pass. */
export interface Closed {
  readonly state: 'closed';
  /** Counts changes of state; a result is only believed by the generation that let its call through (C7). */
  readonly generation: number;
  /** Failures in a row. */
  readonly failures: number;
  /**
   * The latest Retry-After of those failures, as monotonic ms; 0 for none (O3). With windows it outlives a success: failures
   * before it may still open the circuit.
   */
  readonly notBeforeMs: number;
  /** What is counted in windows; undefined until a call, and where failures in a row are all that counts. */
  readonly counts: Counts | undefined;
}

/** Calls are rejected until a probe is due. */
export interface Open {
  readonly state: 'open';
  readonly generation: number;
  readonly outage: Outage;
}

/** Some probes are on their way. */
export interface HalfOpen {
  readonly state: 'half_open';
  readonly generation: number;
  readonly outage: Outage;
  /** Probes that have not settled, at most `probes` together with those that succeeded (C6). */
  readonly leases: readonly Lease[];
  readonly succeeded: number;
  /** How many leases this half-open has given out: the next lease's id. */
  readonly issued: number;
}

/** What a circuit that isn't closed knows of its failure. */
export interface Outage {
  readonly category: ErrorCategory;
  /** What opened it; undefined only where a snapshot doesn't say. */
  readonly trip?: Trip | undefined;
  /** The latest opening, by failure or by failed probe. */
  readonly openedAt: Moment;
  /** Cooldown of this round (P2). */
  readonly waitMs: number;
  /** No probe before this monotonic ms; 0 for none (O3). */
  readonly notBeforeMs: number;
  /** Where this round's wait began, if not with the opening: the end of a systemic event (P3). */
  readonly waitFrom?: Moment | undefined;
  /** Where it stands since a systemic event was over; until then, each round waits `probeAfterSteps` (P3). */
  readonly ladder?: Ladder | undefined;
}

/** P3: how a circuit probes by steps once a systemic event is over. */
export interface Ladder {
  /** How many steps this round waits at least; 0 before the first one. */
  readonly rung: number;
  /** On which step its probe is due: later than the rung says where others are due on that step. */
  readonly dueStep: number;
}

/** A probe's place, and until when it may keep it (C9). */
export interface Lease {
  readonly id: number;
  readonly untilMs: number;
}

/** What a call was let through with. */
export interface Ticket {
  readonly generation: number;
  /** Only a probe has a lease. */
  readonly lease?: Lease | undefined;
}

export type Admission =
  | { readonly verdict: 'call' | 'reject'; readonly circuit: Circuit }
  | { readonly verdict: 'probe'; readonly circuit: HalfOpen; readonly lease: Lease };

/** What is told of a call that is over. */
export interface CallFacts {
  /** Milliseconds that it took. */
  readonly durationMs: number;
  /** What it cost, ≥ 0; 0 where nobody said (O4). */
  readonly tokens: number;
}

/** What is told of a failure. */
export interface Failure extends CallFacts {
  readonly category: ErrorCategory;
  readonly retryAfterMs?: number | undefined;
  /** A check had called the tool degraded: one failure in a row fewer opens the circuit (K1). */
  readonly degraded?: boolean | undefined;
}

/** C2. */
export const closedCircuit = (generation = 0): Closed => (generation === 0 ? UNUSED : { ...UNUSED, generation });

/** One for all: a session has as many circuits as tools, and most never see a failure. */
const UNUSED: Closed = { state: 'closed', generation: 0, failures: 0, notBeforeMs: 0, counts: undefined };

const NO_SURROUNDINGS: Surroundings = {};

/** May a call pass now? C5, C6, P1. */
export const admits = (circuit: Circuit, policy: CircuitPolicy, at: Moment): boolean => {
  switch (circuit.state) {
    case 'closed':
      return true;
    case 'open':
      return probeDue(circuit.outage, policy, at);
    case 'half_open':
      return circuit.leases.length + circuit.succeeded < policy.probes;
  }
};

/** The same, and the circuit with what the call takes of it. */
export const admit = (circuit: Circuit, policy: CircuitPolicy, at: Moment): Admission => {
  if (!admits(circuit, policy, at)) return { verdict: 'reject', circuit };
  if (circuit.state === 'closed') return { verdict: 'call', circuit };
  if (circuit.state === 'half_open') return lend(circuit, policy, at);
  const { generation, outage } = circuit;
  const halfOpen = {
    state: 'half_open',
    generation: generation + 1,
    outage,
    leases: [],
    succeeded: 0,
    issued: 0,
  } as const;
  return lend(halfOpen, policy, at);
};

const lend = (circuit: HalfOpen, policy: CircuitPolicy, at: Moment): Admission => {
  const lease = { id: circuit.issued, untilMs: at.ms + policy.probeLeaseMs };
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
  circuit.state === 'closed' && circuit.failures === 0 && !hasWindows(policy);

/** A call succeeded; a closed circuit may still find that too many failed or were slow. C3, C6, C7. */
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
      if (!hasWindows(policy)) return closedCircuit(circuit.generation);
      const { durationMs, tokens } = call;
      const counts = recordCall(circuit.counts, { category: undefined, durationMs, tokens }, policy, at.ms);
      const trip = trippedBy(counts, policy, at.ms);
      if (trip === undefined) return { ...circuit, failures: 0, counts };
      const category = trip === 'slow_call_rate' ? 'timeout' : (counts.category ?? 'unknown');
      return opened(circuit, firstOutage(trip, category, circuit.notBeforeMs, policy, at, surroundings));
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

/** A call failed. C3, C6, C7, K1, O3, P2, P3, P4. */
export const fail = (
  circuit: Circuit,
  ticket: Ticket,
  failure: Failure,
  policy: CircuitPolicy,
  at: Moment,
  surroundings: Surroundings = NO_SURROUNDINGS,
): Circuit => {
  if (isLate(circuit, ticket)) return circuit;
  const { category, degraded = false, retryAfterMs } = failure;
  const notBeforeMs = retryAfterMs === undefined ? 0 : at.ms + Math.min(retryAfterMs, policy.maxRetryAfterMs);
  switch (circuit.state) {
    case 'closed': {
      const failures = circuit.failures + 1;
      const latest = Math.max(circuit.notBeforeMs, notBeforeMs);
      const counts = hasWindows(policy) ? recordCall(circuit.counts, failure, policy, at.ms) : undefined;
      const trip = consecutiveReached(failures, policy.failureThreshold, degraded)
        ? 'consecutive'
        : counts && trippedBy(counts, policy, at.ms);
      if (trip === undefined) return { ...circuit, failures, notBeforeMs: latest, counts };
      return opened(circuit, firstOutage(trip, category, latest, policy, at, surroundings));
    }
    case 'open':
      return circuit;
    case 'half_open':
      return opened(circuit, nextOutage(circuit.outage, category, notBeforeMs, policy, at, surroundings));
  }
};

/** A call ended in a way that says nothing of the tool: its place is free again. C8. */
export const release = (circuit: Circuit, ticket: Ticket): Circuit =>
  circuit.state === 'half_open' && ticket.lease !== undefined && !isLate(circuit, ticket)
    ? { ...circuit, leases: without(circuit.leases, ticket.lease) }
    : circuit;

/** What keeps a circuit from being closed. */
export const categoryOf = (circuit: Circuit): ErrorCategory | undefined =>
  circuit.state === 'closed' ? undefined : circuit.outage.category;

/**
 * A circuit from a snapshot that may have been written under another policy (C11): it waits no longer than this one would let it,
 * and where fewer probes are wanted now, one is still to come that closes it.
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
