import type {
  FleetStore,
  Grant,
  Listeners,
  Position,
  ProbeResult,
  Report,
  SentAction,
  StoredAction,
  StoredCircuit,
  Word,
} from './protocol.ts';
import { MOST_GENERATION } from './record-fields.ts';
import {
  type ActionRecord,
  type CircuitRecord,
  CLOCK_STEP_MS,
  isKept,
  storedAction,
  storedCircuit,
  type Versioned,
} from './records.ts';

/** What the store keeps at most. Another circuit pushes out one that is not open, the closed ones first. Another action pushes out one whose mode is not forced any more. */
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
  state ?? { epoch, version: 0, circuits: new Map(), actions: new Map() };

const withCircuit = (state: State, id: string, record: CircuitRecord, moment: Moment): FleetState => {
  const before = born(state, moment);
  const version = before.version + 1;
  const circuits = new Map(before.circuits);
  if (isFull(before, id, moment)) circuits.delete(leastNeeded(before) ?? '');
  circuits.set(id, { version, record });
  return { ...before, version, circuits };
};

const following = (generation: number): number => Math.min(generation + 1, MOST_GENERATION);

const isFull = ({ circuits }: FleetState, id: string, { bounds = BOUNDS }: Moment): boolean =>
  !circuits.has(id) && circuits.size >= bounds.circuits;

/** A closed circuit, or else a pending one: that which has not changed for the longest time. Open ones stay, or they would be reported again. */
const leastNeeded = ({ circuits }: FleetState): string | undefined => {
  const all = [...circuits].map(([id, { version, record }]) => ({ id, version, state: record.s }));
  const oldest = all.sort((a, b) => a.version - b.version);
  return (oldest.find(({ state }) => state === 'closed') ?? oldest.find(({ state }) => state === 'pending'))?.id;
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
    if (state !== undefined && isFull(state, report.id, moment) && leastNeeded(state) === undefined)
      return unchanged(state, storedCircuit(report.id, { version: 0, record: { ...NO_CIRCUIT, s: 'pending' } }, nowMs));
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
  const living = report.living === undefined ? MOST_QUORUM : Math.max(report.living, moment.processes ?? 0);
  if (Object.keys(n).length >= Math.min(report.quorum, living, MOST_QUORUM))
    return changed({ ...open, g: following(circuit.g) }, true);
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
  [id, process, generation, token, leaseMs, isWanted, longestWaitMs = Number.POSITIVE_INFINITY]: Parameters<
    FleetStore['claim']
  >,
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
  if (circuit.t <= nowMs + CLOCK_STEP_MS && nowMs - circuit.t < Math.min(circuit.w, longestWaitMs))
    return unchanged(state, undefined);
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
  if (result.result === 'success') return { s: 'closed', g: following(g), c, t: nowMs, w };
  return { s: 'open', g: following(g), c: result.category, t: nowMs, w: result.waitMs };
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
  const closed: CircuitRecord = { s: 'closed', g: following(g), c, t: moment.nowMs, w };
  return { state: withCircuit(state, id, closed, moment), answer: true, hint: true };
};

/** G8: keeps an action, unless the store has a later one on the same mode. */
export const controlAll = (
  state: State,
  { key, id, body, ageMs, leftMs, keptMs, after }: SentAction,
  moment: Moment,
): Outcome<StoredAction | undefined> => {
  const { nowMs, bounds = BOUNDS } = moment;
  const before = born(state, moment);
  const made = Math.max(nowMs - ageMs, Math.min(after + 1, nowMs + CLOCK_STEP_MS));
  const kept = new Map([...before.actions].filter(([, { record }]) => isKept(record, nowMs)));
  const found = kept.get(key);
  if (found !== undefined && (found.record.m >= made || found.record.i === id))
    return unchanged(state, storedAction(key, found, nowMs));
  if (found === undefined && kept.size >= bounds.actions) {
    const ended = [...kept].filter(([, { record }]) => record.o <= nowMs);
    const [oldest] = ended.sort(([, a], [, b]) => a.record.m - b.record.m || a.version - b.version);
    if (oldest === undefined) return unchanged(state, undefined);
    kept.delete(oldest[0]);
  }
  const version = before.version + 1;
  const action = { version, record: { i: id, b: body, m: made, o: nowMs + leftMs, u: nowMs + keptMs } };
  const actions = kept.set(key, action);
  return { state: { ...before, version, actions }, answer: storedAction(key, action, nowMs), hint: true };
};

/** What has changed since a position (G6). It changes nothing. */
export const readSince = (
  state: State,
  since: Position,
  { nowMs }: Pick<Moment, 'nowMs'>,
): Omit<Word, keyof Listeners> => {
  if (state === undefined)
    return { position: { epoch: '', version: 0 }, circuits: [], actions: [], whole: true, ignored: 0 };
  const { epoch, version } = state;
  const isKnown = since.epoch === epoch && since.version <= version;
  const from = isKnown ? since.version : 0;
  const circuits = [...state.circuits].filter(([, one]) => one.version > from);
  const actions = [...state.actions].filter(([, one]) => one.version > from);
  return {
    position: { epoch, version },
    circuits: circuits.map(([id, one]) => storedCircuit(id, one, nowMs)).sort((a, b) => a.version - b.version),
    actions: actions.flatMap(([key, one]) => storedAction(key, one, nowMs) ?? []).sort((a, b) => a.version - b.version),
    whole: from === 0,
    ignored: 0,
  };
};
