import type { CircuitMode } from '../index.ts';
import {
  count,
  flush,
  type Model,
  type ModelBox,
  type ModelForced,
  type ModelHome,
  type ModelSession,
} from './model.ts';
import { close, type ModelCircuit, reported } from './model-circuit.ts';
import { isKnown, startDryRun } from './model-home.ts';
import { forgetKeys } from './model-keys.ts';
import { closed } from './model-moves.ts';
import { covering } from './model-wanted.ts';

const ACTION: Readonly<Partial<Record<CircuitMode, string>>> = {
  forced_open: 'force_open',
  disabled: 'disable',
  observe_only: 'observe',
};

/** A3: an operator forces a mode, or takes it back (no mode). False where it is refused. What is done is counted (A6). */
export const force = (
  model: Model,
  box: ModelBox,
  forced: Omit<ModelForced, 'mode'> & { readonly mode: CircuitMode | undefined },
): boolean => {
  const { tool, owner, mode } = forced;
  if (!isKnown(box, tool) || !box.keepsCircuits) return false;
  const isIt = (one: ModelForced): boolean => one.tool === tool && one.owner === owner;
  const had = box.forced.some((one) => isIt(one) && model.ms < one.untilMs);
  count(model, `operatorActions|${(mode && ACTION[mode]) ?? 'release'}|${mode || had ? 'done' : 'unknown'}`);
  const others = box.forced.filter((one) => !isIt(one));
  box.forced = mode === undefined ? others : [...others, { ...forced, mode }];
  return true;
};

/** A3, A4: at each use a session's circuits get the modes that are forced now. */
export const obey = (model: Model, session: ModelSession): void => {
  for (const circuit of session.home.circuits) {
    const { category } = circuit;
    const from = reported(circuit);
    if (!covering(model, session.box, session.home, circuit)) continue;
    closed(session, circuit, false);
    if (circuit.mode === 'observe_only') startDryRun(session);
    const to = reported(circuit);
    if (to === from) continue;
    count(model, `transitions|${circuit.tool}|${from}|${to}`);
    flush(model, session, 'circuit.transition', circuit.tool, `${from}>${to}`, category ?? circuit.category, false);
  }
};

/** C1: a mode set in code, beneath that of an operator. The circuit beneath starts again. */
export const controlCovered = (circuit: ModelCircuit, mode: CircuitMode): void => {
  const { covered } = circuit;
  if (covered === undefined || covered.circuit.mode === mode) return;
  const beneath = { ...covered.circuit, mode };
  close(beneath);
  beneath.obeyed = undefined;
  const home = { keys: [...covered.keys], keyGenerations: new Map<string, number>() };
  if (covered.keyGeneration !== undefined) home.keyGenerations.set(circuit.tool, covered.keyGeneration);
  forgetKeys(home as unknown as ModelHome, circuit.tool);
  circuit.covered = { circuit: beneath, keys: [], keyGeneration: home.keyGenerations.get(circuit.tool) };
};
