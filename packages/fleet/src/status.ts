import type { ErrorCategory } from '@breakerbox/core';
import type { ForcedMode } from '@breakerbox/core/control';
import { circuitName } from './circuit-id.ts';
import { actionOf, agentTopic } from './fleet-action.ts';
import type { StoredCircuit } from './protocol.ts';
import type { FleetMode, Heard, Knowledge } from './reader.ts';
import type { StoreReason } from './reasons.ts';

/** A circuit that processes share, as this process knows it. */
export interface FleetCircuit {
  /** The name of the fleet: the agent's, unless `createFleet` got one. */
  readonly fleet: string;
  /** The tool, `group:NAME`, or `event:systemic` for the correlated failures. */
  readonly name: string;
  readonly state: StoredCircuit['state'];
  readonly generation: number;
  readonly category: ErrorCategory;
  /** Milliseconds since it opened, reopened or closed. */
  readonly ageMs: number;
  readonly waitMs: number;
  /** While pending: processes that have seen it open. */
  readonly seenBy: number;
  /** Who holds the probe. */
  readonly holder: string | undefined;
  readonly leaseMs: number | undefined;
}

/** The latest action of an operator on a mode of all processes: *applied by n of m* (G8). */
export interface FleetActionStatus {
  readonly fleet: string;
  readonly id: string;
  /** Only the processes of this agent carry it out. */
  readonly agent: string;
  readonly action: 'force' | 'release';
  readonly tool: string;
  readonly owner: string;
  readonly mode: ForcedMode | undefined;
  readonly reason: string | undefined;
  /** Milliseconds until a forced mode is over, or a release is forgotten. */
  readonly leftMs: number;
  /** Processes that live and have carried it out; undefined if the store cannot tell. */
  readonly applied: number | undefined;
  /** Processes that live and have a box of this agent; undefined if the store cannot tell. */
  readonly processes: number | undefined;
}

/** What this process knows of its fleet. */
export interface FleetStatus {
  /** The name of this process in the store. It is new with each start. */
  readonly process: string;
  /** `starting`: no answer yet. `degraded`: the store has not answered for 3 s, and the boxes decide alone (G7). */
  readonly mode: FleetMode;
  /** Why it is degraded: `timeout`, `disconnected`, `permission`, `memory`, `readonly`, `loading`, `cluster` or `error`. */
  readonly why: StoreReason | undefined;
  /** Milliseconds since the last answer of the store. Undefined before the first. */
  readonly ageMs: number | undefined;
  /** Processes that listened when the store last answered. Undefined if it cannot tell. */
  readonly processes: number | undefined;
  readonly circuits: readonly FleetCircuit[];
  readonly actions: readonly FleetActionStatus[];
}

interface Named {
  readonly name: string;
  readonly knowledge: Knowledge;
}

/** With several fleet names, the worst of each. */
export const statusOf = (process: string, fleets: readonly Named[], nowMs: number): FleetStatus => {
  const modes = fleets.map(({ knowledge }) => knowledge.mode);
  const answered = fleets.flatMap(({ knowledge }) => knowledge.answeredMs ?? []);
  const counted = fleets.flatMap(({ knowledge }) => knowledge.listeners.processes ?? []);
  return {
    process,
    mode: (['degraded', 'up'] as const).find((mode) => modes.includes(mode)) ?? 'starting',
    why: fleets.find(({ knowledge }) => knowledge.why !== undefined)?.knowledge.why,
    ageMs: answered.length === 0 ? undefined : nowMs - Math.min(...answered),
    processes: counted.length === 0 ? undefined : Math.min(...counted),
    circuits: fleets.flatMap((fleet) => circuitsOf(fleet, nowMs)),
    actions: fleets.flatMap((fleet) => actionsOf(fleet, nowMs)),
  };
};

const circuitsOf = ({ name, knowledge }: Named, nowMs: number): readonly FleetCircuit[] =>
  [...knowledge.circuits.values()].map((circuit) => circuitOf(name, circuit, nowMs));

const circuitOf = (fleet: string, circuit: Heard<StoredCircuit>, nowMs: number): FleetCircuit => {
  const { id, state, generation, category, waitMs, seenBy, probe, heardMs } = circuit;
  const leaseMs = probe === undefined ? 0 : probe.leaseMs - (nowMs - heardMs);
  const isHeld = probe !== undefined && leaseMs > 0;
  return {
    fleet,
    name: circuitName(id),
    state,
    generation,
    category,
    ageMs: circuit.ageMs + nowMs - heardMs,
    waitMs,
    seenBy,
    holder: isHeld ? probe.holder : undefined,
    leaseMs: isHeld ? leaseMs : undefined,
  };
};

const actionsOf = ({ name, knowledge }: Named, nowMs: number): readonly FleetActionStatus[] =>
  [...knowledge.actions.values()].flatMap((stored) => {
    const { id, leftMs, keptMs, heardMs } = stored;
    const action = actionOf(stored);
    const left = (action?.do === 'force' ? leftMs : keptMs) - (nowMs - heardMs);
    if (action === undefined || left <= 0) return [];
    const { agent, tool, owner } = action;
    const { mode, reason } = action.do === 'force' ? action : { mode: undefined, reason: undefined };
    const { topics } = knowledge.listeners;
    return {
      ...{ fleet: name, id, agent, action: action.do, tool, owner, mode, reason },
      ...{ leftMs: left, applied: topics.get(id), processes: topics.get(agentTopic(agent)) },
    };
  });
