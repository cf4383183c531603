import type { Ledger, SessionState } from './budget/ledger.ts';
import type { SystemicEvent } from './budget/systemic.ts';
import type { Circuit, ReportedState } from './circuit/circuit.ts';
import type { ErrorCategory } from './classify/taxonomy.ts';
import type { RecoveredBy } from './events.ts';
import type { LimitChange } from './limits/limit-changes.ts';
import type { ExtendedLimit, Spent } from './limits/limit-view.ts';
import type { LimitKind } from './limits/limits.ts';
import type { ScopePlan } from './routing/route.ts';
import type { CircuitSpec } from './tool.ts';

/** What has moved a circuit: calls and the time, a mode that was set, an order of a fleet, or a group that absorbs it (C15). */
export type MovedBy = 'calls' | 'mode' | 'fleet' | 'group';

/** What has changed in circuits and ledgers. It holds values, because what changed may change again before it is told. */
export type Change =
  /** A circuit was created or restored. */
  | { readonly is: 'tracked'; readonly tool: CircuitSpec; readonly state: ReportedState; readonly circuit: Circuit }
  /** A circuit changed its state. `isObserved`: it is only observed, and would have (C1). */
  | {
      readonly is: 'moved';
      readonly tool: CircuitSpec;
      readonly from: ReportedState;
      readonly to: ReportedState;
      /** As it is then. */
      readonly circuit: Circuit;
      readonly category: ErrorCategory | undefined;
      readonly isObserved: boolean;
      readonly by: MovedBy;
    }
  /** C15: a group has absorbed the opening of a circuit that decides. */
  | { readonly is: 'absorbed'; readonly tool: CircuitSpec }
  /** The ledger may have changed, and with it the state of the session. */
  | { readonly is: 'wrote'; readonly ledger: Ledger; readonly state: SessionState }
  /** The budget has run out (B1). */
  | { readonly is: 'exhausted' }
  /** The budget is full again. `isChange`: it was not full before. */
  | { readonly is: 'resumed'; readonly isChange: boolean }
  /** Failures of several tools were detected as one event (S1). */
  | { readonly is: 'detected'; readonly event: SystemicEvent }
  /** The event is over (S5). */
  | { readonly is: 'resolved'; readonly event: SystemicEvent; readonly by: RecoveredBy }
  /** A limit of the run, or of a child, is near, reached or lifted (D2). `isOver`: a limit pauses the session. */
  | { readonly is: 'limit'; readonly limitChange: LimitChange; readonly isOver: boolean }
  /** A limit was made larger. */
  | { readonly is: 'extended'; readonly limit: LimitKind; readonly extended: ExtendedLimit }
  /** What a call or a model has used, with or without limits (D7). */
  | { readonly is: 'spent'; readonly spent: Spent }
  /** The agent goes in circles (D5). */
  | { readonly is: 'circled' }
  /** Tasks were planned (W2). */
  | { readonly is: 'planned'; readonly plan: ScopePlan };

/** What a session has to tell telemetry, first to last. A look ahead drops it. */
export class PendingChanges {
  /** Undefined while there is nothing to report: nearly always. */
  list: Change[] | undefined;

  add(change: Change): void {
    this.list ??= [];
    this.list.push(change);
  }

  /** Takes out all of them. */
  take(): readonly Change[] {
    const { list = [] } = this;
    this.list = undefined;
    return list;
  }
}
