import type { CircuitMode } from '../index.ts';
import type { Model, ModelBox, ModelHome } from './model.ts';
import { close, type ModelCircuit } from './model-circuit.ts';
import { forgetKeys } from './model-keys.ts';

const STRONGEST_FIRST: readonly CircuitMode[] = ['forced_open', 'disabled', 'observe_only'];

/** A4: covers a circuit with the strongest mode that is forced, or brings back what it covered. False if nothing changed. */
export const covering = (model: Model, { forced }: ModelBox, home: ModelHome, circuit: ModelCircuit): boolean => {
  const now = forced.filter(({ tool, untilMs }) => tool === circuit.tool && model.ms < untilMs);
  const wanted = STRONGEST_FIRST.find((mode) => now.some((one) => one.mode === mode));
  const { covered } = circuit;
  if (wanted === (covered && circuit.mode)) return false;
  if (wanted === undefined) uncover(home, circuit);
  else cover(home, circuit, wanted);
  return true;
};

const cover = (home: ModelHome, circuit: ModelCircuit, mode: CircuitMode): void => {
  const { tool } = circuit;
  circuit.covered ??= {
    circuit: { ...circuit, results: [...circuit.results], probing: [] },
    keys: home.keys
      .filter((one) => one.tool === tool && one.blamed)
      .map((one) => ({ ...one, circuit: { ...one.circuit, results: [...one.circuit.results], probing: [] } })),
    keyGeneration: home.keyGenerations.get(tool),
  };
  close(circuit);
  circuit.obeyed = undefined; // G1: it starts again.
  forgetKeys(home, tool);
  circuit.mode = mode;
};

const uncover = (home: ModelHome, circuit: ModelCircuit): void => {
  const { tool, covered } = circuit;
  if (covered === undefined) return;
  const { results } = covered.circuit;
  const generation = circuit.generation + 1; // C7
  Object.assign(circuit, { ...covered.circuit, generation, results: [...results], probing: [], covered: undefined });
  forgetKeys(home, tool);
  if (covered.keyGeneration === undefined) return;
  const later = home.keyGenerations.get(tool) ?? 0;
  home.keyGenerations.set(tool, covered.keyGeneration + later);
  for (const one of covered.keys) {
    const { circuit: ofKey } = one;
    home.keys.push({
      ...one,
      circuit: { ...ofKey, generation: ofKey.generation + later, results: [...ofKey.results], probing: [] },
    });
  }
};

/** C11: a snapshot holds the circuits beneath, with their keys. */
export const beneath = (home: ModelHome): ModelHome => {
  const isCovered = (name: string) => home.circuits.some(({ tool, covered }) => tool === name && covered !== undefined);
  return {
    ...home,
    circuits: home.circuits.map((one) => one.covered?.circuit ?? one),
    keys: [
      ...home.keys.filter(({ tool }) => !isCovered(tool)),
      ...home.circuits.flatMap(({ covered }) => covered?.keys ?? []),
    ],
  };
};
