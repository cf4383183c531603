import type { Lease } from './circuit/circuit.ts';
import type { CircuitMode } from './circuit/mode.ts';
import type { TrackedCircuit } from './tracked.ts';

/** C15: a circuit that a call passed before that of its tool. */
export interface Pass {
  /** The gate of an event, of what is only observed (C1), or the circuit of a group. */
  readonly of: 'gate' | 'observed_gate' | 'group';
  readonly generation: number;
  /** The slot that the call takes as a probe. */
  readonly lease: Lease | undefined;
}

/** One list for nearly all calls. */
export const NO_PASSES: readonly Pass[] = [];

/** Whether calls of a tool in this mode move the circuit of its group: what is only observed moves no circuit that decides. */
export const feeds = (group: TrackedCircuit, mode: CircuitMode): boolean =>
  group.mode === 'automatic'
    ? mode === 'automatic'
    : group.mode === 'observe_only' && (mode === 'automatic' || mode === 'observe_only');

/** Whether the circuit of a group may reject calls of a tool in this mode; of an observed tool it is only said (C1). */
export const rejects = (group: TrackedCircuit, mode: CircuitMode): boolean =>
  group.mode === 'automatic' || group.mode === 'forced_open' || mode === 'observe_only';
