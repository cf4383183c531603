import type { CircuitView, Decision, SessionReport, SessionView } from '@breakerbox/core';
import type { Agent } from './agents.ts';
import type { AlertRow } from './alert-watch.ts';
import type { Fleet } from './fleet.ts';
import type { Entry, Journal } from './journal.ts';
import type { Counts } from './tallies.ts';

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
  readonly tools: readonly ToolBoard[];
  readonly decisions: Counts<Decision>;
  /** How often a plan put a task off. */
  readonly deferrals: number;
  /** What the session reported when it paused; undefined unless it is paused. */
  readonly report: SessionReport | undefined;
}

/** One tool of an agent. */
export interface ToolBoard {
  readonly name: string;
  readonly circuit: CircuitView | undefined;
  /** Where its calls go while it is out, in words; empty where they go nowhere, while it isn't out, and while all are paused. */
  readonly instead: string;
  /** It is called only in place of another. */
  readonly standsIn: boolean;
}

/** An agent as it stands. */
export const agentBoard = ({ name, duties, toolNames }: Agent, fleet: Fleet, journal: Journal): AgentBoard => {
  const { tallies, deferrals, told } = journal;
  const own = new Set(duties.flatMap(({ tools }) => tools));
  const session = fleet.session(name)?.view();
  return {
    name,
    session,
    tools: toolNames.map((tool) => {
      const circuit = session?.circuits.find((one) => one.tool === tool);
      const isOut = session?.state === 'active' && circuit !== undefined && circuit.state !== 'closed';
      return { name: tool, circuit, instead: isOut ? journal.meanwhile(name, tool) : '', standsIn: !own.has(tool) };
    }),
    decisions: tallies.ofAgent(name),
    deferrals: deferrals.get(name) ?? 0,
    report:
      session === undefined || session.state === 'active'
        ? undefined
        : told.reports.findLast(({ report }) => report.session === session.id)?.report,
  };
};
