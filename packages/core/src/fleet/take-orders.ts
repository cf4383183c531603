import type { BoxContext } from '../box-context.ts';
import { isAffected } from '../budget/systemic.ts';
import { type Held, NEVER } from '../circuit/schedule.ts';
import { type CircuitStore, circuitMoment } from '../circuit-store.ts';
import type { Moment } from '../clock.ts';
import type { CircuitChanges } from '../overrides.ts';
import type { TrackedCircuit } from '../tracked-circuit.ts';
import type { OrderBook } from './order-book.ts';
import { heldBy, isGrant, ordered, type Wanted } from './orders.ts';
import { EVENT_CIRCUIT } from './seam.ts';

/**
 * Gives circuits what the fleet wants of them, once. Without `changes` the circuits are new: those that the box keeps take it up
 * right afterwards, when they can report it.
 */
export const takeOrders = (
  book: OrderBook,
  circuits: readonly TrackedCircuit[],
  changes: CircuitChanges | undefined,
  at: Moment,
): void => {
  const store = changes?.store ?? book.context.shared;
  if (store === undefined) return;
  for (const tracked of circuits) {
    if (changes === undefined && store.circuits.get(tracked.tool.name) === tracked) continue;
    const wanted = book.wanted(tracked.tool.name);
    if (wanted !== undefined) take(tracked, wanted, store, changes, at);
  }
  if (changes !== undefined) takeEvent(book, changes, at); // An opening may have begun it.
};

const take = (
  tracked: TrackedCircuit,
  wanted: Wanted,
  store: CircuitStore,
  changes: CircuitChanges | undefined,
  at: Moment,
): void => {
  const own = tracked.covered ?? tracked;
  const { mode, circuit } = own;
  const taken = own.ordered as Wanted | undefined;
  if (taken === wanted || mode === 'forced_open' || mode === 'disabled') return;
  own.ordered = wanted;
  const next = ordered(circuit, wanted, taken?.opening !== wanted.opening, circuitMoment(store, at));
  if (next === circuit) return;
  if (own !== tracked || changes === undefined) {
    own.circuit = next;
    return;
  }
  changes.move(tracked, next, at, 'fleet');
};

/** S5: the gate of an event takes up orders as a circuit does. If the fleet's is closed, the event is over. */
const takeEvent = (book: OrderBook, changes: CircuitChanges, at: Moment): void => {
  const wanted = book.wanted(EVENT_CIRCUIT);
  const { gate, correlation } = changes.store.correlations.real;
  const { event } = correlation;
  if (wanted === undefined || gate === undefined || event === undefined || !book.isOfFleet(event)) return;
  const taken = gate.ordered as Wanted | undefined;
  if (taken === wanted) return;
  gate.ordered = wanted;
  if (wanted.held?.untilMs !== Number.POSITIVE_INFINITY) {
    gate.circuit = ordered(gate.circuit, wanted, taken?.opening !== wanted.opening, { ...at, step: 0 });
    return;
  }
  changes.recovered('fleet', at);
  if (changes.store === book.context.shared) book.eventOver();
};

/**
 * C15: a call that may probe a group or an event takes the slots of its tool's circuit too. No other process can, because it has
 * not been granted the outer probe.
 */
export const followGrants = (
  book: OrderBook,
  circuits: readonly TrackedCircuit[],
  changes: CircuitChanges | undefined,
): void => {
  const store = changes?.store ?? book.context.shared;
  if (store === undefined) return;
  const isMember = ({ tool }: TrackedCircuit): boolean => book.context.tool(tool.name)?.group !== undefined;
  // The opening of one circuit may bring an event, and so a grant for others. A group may follow an event, and its members follow it.
  const all = changes === undefined ? circuits : [...store.circuits.values()];
  for (const tracked of all) if (!isMember(tracked)) follow(book, tracked, store);
  for (const tracked of all) if (isMember(tracked)) follow(book, tracked, store);
};

const follow = (book: OrderBook, tracked: TrackedCircuit, store: CircuitStore): void => {
  const { circuit, mode, covered, tool } = tracked;
  if (circuit.state === 'closed' || mode !== 'automatic' || covered !== undefined) return;
  const { held } = circuit.outage;
  if (held === undefined || held.untilMs === Number.POSITIVE_INFINITY) return;
  // A probe that failed has used its own grant up, also after an outer grant, which may be over.
  const given = book.wanted(tool.name)?.held ?? NEVER;
  if (held === NEVER) tracked.usedGrant = given;
  const own = tracked.usedGrant === given ? NEVER : given;
  const longest = outerGrants(book.context, tool.name, store).reduce(
    (most, outer) => (outer.untilMs > most.untilMs ? outer : most),
    own,
  );
  if (longest !== held) tracked.circuit = heldBy(circuit, longest);
};

const outerGrants = (context: BoxContext, name: string, store: CircuitStore): readonly Held[] => {
  const group = context.tool(name)?.group;
  const ofGroup = group && store.circuits.get(group.name);
  const { correlation, gate } = store.correlations.real;
  const outer = [
    ofGroup?.mode === 'automatic' ? ofGroup.circuit : undefined,
    gate !== undefined && isAffected(context.systemic, correlation.event, name) ? gate.circuit : undefined,
  ];
  return outer.flatMap((one) => {
    const held = one === undefined || one.state === 'closed' ? undefined : one.outage.held;
    return isGrant(held) ? [held] : [];
  });
};
