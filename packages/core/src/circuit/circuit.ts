import { type ErrorCategory, isFromOutside } from '../classify/taxonomy.ts';
import type { Moment } from '../clock.ts';
import type { CircuitPolicy } from './policy.ts';
import {
  type Asking,
  climb,
  countsSteps,
  dueOutage,
  firstOutage,
  isWithin,
  nextOutage,
  type Outage,
  probeDue,
  type Surroundings,
} from './schedule.ts';
import type { FailuresInRow } from './trip-policies/consecutive.ts';
import { type Counts, keysInRow, recordCall, trippedBy } from './trip-policies/trip-policies.ts';
import type { CountedCall } from './trip-policies/trip-policy.ts';

/**
 * One circuit as a pure state machine: every function takes a circuit and returns the next one, or the same object if nothing
 * changed. It uses no clock, no telemetry and no promise.
 */

/** One circuit in one of its states. It is immutable: each change returns another object. */
export type Circuit = Closed | Open | HalfOpen;

export type CircuitState = Circuit['state'];

/** Calls pass. */
export interface Closed {
  readonly state: 'closed';
  /** Counts changes of state. A result counts only in the generation that let its call through (C7). */
  readonly generation: number;
  /**
   * The latest Retry-After of the failures in a row, as monotonic ms; 0 for none (O3). It is kept after a success if successes count,
   * because earlier failures may still open the circuit.
   */
  readonly notBeforeMs: number;
  /** The category of the latest failure that isn't `unknown`, for an opening by a success; only if successes count. */
  readonly latest: ErrorCategory | undefined;
  /** What the trip policies have counted; undefined if nothing. */
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

/** A probe's slot, and until when it may keep it (C9). */
export interface Lease {
  readonly id: number;
  /** May become later (C9). The circuit and the permit share the object, and circuits tell leases apart by their ids. */
  untilMs: number;
}

/** The ticket with which a call was let through. */
export interface Ticket {
  readonly generation: number;
  /** Only a probe has a lease. */
  readonly lease?: Lease | undefined;
}

export type CallFacts = Pick<CountedCall, 'durationMs' | 'tokens'>;

export interface Failure extends CountedCall {
  readonly category: ErrorCategory;
  readonly retryAfterMs?: number | undefined;
  /** What opens the circuit at once, whatever it has counted: the end of a group's connection, or a tool that is unusable (O8). */
  readonly atOnce?: 'transport' | 'unusable' | undefined;
}

/** C2. */
export const closedCircuit = (generation = 0): Closed => (generation === 0 ? UNUSED : { ...UNUSED, generation });

/** Shared by all: a session has as many circuits as tools, and most never have a failure. */
const UNUSED: Closed = { state: 'closed', generation: 0, notBeforeMs: 0, latest: undefined, counts: undefined };

/** S5: a circuit that is open from the start and waits for the probe that tests whether an event is over. */
export const openCircuit = (at: Moment, category: ErrorCategory, policy: CircuitPolicy, generation = 0): Open => ({
  state: 'open',
  generation,
  outage: { category, openedAt: at, waitMs: policy.cooldownMs, notBeforeMs: 0 },
});

/** The number of failures in a row; 0 unless closed. */
export const failuresInRow = (circuit: Circuit): number =>
  (circuit.state === 'closed' && (circuit.counts?.consecutive as FailuresInRow | undefined)?.failures) || 0;

/** C14: the number of keys that have failed in a row; 0 unless closed. */
export const failedKeysOf = (circuit: Circuit): number => (circuit.state === 'closed' ? keysInRow(circuit.counts) : 0);

export type Admission =
  | { readonly verdict: 'call' | 'reject'; readonly circuit: Circuit; readonly lease?: undefined }
  | { readonly verdict: 'probe'; readonly circuit: HalfOpen; readonly lease: Lease };

const NO_SURROUNDINGS: Surroundings = {};

/** C6: whether a call may pass now. `asking` is the tool that calls, if several share the circuit. */
export const admits = (circuit: Circuit, policy: CircuitPolicy, at: Moment, asking?: Asking): boolean => {
  switch (circuit.state) {
    case 'closed':
      return true;
    case 'open':
      return probeDue(circuit.outage, policy, at, asking);
    case 'half_open': {
      const { held } = circuit.outage;
      if (held !== undefined && !isWithin(held, at)) return false;
      return circuit.leases.length + circuit.succeeded < policy.probes;
    }
  }
};

/** Whether calls wait for a probe, and none is under way. A half-open circuit does so only if the fleet's probe was given back (C8). */
export const isWaiting = (circuit: Circuit): circuit is Open | HalfOpen =>
  circuit.state === 'open' || (circuit.state === 'half_open' && circuit.leases.length === 0);

/** The same, with the circuit after the call has taken its slot. A probe's lease is that of the tool that asks (C9). */
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

/** C3: a call succeeded. A closed circuit may still find that too many calls failed or were slow. */
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
      const category = trip.category ?? policy.trip?.category ?? circuit.latest ?? 'unknown';
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

/** C3: a call failed. */
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
      const latestMs = failure.ofKey ? circuit.notBeforeMs : Math.max(circuit.notBeforeMs, notBeforeMs);
      const counts = recordCall(circuit.counts, failure, policy, at.ms);
      const tripped = failure.atOnce !== undefined ? undefined : trippedBy(counts, failure, policy, at.ms);
      const trip = failure.atOnce ?? tripped?.name;
      if (trip !== undefined) {
        const opensAs = tripped?.opensAs?.(counts?.[trip]) ?? category;
        return opened(circuit, firstOutage(trip, opensAs, latestMs, policy, at, surroundings));
      }
      const isLatest = policy.countsSuccesses && category !== 'unknown' && !failure.ofKey;
      const latest = isLatest ? category : circuit.latest;
      return { ...circuit, notBeforeMs: latestMs, latest, counts };
    }
    case 'open':
      return circuit;
    case 'half_open':
      return opened(circuit, nextOutage(circuit.outage, failure, notBeforeMs, policy, at, surroundings));
  }
};

/** C14: the host or the account of a call has answered, so that the row of failed keys ends. */
export const interrupt = (circuit: Circuit, ticket: Ticket, policy: CircuitPolicy, { ms }: Moment): Circuit =>
  circuit.state === 'closed' && keysInRow(circuit.counts) > 0 && !isLate(circuit, ticket)
    ? { ...circuit, counts: recordCall(circuit.counts, { category: undefined, ofKey: true }, policy, ms) }
    : circuit;

/** A call ended without an answer: its slot is free again. C8. */
export const giveBack = (circuit: Circuit, ticket: Ticket): Circuit =>
  circuit.state === 'half_open' && ticket.lease !== undefined && !isLate(circuit, ticket)
    ? { ...circuit, leases: without(circuit.leases, ticket.lease) }
    : circuit;

/**
 * A call is ignored. If it was a probe with an answer, the circuit is open again until the next rung. That is not an opening, so that
 * what opened the circuit stays as it was. C8.
 */
export const ignore = (
  circuit: Circuit,
  ticket: Ticket,
  { category: ended, tool }: Pick<CountedCall, 'category' | 'tool'>,
  policy: CircuitPolicy,
  at: Moment,
  surroundings: Surroundings = NO_SURROUNDINGS,
): Circuit => {
  if (circuit.state !== 'half_open' || ticket.lease === undefined || isLate(circuit, ticket)) return circuit;
  if (isFromOutside(ended)) return giveBack(circuit, ticket);
  const { category, trip, openedAt, notBeforeMs } = circuit.outage;
  const next = nextOutage(circuit.outage, { category, tool }, notBeforeMs, policy, at, surroundings);
  return opened(circuit, { ...next, trip, openedAt, waitFrom: at });
};

/** How long the service asked to wait (O3): no probe goes before that moment in monotonic ms; 0 for none. */
interface AskedWait {
  readonly notBeforeMs: number;
  /** Whether that is all that keeps the circuit open: after a failed probe, the service did not keep its word. */
  readonly isAsked: boolean;
}

const NO_WAIT: AskedWait = { notBeforeMs: 0, isAsked: false };

/** O3. A fleet says how long a circuit waits and not why, but only a service asks for more than the longest cooldown. */
export const askedWaitOf = (circuit: Circuit, { maxCooldownMs }: CircuitPolicy): AskedWait => {
  if (circuit.state === 'closed') return NO_WAIT;
  const { notBeforeMs, openedAt, waitMs, trip } = circuit.outage;
  if (notBeforeMs !== 0) return { notBeforeMs, isAsked: trip !== 'probe' };
  return trip === 'fleet' && waitMs > maxCooldownMs ? { notBeforeMs: openedAt.ms + waitMs, isAsked: true } : NO_WAIT;
};

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

/** C13: what was out has come back, so that the next call is the probe. A Retry-After and a fleet's order still hold. */
export const dueNow = (circuit: Circuit, policy: CircuitPolicy, at: Moment): Circuit =>
  circuit.state === 'open' ? { ...circuit, outage: dueOutage(circuit.outage, policy, at) } : circuit;

const opened = ({ generation }: Circuit, outage: Outage): Open => ({
  state: 'open',
  generation: generation + 1,
  outage,
});

const without = (leases: readonly Lease[], lease: Lease | undefined): readonly Lease[] =>
  leases.filter(({ id }) => id !== lease?.id);

/** Who decides for a tool: its circuit, or an operator by hand (C1). */
export const CIRCUIT_MODES = ['automatic', 'forced_open', 'disabled', 'observe_only'] as const;

/**
 * How a tool's circuit is used (C1).
 *
 * | mode | means |
 * |---|---|
 * | `automatic` | the circuit decides: the default |
 * | `forced_open` | every call is skipped, without probes, until the mode is changed |
 * | `disabled` | calls pass, and touch neither circuit nor budget; pauses of the session still hold |
 * | `observe_only` | calls pass; what would have been decided is counted and reported, and rejects no call |
 */
export type CircuitMode = (typeof CIRCUIT_MODES)[number];

/** The reported state of a circuit: its own state while it decides, otherwise its mode. */
export type ReportedState = CircuitState | Exclude<CircuitMode, 'automatic'>;

/** The state that views, permits, spans and metrics show. */
export const reportedState = (mode: CircuitMode, circuit: Circuit): ReportedState =>
  mode === 'automatic' ? circuit.state : mode;
