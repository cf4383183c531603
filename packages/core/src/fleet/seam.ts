import type { CircuitMode, CircuitState } from '../circuit/circuit.ts';
import type { ErrorCategory } from '../classify/taxonomy.ts';
import type { RecoveredBy } from '../events.ts';

/**
 * The seam between the circuits of a box (scope `process`) and the circuits that many processes share (G1). The box feeds and drains
 * nothing by itself: `@breakerbox/fleet` drains what happened here and feeds what the fleet decided. Nothing here waits, and nothing
 * is on the decision path but one comparison of numbers.
 *
 * All times are durations in milliseconds, because the clocks of processes differ.
 */

/** The name of the circuit around the correlated events of the fleet (S5). Tools cannot have it. */
export const EVENT_CIRCUIT = 'event:systemic';

/** What the fleet decided about one shared circuit. It takes effect at the next use of any session, and a look ahead shows it. */
export type FleetOrder =
  /** It is open for all, and this process may not probe. A closed circuit opens; a probe under way here goes on. */
  | {
      readonly order: 'hold';
      readonly category: ErrorCategory;
      /** Since the fleet's circuit opened, or its last probe failed. */
      readonly ageMs: number;
      /** From that opening to the next probe, for what the model reads. */
      readonly waitMs: number;
    }
  /** This process holds the fleet's probe: the next call that is asked for within this time is a probe, and no later one. */
  | { readonly order: 'grant'; readonly forMs: number }
  /** It is closed for all (G5): a circuit that is open here is due after this time, and stays due. A closed circuit stays closed. */
  | {
      readonly order: 'recover';
      readonly dueInMs: number;
      /** Since it closed; default 0. Circuits that opened before an event ended are no evidence for the next one (S5). */
      readonly ageMs?: number;
    }
  /** The fleet does not know, or cannot be reached (G7): the own schedule goes on, with no probe before this time. */
  | { readonly order: 'let_go'; readonly notBeforeMs: number };

/** A shared circuit of this process as it is now. */
export interface SharedCircuit {
  /** The tool, `group:NAME`, or {@link EVENT_CIRCUIT}. */
  readonly name: string;
  /** Of the policy's settings that processes must agree on (G9): another digest is another circuit of the fleet. */
  readonly digest: string;
  readonly mode: CircuitMode;
  readonly state: CircuitState;
  /** What keeps it from closing. Undefined if it is closed. */
  readonly category: ErrorCategory | undefined;
  /** Since the latest opening here. Undefined if it is closed. */
  readonly ageMs: number | undefined;
  /** The wait of this round: the first cooldown, doubled by failed probes (P2). */
  readonly waitMs: number;
  /** What is left of a Retry-After (O3); 0 for none. */
  readonly retryAfterMs: number;
  /** Since a call of it was last rejected here; undefined if none was while it is open. Without demand nothing claims a probe. */
  readonly rejectedMs: number | undefined;
  /** What is left of the lease of a probe under way here; undefined without one. */
  readonly leaseMs: number | undefined;
  readonly policy: SharedPolicy;
}

/** Settings of a circuit that limit what the fleet may ask of it. */
export interface SharedPolicy {
  readonly cooldownMs: number;
  readonly maxCooldownMs: number;
  readonly maxRetryAfterMs: number;
  readonly probeLeaseMs: number;
}

/** Something that happened to a shared circuit in this process, and that other processes may have to know. */
export type SharedChange =
  /** It opened by failures of this process, or a probe failed here that the fleet had not granted. */
  | { readonly change: 'opened'; readonly name: string }
  /** The probe that the fleet granted has failed, or its lease has ended. */
  | { readonly change: 'probe_failed'; readonly name: string }
  /** A probe succeeded here and the circuit closed. `granted`: it was the fleet's probe. */
  | { readonly change: 'closed'; readonly name: string; readonly granted: boolean }
  /** A call took the granted probe. */
  | { readonly change: 'probing'; readonly name: string }
  /** A correlated event ended here: for all processes if a person, a health check, a time or the fleet's probe said so. */
  | { readonly change: 'recovered'; readonly name: typeof EVENT_CIRCUIT; readonly by: RecoveredBy };

/** The circuits of one box that are shared. One object for each box. */
export interface SharedCircuits {
  /** Agent of the box. */
  readonly agent: string;
  /** Whether any tool or group of the configuration has `share: 'fleet'`, or its defaults. */
  readonly sharesAny: boolean;
  /** The shared circuits that are in use: tools and groups with `share: 'fleet'`, and the circuit of correlated events. */
  all(): readonly SharedCircuit[];
  circuit(name: string): SharedCircuit | undefined;
  /** Whether the tool or group has `share: 'fleet'`, be it in use or not (G2). */
  isShared(name: string): boolean;
  /** The digest of a circuit, be it in use or not ({@link SharedCircuit.digest}). Undefined for one that is not shared. */
  digest(name: string): string | undefined;
  /** The settings of such a circuit. */
  policy(name: string): SharedPolicy | undefined;
  /** Tells a circuit what the fleet decided. A tool that is used or declared later finds the order too. Unknown names are kept, at most 1,000. */
  feed(name: string, order: FleetOrder): void;
  /** Calls `listener` soon after each change, never within a decision. Returns a function that ends it. */
  onChange(listener: (change: SharedChange) => void): () => void;
  /** The store has answered now: `breakerbox.fleet.read.time`. */
  heard(): void;
  /** So many records of the store do not fit, and are ignored: `breakerbox.fleet.ignored`. */
  ignored(records: number): void;
  /** `breakerbox.fleet.up`, and a log record and a typed event when it changes. `why`: a few fixed words, such as `timeout`. */
  reportMode(mode: 'up' | 'degraded', why?: string): void;
}
