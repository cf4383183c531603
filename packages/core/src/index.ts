export { type Breakerbox, createBreakerbox } from './breakerbox.ts';
export type { BudgetOptions, BudgetRule } from './budget/budget.ts';
export type { SessionState } from './budget/ledger.ts';
export type { RecoveryPolicy } from './budget/recovery.ts';
export type { EarlierCharges } from './budget/strict.ts';
export type { Opening, SuspectedLayer, SystemicEvent, SystemicPolicy } from './budget/systemic.ts';
export { BreakerboxConfigError, BreakerboxUsageError, type ConfigIssue } from './checks/checks.ts';
export type { CircuitState } from './circuit/circuit.ts';
export { CIRCUIT_MODES, type CircuitMode, type ReportedState } from './circuit/circuit.ts';
export { byHost } from './circuit/key-circuits.ts';
export type { CircuitConfig, GroupPolicyConfig, Profile } from './circuit/policy.ts';
export type { Ladder, ProbeWait } from './circuit/schedule.ts';
export type { CustomTripPolicy, TripCall } from './circuit/trip-policies/custom.ts';
export type { FailureRateConfig, SlowCallRateConfig } from './circuit/trip-policies/rate.ts';
export type { Trip } from './circuit/trip-policies/trip-policies.ts';
export type { WastedTokensConfig } from './circuit/trip-policies/wasted-tokens.ts';
export {
  type Blamed,
  type Classification,
  type ClassifyContext,
  classifyError,
  classifyResult,
} from './classify/classify.ts';
export {
  DEFAULT_JUDGEMENT,
  ERROR_CATEGORIES,
  type ErrorCategory,
  type Judgement,
  type Outcome,
} from './classify/taxonomy.ts';
export type { Clock, Moment } from './clock.ts';
export type {
  BoxFleet,
  BreakerboxConfig,
  Classifier,
  GroupConfig,
  KeyOf,
  ModelConfig,
  ResultJudge,
  SessionOptions,
  SessionToolConfig,
  Share,
  ToolConfig,
} from './config/config.ts';
export type { ModelPrice } from './config/model-price.ts';
export type {
  BreakerboxEvents,
  BudgetExhaustedEvent,
  BudgetResumedEvent,
  DecisionEvent,
  EventBase,
  FleetEvent,
  OperatorAction,
  OperatorActionEvent,
  OperatorResult,
  OutcomeEvent,
  RecoveredBy,
  RouteSummary,
  ScopeReducedEvent,
  SystemicDetectedEvent,
  SystemicResolvedEvent,
  TransitionEvent,
} from './events.ts';
export { describeFreshness, type FreshnessKind, type FreshnessLabel, labelled } from './freshness/freshness.ts';
export { ChildLimitError, type Portion } from './limits/children.ts';
export type { ExtendedLimit, LimitView, Usage } from './limits/limit-view.ts';
export type {
  CostLimitOptions,
  CountedKind,
  LimitKind,
  LimitMode,
  LimitOptions,
  LimitsOptions,
} from './limits/limits.ts';
export type { FreshnessHint, Settlement } from './outcome.ts';
export type { Permit, PermitRecord } from './permit.ts';
export { AVAILABILITIES, type Availability, type Precheck } from './precheck.ts';
export { type Decision, REASONS, type Reason, type SystemicDecision } from './reasons.ts';
export type { Alternative, Capability, Degradation } from './routing/capability.ts';
export type {
  AchievableTask,
  AlternativeRoute,
  DeferRoute,
  DeferredTask,
  ManualRoute,
  Route,
  ScopePlan,
  StaleRoute,
  TaskBlocker,
} from './routing/route.ts';
export type { AcquireOptions, ChildOptions, DeclareOptions, Session } from './session-api.ts';
export { followProviders } from './telemetry/otel-binding.ts';
export {
  ATTR,
  DURATION_BUCKETS,
  EVENT,
  GROUP_PREFIX,
  METRIC,
  type MetricDefinition,
  MODEL_PREFIX,
  OTHER_TOOL,
  SCOPE_NAME,
} from './telemetry/semconv.ts';
export type { BudgetView, ChargeView, CircuitView, Explanation, IgnoredErrors, SessionView } from './view.ts';
