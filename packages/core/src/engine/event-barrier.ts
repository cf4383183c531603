import { admit, admits, type CircuitMode, fail, isLate, release, retreat } from '../circuit/circuit.ts';
import type { CircuitRegistry } from '../circuit-registry.ts';
import type { CorrelationState, Gate } from '../circuit-store.ts';
import type { Moment } from '../clock.ts';
import { isWithoutVerdict } from '../outcome.ts';
import type { Pass } from '../passes.ts';
import type { Asked, Barrier } from './barrier.ts';

/** S2, S5: a systemic event, and with it the budget of the session (B1). The gate of an event moves silently, by the session's own clock. */
export const eventBarrier: Barrier = {
  of: 'event',

  ask: ({ box, circuits }, asked, mode, _call, at) => {
    const { ledgers } = circuits;
    const side = ledgers.sideOf(mode);
    const isExhausted = ledgers.isExhausted(side);
    const state = side.failures;
    if (state.correlation.event === undefined) return isExhausted ? 'budget_exhausted' : undefined;
    // An event that pauses the session comes before the budget. One that skips its tools comes after it.
    const pausesAll = box.systemic?.decision !== 'skip';
    if (isExhausted && !pausesAll) return 'budget_exhausted';
    if (!pausesAll && !ledgers.isAffected(state, asked.tool)) return undefined;
    if (!admitsAtGate(circuits, asked, mode, at)) return 'systemic';
    return isExhausted ? 'budget_exhausted' : 'probe_due';
  },

  enter: (circuits, { tool, tracked }, mode, _key, at) => {
    const gate = gateFor(circuits, tool, mode);
    if (gate === undefined || tracked === undefined) return undefined;
    const { policy } = tracked.tool;
    const admission = admit(gate.circuit, circuits.box.systemic?.gate ?? policy, at, { tool, policy });
    gate.circuit = admission.circuit;
    return {
      of: 'event',
      mode,
      generation: gate.circuit.generation,
      lease: admission.lease,
    };
  },

  answer: (circuits, permit, ticket, judged, at) => {
    const { outcome, category = 'unknown', retryAfterMs, tokens = 0 } = judged;
    const state = stateOf(circuits, ticket as Pass);
    const { gate } = state;
    const policy = circuits.box.systemic?.gate;
    if (gate === undefined || policy === undefined || isLate(gate.circuit, ticket)) return;
    if (isWithoutVerdict(judged)) gate.circuit = retreat(gate.circuit, ticket, permit.tool, policy, at);
    else if (outcome === 'ignored') gate.circuit = release(gate.circuit, ticket);
    else if (outcome === 'failure') {
      const failure = { durationMs: 0, tokens, category, retryAfterMs, tool: permit.tool };
      gate.circuit = fail(gate.circuit, ticket, failure, policy, at);
    } else circuits.recovered('probe', at, (ticket as Pass).mode);
  },

  release: (circuits, _permit, ticket) => {
    const { gate } = stateOf(circuits, ticket as Pass);
    if (gate !== undefined) gate.circuit = release(gate.circuit, ticket);
  },
};

/** The gate of the event that concerns a tool. */
const gateFor = ({ ledgers }: CircuitRegistry, tool: string, mode: CircuitMode): Gate | undefined => {
  const state = ledgers.sideOf(mode).failures;
  return state.gate !== undefined && ledgers.isAffected(state, tool) ? state.gate : undefined;
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
