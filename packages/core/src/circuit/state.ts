import type { ErrorCategory } from '../classify/taxonomy.ts';
import type { Moment } from '../clock.ts';
import type { CircuitPolicy } from './policy.ts';
import type { FailuresInRow } from './trip-policies/consecutive.ts';
import type { Counts, Trip } from './trip-policies/trip-policies.ts';
import type { CountedCall } from './trip-policies/trip-policy.ts';

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

/** What a circuit that isn't closed knows of its failure. */
export interface Outage {
  readonly category: ErrorCategory;
  /** What opened it; undefined only if a snapshot doesn't say. */
  readonly trip?: Trip | undefined;
  /** The latest opening, by failure or by failed probe. */
  readonly openedAt: Moment;
  /** Cooldown of this round (P2). */
  readonly waitMs: number;
  /** No probe before this monotonic ms; 0 for none (O3). */
  readonly notBeforeMs: number;
  /** Where this round's wait began, if not with the opening: the end of a systemic event (P3). */
  readonly waitFrom?: Moment | undefined;
  /** Its place on the ladder since a systemic event was over. Until then, each round waits `probeAfterSteps` (P3). */
  readonly ladder?: Ladder | undefined;
  /** The tool whose probe failed last, if another tool must probe next (C15). */
  readonly probedBy?: string | undefined;
}

/** P3: how a circuit probes by steps once a systemic event is over. */
export interface Ladder {
  /** The least number of steps that this round waits; 0 before the first one. */
  readonly rung: number;
  /** The step on which its probe is due. It is later than the rung says if other probes are due on that step. */
  readonly dueStep: number;
}

/** A probe's slot, and until when it may keep it (C9). */
export interface Lease {
  readonly id: number;
  readonly untilMs: number;
}

/** The tool that asks for a probe, because several tools may probe a group's circuit. */
export interface Asking {
  readonly tool: string;
  /** The tool's own. */
  readonly policy: CircuitPolicy;
}

/** The ticket with which a call was let through. */
export interface Ticket {
  readonly generation: number;
  /** Only a probe has a lease. */
  readonly lease?: Lease | undefined;
}

/** The facts of a call that is over. */
export type CallFacts = Pick<CountedCall, 'durationMs' | 'tokens'>;

/** The facts of a failure. */
export interface Failure extends CountedCall {
  readonly category: ErrorCategory;
  readonly retryAfterMs?: number | undefined;
  /** The failure itself shows that all of these tools are unavailable, so earlier counts do not matter (C13). */
  readonly atOnce?: boolean | undefined;
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
