import type { ErrorCategory } from '../index.ts';
import { count, flush, type Model, type ModelSession } from './model.ts';
import { circuitClosed, circuitOpened, followEvent } from './model-budget.ts';
import { close, type ModelCircuit } from './model-circuit.ts';
import { absorb, categoryOf, eventReport, recordClosing, recordOpening } from './model-correlation.ts';
import { correlating, membersOf, sidesOf } from './model-home.ts';
import type { When } from './rules.ts';

/** A change of state is told, and counted unless the circuit is only observed. */
export const toldMove = (
  model: Model,
  session: ModelSession,
  circuit: ModelCircuit,
  from: string,
  category: ErrorCategory | undefined,
): void => {
  const observed = circuit.mode === 'observe_only';
  flush(model, session, 'circuit.transition', circuit.tool, `${from}>${circuit.state}`, category, observed);
  if (observed) return;
  count(model, `transitions|${circuit.tool}|${from}|${circuit.state}`);
  if (from === 'closed') model.counted.set(`openedTime|${circuit.tool}|${category}`, model.ms);
};

/** A circuit has closed, of itself or by hand. */
export const closed = (session: ModelSession, circuit: ModelCircuit, observed: boolean): void => {
  for (const { correlation, budget } of sidesOf(session, observed)) {
    recordClosing(correlation, circuit.tool);
    if (budget) circuitClosed(budget, circuit.tool);
  }
};

/** S1, B3, C15: a circuit has opened; a group's that was closed takes the place of its members. */
export const opened = (
  model: Model,
  session: ModelSession,
  circuit: ModelCircuit,
  from: ModelCircuit['state'],
  at: When,
): void => {
  const { tool, category = 'unknown', mode } = circuit;
  const absorbed = from === 'closed' ? absorbedBy(session, circuit) : [];
  const isMember = (name: string) => absorbed.some((one) => one.tool === name);
  const around = correlating(model, session);
  const opening = { id: nextId(model), tool, category, at: correlated(session, at) };
  const known = session.home.real.event;
  for (const { correlation, budget } of sidesOf(session, mode === 'observe_only')) {
    // S3: another session may have begun an event, which comes before what its group has cost.
    if (absorbed.length > 0 && budget !== undefined) followEvent(budget, correlation, around);
    if (absorbed.length > 0) absorb(correlation, tool, isMember);
    const isListed = correlation.openings.some((one) => one.tool === tool);
    if (opening.at.ms >= session.home.fleetEndedMs && category !== 'unusable')
      recordOpening(correlation, opening, around);
    if (budget === undefined) continue;
    const facts = { opening, at, wasClosed: from === 'closed', isListed, isMember: groupOnly(circuit, isMember) };
    circuitOpened(budget, facts, correlation, around);
    followEvent(budget, correlation, around);
  }
  for (const one of absorbed) takeBack(model, session, one);
  toldMove(model, session, circuit, from, category);
  if (known === undefined) detected(model, session);
};

const groupOnly = ({ rules }: ModelCircuit, isMember: (tool: string) => boolean) =>
  rules.groupThreshold === undefined ? undefined : isMember;

/** C15: the circuits that a group represents once it is open. */
const absorbedBy = ({ home, box }: ModelSession, group: ModelCircuit): readonly ModelCircuit[] => {
  const members = membersOf(box, group.tool);
  return home.circuits.filter(({ tool, mode }) => members.includes(tool) && mode === group.mode);
};

const takeBack = (model: Model, session: ModelSession, circuit: ModelCircuit): void => {
  const { state, category, mode } = circuit;
  close(circuit);
  if (state !== 'closed') toldMove(model, session, circuit, state, category);
  if (mode === 'observe_only') return;
  for (const key of [...model.counted.keys()].filter((one) => one.startsWith(`openedTime|${circuit.tool}|`)))
    model.counted.set(key, Number.NaN);
};

export const nextId = (model: Model): number => {
  model.seen += 1;
  return model.seen;
};

/** C12: where sessions share circuits, correlation goes by time alone. */
export const correlated = ({ home }: ModelSession, at: When): When => (home.steps ? { ms: at.ms, step: 0 } : at);

/** S1: if there is an event now, it has just begun. */
export const detected = (model: Model, session: ModelSession): void => {
  const { event } = session.home.real;
  if (event === undefined) return;
  count(model, `systemicEvents|${categoryOf(event) ?? '_MIXED'}|${eventReport(event).layer}`);
  for (const tool of new Set(event.openings.map((one) => one.tool))) count(model, `systemicTools|${tool}`);
  flush(model, session, 'systemic.detected', JSON.stringify(eventReport(event)));
};
