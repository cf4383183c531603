export { type Breakerbox, createBreakerbox } from './breakerbox.ts';
export type { BudgetOptions, BudgetRule } from './budget/budget.ts';
export type { EarlierCharges } from './budget/strict.ts';
export { byHost } from './by-host.ts';
export { type CapabilityMap, parseCapabilities, validateCapabilities } from './capability/file.ts';
export type { Alternative, Capability, Degradation } from './capability/map.ts';
export type { AlternativeRoute, DeferRoute, ManualRoute, Route, StaleRoute } from './capability/route.ts';
export type { AchievableTask, DeferredTask, ScopePlan, Task, TaskBlocker } from './capability/scope.ts';
export type { CircuitState, Ladder } from './circuit/circuit.ts';
export { CIRCUIT_MODES, type CircuitMode, type ReportedState } from './circuit/mode.ts';
export type { CircuitConfig, GroupPolicyConfig, Profile } from './circuit/policy.ts';
export type { ProbeWait } from './circuit/schedule.ts';
export type { Trip } from './circuit/trips/counts.ts';
export type { FailureRateConfig } from './circuit/trips/failure-rate.ts';
export type { SlowCallRateConfig } from './circuit/trips/slow-call-rate.ts';
export type {
  BucketSnapshot,
  CallWindowSnapshot,
  CountsSnapshot,
  RateWindowSnapshot,
  TimeWindowSnapshot,
} from './circuit/trips/snapshot.ts';
export type { WastedTokensConfig } from './circuit/trips/wasted-tokens.ts';
export type { Clock, Moment } from './clock.ts';
export type { BreakerboxConfig, GroupConfig, RestoreOptions, SessionOptions, ToolConfig } from './config.ts';
export { BreakerboxConfigError, BreakerboxUsageError, type ConfigIssue } from './errors.ts';
export type {
  BreakerboxEvents,
  BudgetExhaustedEvent,
  BudgetResumedEvent,
  DecisionEvent,
  EventBase,
  OutcomeEvent,
  RecoveredBy,
  RouteSummary,
  ScopeReducedEvent,
  SystemicDetectedEvent,
  SystemicResolvedEvent,
  TransitionEvent,
} from './events.ts';
export type { ChargeView, Explanation } from './explain.ts';
export { describeFreshness, type FreshnessKind, type FreshnessLabel, labelled } from './freshness.ts';
export type { SessionState } from './ledger.ts';
export { type Classification, type ClassifyContext, classifyError, classifyResult } from './outcome/classify.ts';
export {
  DEFAULT_JUDGEMENT,
  ERROR_CATEGORIES,
  type ErrorCategory,
  type Judgement,
  type Outcome,
} from './outcome/taxonomy.ts';
export type { Permit, PermitRecord } from './permit.ts';
export { AVAILABILITIES, type Availability, type Precheck } from './precheck.ts';
export { type Decision, REASONS, type Reason, type SystemicDecision } from './reasons.ts';
export type { RecoveryPolicy } from './recovery.ts';
export type { GroupReport } from './report/groups.ts';
export type { TextOptions } from './report/layout.ts';
export type { LeftOut } from './report/left-out.ts';
export type {
  BudgetReport,
  ChargeReport,
  SessionReport,
  SystemicReport,
  WindowReport,
} from './report/report.ts';
export type { AchievableReport, BlockerReport, DeferredReport, ScopeReport, StandInReport } from './report/scope.ts';
export {
  formatPauseReport,
  formatReport,
  formatScopeReport,
  formatStateTable,
  formatSystemicReport,
} from './report/text.ts';
export type { CallReport, HeldUpReport, ProbeReport, ToolReport } from './report/tools.ts';
export type { AcquireOptions, DeclareOptions, ReportOptions, Session } from './session.ts';
export type { FreshnessHint, Settlement } from './settlement.ts';
export type {
  ChargeSnapshot,
  CircuitSnapshot,
  KeySnapshot,
  LedgerSnapshot,
  MomentSnapshot,
  OpeningSnapshot,
  OutageSnapshot,
  ProvisionalSnapshot,
  SessionSnapshot,
  StrictBudgetSnapshot,
  WindowBudgetSnapshot,
  WindowChargeSnapshot,
} from './snapshot.ts';
export type { Opening, SuspectedLayer, SystemicEvent, SystemicPolicy } from './systemic.ts';
export { followProviders } from './telemetry/hub.ts';
export {
  ATTR,
  DURATION_BUCKETS,
  EVENT,
  GROUP_PREFIX,
  METRIC,
  type MetricDefinition,
  OTHER_TOOL,
  SCOPE_NAME,
} from './telemetry/semconv.ts';
export type { Classifier, KeyOf, ResultJudge } from './tool.ts';
export type { BudgetView, CircuitView, SessionView } from './view.ts';
