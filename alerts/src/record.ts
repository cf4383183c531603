import type { Series } from './promql.ts';
import type { RuleSettings } from './settings.ts';

/** Every recorded series: level:metric:operation. The level lists the labels that remain. */
export const RECORDED = {
  circuits: 'job_agent_tool:breakerbox_circuits:sum',
  notClosed: 'job_agent_tool:breakerbox_circuits_not_closed:sum',
  keysOutOfUse: 'job_agent_tool:breakerbox_keys_out_of_use:bool',
  outOfUse: 'job_agent_tool:breakerbox_circuits_out_of_use:median',
  outOfUseAllAlong: 'job_agent_tool:breakerbox_circuits_out_of_use:min',
  unavailableSince: 'job_agent_tool:breakerbox_circuit_unavailable_time_seconds:min',
  processes: 'job_instance_agent:breakerbox_sessions_seen:count6h',
  decisions5m: 'job_agent_tool_decision_reason:breakerbox_decisions:increase5m',
  worstState: 'job_agent_tool:breakerbox_circuits_state:worst',
  circuitsOfTool: 'job_tool_state:breakerbox_circuits:sum',
  decisionsOfTool: 'job_tool_decision_reason:breakerbox_decisions:rate5m',
  decisionsOfTool5m: 'job_tool_decision_reason:breakerbox_decisions:increase5m',
  outcomesOfTool: 'job_tool_outcome:breakerbox_outcomes:rate5m',
  outcomesOfTool5m: 'job_tool_outcome:breakerbox_outcomes:increase5m',
  notClosedByState: 'job_agent_tool_state:breakerbox_circuits_not_closed:sum',
  transitions: 'job_agent_tool_from_to:breakerbox_transitions:grown2m',
  sessionsByState: 'job_status:breakerbox_sessions:sum',
  started: 'job_agent:breakerbox_sessions_started:grown1m',
  charged: 'job_agent:breakerbox_budget_consumed:grown1m',
  fellLow: 'job_agent:breakerbox_budget_low:grown1m',
  ranOut: 'job_agent:breakerbox_budget_exhaustions:grown1m',
  systemicEvents: 'job_agent_error:breakerbox_systemic_events:grown1m',
  errors: 'job_agent_tool_outcome_error:breakerbox_errors:grown1m',
  tokensWasted: 'job_agent_tool:breakerbox_tokens_wasted:grown1m',
  tokensAvoided: 'job_agent_tool:breakerbox_tokens_avoided:grown1m',
  opened: 'job_agent_tool_error:breakerbox_circuit_opened_time_seconds:new1m',
  paused: 'job_agent_status:breakerbox_sessions_paused:sum',
  systemicActive: 'job_agent:breakerbox_systemic_active:sum',
  budgetLeft: 'job_agent:breakerbox_budget_left:ratio',
  bucketsOfTool: 'job_tool_le:gen_ai_execute_tool_duration_seconds_bucket:rate5m',
  openings5m: 'job_agent_tool:breakerbox_openings:increase5m',
  openings15m: 'job_agent_tool:breakerbox_openings:increase15m',
  openingsPerCircuit: 'job_agent_tool:breakerbox_openings_per_circuit:ratio15m',
  failures5m: 'job_agent_tool:breakerbox_failures:increase5m',
  failures1h: 'job_agent_tool:breakerbox_failures:increase1h',
  executions5m: 'job_agent_tool:breakerbox_executions:increase5m',
  executions1h: 'job_agent_tool:breakerbox_executions:increase1h',
  errorRatio5m: 'job_agent_tool:breakerbox_failures_per_execution:ratio5m',
  errorRatio1h: 'job_agent_tool:breakerbox_failures_per_execution:ratio1h',
  p95Short: 'job_agent_tool:gen_ai_execute_tool_duration_seconds:p95_5m',
  p95: 'job_agent_tool:gen_ai_execute_tool_duration_seconds:p95_15m',
  calls15m: 'job_agent_tool:breakerbox_outcomes:increase15m',
  slow: 'job_agent_tool:gen_ai_execute_tool_duration_seconds:p95_15m_slow',
  p95Sampled: 'job_agent_tool:gen_ai_execute_tool_duration_seconds:p95_15m_sampled',
  p95Usual: 'job_agent_tool:gen_ai_execute_tool_duration_seconds:p95_median1w',
  sessions: 'job_agent:breakerbox_sessions:sum',
  comesAndGoes: 'job_agent:breakerbox_sessions_come_and_go:count',
  low5m: 'job_agent:breakerbox_budget_low:increase5m',
  low30m: 'job_agent:breakerbox_budget_low:increase30m',
  low1h: 'job_agent:breakerbox_budget_low:increase1h',
  low6h: 'job_agent:breakerbox_budget_low:increase6h',
  lowBefore: 'job_agent:breakerbox_budget_low:increase6h_before1h',
  started5m: 'job_agent:breakerbox_sessions_started:increase5m',
  started30m: 'job_agent:breakerbox_sessions_started:increase30m',
  started1h: 'job_agent:breakerbox_sessions_started:increase1h',
  started6h: 'job_agent:breakerbox_sessions_started:increase6h',
  lived1h: 'job_agent:breakerbox_sessions_lived:count1h',
  lived6h: 'job_agent:breakerbox_sessions_lived:count6h',
  burn5m: 'job_agent:breakerbox_budget_burn:ratio5m',
  burn30m: 'job_agent:breakerbox_budget_burn:ratio30m',
  burn1h: 'job_agent:breakerbox_budget_burn:ratio1h',
  burn6h: 'job_agent:breakerbox_budget_burn:ratio6h',
  burnFast: 'job_agent:breakerbox_budget_burn_fast:bool',
  burnSlow: 'job_agent:breakerbox_budget_burn_slow:bool',
  exhausted: 'job_agent:breakerbox_budget_exhausted:count',
  burnFastAlone: 'job_agent:breakerbox_budget_burn_fast:alone',
  burnSlowAlone: 'job_agent:breakerbox_budget_burn_slow:alone',
  spentCost1h: 'job_agent_currency:breakerbox_spent_cost:increase1h',
  spentTokens1h: 'job_agent:breakerbox_spent_tokens:increase1h',
  spentCostUsual: 'job_agent_currency:breakerbox_spent_cost:mean1w',
  spentTokensUsual: 'job_agent:breakerbox_spent_tokens:mean1w',
  takenBack: 'job_instance_agent_tool:breakerbox_openings_taken_back:max',
  crowd: 'job_agent_tool:breakerbox_circuits:crowd10m',
  agentsOfTool: 'tool:breakerbox_agents:count10m',
  lastOpenings: 'job_agent_tool_error:breakerbox_circuit_opened_time_seconds:max',
  correlatedTools: 'job_agent_error:breakerbox_correlated_tools:count',
  correlatedAgents: 'tool_error:breakerbox_correlated_agents:count',
  correlatedToolsSince: 'job_agent_error:breakerbox_correlated_tools_since:min',
  correlatedAgentsSince: 'tool_error:breakerbox_correlated_agents_since:min',
  correlatedToolsHeld: 'job_agent_error:breakerbox_correlated_tools_held:count',
  correlatedAgentsHeld: 'tool_error:breakerbox_correlated_agents_held:count',
} as const satisfies Readonly<Record<string, string>>;

export type RecordKey = keyof typeof RECORDED;

/**
 * How an expression reads a recorded series: by its name, or by its definition if nothing records it (Grafana-managed rules).
 */
export interface Reader {
  now(key: RecordKey): string;
  /** Over a range: `name[5m]`, or a subquery. */
  over(key: RecordKey, range: string): string;
}

/** What expressions are made from. */
export interface Ground {
  readonly settings: RuleSettings;
  readonly series: Series;
  readonly read: Reader;
  /** Whether a rule can read its own recorded value of the last evaluation. */
  readonly recorded: boolean;
}

/** A recording rule. */
export interface Recording {
  readonly key: RecordKey;
  /** Why the rule is written this way. It becomes the comment above the rule in the file. */
  readonly comment: string;
  expr(ground: Ground): string;
  /** Time between two evaluations, for a rule that reads much and changes slowly. Default: 30 s. */
  readonly every?: '1m' | '2m' | '4m' | '15m';
}
