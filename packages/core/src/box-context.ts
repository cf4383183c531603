import type { RecoveryWatch } from './budget/recovery.ts';
import type { SystemicRules } from './budget/systemic.ts';
import type { Circuit } from './circuit/circuit.ts';
import type { CircuitStore } from './circuit-store.ts';
import type { Moment } from './clock.ts';
import type { RecoveredBy } from './events.ts';
import type { LastResults } from './freshness/last-good.ts';
import type { PrecheckCache } from './precheck.ts';
import type { Session } from './session-api.ts';
import type { TelemetryContext } from './telemetry/session-telemetry.ts';
import type { CircuitSpec, ToolLookup, ToolSettings } from './tool.ts';
import type { TrackedCircuit } from './tracked-circuit.ts';
import type { UsageContext } from './warnings/mistakes.ts';

/** What changes circuits of a session, and reports it. */
export interface CircuitChanges {
  /** A look ahead has copies (C11). */
  readonly store: CircuitStore;
  /** `change` sets the mode. */
  takeOver(tracked: TrackedCircuit, change: () => void): void;
  move(tracked: TrackedCircuit, next: Circuit, at: Moment): void;
  /** The systemic event is over (S5). */
  recovered(by: RecoveredBy, at: Moment): void;
}

/**
 * The modes that operators force (A3), and what a fleet decided (G1). Sessions compare `version` and `untilMs` at each use, and call
 * `apply` if something changed. `@breakerbox/core/control` and `@breakerbox/core/fleet` replace these fields; without them they stay
 * as they are.
 */
export interface OperatorModes {
  /** Increased with each change. 0: control was never started. */
  version: number;
  /** When the next mode expires, in monotonic ms. */
  untilMs: number;
  /**
   * Gives these circuits the modes that operators force. Without `changes` the circuits are new, and nothing is reported. `at`: a moment
   * of the session; without `changes` it says that a call with them follows. Returns the version.
   */
  apply(session: Session, circuits: Iterable<TrackedCircuit>, changes?: CircuitChanges, at?: Moment): number;
  /** A session ended. */
  ended(session: Session): void;
}

/** What a session shares with its box. */
export interface BoxContext extends TelemetryContext, UsageContext, ToolLookup {
  /** Undefined: failures of several tools never count as one event. */
  readonly systemic: SystemicRules | undefined;
  /** Watches for the end of systemic events (S5): one watch for a session, or for all that share their circuits. */
  recoveryWatch(): RecoveryWatch | undefined;
  /** The circuits that all sessions share; undefined where each has its own (C12). */
  readonly shared: CircuitStore | undefined;
  /** Number of equal calls in a row that is too many (O5); undefined: calls may repeat. */
  readonly repeats: number | undefined;
  readonly operator: OperatorModes;
  /** Last good results of all sessions (F2). */
  readonly results: LastResults;
  /** Latest answers of pre-call checks (K3). */
  readonly prechecks: PrecheckCache;
  /** Settings of tools that were never declared. */
  readonly undeclared: ToolSettings;
  /** A group's circuit, by its name `group:NAME`; undefined while no declared tool is in it. */
  group(name: string): CircuitSpec | undefined;
  /** Bounded, because the name may come from a server or a model. `group`: the group for a tool that has none of its own (C13). */
  declare(name: string, group: string | undefined): void;
  /** The longest wait of a tool, in milliseconds, because of its dependencies (P4); undefined: its own policy decides. */
  capMs(tool: string): number | undefined;
}
