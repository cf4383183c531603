import { CIRCUIT_MODES, type Circuit, type ReportedState } from '../circuit/circuit.ts';
import type { Held } from '../circuit/schedule.ts';
import type { Gate } from '../circuit-store.ts';
import type { Change, MovedBy } from '../pending-changes.ts';
import { safely } from '../safely.ts';
import type { OrderBook } from './order-book.ts';
import { EVENT_CIRCUIT, type SharedChange } from './seam.ts';

const MODES: ReadonlySet<ReportedState> = new Set(CIRCUIT_MODES as readonly string[] as readonly ReportedState[]);

type Moved = Extract<Change, { is: 'moved' }>;

/** Watches the changes of a box, and tells listeners what happened to shared circuits. */
export const watchChanges = (orders: OrderBook) => {
  const { context } = orders;
  const listeners = new Set<(change: SharedChange) => void>();
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

  const moved = ({ tool: { name }, from, to, isObserved, by }: Moved): void => {
    orders.refresh(); // In another mode a circuit starts again, a grant for a group may be over, and an event may have grown.
    watchEvent();
    if (!orders.isShared(name) || by === 'fleet') return;
    if (MODES.has(from) || MODES.has(to)) granted.delete(name);
    else if (!isObserved) report(name, from, to, by);
  };

  const report = (name: string, from: ReportedState, to: ReportedState, by: MovedBy): void => {
    if (to === 'half_open') began(name, heldOf(context.shared?.circuits.get(name)?.circuit));
    else if (to === 'open') reopened(name, context.shared?.circuits.get(name)?.circuit);
    else if (from === 'half_open') {
      const isGranted = granted.delete(name);
      if (by !== 'group') tell({ change: 'closed', name, granted: isGranted });
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

  const resolved = ({ event, by }: Extract<Change, { is: 'resolved' }>): void => {
    orders.eventOver();
    orders.refresh();
    granted.delete(EVENT_CIRCUIT);
    if (by !== 'fleet' && orders.isOfFleet(event)) tell({ change: 'recovered', name: EVENT_CIRCUIT, by });
  };

  context.overrides.changed = (change) => {
    if (change.is === 'moved') moved(change);
    else if (change.is === 'resolved') resolved(change);
    else if (change.is === 'detected') {
      orders.refresh();
      watchEvent();
    }
  };

  return {
    onChange: (listener: (change: SharedChange) => void) => {
      const one = (change: SharedChange) => listener(change);
      listeners.add(one);
      return () => void listeners.delete(one);
    },
    watchEvent,
  };
};

const heldOf = (circuit: Circuit | undefined): Held | undefined =>
  circuit === undefined || circuit.state === 'closed' ? undefined : circuit.outage.held;
