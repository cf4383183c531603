import type { CircuitMode } from '../index.ts';
import { count, flush, type Model, type ModelSession } from './model.ts';
import { newCycle } from './model-budget.ts';
import { arrive } from './model-calls.ts';
import { close, reported } from './model-circuit.ts';
import { calledCircuit } from './model-fleet.ts';
import { circuitOf, groupOf, isKnown, knownCircuit, sidesOf, startDryRun } from './model-home.ts';
import { forgetKeys } from './model-keys.ts';
import { endRunStep, flushLimits } from './model-limits.ts';
import { closed } from './model-moves.ts';
import { controlCovered } from './model-operator.ts';
import { pass, recovered, show } from './model-sharing.ts';
import { rulesOf } from './rules.ts';

export const step = (model: Model, session: ModelSession): void => {
  arrive(model, session);
  endRunStep(model, session);
  flushLimits(model, session);
  session.step += 1;
  session.stepMs = model.ms;
  const { steps } = session.home;
  if (steps !== undefined) {
    steps.step += 1;
    steps.ms = model.ms;
  }
  pass(model, session);
  show(model, session);
};

export const resume = (model: Model, session: ModelSession): void => {
  arrive(model, session);
  for (const { budget } of sidesOf(session, false)) if (budget) newCycle(budget);
  flush(model, session, 'budget.resumed', session.real.by.limit, session.real.by.cycle);
  flushLimits(model, session);
  show(model, session);
};

export const confirmRecovered = (model: Model, session: ModelSession): void => {
  arrive(model, session);
  recovered(model, session, 'operator');
  flushLimits(model, session);
  show(model, session);
};

/** C1: by hand. False where it is refused: no such tool or group, or no circuits (B5). */
export const control = (model: Model, session: ModelSession, tool: string, mode: CircuitMode): boolean => {
  if (!isKnown(session.box, tool) || !session.box.keepsCircuits) return false;
  arrive(model, session);
  const circuit = knownCircuit(session.home, tool) ?? calledCircuit(model, session, tool);
  if (circuit?.covered !== undefined) controlCovered(circuit, mode);
  else if (circuit !== undefined && circuit.mode !== mode) {
    const from = reported(circuit);
    const { category } = circuit;
    close(circuit);
    circuit.obeyed = undefined; // G1: it starts again.
    forgetKeys(session.home, tool);
    circuit.mode = mode;
    closed(session, circuit, false);
    if (mode === 'observe_only') startDryRun(session);
    count(model, `transitions|${tool}|${from}|${reported(circuit)}`);
    flush(model, session, 'circuit.transition', tool, `${from}>${reported(circuit)}`, category, false);
  }
  flushLimits(model, session);
  show(model, session);
  return true;
};

/** `group`: the hint of an adapter (C13). */
export const declare = (model: Model, session: ModelSession, tool: string, group: string | undefined): void => {
  const { tools, groups } = session.box;
  if (!tools.has(tool)) tools.set(tool, rulesOf(model.config.defaults ?? {}, 'automatic', model.config.scope));
  const own = model.config.tools?.[tool]?.group;
  if (group !== undefined && own === undefined && !groups.has(tool)) groups.set(tool, group);
  const found = [groupOf(session.box, tool) ?? tool, tool].filter((name) =>
    session.kept.some((one) => one.tool === name),
  );
  if (found.length === 0) return;
  arrive(model, session); // C11: its circuits are there again from now on, as at any call from outside.
  for (const name of found) circuitOf(model, session, name);
  flushLimits(model, session);
  show(model, session);
};

/** E7: the session leaves the gauges until it is asked for a decision again. */
export const end = (session: ModelSession): void => {
  session.live = false;
};
