import type { FleetStore, Grant, Listeners, Position, ProbeResult, Report, StoredCircuit, Word } from './protocol.ts';
import {
  type ActionRecord,
  type CircuitRecord,
  CLOCK_STEP_MS,
  storedAction,
  storedCircuit,
  type Versioned,
} from './records.ts';

/** What the store keeps at most. More circuits or actions push out others: the closed ones first, then the oldest. */
export interface Bounds {
  readonly circuits: number;
  readonly actions: number;
}

export const BOUNDS: Bounds = { circuits: 1_000, actions: 200 };

/** At most so many processes can be asked for as a quorum. */
export const MOST_QUORUM = 16;

/** Everything that the processes of a fleet share. */
export interface FleetState {
  readonly epoch: string;
  readonly version: number;
  /** When a circuit that was not closed was last pushed out: processes of an earlier version hear everything again. */
  readonly droppedAt: number;
  readonly circuits: ReadonlyMap<string, Versioned<CircuitRecord>>;
  readonly actions: ReadonlyMap<string, Versioned<ActionRecord>>;
}

/** What a request finds: the time of the store, the epoch that a store without data would get, and how many processes listen. */
export interface Moment {
  readonly nowMs: number;
  readonly epoch: string;
  readonly processes: number | undefined;
  readonly bounds?: Bounds;
}

/** The store after a request, its answer, and whether the other processes should hear of it at once. */
export interface Outcome<Answer> {
  readonly state: FleetState | undefined;
  readonly answer: Answer;
  readonly hint: boolean;
}

type State = FleetState | undefined;

const NO_CIRCUIT: CircuitRecord = { s: 'closed', g: 0, c: 'unknown', t: 0, w: 0 };

const unchanged = <Answer>(state: State, answer: Answer): Outcome<Answer> => ({ state, answer, hint: false });

const born = (state: State, { epoch }: Moment): FleetState =>
  state ?? { epoch, version: 0, droppedAt: 0, circuits: new Map(), actions: new Map() };

const withCircuit = (state: State, id: string, record: CircuitRecord, moment: Moment): FleetState => {
  const before = born(state, moment);
  const version = before.version + 1;
  const circuits = new Map(before.circuits);
  let { droppedAt } = before;
  if (!circuits.has(id) && circuits.size >= (moment.bounds ?? BOUNDS).circuits) {
    const dropped = leastNeeded(circuits);
    if (circuits.get(dropped)?.record.s !== 'closed') droppedAt = version;
    circuits.delete(dropped);
  }
  circuits.set(id, { version, record });
  return { ...before, version, droppedAt, circuits };
};

/** A closed circuit, or else the one that has not changed for the longest time. */
const leastNeeded = (circuits: FleetState['circuits']): string => {
  const all = [...circuits].map(([id, { version, record }]) => ({ id, version, isClosed: record.s === 'closed' }));
  all.sort((a, b) => Number(b.isClosed) - Number(a.isClosed) || a.version - b.version);
  return all[0]?.id ?? '';
};

const answered = (state: FleetState, id: string, { nowMs }: Moment): StoredCircuit => {
  const circuit = state.circuits.get(id);
  if (circuit === undefined) throw new Error(`The store has no circuit ${id}.`);
  return storedCircuit(id, circuit, nowMs);
};

/** What a process says again within this time is the same message: a report, or a claim that renews a lease. */
export const RENEWED_MS = 5_000;

/** G3: a process saw a circuit open. */
export const reportOpening = (state: State, report: Report, moment: Moment): Outcome<StoredCircuit> => {
  const { nowMs } = moment;
  const found = state?.circuits.get(report.id);
  const circuit = found?.record ?? NO_CIRCUIT;
  const changed = (record: CircuitRecord, hint: boolean): Outcome<StoredCircuit> => {
    const after = withCircuit(state, report.id, record, moment);
    return { state: after, answer: answered(after, report.id, moment), hint };
  };
  const open = { s: 'open', c: report.category, t: nowMs, w: report.waitMs } as const;
  // G7: the store has lost what this process knew. The newer generation wins.
  if (report.generation > circuit.g)
    return changed({ ...open, g: report.generation, t: nowMs - Math.min(report.ageMs, report.waitMs) }, true);
  if (found !== undefined && (report.generation > 0 || circuit.s === 'open'))
    return unchanged(state, storedCircuit(report.id, found, nowMs));
  const seen = Object.entries(circuit.n ?? {}).filter(([, ms]) => nowMs - ms < report.windowMs);
  const n = { ...Object.fromEntries(seen), [report.process]: nowMs };
  const living = Math.max(report.living ?? 0, moment.processes ?? 0) || MOST_QUORUM;
  if (Object.keys(n).length >= Math.min(report.quorum, living, MOST_QUORUM))
    return changed({ ...open, g: circuit.g + 1 }, true);
  const saidMs = circuit.n?.[report.process] ?? Number.NEGATIVE_INFINITY;
  if (found !== undefined && saidMs <= nowMs && nowMs - saidMs < RENEWED_MS)
    return unchanged(state, storedCircuit(report.id, found, nowMs));
  return changed({ ...open, s: 'pending', g: circuit.g, n }, false);
};

/** Whether a lease lasts. No lease of this policy is longer than `leaseMs`: one that seems so is of a clock that was ahead. */
const isLeased = ({ h, u = 0 }: CircuitRecord, leaseMs: number, nowMs: number): boolean =>
  h !== undefined && u > nowMs && u <= nowMs + leaseMs + CLOCK_STEP_MS;

/** G4: a process asks for the one probe. */
export const claimProbe = (
  state: State,
  [id, process, generation, token, leaseMs, isWanted]: Parameters<FleetStore['claim']>,
  moment: Moment,
): Outcome<Grant | undefined> => {
  const { nowMs } = moment;
  const circuit = state?.circuits.get(id)?.record;
  if (state === undefined || circuit?.s !== 'open' || circuit.g !== generation) return unchanged(state, undefined);
  const grant = { epoch: state.epoch, generation, token };
  const changed = (record: CircuitRecord, answer: Grant | undefined, hint = false): Outcome<Grant | undefined> => ({
    state: withCircuit(state, id, record, moment),
    answer,
    hint,
  });
  if (isLeased(circuit, leaseMs, nowMs)) {
    const isOwn = circuit.h === process && circuit.k === token;
    if (isOwn && nowMs + leaseMs - (circuit.u ?? 0) >= RENEWED_MS)
      return changed({ ...circuit, u: nowMs + leaseMs }, grant);
    if (!isOwn && isWanted && circuit.d === undefined) return changed({ ...circuit, d: 1 }, undefined, true);
    return unchanged(state, isOwn ? grant : undefined);
  }
  if (circuit.t <= nowMs + CLOCK_STEP_MS && nowMs - circuit.t < circuit.w) return unchanged(state, undefined);
  const { d: _, ...free } = circuit;
  return changed({ ...free, h: process, k: token, u: nowMs + leaseMs }, grant);
};

/** G4: what became of the probe. Epoch, generation and token must be those of the claim, and its lease must last. */
export const settleProbe = (
  state: State,
  [id, process, grant, result]: Parameters<FleetStore['settle']>,
  moment: Moment,
): Outcome<'done' | 'stale'> => {
  const { nowMs } = moment;
  const circuit = state?.circuits.get(id)?.record;
  const isOurs =
    state?.epoch === grant.epoch &&
    circuit?.g === grant.generation &&
    circuit.h === process &&
    circuit.k === grant.token &&
    (circuit.u ?? 0) > nowMs;
  if (!isOurs) return unchanged(state, 'stale');
  return {
    state: withCircuit(state, id, settled(circuit, result, nowMs), moment),
    answer: 'done',
    hint: result.result === 'success' || circuit.d !== undefined,
  };
};

const settled = ({ s, g, c, t, w }: CircuitRecord, result: ProbeResult, nowMs: number): CircuitRecord => {
  if (result.result === 'returned') return { s, g, c, t, w };
  if (result.result === 'success') return { s: 'closed', g: g + 1, c, t: nowMs, w };
  return { s: 'open', g: g + 1, c: result.category, t: nowMs, w: result.waitMs };
};

/** Closes a circuit without a probe. */
export const endOutage = (
  state: State,
  [id, generation]: Parameters<FleetStore['end']>,
  moment: Moment,
): Outcome<boolean> => {
  const circuit = state?.circuits.get(id)?.record;
  if (circuit?.s !== 'open' || circuit.g !== generation) return unchanged(state, false);
  const { g, c, w } = circuit;
  const closed: CircuitRecord = { s: 'closed', g: g + 1, c, t: moment.nowMs, w };
  return { state: withCircuit(state, id, closed, moment), answer: true, hint: true };
};

/** G8: adds an action. */
export const controlAll = (
  state: State,
  { id, body, forMs }: Parameters<FleetStore['control']>[0],
  moment: Moment,
): Outcome<void> => {
  if (state?.actions.has(id)) return unchanged(state, undefined);
  const before = born(state, moment);
  const version = before.version + 1;
  const record = { b: body, u: moment.nowMs + forMs, m: version };
  const actions = new Map(room(before.actions, moment)).set(id, { version, record });
  return { state: { ...before, version, actions }, answer: undefined, hint: true };
};

/** Drops what is over, and the oldest action if there are too many. */
const room = (actions: FleetState['actions'], { nowMs, bounds = BOUNDS }: Moment): FleetState['actions'] => {
  const left = [...actions]
    .filter(([, { record }]) => record.u > nowMs)
    .sort(([, a], [, b]) => a.record.m - b.record.m);
  return new Map(left.slice(Math.max(0, left.length - bounds.actions + 1)));
};

/** What has changed since a position (G6). It changes nothing. */
export const readSince = (
  state: State,
  since: Position,
  { nowMs }: Pick<Moment, 'nowMs'>,
): Omit<Word, keyof Listeners> => {
  if (state === undefined) return { position: { epoch: '', version: 0 }, circuits: [], actions: [], whole: true };
  const { epoch, version, droppedAt } = state;
  const isKnown = since.epoch === epoch && since.version <= version && since.version >= droppedAt;
  const from = isKnown ? since.version : 0;
  const circuits = [...state.circuits].filter(([, one]) => one.version > from);
  const actions = [...state.actions].filter(([, one]) => one.version > from);
  return {
    position: { epoch, version },
    circuits: circuits.map(([id, one]) => storedCircuit(id, one, nowMs)).sort((a, b) => a.version - b.version),
    actions: actions.flatMap(([id, one]) => storedAction(id, one, nowMs) ?? []).sort((a, b) => a.made - b.made),
    whole: from === 0,
  };
};
