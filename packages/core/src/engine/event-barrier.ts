import { isAffected } from '../budget/systemic.ts';
import { admit, admits, type Circuit, type CircuitMode, fail, giveBack, ignore, isLate } from '../circuit/circuit.ts';
import type { CircuitRegistry } from '../circuit-registry.ts';
import type { CorrelationState, Gate } from '../circuit-store.ts';
import type { Moment } from '../clock.ts';
import type { Pass } from '../passes.ts';
import { type Asked, type Barrier, EVENT_PAUSES } from './barrier.ts';

/** S2: a systemic event. Its gate moves silently, by the session's own clock. */
export const eventBarrier: Barrier = {
  of: 'event',
  when: EVENT_PAUSES,

  ask: ({ box, circuits }, asked, mode, _call, at) => {
    const { event } = circuits.ledgers.sideOf(mode).failures.correlation;
    if (event === undefined) return undefined;
    if (box.systemic?.decision === 'skip' && !isAffected(box.systemic, event, asked.tool)) return undefined;
    return admitsAtGate(circuits, asked, mode, at) ? 'probe_due' : 'systemic';
  },

  enter: (circuits, { tool, tracked }, mode, _key, at) => {
    const gate = gateFor(circuits, tool, mode);
    if (gate === undefined || tracked === undefined) return undefined;
    const { policy } = tracked.tool;
    const { circuit, lease } = admit(gate.circuit, circuits.box.systemic?.gate ?? policy, at, { tool, policy });
    moveGate(circuits, gate, circuit);
    return { of: 'event', mode, generation: circuit.generation, lease };
  },

  answer: (circuits, permit, ticket, judged, at) => {
    const { outcome, category = 'unknown', retryAfterMs, tokens = 0 } = judged;
    const state = stateOf(circuits, ticket as Pass);
    const { gate } = state;
    const policy = circuits.box.systemic?.gate;
    if (gate === undefined || policy === undefined || isLate(gate.circuit, ticket)) return;
    const { circuit } = gate;
    if (outcome === 'success') circuits.recovered('probe', at, (ticket as Pass).mode);
    else if (outcome === 'failure') {
      const failure = { durationMs: 0, tokens, category, retryAfterMs, tool: permit.tool };
      moveGate(circuits, gate, fail(circuit, ticket, failure, policy, at));
    } else moveGate(circuits, gate, ignore(circuit, ticket, { category, tool: permit.tool }, policy, at));
  },

  giveBack: (circuits, _permit, ticket) => {
    const { gate } = stateOf(circuits, ticket as Pass);
    if (gate !== undefined) gate.circuit = giveBack(gate.circuit, ticket);
  },
};

const moveGate = ({ box }: CircuitRegistry, gate: Gate, next: Circuit): void => {
  const before = gate.circuit.state;
  gate.circuit = next;
  if (before !== next.state) box.overrides.gateMoved?.(gate);
};

/** The gate of the event that concerns a tool. */
const gateFor = ({ box, ledgers }: CircuitRegistry, tool: string, mode: CircuitMode): Gate | undefined => {
  const { gate, correlation } = ledgers.sideOf(mode).failures;
  return gate !== undefined && isAffected(box.systemic, correlation.event, tool) ? gate : undefined;
};

/** Whether a call of the tool may go now as the probe of its event. */
const admitsAtGate = (circuits: CircuitRegistry, { tool, spec }: Asked, mode: CircuitMode, at: Moment): boolean => {
  const gate = gateFor(circuits, tool, mode);
  const policy = circuits.box.systemic?.gate;
  if (gate === undefined || policy === undefined || spec === undefined) return false;
  return admits(gate.circuit, policy, at, { tool, policy: spec.policy });
};

/** The correlation state of the event whose gate a call has passed. */
const stateOf = ({ ledgers }: CircuitRegistry, { mode = 'automatic' }: Pass): CorrelationState =>
  ledgers.sideOf(mode).failures;
