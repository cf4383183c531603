import { type CircuitView, type Decision, GROUP_PREFIX, type SessionView } from '@breakerbox/core';
import type { SessionReport } from '@breakerbox/core/report';
import type { Agent } from './agents.ts';
import type { AlertRow } from './alert-watch.ts';
import type { Fleet } from './fleet.ts';
import type { Journal, JournalEntry } from './journal.ts';
import type { Counts } from './tallies.ts';

/** Everything that the view shows at one moment. */
export interface DemoStatus {
  readonly elapsedMs: number;
  /** Undefined: until it is stopped. */
  readonly forMs: number | undefined;
  /** The current round of the script. */
  readonly round: number;
  /** Addresses to look at, or a text that says why there is no address. */
  readonly places: {
    readonly metrics: string;
    readonly prometheus: string;
    readonly alertmanager: string;
    readonly console: string;
  };
  readonly agents: readonly AgentStatus[];
  readonly alerts: readonly AlertRow[];
  readonly deliveries: number;
  readonly entries: readonly JournalEntry[];
}

/** One agent of the status. */
export interface AgentStatus {
  readonly name: string;
  /** Undefined between two sessions. */
  readonly session: Pick<SessionView, 'state' | 'budget'> | undefined;
  readonly tools: readonly ToolStatus[];
  readonly decisions: Counts<Decision>;
  /** How often plans deferred a task. */
  readonly deferrals: number;
  /** The session's report; undefined unless it is paused. */
  readonly report: SessionReport | undefined;
}

/** One tool of an agent. */
export interface ToolStatus {
  readonly name: string;
  /** The circuit that decides its calls: the group's while that one rejects calls (C15), else its own. */
  readonly circuit: CircuitView | undefined;
  /** Where rejected calls go, in words. Empty if they go nowhere, and while the whole session is paused. */
  readonly instead: string;
  /** It is called only as an alternative to another tool. */
  readonly isAlternative: boolean;
}

/** States of a group's circuit in which it rejects calls. */
const REJECTING: ReadonlySet<string> = new Set(['open', 'half_open', 'forced_open'] satisfies CircuitView['state'][]);

/** The circuit that decides the calls of a tool. Undefined for a tool that the session has not used. */
export const decidingCircuit = (circuits: readonly CircuitView[], tool: string): CircuitView | undefined => {
  const own = circuits.find((one) => one.tool === tool);
  const group = own?.group === undefined ? undefined : `${GROUP_PREFIX}${own.group}`;
  return circuits.find((one) => one.tool === group && REJECTING.has(one.state)) ?? own;
};

/** The current state of an agent. */
export const agentStatus = ({ name, duties, toolNames }: Agent, fleet: Fleet, journal: Journal): AgentStatus => {
  const { tallies, deferrals, recorded } = journal;
  const own = new Set(duties.flatMap(({ tools }) => tools));
  const session = fleet.session(name)?.view();
  return {
    name,
    session,
    tools: toolNames.map((tool) => {
      const circuit = decidingCircuit(session?.circuits ?? [], tool);
      const isOut = session?.state === 'active' && circuit !== undefined && circuit.state !== 'closed';
      return {
        name: tool,
        circuit,
        instead: isOut ? journal.meanwhile(name, tool) : '',
        isAlternative: !own.has(tool),
      };
    }),
    decisions: tallies.ofAgent(name),
    deferrals: deferrals.get(name) ?? 0,
    report:
      session === undefined || session.state === 'active'
        ? undefined
        : recorded.reports.findLast(({ report }) => report.session === session.id)?.report,
  };
};
