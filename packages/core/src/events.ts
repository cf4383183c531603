import type { RecoveryCause } from './budget/recovery.ts';
import type { SystemicEvent } from './budget/systemic.ts';
import type { ReportedState } from './circuit/circuit.ts';
import type { ErrorCategory, Outcome } from './classify/taxonomy.ts';
import type { FreshnessLabel } from './freshness/freshness.ts';
import type { Decision, Reason } from './reasons.ts';
import type { Degradation } from './routing/capability.ts';
import type { Route, ScopePlan } from './routing/route.ts';

/** The fields that every event has. */
export interface EventBase {
  readonly agent: string;
  /** The session's id. */
  readonly session: string;
  /** Unix milliseconds. */
  readonly unixMs: number;
}

/** The fallback of a call, without its content: events contain no results. */
export interface RouteSummary {
  readonly kind: Route['kind'];
  /** The name of the alternative. */
  readonly tool: string | undefined;
  /** How much the alternative loses. */
  readonly degradation: Degradation | undefined;
}

export interface DecisionEvent extends EventBase {
  readonly tool: string;
  readonly decision: Decision;
  readonly reason: Reason;
  /** The fallback of the call; undefined on `call` and `probe` (R2). */
  readonly route: RouteSummary | undefined;
}

export interface OutcomeEvent extends EventBase {
  readonly tool: string;
  readonly outcome: Outcome;
  /** Undefined on success. */
  readonly category: ErrorCategory | undefined;
  /** The result came back after the circuit had moved on, and changed nothing (C7). */
  readonly late: boolean;
  /** The cost of the call, if the executor reported it (O4). */
  readonly tokens: number | undefined;
  /** Why the result may not be current; undefined if it is fresh, or if the tool has no `labelFreshness` (F1). */
  readonly freshness: FreshnessLabel | undefined;
}

export interface TransitionEvent extends EventBase {
  readonly tool: string;
  readonly from: ReportedState;
  readonly to: ReportedState;
  /** The category that opened the circuit, or keeps it from closing. */
  readonly category: ErrorCategory | undefined;
  /** The circuit is only observed: this shows what would have happened, and no metric counts it (C1). */
  readonly observed: boolean;
}

export interface SystemicDetectedEvent extends EventBase {
  readonly event: SystemicEvent;
}

/** How a systemic event ended: a person confirmed it, a probe succeeded (scope `process`), or in a configured way (S5). */
export type RecoveredBy = 'operator' | 'probe' | RecoveryCause;

export interface SystemicResolvedEvent extends EventBase {
  readonly event: SystemicEvent;
  readonly by: RecoveredBy;
}

export interface BudgetExhaustedEvent extends EventBase {
  /** Number of failures that a cycle allows. */
  readonly limit: number;
  readonly cycle: number;
}

export interface BudgetResumedEvent extends EventBase {
  readonly limit: number;
  /** The cycle that begins. */
  readonly cycle: number;
}

/** A plan postpones tasks, or gives them to a lesser tool (W2). */
export interface ScopeReducedEvent extends EventBase {
  readonly plan: ScopePlan;
}

/** The events that `box.on` offers. `circuit`, `systemic`, `budget` and `scope` events are also log events, under `breakerbox.`. */
export interface BreakerboxEvents {
  decision: DecisionEvent;
  outcome: OutcomeEvent;
  'circuit.transition': TransitionEvent;
  'systemic.detected': SystemicDetectedEvent;
  'systemic.resolved': SystemicResolvedEvent;
  'budget.exhausted': BudgetExhaustedEvent;
  'budget.resumed': BudgetResumedEvent;
  'scope.reduced': ScopeReducedEvent;
}

const EVENTS = {
  decision: true,
  outcome: true,
  'circuit.transition': true,
  'systemic.detected': true,
  'systemic.resolved': true,
  'budget.exhausted': true,
  'budget.resumed': true,
  'scope.reduced': true,
} satisfies Record<keyof BreakerboxEvents, true>;

/** Names of all events. */
export const EVENT_NAMES = Object.keys(EVENTS) as readonly (keyof BreakerboxEvents)[];
