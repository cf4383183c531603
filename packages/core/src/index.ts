export { type Breakerbox, createBreakerbox } from './breakerbox.ts';
export type { CircuitState } from './circuit/circuit.ts';
export { CIRCUIT_MODES, type CircuitMode, type ReportedState } from './circuit/mode.ts';
export type { CircuitConfig, Profile } from './circuit/policy.ts';
export type { ProbeWait } from './circuit/schedule.ts';
export type { Clock, Moment } from './clock.ts';
export type { BreakerboxConfig, SessionOptions, ToolConfig } from './config.ts';
export { BreakerboxConfigError, BreakerboxUsageError, type ConfigIssue } from './errors.ts';
export type {
  BreakerboxEvents,
  BudgetExhaustedEvent,
  BudgetResumedEvent,
  DecisionEvent,
  EventBase,
  OutcomeEvent,
  SystemicDetectedEvent,
  SystemicResolvedEvent,
  TransitionEvent,
} from './events.ts';
export type { SessionState } from './ledger.ts';
export { type Classification, type ClassifyContext, classifyError, classifyResult } from './outcome/classify.ts';
export {
  DEFAULT_JUDGEMENT,
  ERROR_CATEGORIES,
  type ErrorCategory,
  type Judgement,
  type Outcome,
} from './outcome/taxonomy.ts';
export type { Permit } from './permit.ts';
export { type Decision, REASONS, type Reason } from './reasons.ts';
export type { AcquireOptions, Session } from './session.ts';
export type { Settlement } from './settlement.ts';
export type {
  ChargeSnapshot,
  CircuitSnapshot,
  LedgerSnapshot,
  MomentSnapshot,
  OpeningSnapshot,
  ProvisionalSnapshot,
  SessionSnapshot,
} from './snapshot.ts';
export type { Opening, SuspectedLayer, SystemicEvent, SystemicPolicy } from './systemic.ts';
export { followProviders } from './telemetry/hub.ts';
export {
  ATTR,
  DURATION_BUCKETS,
  EVENT,
  METRIC,
  type MetricDefinition,
  OTHER_TOOL,
  SCOPE_NAME,
} from './telemetry/semconv.ts';
export type { Classifier } from './tool.ts';
export type { BudgetView, CircuitView, SessionView } from './view.ts';
