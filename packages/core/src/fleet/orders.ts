import type { Circuit } from '../circuit/circuit.ts';
import { type Held, NEVER } from '../circuit/schedule.ts';
import type { ErrorCategory } from '../classify/taxonomy.ts';
import type { Moment } from '../clock.ts';
import type { FleetOrder } from './seam.ts';

/** The opening of the fleet's circuit, by this process's clock. */
export interface FleetOpening {
  readonly category: ErrorCategory;
  /** Monotonic ms. */
  readonly openedMs: number;
  readonly waitMs: number;
}

/** What the fleet wants of a circuit: its orders up to now as one desired state. A circuit that is used later finds it too. */
export interface Wanted {
  /** Undefined: as far as the fleet knows, the circuit need not be open. The same object until the next `hold`. */
  readonly opening: FleetOpening | undefined;
  /** When a probe may go; undefined: by the own schedule. */
  readonly held: Held | undefined;
  /** No probe before this monotonic ms. Only if the fleet has let go; otherwise 0. */
  readonly notBeforeMs: number;
}

/** The desired state after one more order. Pure. */
export const wantedAfter = (before: Wanted | undefined, order: FleetOrder, nowMs: number): Wanted => {
  switch (order.order) {
    case 'hold': {
      const { category, ageMs, waitMs } = order;
      return { opening: { category, openedMs: nowMs - ageMs, waitMs }, held: NEVER, notBeforeMs: 0 };
    }
    case 'grant':
      return { opening: before?.opening, held: { fromMs: nowMs, untilMs: nowMs + order.forMs }, notBeforeMs: 0 };
    case 'recover':
      return { opening: undefined, held: dueFrom(nowMs + order.dueInMs), notBeforeMs: 0 };
    case 'let_go':
      return { opening: undefined, held: undefined, notBeforeMs: nowMs + order.notBeforeMs };
  }
};

const dueFrom = (fromMs: number): Held => ({ fromMs, untilMs: Number.POSITIVE_INFINITY });

/** Whether it is the fleet's permission to send one probe (G4), and not that its circuit is closed. */
export const isGrant = (held: Held | undefined): held is Held =>
  held !== undefined && held !== NEVER && held.untilMs < Number.POSITIVE_INFINITY;

/**
 * The circuit as the fleet wants it; the same object if nothing changes. Pure. Probes that are under way go on. `isNew`: the circuit
 * has not taken up this opening yet. Otherwise a closed one has closed since, and stays closed.
 */
export const ordered = (circuit: Circuit, wanted: Wanted, isNew: boolean, at: Moment): Circuit => {
  const { opening, held, notBeforeMs } = wanted;
  const news = isNew && opening !== undefined ? opened(opening, at) : undefined;
  if (circuit.state === 'closed') {
    if (news === undefined) return circuit;
    const outage = { ...news, category: opening?.category ?? 'unknown', trip: 'fleet', notBeforeMs: 0, held } as const;
    return { state: 'open', generation: circuit.generation + 1, outage };
  }
  const outage = { ...circuit.outage, ...news, held };
  if (held !== undefined) return { ...circuit, outage };
  // A half-open circuit is not asked for its schedule, so it waits in the same way as after a recovery.
  return circuit.state === 'half_open'
    ? { ...circuit, outage: { ...outage, held: dueFrom(notBeforeMs) } }
    : { ...circuit, outage: { ...outage, notBeforeMs: Math.max(outage.notBeforeMs, notBeforeMs) } };
};

/** From now on the wait is the fleet's, also where the own schedule goes on later. */
const opened = ({ openedMs, waitMs }: FleetOpening, at: Moment) => ({
  openedAt: { ...at, ms: openedMs },
  waitMs,
  waitFrom: undefined,
  rung: undefined,
  ladder: undefined,
});

/** The circuit with another time for probes, such as that of the group whose probe the call is too (C15). */
export const heldBy = (circuit: Circuit, held: Held): Circuit =>
  circuit.state === 'closed' ? circuit : { ...circuit, outage: { ...circuit.outage, held } };
