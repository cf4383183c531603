import type { CircuitMode } from '../index.ts';
import { accountsOf, circuitOf, count, type Model, type ModelSession, openShadow, tell } from './model.ts';
import { newCycle, recordClosing } from './model-account.ts';
import { arrive, matureAll } from './model-calls.ts';
import { close, reported } from './model-circuit.ts';
import { postClosing, recovered } from './model-sharing.ts';
import { rulesOf } from './rules.ts';

export const step = (model: Model, session: ModelSession): void => {
  arrive(model, session);
  session.step += 1;
  session.stepMs = model.ms;
  const { board } = session.home;
  if (board !== undefined && !session.ended) {
    board.step += 1;
    board.stepMs = model.ms;
  }
  matureAll(model, session);
};

export const resume = (model: Model, session: ModelSession): void => {
  arrive(model, session);
  if (session.ended) return;
  for (const account of accountsOf(session, false)) newCycle(account);
  tell(model, session, 'budget.resumed', session.real.limit, session.real.cycle);
};

export const confirmRecovered = (model: Model, session: ModelSession): void => {
  arrive(model, session);
  if (!session.ended) recovered(model, session, 'operator');
};

/** C1: by hand. False where it is refused: no such tool, or no circuits (B5). */
export const control = (model: Model, session: ModelSession, tool: string, mode: CircuitMode): boolean => {
  if (!session.box.tools.has(tool) || !session.box.keepsCircuits) return false;
  arrive(model, session);
  const circuit = session.ended ? undefined : circuitOf(session, tool);
  if (circuit === undefined || circuit.mode === mode) return true;
  const from = reported(circuit);
  const { category } = circuit;
  close(circuit);
  circuit.mode = mode;
  postClosing(session, tool);
  for (const account of accountsOf(session, false)) recordClosing(account, tool);
  if (mode === 'observe_only') openShadow(session);
  count(model, `transitions|${tool}|${from}|${reported(circuit)}`);
  tell(model, session, 'circuit.transition', tool, `${from}>${reported(circuit)}`, category, false);
  return true;
};

export const declare = (model: Model, session: ModelSession, tool: string): void => {
  if (!session.box.tools.has(tool))
    session.box.tools.set(tool, rulesOf(model.config.defaults ?? {}, 'automatic', model.config.scope));
  if (session.ended || !session.kept.some((one) => one.tool === tool)) return;
  arrive(model, session); // C11: its circuit is there again from now on, as at any call from outside.
  circuitOf(session, tool);
};
