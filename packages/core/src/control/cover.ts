import type { Circuit } from '../circuit/circuit.ts';
import { forgetKeys, type KeyCircuits } from '../circuit/key-circuits.ts';
import { type TrackedCircuit, takeOver } from '../tracked-circuit.ts';
import type { ForcedMode } from './forced-modes.ts';

/**
 * A4: puts an operator's mode over a circuit, or replaces it, or (`undefined`) takes it away. What it covers is kept, and comes back
 * as it was. Results of calls under way are late each time (C7).
 */
export const cover = (tracked: TrackedCircuit, mode: ForcedMode | undefined): void => {
  const { covered } = tracked;
  if (mode === undefined) {
    if (covered !== undefined) uncover(tracked, covered);
    return;
  }
  tracked.covered = covered ?? { ...tracked };
  takeOver(tracked, mode);
};

const uncover = (tracked: TrackedCircuit, { mode, circuit, openedBy, keys, ordered }: TrackedCircuit): void => {
  const forgotten = forgetKeys(tracked.keys);
  tracked.mode = mode;
  tracked.circuit = idle(circuit, tracked.circuit.generation + 1);
  tracked.openedBy = openedBy;
  tracked.keys = keys === undefined ? forgotten : laterKeys(keys, forgotten?.generation ?? 0);
  tracked.covered = undefined;
  tracked.ordered = ordered;
};

/** The circuit in a later generation. Its probes under way are late, so their slots are free. */
const idle = (circuit: Circuit, generation: number): Circuit =>
  circuit.state === 'half_open' ? { ...circuit, generation, leases: [] } : { ...circuit, generation };

const laterKeys = ({ circuits, generation }: KeyCircuits, later: number): KeyCircuits => ({
  circuits: new Map([...circuits].map(([key, circuit]) => [key, idle(circuit, circuit.generation + later)])),
  generation: generation + later,
});
