import type { CircuitView, SessionView } from '@breakerbox/core';
import type { Agent } from './agents.ts';
import type { AlertRow } from './alert-watch.ts';
import type { Fleet } from './fleet.ts';
import type { Entry, Journal } from './journal.ts';
import { type DecisionCounts, ofAgent } from './tallies.ts';

/** Everything that the view shows, at one moment. */
export interface Board {
  readonly elapsedMs: number;
  /** Undefined: until stopped. */
  readonly forMs: number | undefined;
  /** Which round of the script this is. */
  readonly round: number;
  /** Where to look. Each says in words why it isn't an address, where it is none. */
  readonly places: { readonly metrics: string; readonly prometheus: string; readonly alertmanager: string };
  readonly agents: readonly AgentBoard[];
  readonly alerts: readonly AlertRow[];
  readonly deliveries: number;
  readonly entries: readonly Entry[];
}

/** One agent of the board. */
export interface AgentBoard {
  readonly name: string;
  /** Undefined between two sessions. */
  readonly session: Pick<SessionView, 'state' | 'budget'> | undefined;
  readonly tools: readonly { readonly name: string; readonly circuit: CircuitView | undefined }[];
  readonly decisions: DecisionCounts;
}

/** An agent as it stands. */
export const agentBoard = ({ name, toolNames }: Agent, fleet: Fleet, { tallies }: Journal): AgentBoard => {
  const session = fleet.session(name)?.view();
  return {
    name,
    session,
    tools: toolNames.map((tool) => ({
      name: tool,
      circuit: session?.circuits.find((one) => one.tool === tool),
    })),
    decisions: ofAgent(tallies, name),
  };
};
