import type { Circuit } from './circuit/circuit.ts';
import type { CircuitStore, Gate } from './circuit-store.ts';
import type { Moment } from './clock.ts';
import type { RecoveredBy } from './events.ts';
import type { Change, MovedBy } from './pending-changes.ts';
import type { Session } from './session-api.ts';
import type { TrackedCircuit } from './tracked-circuit.ts';

/** What changes circuits of a session, and reports it. */
export interface CircuitChanges {
  /** A look ahead has copies (C11). */
  readonly store: CircuitStore;
  /** `change` sets the mode. */
  changeMode(tracked: TrackedCircuit, change: () => void): void;
  move(tracked: TrackedCircuit, next: Circuit, at: Moment, by: MovedBy): void;
  /** The systemic event is over (S5). */
  recovered(by: RecoveredBy, at: Moment): void;
}

/** Modes that operators may force on one tool, of all owners: each session looks through them (A4). */
export const MOST_MODES = 200;

/**
 * Gives circuits what it wants of them. Without `changes` the circuits are new, and nothing is reported. `at`: a moment of the session;
 * without `changes` it says that a call with them follows.
 */
export type Override = (
  session: Session,
  circuits: readonly TrackedCircuit[],
  changes: CircuitChanges | undefined,
  at: Moment | undefined,
) => void;

/** What a box and its models have in common (L2): settings and operators. */
export interface CommonOverrides {
  /** Increased with each change. 0: nothing was ever attached. */
  version: number;
  /** When the next forced mode expires, in monotonic ms. */
  untilMs: number;
  settings?: Override;
  operators?: Override;
  /** The sessions that operators see. A session adds itself when it begins or is used, and no look ahead does (C11). */
  roster?: { add(session: Session): void; remove(session: Session): void };
}

/**
 * The overrides of a box. Sessions compare `version` and `untilMs` at each use, and apply them if something changed.
 * `@breakerbox/core/control` and `@breakerbox/core/fleet` attach theirs, in any order; a box without them pays nothing.
 */
export interface Overrides {
  readonly common: CommonOverrides;
  /** The orders for the models of a box are apart from those for its tools (G2). */
  fleet?: Override;
  grants?: Override;
  /** The gate of a systemic event, or a look ahead's copy of it, has changed its state. */
  gateMoved?(gate: Gate): void;
  /** What has changed in a session, in the order in which it did. */
  changed?(change: Change): void;
}

/**
 * Applies all that decides over a circuit beside its calls, the last word last (C16). `session.control()` sets the circuit's own mode, and marks
 * it as `isControlled`:
 * - `settings`: the configuration has changed. It leaves a mode that is marked.
 * - `fleet`: many processes have decided.
 * - `operators`: a person has forced a mode. It lies over what the others did.
 * - `grants`: a granted probe of a group or an event passes on to its tools, unless a person has forced the group's mode.
 *
 * Returns the version that the circuits have from now on.
 */
export const applyOverrides = (
  overrides: Overrides,
  session: Session,
  given: Iterable<TrackedCircuit>,
  changes?: CircuitChanges,
  at?: Moment,
): number => {
  const { common, fleet, grants } = overrides;
  if (common.version === 0) return 0;
  const circuits = [...given];
  for (const override of [common.settings, fleet, common.operators, grants]) override?.(session, circuits, changes, at);
  return common.version;
};
