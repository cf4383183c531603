/**
 * Every name in this project's telemetry: metrics, attributes, spans, log events. Dashboards, alerts, tests and docs are generated
 * from this file or checked against it.
 *
 * `gen_ai.*` and `error.type` are OpenTelemetry's names. The GenAI conventions are still in development. We keep copies here, so
 * that a change of the conventions can't rename our series.
 */

/** Attribute keys, on metrics and spans. */
export const ATTR = {
  agent: 'gen_ai.agent.name',
  tool: 'gen_ai.tool.name',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  responseModel: 'gen_ai.response.model',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  tokenType: 'gen_ai.token.type',
  httpStatus: 'http.response.status_code',
  operation: 'gen_ai.operation.name',
  callId: 'gen_ai.tool.call.id',
  toolType: 'gen_ai.tool.type',
  conversation: 'gen_ai.conversation.id',
  errorType: 'error.type',
  decision: 'breakerbox.decision',
  reason: 'breakerbox.reason',
  outcome: 'breakerbox.outcome',
  state: 'breakerbox.state',
  stateFrom: 'breakerbox.state.from',
  stateTo: 'breakerbox.state.to',
  generation: 'breakerbox.generation',
  group: 'breakerbox.group',
  budgetRemaining: 'breakerbox.budget.remaining',
  caution: 'breakerbox.caution',
  sessionState: 'breakerbox.session.state',
  sessionEnded: 'breakerbox.session.ended',
  tools: 'breakerbox.tools',
  layer: 'breakerbox.systemic.layer',
  dependency: 'breakerbox.systemic.dependency',
  /** Layer and dependency, or group, in words: `dependency proxy`. */
  suspect: 'breakerbox.systemic.suspect',
  resolvedBy: 'breakerbox.systemic.resolved_by',
  route: 'breakerbox.route',
  routeTool: 'breakerbox.route.tool',
  degradation: 'breakerbox.degradation',
  scope: 'breakerbox.scope',
  disposition: 'breakerbox.disposition',
  tasks: 'breakerbox.tasks',
  freshnessLabel: 'breakerbox.freshness.label',
  availability: 'breakerbox.availability',
  /** What a limit counts: calls, steps, tokens, cost, durationMs. */
  limit: 'breakerbox.limit',
  limitLevel: 'breakerbox.limit.level',
  limitMode: 'breakerbox.limit.mode',
  limitUsed: 'breakerbox.limit.used',
  limitSize: 'breakerbox.limit.size',
  /** The id of the sub-agent (D1). */
  child: 'breakerbox.session.child',
  /** The id of the session above a sub-agent. */
  parent: 'breakerbox.session.parent',
  action: 'breakerbox.action',
  result: 'breakerbox.result',
  step: 'breakerbox.step',
  /** Seconds that the tool asked to wait. */
  retryAfter: 'breakerbox.retry_after',
  /** `group` or `key`: what the failure blames, if it is not the tool. */
  blames: 'breakerbox.blames',
  /** The cost of the call. */
  tokens: 'breakerbox.tokens',
  /** Money that a session has used. */
  cost: 'breakerbox.cost',
  /** How many calls a session ran, and how many it rejected. */
  calls: 'breakerbox.calls',
  rejected: 'breakerbox.rejected',
  /** `primary` or `fallback`: the place of the model that answered (L5). */
  position: 'breakerbox.model.position',
  /** The first model of the list that was asked, `model:PROVIDER/MODEL`. */
  primary: 'breakerbox.model.primary',
  /** The currency of a cost: `USD`. */
  currency: 'breakerbox.currency',
} as const;

/** Values of {@link ATTR.operation}. With the agent's, the tool's or the model's name after it, each is the name of a span. */
export const OPERATION = { session: 'invoke_agent', call: 'execute_tool', model: 'chat' } as const;

/** Values of {@link ATTR.toolType}, as OpenTelemetry defines them. */
export const TOOL_TYPES = ['function', 'extension', 'datastore'] as const;

/** The contract of one metric. */
export interface MetricDefinition {
  /** OpenTelemetry's name. */
  readonly name: string;
  /** UCUM unit. */
  readonly unit: string;
  readonly kind: 'counter' | 'updowncounter' | 'gauge' | 'histogram';
  readonly description: string;
  /** Whose series they are. `tool`: they have {@link ATTR.tool} beside {@link ATTR.agent}. */
  readonly per: 'agent' | 'tool';
  /** Attributes beyond agent and tool. */
  readonly attributes: readonly string[];
  /** The name in Prometheus, on every path. A histogram's series add `_bucket`, `_sum` and `_count`. */
  readonly prometheus: string;
}

/** The metrics that the engine feeds. */
export const METRIC = {
  decisions: {
    name: 'breakerbox.decisions',
    unit: '{decision}',
    kind: 'counter',
    description: 'Decisions taken before tool calls',
    per: 'tool',
    attributes: [ATTR.decision, ATTR.reason],
    prometheus: 'breakerbox_decisions_total',
  },
  outcomes: {
    name: 'breakerbox.outcomes',
    unit: '{call}',
    kind: 'counter',
    description: 'Settled tool calls by outcome',
    per: 'tool',
    attributes: [ATTR.outcome],
    prometheus: 'breakerbox_outcomes_total',
  },
  errors: {
    name: 'breakerbox.errors',
    unit: '{call}',
    kind: 'counter',
    description: 'Settled tool calls that did not succeed, by error category',
    per: 'tool',
    attributes: [ATTR.outcome, ATTR.errorType, ATTR.blames],
    prometheus: 'breakerbox_errors_total',
  },
  transitions: {
    name: 'breakerbox.transitions',
    unit: '{transition}',
    kind: 'counter',
    description: 'Changes of state of circuits',
    per: 'tool',
    attributes: [ATTR.stateFrom, ATTR.stateTo],
    prometheus: 'breakerbox_transitions_total',
  },
  circuits: {
    name: 'breakerbox.circuits',
    unit: '{circuit}',
    kind: 'updowncounter',
    description: 'Circuits of live sessions by state',
    per: 'tool',
    attributes: [ATTR.state],
    prometheus: 'breakerbox_circuits',
  },
  openedTime: {
    name: 'breakerbox.circuit.opened.time',
    unit: 's',
    kind: 'gauge',
    description: 'Unix time at which a circuit of this tool last opened',
    per: 'tool',
    attributes: [ATTR.errorType],
    prometheus: 'breakerbox_circuit_opened_time_seconds',
  },
  unavailableTime: {
    name: 'breakerbox.circuit.unavailable.time',
    unit: 's',
    kind: 'gauge',
    description: 'Unix time since which this tool has had a circuit that is open, half-open or forced open',
    per: 'tool',
    attributes: [],
    prometheus: 'breakerbox_circuit_unavailable_time_seconds',
  },
  retryAfterTime: {
    name: 'breakerbox.retry_after.time',
    unit: 's',
    kind: 'gauge',
    description: 'Unix time until which circuits of this tool wait because its service asked to (Retry-After)',
    per: 'tool',
    attributes: [],
    prometheus: 'breakerbox_retry_after_time_seconds',
  },
  circuitsWaiting: {
    name: 'breakerbox.circuits.waiting',
    unit: '{circuit}',
    kind: 'updowncounter',
    description:
      'Circuits of live sessions that opened with a wait that the service asked for (Retry-After), while it lasts',
    per: 'tool',
    attributes: [],
    prometheus: 'breakerbox_circuits_waiting',
  },
  systemicTools: {
    name: 'breakerbox.systemic.tools',
    unit: '{event}',
    kind: 'counter',
    description: 'Systemic events that began with an opening or a failure of this tool',
    per: 'tool',
    attributes: [],
    prometheus: 'breakerbox_systemic_tools_total',
  },
  skipsWaiting: {
    name: 'breakerbox.skips.waiting',
    unit: '{decision}',
    kind: 'counter',
    description: 'Calls that were skipped for a key whose service asked to wait (Retry-After)',
    per: 'tool',
    attributes: [],
    prometheus: 'breakerbox_skips_waiting_total',
  },
  budgetLimit: {
    name: 'breakerbox.budget.limit',
    unit: '{failure}',
    kind: 'updowncounter',
    description: 'Failures that the budgets of live sessions allow, together',
    per: 'agent',
    attributes: [],
    prometheus: 'breakerbox_budget_limit',
  },
  budgetRemaining: {
    name: 'breakerbox.budget.remaining',
    unit: '{failure}',
    kind: 'updowncounter',
    description: 'Failures left in the budgets of live sessions, together',
    per: 'agent',
    attributes: [],
    prometheus: 'breakerbox_budget_remaining',
  },
  budgetConsumed: {
    name: 'breakerbox.budget.consumed',
    unit: '{failure}',
    kind: 'counter',
    description: 'Final charges to the budgets of sessions; a provisional charge counts once it is final',
    per: 'agent',
    attributes: [],
    prometheus: 'breakerbox_budget_consumed_total',
  },
  budgetLow: {
    name: 'breakerbox.budget.low',
    unit: '{session}',
    kind: 'counter',
    description: 'Times a session had at most one failure left; counted again only after its budget was full',
    per: 'agent',
    attributes: [],
    prometheus: 'breakerbox_budget_low_total',
  },
  budgetExhaustions: {
    name: 'breakerbox.budget.exhaustions',
    unit: '{session}',
    kind: 'counter',
    description: 'Times a session ran out of failure budget',
    per: 'agent',
    attributes: [],
    prometheus: 'breakerbox_budget_exhaustions_total',
  },
  sessions: {
    name: 'breakerbox.sessions',
    unit: '{session}',
    kind: 'updowncounter',
    description: 'Live sessions by state',
    per: 'agent',
    attributes: [ATTR.sessionState],
    prometheus: 'breakerbox_sessions',
  },
  sessionsStarted: {
    name: 'breakerbox.sessions.started',
    unit: '{session}',
    kind: 'counter',
    description: 'Sessions started; one that is restored is not counted again',
    per: 'agent',
    attributes: [],
    prometheus: 'breakerbox_sessions_started_total',
  },
  systemicActive: {
    name: 'breakerbox.systemic.active',
    unit: '{event}',
    kind: 'updowncounter',
    description: 'Systemic events that are not over',
    per: 'agent',
    attributes: [],
    prometheus: 'breakerbox_systemic_active',
  },
  systemicEvents: {
    name: 'breakerbox.systemic.events',
    unit: '{event}',
    kind: 'counter',
    description: 'Systemic events: failures of several tools that count as one',
    per: 'agent',
    attributes: [ATTR.errorType, ATTR.suspect],
    prometheus: 'breakerbox_systemic_events_total',
  },
  operatorActions: {
    name: 'breakerbox.operator.actions',
    unit: '{action}',
    kind: 'counter',
    description: 'Operator actions, by result',
    per: 'agent',
    attributes: [ATTR.action, ATTR.result],
    prometheus: 'breakerbox_operator_actions_total',
  },
  fleetUp: {
    name: 'breakerbox.fleet.up',
    unit: '{store}',
    kind: 'gauge',
    description: "1 while the fleet's store answers, 0 while the process goes on without it",
    per: 'agent',
    attributes: [],
    prometheus: 'breakerbox_fleet_up',
  },
  fleetReadTime: {
    name: 'breakerbox.fleet.read.time',
    unit: 's',
    kind: 'gauge',
    description: "Unix time at which the fleet's store last answered",
    per: 'agent',
    attributes: [],
    prometheus: 'breakerbox_fleet_read_time_seconds',
  },
  fleetIgnored: {
    name: 'breakerbox.fleet.ignored',
    unit: '{record}',
    kind: 'counter',
    description: "Records of the fleet's store that do not fit, and that the process ignores",
    per: 'agent',
    attributes: [],
    prometheus: 'breakerbox_fleet_ignored_total',
  },
  tokensWasted: {
    name: 'breakerbox.tokens.wasted',
    unit: '{token}',
    kind: 'counter',
    description: 'Tokens spent on failed calls',
    per: 'tool',
    attributes: [],
    prometheus: 'breakerbox_tokens_wasted_total',
  },
  tokensAvoided: {
    name: 'breakerbox.tokens.avoided',
    unit: '{token}',
    kind: 'counter',
    description: "Estimate: skipped calls times the mean cost of the tool's failed calls",
    per: 'tool',
    attributes: [],
    prometheus: 'breakerbox_tokens_avoided_total',
  },
  routes: {
    name: 'breakerbox.routes',
    unit: '{route}',
    kind: 'counter',
    description: 'Skipped and paused calls, by what replaces them',
    per: 'tool',
    attributes: [ATTR.route, ATTR.degradation],
    prometheus: 'breakerbox_routes_total',
  },
  tasks: {
    name: 'breakerbox.tasks',
    unit: '{task}',
    kind: 'counter',
    description: 'Planned tasks, by whether they can be done or have to wait',
    per: 'agent',
    attributes: [ATTR.disposition],
    prometheus: 'breakerbox_tasks_total',
  },
  circles: {
    name: 'breakerbox.circles',
    unit: '{circle}',
    kind: 'counter',
    description: 'Times that an agent began to go in circles: the same calls with the same results, again and again',
    per: 'agent',
    attributes: [],
    prometheus: 'breakerbox_circles_total',
  },
  spentTokens: {
    name: 'breakerbox.spent.tokens',
    unit: '{token}',
    kind: 'counter',
    description: 'Tokens that runs have used, as calls and models report them',
    per: 'agent',
    attributes: [],
    prometheus: 'breakerbox_spent_tokens_total',
  },
  spentCost: {
    name: 'breakerbox.spent.cost',
    unit: '1',
    kind: 'counter',
    description: 'Money that runs have used, as calls and models report it',
    per: 'agent',
    attributes: [ATTR.currency],
    prometheus: 'breakerbox_spent_cost_total',
  },
  spentCalls: {
    name: 'breakerbox.spent.calls',
    unit: '{call}',
    kind: 'counter',
    description: 'Tool calls of runs that have limits or sub-agents',
    per: 'agent',
    attributes: [],
    prometheus: 'breakerbox_spent_calls_total',
  },
  limits: {
    name: 'breakerbox.limits',
    unit: '{limit}',
    kind: 'counter',
    description:
      'Limits of runs that were advised at 80 %, or reached; observed: reached, but the limit pauses nothing',
    per: 'agent',
    attributes: [ATTR.limit, ATTR.limitLevel],
    prometheus: 'breakerbox_limits_total',
  },
  freshness: {
    name: 'breakerbox.freshness',
    unit: '{result}',
    kind: 'counter',
    description: 'Results that may not be current, by label',
    per: 'tool',
    attributes: [ATTR.freshnessLabel],
    prometheus: 'breakerbox_freshness_total',
  },
  prechecks: {
    name: 'breakerbox.prechecks',
    unit: '{check}',
    kind: 'counter',
    description: 'Answers of pre-call checks',
    per: 'tool',
    attributes: [ATTR.availability],
    prometheus: 'breakerbox_prechecks_total',
  },
  modelAnswers: {
    name: 'breakerbox.model.answers',
    unit: '{answer}',
    kind: 'counter',
    description: 'Answers of models, by whether the first model of the list answered or a later one',
    per: 'agent',
    attributes: [ATTR.tool, ATTR.position, ATTR.primary],
    prometheus: 'breakerbox_model_answers_total',
  },
  modelTokens: {
    name: 'breakerbox.model.tokens',
    unit: '{token}',
    kind: 'counter',
    description: 'Tokens of the answers of models, as the provider counts them',
    per: 'agent',
    attributes: [ATTR.tool, ATTR.tokenType],
    prometheus: 'breakerbox_model_tokens_total',
  },
  modelCost: {
    name: 'breakerbox.model.cost',
    unit: '1',
    kind: 'counter',
    description: 'Cost of the answers of models, at the prices of the configuration',
    per: 'agent',
    attributes: [ATTR.tool, ATTR.currency],
    prometheus: 'breakerbox_model_cost_total',
  },
  modelFailures: {
    name: 'breakerbox.model.failures',
    unit: '{call}',
    kind: 'counter',
    description: 'Calls that no model of the list answered',
    per: 'agent',
    attributes: [ATTR.tool],
    prometheus: 'breakerbox_model_failures_total',
  },
  duration: {
    name: 'gen_ai.execute_tool.duration',
    unit: 's',
    kind: 'histogram',
    description: 'Time that executed tool calls took',
    per: 'tool',
    attributes: [ATTR.errorType],
    prometheus: 'gen_ai_execute_tool_duration_seconds',
  },
} as const satisfies Record<string, MetricDefinition>;

/** Bucket bounds of the duration histogram in seconds: 0.01·2ⁿ for n = 0 … 13, so 10 ms to 81.92 s. */
export const DURATION_BUCKETS: readonly number[] = Array.from({ length: 14 }, (_, n) => 0.01 * 2 ** n);

/** Names of log events. Each is also an event of `box.on(...)`, with the part after `breakerbox.`. */
export const EVENT = {
  circuitTransition: 'breakerbox.circuit.transition',
  systemicDetected: 'breakerbox.systemic.detected',
  systemicResolved: 'breakerbox.systemic.resolved',
  budgetExhausted: 'breakerbox.budget.exhausted',
  budgetResumed: 'breakerbox.budget.resumed',
  scopeReduced: 'breakerbox.scope.reduced',
  limitAdvised: 'breakerbox.limit.advised',
  limitReached: 'breakerbox.limit.reached',
  limitLifted: 'breakerbox.limit.lifted',
  limitExtended: 'breakerbox.limit.extended',
  operatorAction: 'breakerbox.operator.action',
  fleetDegraded: 'breakerbox.fleet.degraded',
  fleetRestored: 'breakerbox.fleet.restored',
} as const;

/** A group's circuit is exported under a tool name of its own, `group:NAME`. No tool's name may begin with it. */
export const GROUP_PREFIX = 'group:';

/** How much of a tool is exported: every series, those of its state, or none. */
export const TELEMETRY_LEVELS = ['full', 'state', 'none'] as const;
export type TelemetryLevel = (typeof TELEMETRY_LEVELS)[number];

/** A model's circuit has a tool name of its own, `model:PROVIDER/MODEL` (L2). No tool's name may begin with it. */
export const MODEL_PREFIX = 'model:';

/** The tool name under which everything beyond `maxTools`, and every undeclared name, is counted. */
export const OTHER_TOOL = '_OTHER';

/** `error.type` of the durations of all calls that did not succeed. {@link METRIC.errors} has their categories. */
export const OTHER_CATEGORY = '_OTHER';

/** `error.type` of a systemic event whose circuits opened with different categories. */
export const MIXED_CATEGORY = '_MIXED';

/** The instrumentation scope of tracer, meter and logger. */
export const SCOPE_NAME = '@breakerbox/core';

/** The version of the package: the build writes that of `package.json`. Spans and log records have it. */
export const SCOPE_VERSION: string = '0.0.0';

/**
 * The last schema that also has the names of GenAI: their repository of today has published none. For spans and log records. Metrics have
 * neither schema nor version, because Prometheus would make labels of them, and each release would begin new series.
 */
export const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.41.0';
