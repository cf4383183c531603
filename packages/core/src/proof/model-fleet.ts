import { circuitNow, type Model, type ModelBox, type ModelSession } from './model.ts';
import { type ModelCircuit, NO_PROBE, open } from './model-circuit.ts';
import { isOfFleet, isShared, noteFleetEvent } from './model-fleet-event.ts';
import { circuitOf, groupOf, isAffected, knownCircuit, usedCircuit } from './model-home.ts';
import { opened } from './model-moves.ts';
import { notice, recovered } from './model-sharing.ts';
import { EVENT, type ModelOrder, type Wish } from './model-wish.ts';

/** The fleet says something to the box. */
export const hear = (model: Model, box: ModelBox, name: string, said: ModelOrder): void => {
  noteFleetEvent(model, box);
  wish(model, box, name, said);
  noteFleetEvent(model, box);
};

const wish = ({ ms }: Model, box: ModelBox, name: string, said: ModelOrder): void => {
  if (box.shared === undefined) return;
  const outage = box.wishes.get(name)?.outage;
  switch (said.order) {
    case 'hold': {
      const { category, ageMs, waitMs } = said;
      box.wishes.set(name, { outage: { category, ms: ms - ageMs, waitMs }, held: NO_PROBE, notBeforeMs: 0 });
      return;
    }
    case 'grant':
      box.wishes.set(name, { outage, held: { fromMs: ms, untilMs: ms + said.forMs }, notBeforeMs: 0 });
      return;
    case 'recover':
      if (name === EVENT) box.shared.fleetEndedMs = ms - (said.ageMs ?? 0);
      // An event that is not there cannot end, and the next one is another one.
      if (name === EVENT && box.shared.real.event === undefined) box.wishes.delete(name);
      else
        box.wishes.set(name, {
          outage: undefined,
          held: { fromMs: ms + said.dueInMs, untilMs: Infinity },
          notBeforeMs: 0,
        });
      return;
    case 'let_go':
      box.wishes.set(name, { outage: undefined, held: undefined, notBeforeMs: ms + said.notBeforeMs });
  }
};

/** At each use, the circuits do what the fleet wants. */
export const obeyFleet = (model: Model, session: ModelSession, circuits: readonly ModelCircuit[]): void => {
  const { wishes } = session.box;
  if (wishes.size === 0) return;
  for (const circuit of circuits) {
    const wish = isShared(model, circuit.tool) ? wishes.get(circuit.tool) : undefined;
    if (wish === undefined) continue;
    if (circuit.covered === undefined) {
      if (comply(model, session, circuit, wish)) announce(model, session, circuit, wish);
      continue;
    }
    const beneath = { ...circuit.covered.circuit }; // A4: what an operator covers hears of it too, and says nothing.
    comply(model, session, beneath, wish);
    circuit.covered = { ...circuit.covered, circuit: beneath };
  }
  obeyAboutEvent(model, session);
};

/** Does what is wanted, once. True if a closed circuit has opened. */
const comply = (model: Model, session: ModelSession, circuit: ModelCircuit, wish: Wish): boolean => {
  const { mode, obeyed } = circuit;
  if (obeyed === wish || mode === 'forced_open' || mode === 'disabled') return false;
  circuit.obeyed = wish;
  const { step } = circuitNow(model, session).when;
  // Without a new opening, a circuit that has closed since stays closed.
  const outage = obeyed?.outage === wish.outage ? undefined : wish.outage;
  const opens = circuit.state === 'closed' && outage !== undefined;
  if (circuit.state === 'closed' && !opens) return false;
  if (opens) {
    open(circuit, outage.category, { ms: outage.ms, step }, Number.NEGATIVE_INFINITY);
    circuit.trip = 'fleet';
  }
  if (outage !== undefined) {
    circuit.openedAt = { ms: outage.ms, step };
    circuit.waitFrom = undefined;
    circuit.ladder = undefined;
    circuit.firstWaitMs = outage.waitMs;
    circuit.failedProbes = 0;
  }
  circuit.held = wish.held;
  if (wish.held !== undefined) return opens;
  if (circuit.state === 'half_open') circuit.held = { fromMs: wish.notBeforeMs, untilMs: Infinity };
  else circuit.notBeforeMs = Math.max(circuit.notBeforeMs, wish.notBeforeMs);
  return opens;
};

/** S1, B3: it is an opening as any other, at the time of the fleet's. */
const announce = (model: Model, session: ModelSession, circuit: ModelCircuit, { outage }: Wish): void =>
  opened(model, session, circuit, 'closed', { ms: outage?.ms ?? model.ms, step: session.step, calls: session.calls });

/** S5, G8: the circuit around an event hears of orders as others do. Where it is closed for all, the event is over. */
const obeyAboutEvent = (model: Model, session: ModelSession): void => {
  const { event, gate } = session.home.real;
  const wish = session.box.wishes.get(EVENT);
  if (wish === undefined || event === undefined || gate === undefined || gate.obeyed === wish) return;
  if (!isOfFleet(model, session.box, event)) return;
  if (wish.held?.untilMs !== Infinity) {
    comply(model, session, gate, wish);
    return;
  }
  gate.obeyed = wish;
  recovered(model, session, 'fleet');
};

/**
 * C15, S5: a circuit that the fleet holds lets a probe through while the group of its tool, or the event that concerns it, was granted
 * one.
 */
export const isGrantedOutside = (model: Model, session: ModelSession, circuit: ModelCircuit): boolean => {
  const { held, mode, covered, tool } = circuit;
  if (held === undefined || held.untilMs === Infinity || mode !== 'automatic' || covered !== undefined) return false;
  const name = groupOf(session.box, tool);
  const group = name === undefined ? undefined : knownCircuit(session.home, name);
  const { real } = session.home;
  const gate = real.event !== undefined && isAffected(model, session, real, tool) ? real.gate : undefined;
  return [group?.mode === 'automatic' ? group : undefined, gate].some(
    (one) => one !== undefined && one.state !== 'closed' && one.held?.untilMs !== Infinity && isHeldOpen(one, model.ms),
  );
};

/** G4: whether a probe may go now. */
export const isHeldOpen = ({ held }: ModelCircuit, ms: number): boolean =>
  held !== undefined && held.fromMs <= ms && ms < held.untilMs;

/** The circuits of a tool that is called: of its group, and its own. A new one does at once what the fleet wants. */
export const calledCircuit = (model: Model, session: ModelSession, tool: string): ModelCircuit | undefined => {
  for (const name of [groupOf(session.box, tool), tool]) {
    if (name === undefined || knownCircuit(session.home, name) !== undefined) continue;
    const made = circuitOf(model, session, name);
    if (made === undefined) continue;
    obeyFleet(model, session, [made]);
    notice(model, session); // B1: an event may have begun.
  }
  return usedCircuit(model, session, tool);
};
