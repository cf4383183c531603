import { ATTR, type AttributeKey, JOB, label } from './names.ts';
import { type Matchers, matcher } from './promql.ts';

/*
 * Series that the recording rules write. They have no instance, and the last ones no agent. So panels read them while the variables show
 * all instances (and agents), which is when the series of the agents themselves are too many to read, and read those otherwise, or if
 * this Prometheus evaluates no rules. Two hidden variables tell which: each has the first letter of a recorded series, or is empty.
 */

/** The recorded series that panels read, by their keys in @breakerbox/alerts. */
export const RECORDED = {
  sessions: 'job_agent:breakerbox_sessions:sum',
  comesAndGoes: 'job_agent:breakerbox_sessions_come_and_go:count',
  budgetLeft: 'job_agent:breakerbox_budget_left:ratio',
  burn5m: 'job_agent:breakerbox_budget_burn:ratio5m',
  burn30m: 'job_agent:breakerbox_budget_burn:ratio30m',
  burn1h: 'job_agent:breakerbox_budget_burn:ratio1h',
  burn6h: 'job_agent:breakerbox_budget_burn:ratio6h',
  circuits: 'job_agent_tool:breakerbox_circuits:sum',
  sessionsByState: 'job_status:breakerbox_sessions:sum',
  started: 'job_agent:breakerbox_sessions_started:grown1m',
  charged: 'job_agent:breakerbox_budget_consumed:grown1m',
  fellLow: 'job_agent:breakerbox_budget_low:grown1m',
  ranOut: 'job_agent:breakerbox_budget_exhaustions:grown1m',
  burnFast: 'job_agent:breakerbox_budget_burn_fast:bool',
  systemicEvents: 'job_agent_error:breakerbox_systemic_events:grown1m',
  errors: 'job_agent_tool_outcome_error:breakerbox_errors:grown1m',
  tokensWasted: 'job_agent_tool:breakerbox_tokens_wasted:grown1m',
  tokensAvoided: 'job_agent_tool:breakerbox_tokens_avoided:grown1m',
  opened: 'job_agent_tool_error:breakerbox_circuit_opened_time_seconds:new1m',
  paused: 'job_agent_status:breakerbox_sessions_paused:sum',
  systemicActive: 'job_agent:breakerbox_systemic_active:sum',
  unavailableSince: 'job_agent_tool:breakerbox_circuit_unavailable_time_seconds:min',
  outOfUse: 'job_agent_tool:breakerbox_circuits_out_of_use:median',
  correlatedToolsHeld: 'job_agent_error:breakerbox_correlated_tools_held:count',
  correlatedAgentsHeld: 'tool_error:breakerbox_correlated_agents_held:count',
  notClosedByState: 'job_agent_tool_state:breakerbox_circuits_not_closed:sum',
  transitions: 'job_agent_tool_from_to:breakerbox_transitions:grown2m',
  worstState: 'job_agent_tool:breakerbox_circuits_state:worst',
  decisions5m: 'job_agent_tool_decision_reason:breakerbox_decisions:increase5m',
  failures5m: 'job_agent_tool:breakerbox_failures:increase5m',
  executions5m: 'job_agent_tool:breakerbox_executions:increase5m',
  p95: 'job_agent_tool:gen_ai_execute_tool_duration_seconds:p95_15m',
  circuitsOfTool: 'job_tool_state:breakerbox_circuits:sum',
  decisionsOfTool: 'job_tool_decision_reason:breakerbox_decisions:rate5m',
  decisionsOfTool5m: 'job_tool_decision_reason:breakerbox_decisions:increase5m',
  outcomesOfTool5m: 'job_tool_outcome:breakerbox_outcomes:increase5m',
  outcomesOfTool: 'job_tool_outcome:breakerbox_outcomes:rate5m',
  bucketsOfTool: 'job_tool_le:gen_ai_execute_tool_duration_seconds_bucket:rate5m',
} as const;
export type RecordedKey = keyof typeof RECORDED;

/** The hidden variables: of all instances, and of all instances and agents. */
export const LEVELS = { byAgent: 'rules', byTool: 'fleet' } as const;
type Level = keyof typeof LEVELS;

const levelOf = (key: RecordedKey): Level => (RECORDED[key].includes('agent') ? 'byAgent' : 'byTool');

/** A label that no series has: as long as the variable is empty, it matches. */
const switchLabel = (level: Level): string => `bbx_${LEVELS[level]}`;

/**
 * The recorded series that match the variables; none while the variables of its level do not show all.
 * @param more matchers in PromQL
 */
export const recorded = (key: RecordedKey, matchers: Matchers = {}, more: readonly string[] = []): string => {
  const level = levelOf(key);
  const has = (attribute: AttributeKey, name: string): readonly string[] =>
    RECORDED[key].split(':')[0]?.includes(name) ? [`${label(attribute)}=~"$${name}"`] : [];
  return `${RECORDED[key]}{${[
    `${JOB}=~"$job"`,
    ...has(ATTR.agent, 'agent'),
    ...has(ATTR.tool, 'tool'),
    ...Object.entries(matchers).map(([name, values]) => matcher(label(name as AttributeKey), values)),
    ...more,
    `${switchLabel(level)}!~"$${LEVELS[level]}"`,
  ].join(', ')}}`;
};

/** Text in an expression of the series of agents, and in one that {@link either} made. */
const AGENTS_OWN = 'instance=~"$instance"';
const BY_AGENT = `${switchLabel('byAgent')}!~"$${LEVELS.byAgent}"`;

/**
 * The first expression while the variables show all of the level and rules are loaded, the second one otherwise. The series of the other one
 * match nothing, which costs Prometheus nothing.
 */
export const either = (level: Level, ofRecorded: string, ofSeries: string): string => {
  const only = (expr: string, match: '=~' | '!~'): string => {
    const narrowed = (text: string): string => `${text}, ${switchLabel(level)}${match}"$${LEVELS[level]}"`;
    const own = expr.replaceAll(AGENTS_OWN, narrowed(AGENTS_OWN));
    return level === 'byTool' && match === '=~' ? own.replaceAll(BY_AGENT, narrowed(BY_AGENT)) : own;
  };
  return `((${only(ofRecorded, '!~')}) or (${only(ofSeries, '=~')}))`;
};
