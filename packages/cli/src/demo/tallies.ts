import type { Decision } from '@breakerbox/core';

/** Decisions by kind. */
export type DecisionCounts = Record<Decision, number>;

/** Decisions by kind, for each tool of each agent. */
export type Tallies = Map<string, Map<string, DecisionCounts>>;

/** Nothing counted yet. */
export const tallies = (): Tallies => new Map();

const none = (): DecisionCounts => ({ call: 0, probe: 0, skip: 0, pause: 0 });

/** Counts a decision. */
export const add = (counts: Tallies, agent: string, tool: string, decision: Decision): void => {
  const tools = counts.get(agent) ?? new Map<string, DecisionCounts>();
  const ofTool = tools.get(tool) ?? none();
  ofTool[decision] += 1;
  counts.set(agent, tools.set(tool, ofTool));
};

/** An agent's decisions over all its tools. */
export const ofAgent = (counts: Tallies, agent: string): DecisionCounts =>
  [...(counts.get(agent)?.values() ?? [])].reduce((sum, { call, probe, skip, pause }) => {
    return { call: sum.call + call, probe: sum.probe + probe, skip: sum.skip + skip, pause: sum.pause + pause };
  }, none());
