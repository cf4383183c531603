import type { Decision, Route } from '@breakerbox/core';

/** Counts by kind. */
export type Counts<Kind extends string> = Record<Kind, number>;

/** Counts for each tool of each agent. */
export interface Tallies<Kind extends string> {
  add(agent: string, tool: string, kind: Kind): void;
  /** The counts of an agent, over all its tools. */
  ofAgent(agent: string): Counts<Kind>;
  /** The counts of every tool that has any, in the order of their first event. */
  rows(): readonly ({ readonly agent: string; readonly tool: string } & Readonly<Counts<Kind>>)[];
}

/** Decisions by kind. */
export const DECISION_KINDS = ['call', 'probe', 'skip', 'pause'] as const satisfies readonly Decision[];

/** Routes of rejected calls. */
export const ROUTE_KINDS = ['alternative', 'stale', 'manual', 'defer'] as const satisfies readonly Route['kind'][];

/** Nothing counted yet. */
export const tallies = <Kind extends string>(kinds: readonly Kind[]): Tallies<Kind> => {
  const agents = new Map<string, Map<string, Counts<Kind>>>();
  const none = (): Counts<Kind> => Object.fromEntries(kinds.map((kind) => [kind, 0])) as Counts<Kind>;
  return {
    add: (agent, tool, kind) => {
      const tools = agents.get(agent) ?? new Map<string, Counts<Kind>>();
      const counts = tools.get(tool) ?? none();
      counts[kind] += 1;
      agents.set(agent, tools.set(tool, counts));
    },
    ofAgent: (agent) => {
      const sum = none();
      for (const counts of agents.get(agent)?.values() ?? []) for (const kind of kinds) sum[kind] += counts[kind];
      return sum;
    },
    rows: () =>
      [...agents].flatMap(([agent, tools]) => [...tools].map(([tool, counts]) => ({ agent, tool, ...counts }))),
  };
};
