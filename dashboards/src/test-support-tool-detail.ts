import { UID } from './links.ts';
import { exprOf, type Sample, SOURCE } from './test-support.ts';

// Samples and queries of the Tool detail tests.
export const of = (panel: string, refId = 'A'): string => exprOf(UID.toolDetail, panel, refId);

export const from = (agent: string, instance = 'i'): string =>
  `job="j", instance="${instance}", gen_ai_agent_name="${agent}", gen_ai_tool_name="t"`;
export const TOOL = `${SOURCE}, gen_ai_tool_name="t"`;
export const circuits = (state: string, source = TOOL): string =>
  `breakerbox_circuits{${source}, breakerbox_state="${state}"}`;
export const moved = (before: string, after: string, source = TOOL): string =>
  `breakerbox_transitions_total{${source}, breakerbox_state_from="${before}", breakerbox_state_to="${after}"}`;
export const decided = (decision: string, source = TOOL): string =>
  `breakerbox_decisions_total{${source}, breakerbox_decision="${decision}"}`;
export const cameOf = (outcome: string, source = TOOL): string =>
  `breakerbox_outcomes_total{${source}, breakerbox_outcome="${outcome}"}`;
export const opened = (category: string, source = TOOL): string =>
  `breakerbox_circuit_opened_time_seconds{${source}, error_type="${category}"}`;
export const sessions = `breakerbox_sessions{${SOURCE}, breakerbox_session_state="active"}`;
export const one = (value: number): readonly Sample[] => [{ labels: '{}', value }];
