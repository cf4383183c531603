/** The agents of the demo. In a file of their own, so that other commands do not load the demo. */
export const AGENT_NAMES = ['research-agent', 'support-agent', 'ops-agent'] as const;
export type AgentName = (typeof AGENT_NAMES)[number];
