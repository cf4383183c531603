import { type Books, withoutCircuits } from './books.ts';
import type { Clock, Moment } from './clock.ts';
import type { RecoveredBy } from './events.ts';
import type { KeptCircuit, SessionMemory } from './memory.ts';
import { Probing } from './probes.ts';
import type { Opening, SystemicEvent } from './systemic.ts';
import type { ToolSpec } from './tool.ts';
import { newCircuit, recalledCircuit, type TrackedCircuit } from './tracked.ts';

/** Where circuits are kept: those of one session, or those that all sessions of a box share (C12). */
export interface CircuitStore {
  readonly circuits: Map<string, TrackedCircuit>;
  /** The probes on their way. */
  readonly probing: Probing;
  /** Restored circuits whose tools aren't declared yet (C11): there come no more of them. */
  readonly kept: Map<string, KeptCircuit>;
  /** What sessions learn from each other; undefined where there is one session. */
  readonly board: Board | undefined;
}

/** What sessions that share circuits learn from each other, at their next use (C12). */
export interface Board {
  /** Grows with each change. */
  version: number;
  /** Circuits that left closed and aren't back. */
  readonly openings: Map<string, Opening>;
  /** What pauses all of them; whoever has not found it out by the openings is told by it. */
  event: SystemicEvent | undefined;
  /** How often somebody has said that a systemic event is over (S5). */
  recoveries: number;
  recoveredBy: RecoveredBy;
  /** Steps of all sessions together, and when the last of them was. */
  step: number;
  stepMs: number;
}

/** A store with nothing in it. */
export const circuitStore = (board?: Board, kept: ReadonlyMap<string, KeptCircuit> = NONE): CircuitStore => ({
  circuits: new Map(),
  probing: new Probing(),
  kept: kept.size === 0 ? NONE : new Map(kept),
  board,
});

/** One for all stores, since nothing is ever put into it. */
const NONE: Map<string, KeptCircuit> = new Map();

export const createBoard = (ms: number): Board => ({
  version: 0,
  openings: new Map(),
  event: undefined,
  recoveries: 0,
  recoveredBy: 'operator',
  step: 0,
  stepMs: ms,
});

/** The circuit of a declared tool that has none yet: as it was kept (C11), else closed (C2). */
export const putCircuit = (store: CircuitStore, tool: ToolSpec, clock: Clock): TrackedCircuit => {
  const kept = store.kept.get(tool.name);
  const tracked = kept === undefined ? newCircuit(tool) : recalledCircuit(tool, kept, clock.now());
  store.kept.delete(tool.name);
  store.circuits.set(tool.name, tracked);
  return tracked;
};

/** Tells the other sessions of an opening; `undefined`: the circuit has closed. */
export const post = (board: Board, tool: string, opening: Opening | undefined): void => {
  if (opening === undefined) board.openings.delete(tool);
  else if (!board.openings.has(tool)) board.openings.set(tool, opening);
  board.version += 1;
};

/** Tells the other sessions of what pauses them all. */
export const postEvent = (board: Board, event: SystemicEvent): void => {
  board.event = event;
  board.version += 1;
};

/** Tells the other sessions that a systemic event is over. */
export const postRecovery = (board: Board, by: RecoveredBy): void => {
  board.recoveredBy = by;
  board.openings.clear();
  board.event = undefined;
  board.recoveries += 1;
  board.version += 1;
};

/** The clock that circuits go by: the session's own, or the steps of all that share them. */
export const circuitMoment = ({ board }: CircuitStore, own: Moment): Moment =>
  board === undefined ? own : { ms: own.ms, step: board.step, stepMs: board.stepMs };

/** What a session keeps of its own (C11): circuits that sessions share stay with their box (C12). */
export const ownMemory = (
  { circuits, kept, board }: CircuitStore,
  books: Books,
): Pick<SessionMemory, 'books' | 'circuits'> =>
  board === undefined
    ? { books, circuits: new Map([...circuits, ...kept]) }
    : { books: withoutCircuits(books), circuits: new Map() };
