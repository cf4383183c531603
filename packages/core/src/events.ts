import type { ReportedState } from './circuit/mode.ts';
import type { ErrorCategory, Outcome } from './outcome/taxonomy.ts';
import type { Decision, Reason } from './reasons.ts';
import type { SystemicEvent } from './systemic.ts';

/** What every event says. */
export interface EventBase {
  readonly agent: string;
  /** The session's id. */
  readonly session: string;
  /** Unix milliseconds. */
  readonly unixMs: number;
}

export interface DecisionEvent extends EventBase {
  readonly tool: string;
  readonly decision: Decision;
  readonly reason: Reason;
}

export interface OutcomeEvent extends EventBase {
  readonly tool: string;
  readonly outcome: Outcome;
  /** Undefined on success. */
  readonly category: ErrorCategory | undefined;
  /** The result came back after the circuit had moved on, and changed nothing (C7). */
  readonly late: boolean;
}

export interface TransitionEvent extends EventBase {
  readonly tool: string;
  readonly from: ReportedState;
  readonly to: ReportedState;
  /** What opened the circuit, or keeps it from being closed. */
  readonly category: ErrorCategory | undefined;
  /** The circuit is only observed: this is what would have happened, and no metric counts it (C1). */
  readonly observed: boolean;
}

export interface SystemicDetectedEvent extends EventBase {
  readonly event: SystemicEvent;
}

export interface SystemicResolvedEvent extends EventBase {
  readonly event: SystemicEvent;
}

export interface BudgetExhaustedEvent extends EventBase {
  /** Failures that a cycle allows. */
  readonly limit: number;
  readonly cycle: number;
}

export interface BudgetResumedEvent extends EventBase {
  readonly limit: number;
  /** The cycle that begins. */
  readonly cycle: number;
}

/** What `box.on` offers. `circuit`, `systemic` and `budget` events are log events too, under `breakerbox.`. */
export interface BreakerboxEvents {
  decision: DecisionEvent;
  outcome: OutcomeEvent;
  'circuit.transition': TransitionEvent;
  'systemic.detected': SystemicDetectedEvent;
  'systemic.resolved': SystemicResolvedEvent;
  'budget.exhausted': BudgetExhaustedEvent;
  'budget.resumed': BudgetResumedEvent;
}
