import type { Moment } from '../clock.ts';
import type { ErrorCategory } from '../outcome/taxonomy.ts';
import type { CircuitPolicy } from './policy.ts';
import { NO_ROW, type Row } from './trips/consecutive.ts';
import type { Counts, Trip } from './trips/counts.ts';

/** One circuit, in one of its states. It is never changed: each change gives another object. */
export type Circuit = Closed | Open | HalfOpen;

export type CircuitState = Circuit['state'];

/** Calls pass. */
export interface Closed extends Row {
  readonly state: 'closed';
  /** Counts changes of state; a result is only believed by the generation that let its call through (C7). */
  readonly generation: number;
  /**
   * The latest Retry-After of the failures in a row, as monotonic ms; 0 for none (O3). With windows it outlives a success: failures
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
  /** Whose probe failed last, where another tool is to probe next (C15). */
  readonly probedBy?: string | undefined;
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

/** Which tool asks for a probe: a group's circuit has many that may. */
export interface Asking {
  readonly tool: string;
  /** The tool's own. */
  readonly policy: CircuitPolicy;
}

/** What a call was let through with. */
export interface Ticket {
  readonly generation: number;
  /** Only a probe has a lease. */
  readonly lease?: Lease | undefined;
}

/** What is told of a call that is over. */
export interface CallFacts {
  /** Milliseconds that it took. Default 0. */
  readonly durationMs?: number;
  /** What it cost, ≥ 0 (O4). Default 0: not known. */
  readonly tokens?: number;
}

/** What is told of a failure. */
export interface Failure extends CallFacts {
  readonly category: ErrorCategory;
  readonly retryAfterMs?: number | undefined;
  /** A check had called the tool degraded: one failure in a row fewer opens the circuit (K1). */
  readonly degraded?: boolean | undefined;
  /** Which tool failed, where several tools have the circuit in common (C13). */
  readonly tool?: string | undefined;
  /** The key of the call, where failures on several keys open the circuit of their tool (C14). */
  readonly key?: string | undefined;
  /** Counts full, also where it is `unknown`: the circuit of a key (C14). */
  readonly full?: boolean | undefined;
  /** The failure says of itself that all of these tools are out, whatever was counted before (C13). */
  readonly atOnce?: boolean | undefined;
}

/** C2. */
export const closedCircuit = (generation = 0): Closed => (generation === 0 ? UNUSED : { ...UNUSED, generation });

/** One for all: a session has as many circuits as tools, and most never see a failure. */
const UNUSED: Closed = { state: 'closed', generation: 0, ...NO_ROW, notBeforeMs: 0, counts: undefined };

/** S5: a circuit that is open from the start: it waits for the probe that says whether an event is over. */
export const openCircuit = (at: Moment, category: ErrorCategory, policy: CircuitPolicy, generation = 0): Open => ({
  state: 'open',
  generation,
  outage: { category, openedAt: at, waitMs: policy.cooldownMs, notBeforeMs: 0 },
});
