import type { Ledger, SessionState } from '../budget/ledger.ts';
import type { SystemicEvent } from '../budget/systemic.ts';
import type { CircuitState, ReportedState } from '../circuit/circuit.ts';
import type { ErrorCategory } from '../classify/taxonomy.ts';
import type { RecoveredBy } from '../events.ts';
import type { Judged } from '../outcome.ts';
import type { SessionPermit } from '../permit.ts';
import type { ScopePlan } from '../routing/route.ts';
import type { AcquireOptions } from '../session-api.ts';
import type { TrackedCircuit } from '../tracked-circuit.ts';

/** What a session reports while it decides and settles. It asks an observer nothing: decisions are the same without one. */
export interface SessionObserver {
  /** The session is in use at `ms` (monotonic). `decides`: a decision follows. */
  used(ms: number, decides: boolean): void;
  /** A decision was made in a step of the session. `permit` may be given a span. */
  decided(permit: SessionPermit, options: AcquireOptions | undefined, step: number): void;
  /** A call is over. `late`: its circuit has moved on, so the result changes no circuit and no budget (C7). */
  concluded(permit: SessionPermit, judged: Judged, late: boolean, durationMs: number): void;
  /** A circuit was created or restored. */
  tracked(circuit: TrackedCircuit): void;
  /** A circuit changed its state, by itself or by hand. */
  moved(circuit: TrackedCircuit, from: ReportedState, to: ReportedState, category: ErrorCategory | undefined): void;
  /** A circuit that is only observed would have changed its state (C1). */
  dryRunMoved(tool: string, from: CircuitState, to: CircuitState, category: ErrorCategory | undefined): void;
  /** C15: a group has absorbed the opening of this circuit. */
  absorbed(circuit: TrackedCircuit): void;
  /** The ledger may have changed, and with it the state of the session. */
  wrote(ledger: Ledger, state: SessionState): void;
  /** The budget has run out (B1). */
  exhausted(): void;
  /** The budget is full again. `isChange`: it was not full before. */
  resumed(isChange: boolean): void;
  /** Failures of several tools were detected as one event (S1). */
  detected(event: SystemicEvent): void;
  /** The event is over (S5). */
  resolved(event: SystemicEvent, by: RecoveredBy): void;
  /** Tasks were planned (W2). */
  planned(plan: ScopePlan): void;
  /** A snapshot was taken. */
  wasKept(): void;
  /** The run is over. */
  ended(): void;
  /** The state of the session is complete: listeners and log may now get the events. */
  flush(): void;
}

const nothing = (): void => {};

/** Observes nothing: for a look ahead (C11). */
export const NO_OBSERVER: SessionObserver = {
  used: nothing,
  decided: nothing,
  concluded: nothing,
  tracked: nothing,
  moved: nothing,
  dryRunMoved: nothing,
  absorbed: nothing,
  wrote: nothing,
  exhausted: nothing,
  resumed: nothing,
  detected: nothing,
  resolved: nothing,
  planned: nothing,
  wasKept: nothing,
  ended: nothing,
  flush: nothing,
};
