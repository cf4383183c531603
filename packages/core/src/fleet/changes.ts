import type { BoxContext } from '../box-context.ts';
import type { Breakerbox } from '../breakerbox.ts';
import { CIRCUIT_MODES, type Circuit, type ReportedState } from '../circuit/circuit.ts';
import type { Held } from '../circuit/schedule.ts';
import type { Gate } from '../circuit-store.ts';
import type { TransitionEvent } from '../events.ts';
import { safely } from '../safely.ts';
import type { OrderBook } from './order-book.ts';
import { EVENT_CIRCUIT, type SharedChange } from './seam.ts';

const MODES: ReadonlySet<ReportedState> = new Set(CIRCUIT_MODES as readonly string[] as readonly ReportedState[]);

/** Watches the events of a box, and tells listeners what happened to shared circuits. */
export const watchChanges = (box: Breakerbox, orders: OrderBook) => {
  const { context } = orders;
  const listeners = new Set<(change: SharedChange) => void>();
  /** Changes of state that orders have made, and whose events have not arrived. */
  const own: string[] = [];
  /** Circuits whose granted probe is under way. */
  const granted = new Set<string>();
  const watched = new WeakSet<Gate>();

  const tell = (change: SharedChange): void =>
    queueMicrotask(() => {
      for (const listener of [...listeners]) safely("a listener of the fleet's circuits", () => listener(change));
    });

  const began = (name: string, held: Held | undefined): void => {
    granted.delete(name);
    if (!orders.isGranted(name, held)) return;
    granted.add(name);
    tell({ change: 'probing', name });
  };

  const reopened = (name: string, circuit: Circuit | undefined): void => {
    const isGranted = granted.delete(name);
    // C8: a probe without a verdict that the fleet had not granted is no news.
    const isNews = circuit?.state !== 'open' || circuit.outage.waitFrom === undefined;
    if (isGranted || isNews) tell({ change: isGranted ? 'probe_failed' : 'opened', name });
  };

  const moved = ({ tool: name, from, to, observed }: TransitionEvent): void => {
    orders.refresh(); // In another mode a circuit starts again, a grant for a group may be over, and an event may have grown.
    watchEvent();
    if (!orders.isShared(name)) return;
    const index = own.indexOf(`${name} ${from} ${to}`);
    if (index >= 0) own.splice(index, 1);
    else if (MODES.has(from) || MODES.has(to)) granted.delete(name);
    else if (!observed) report(name, from, to);
  };

  const report = (name: string, from: ReportedState, to: ReportedState): void => {
    if (to === 'half_open') began(name, heldOf(context.shared?.circuits.get(name)?.circuit));
    else if (to === 'open') reopened(name, context.shared?.circuits.get(name)?.circuit);
    else if (from === 'half_open') {
      const isGranted = granted.delete(name);
      if (!isAbsorbed(context, name)) tell({ change: 'closed', name, granted: isGranted });
    }
  };

  /** Looks whether the event that lasts has become the fleet's, because the fleet has opened its circuits. */
  const watchEvent = (): void => {
    const { gate, correlation } = context.shared?.correlations.real ?? {};
    if (gate === undefined || correlation?.event === undefined) return;
    if (watched.has(gate) || !orders.isOfFleet(correlation.event)) return;
    watched.add(gate);
    orders.shareEvent(correlation.event);
    tell({ change: 'opened', name: EVENT_CIRCUIT });
  };

  /** The gate of an event is in no metric and has no events. */
  context.overrides.gateMoved = (gate) => {
    if (!watched.has(gate)) return;
    orders.refresh(); // A grant for its tools may be over.
    if (gate.circuit.state === 'half_open') began(EVENT_CIRCUIT, gate.circuit.outage.held);
    else reopened(EVENT_CIRCUIT, gate.circuit);
  };

  box.on('circuit.transition', moved);
  box.on('systemic.detected', () => {
    orders.refresh();
    watchEvent();
  });
  box.on('systemic.resolved', ({ event, by }) => {
    orders.eventOver();
    orders.refresh();
    granted.delete(EVENT_CIRCUIT);
    if (by !== 'fleet' && orders.isOfFleet(event)) tell({ change: 'recovered', name: EVENT_CIRCUIT, by });
  });

  return {
    onChange: (listener: (change: SharedChange) => void) => {
      const one = (change: SharedChange) => listener(change);
      listeners.add(one);
      return () => void listeners.delete(one);
    },
    /** An order is about to change the state of a circuit. Its event is no news for the fleet. */
    moving: (name: string, before: Circuit, next: Circuit): void => {
      if (before.state === next.state) return;
      // A dropped event must not hide a later one.
      if (own.length === 0) queueMicrotask(() => own.splice(0));
      own.push(`${name} ${before.state} ${next.state}`);
    },
    watchEvent,
  };
};

const heldOf = (circuit: Circuit | undefined): Held | undefined =>
  circuit === undefined || circuit.state === 'closed' ? undefined : circuit.outage.held;

/** C15: whether the tool's group has just opened and represents it. */
const isAbsorbed = (context: BoxContext, name: string): boolean => {
  const group = context.tool(name)?.group;
  return group !== undefined && context.shared?.circuits.get(group.name)?.circuit.state === 'open';
};
