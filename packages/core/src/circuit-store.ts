import { type Correlation, NO_CORRELATION } from './budget/systemic.ts';
import type { Circuit } from './circuit/circuit.ts';
import type { Clock, Moment } from './clock.ts';
import { type Circuits, CopiedCircuits } from './copied-circuits.ts';
import { Probing } from './probes-under-way.ts';
import { type CircuitMemory, NO_CIRCUITS } from './session-memory.ts';
import type { CircuitSpec } from './tool.ts';
import { type KeptCircuit, newCircuit, recalledCircuit, type TrackedCircuit } from './tracked-circuit.ts';

/** Where circuits are kept: those of one session, or those that all sessions of a box share (C12). */
export interface CircuitStore {
  readonly circuits: Circuits;
  readonly probing: Probing;
  /** Restored circuits whose tools are not declared yet (C11). No more are added. */
  readonly kept: Map<string, KeptCircuit>;
  /** The failures that may have one cause (S1): of tools that decide, and of tools that are only observed. */
  readonly correlations: {
    real: CorrelationState;
    dryRun: CorrelationState | undefined;
    /** When a fleet's latest event ended, in monotonic ms. What opened before that is no evidence for another one (G8). */
    fleetEndedMs: number;
  };
  /** The steps of all sessions together; undefined if there is one session. */
  readonly steps: SharedSteps | undefined;
}

/** The failures of several tools, and the gate of the event that they caused. */
export interface CorrelationState {
  correlation: Correlation;
  /** S5: lets one call of an affected tool through as a probe. Undefined without an event, and if only a person or time ends it. */
  gate: Gate | undefined;
  /** The generation of the next gate, so that the probe of an event that is over is late for the next one (C7). */
  generation: number;
}

/** A circuit around a systemic event: open while it lasts, half-open while its probe is under way. */
export interface Gate {
  circuit: Circuit;
  /** What it has taken up of a fleet's orders (G8). */
  ordered?: object | undefined;
}

export interface SharedSteps {
  step: number;
  /** When the latest step was, in monotonic ms. */
  stepMs: number;
}

export const correlationState = (correlation: Correlation = NO_CORRELATION): CorrelationState => ({
  correlation,
  gate: undefined,
  generation: 0,
});

const copyOf = (state: CorrelationState): CorrelationState => ({ ...state, gate: state.gate && { ...state.gate } });

/** Probes that are under way belong to the real gate. */
const dryRunOf = ({ gate, ...state }: CorrelationState): CorrelationState => ({
  ...state,
  gate: gate && { circuit: gate.circuit.state === 'half_open' ? { ...gate.circuit, leases: [] } : gate.circuit },
});

export const circuitStore = (
  { circuits, correlation, dryRunCorrelation }: CircuitMemory,
  steps?: SharedSteps,
): CircuitStore => ({
  circuits: new Map(),
  probing: new Probing(),
  kept: circuits.size === 0 ? NONE : new Map(circuits),
  correlations: {
    real: correlationState(correlation),
    dryRun: dryRunCorrelation && correlationState(dryRunCorrelation),
    fleetEndedMs: Number.NEGATIVE_INFINITY,
  },
  steps,
});

/** Shared by all stores, because nothing is ever put into it. */
const NONE: Map<string, KeptCircuit> = new Map();

/** C1: the dry run begins with everything that has happened so far. */
export const startDryRun = (store: CircuitStore): CorrelationState => {
  store.correlations.dryRun ??= dryRunOf(store.correlations.real);
  return store.correlations.dryRun;
};

/** The circuit of a tool or group that has none yet: restored from what was kept (C11), otherwise closed. */
export const putCircuit = (store: CircuitStore, tool: CircuitSpec, clock: Clock): TrackedCircuit => {
  const kept = store.kept.get(tool.name);
  const tracked = kept === undefined ? newCircuit(tool) : recalledCircuit(tool, kept, clock.now());
  store.kept.delete(tool.name);
  store.circuits.set(tool.name, tracked);
  return tracked;
};

/** The clock of circuits: the session's own, or the steps of all sessions that share them. */
export const circuitMoment = ({ steps }: CircuitStore, own: Moment): Moment =>
  steps === undefined ? own : { ms: own.ms, step: steps.step, stepMs: steps.stepMs };

/** The clock of S1. Steps of many sessions do not show what belongs together, so there it is time alone. */
export const correlationMoment = ({ steps }: CircuitStore, own: Moment): Moment =>
  steps === undefined ? own : { ...own, step: 0 };

/** A copy to look ahead with, at once (C11). Changes to it affect nothing else. */
export const copyStore = (store: CircuitStore): CircuitStore => ({
  ...store,
  circuits: new CopiedCircuits(store.circuits),
  probing: store.probing.copy(),
  correlations: {
    real: copyOf(store.correlations.real),
    dryRun: store.correlations.dryRun && copyOf(store.correlations.dryRun),
    fleetEndedMs: store.correlations.fleetEndedMs,
  },
});

/**
 * The part of a session's memory that is its own (C11). Shared circuits stay with their box, and so do the modes of operators.
 */
export const ownMemory = ({ circuits, kept, correlations, steps }: CircuitStore): CircuitMemory => {
  if (steps !== undefined) return NO_CIRCUITS;
  return {
    circuits: new Map([...[...circuits].map(([name, one]) => [name, one.covered ?? one] as const), ...kept]),
    correlation: correlations.real.correlation,
    dryRunCorrelation: correlations.dryRun?.correlation,
  };
};
