import type { CircuitMode, ErrorCategory, ProbeWait, ReportedState } from '../index.ts';
import type { Rules, When } from './rules.ts';

/** O3: a failure came without a Retry-After. */
export const ANY_TIME = Number.NEGATIVE_INFINITY;

/** A failure that says something of its tool. */
export interface Failed {
  readonly tool: string;
  readonly category: ErrorCategory;
  /** O3: no probe before. */
  readonly notBeforeMs: number;
  /** C14: the key of the call; undefined for one without. */
  readonly key: string | undefined;
  /** C13: the failure is the group's, whatever the other tools of the group do. */
  readonly blamesGroup: boolean;
}

/** The result of a call, as far as it says something of its tool. */
export type Result = 'success' | Failed;

/** One circuit, of a tool or of a group, as the rules tell it: mutable, and with its history where the engine has counts. */
export interface ModelCircuit {
  /** Of a group: `group:NAME`. */
  readonly tool: string;
  rules: Rules;
  mode: CircuitMode;
  state: 'closed' | 'open' | 'half_open';
  /** How often the state has changed (C7). */
  generation: number;
  /** The results of this generation that arrived in time. */
  results: Result[];
  /** C14: the keys that have failed in a row, with the category of each. */
  keyRow: { readonly key: string; readonly category: ErrorCategory }[];
  /** Ids of the permits that hold a slot. */
  probing: number[];
  /** What it opened with, if it is not closed. */
  category: ErrorCategory | undefined;
  /** Which policy opened it (C3), a failed probe, the end of the transport (C13), failures on several keys (C14), on every input (O8), or refusals of a model (L3). */
  trip: 'consecutive' | 'failure_rate' | 'probe' | 'transport' | 'keys' | 'fleet' | 'unusable' | 'custom' | undefined;
  openedAt: When;
  /** P3: where the wait started again, at the end of an event, and its place on the ladder since. */
  waitFrom: When | undefined;
  ladder: { readonly rung: number; readonly dueStep: number } | undefined;
  /** Failed probes since it was closed (P2). */
  failedProbes: number;
  /** C15, S5: the tool whose probe failed last. Others are preferred. */
  avoids: string | undefined;
  /** No probe before (O3). */
  notBeforeMs: number;
  /** G4: when a probe may go, where a fleet says so. */
  held: HeldTime | undefined;
  /** The wait of the fleet's opening, if that is not the cooldown. */
  firstWaitMs: number | undefined;
  /** G1: what the fleet wanted when the circuit last did it. */
  obeyed: { readonly outage: object | undefined } | undefined;
  /** A4: what the mode of an operator covers; nothing changes it but control(). */
  covered: Covered | undefined;
}

/** G4: a probe may go from the first time on, and before the second. */
export interface HeldTime {
  readonly fromMs: number;
  readonly untilMs: number;
}

export const NO_PROBE: HeldTime = { fromMs: 0, untilMs: 0 };

/** The circuit of a key (C14). */
export interface ModelKey {
  readonly tool: string;
  readonly key: string;
  readonly circuit: ModelCircuit;
  /** It was blamed for a failure. */
  blamed: boolean;
}

/** A circuit as it was when an operator took over, with its keys and their generation (C14). */
export interface Covered {
  readonly circuit: ModelCircuit;
  readonly keys: readonly ModelKey[];
  readonly keyGeneration: number | undefined;
}

/** C2. */
export const newCircuit = (tool: string, rules: Rules): ModelCircuit => ({
  tool,
  rules,
  mode: rules.mode,
  state: 'closed',
  generation: 0,
  results: [],
  keyRow: [],
  probing: [],
  category: undefined,
  trip: undefined,
  openedAt: { ms: 0, step: 0 },
  waitFrom: undefined,
  ladder: undefined,
  failedProbes: 0,
  avoids: undefined,
  notBeforeMs: ANY_TIME,
  held: undefined,
  firstWaitMs: undefined,
  obeyed: undefined,
  covered: undefined,
});

export const reported = ({ mode, state }: ModelCircuit): ReportedState => (mode === 'automatic' ? state : mode);

const enter = (circuit: ModelCircuit, state: ModelCircuit['state']): void => {
  circuit.state = state;
  circuit.generation += 1;
  circuit.results = [];
  circuit.keyRow = [];
  circuit.probing = [];
};

/** Closed with nothing on its record: C3 by a probe, C1 by hand, C15 by its group. */
export const close = (circuit: ModelCircuit): void => {
  enter(circuit, 'closed');
  circuit.category = undefined;
  circuit.trip = undefined;
  circuit.waitFrom = undefined;
  circuit.ladder = undefined;
  circuit.failedProbes = 0;
  circuit.avoids = undefined;
  circuit.notBeforeMs = ANY_TIME;
  circuit.held = undefined;
  circuit.firstWaitMs = undefined;
};

export const halfOpen = (circuit: ModelCircuit): void => enter(circuit, 'half_open');

/** C3: the failures since the last success. */
export const failuresInARow = ({ results }: ModelCircuit): readonly Failed[] => {
  const failures: Failed[] = [];
  for (const one of results) {
    if (one === 'success') failures.length = 0;
    else failures.push(one);
  }
  return failures;
};

/** C6: slots that are taken, by probes on their way and by those that have succeeded. */
export const slotsTaken = ({ results, probing }: ModelCircuit): number => results.length + probing.length;

/** What surrounds a circuit when a call of it ends. */
export interface Around {
  readonly at: When;
  /** K1: one failure fewer opens it, but at least one. */
  readonly degraded: boolean;
  /** C14: a call of the tool has succeeded since the box was made. */
  readonly hasSucceeded: boolean;
  /** P3: steps on which others probe. */
  readonly taken: (step: number) => boolean;
}

/** C3, C6: takes in the result of a call of this generation, and says whether the circuit's state changes. */
export const takeIn = (circuit: ModelCircuit, result: Result, around: Around): 'opens' | 'closes' | undefined => {
  if (circuit.state === 'closed') {
    if (!isWeighed(circuit, result)) return undefined;
    circuit.results.push(result);
    if (result === 'success') circuit.keyRow = [];
    else addToRow(circuit, result);
    circuit.trip = tripOf(circuit, result, around);
    if (circuit.trip === undefined) return undefined;
    const ofRow =
      circuit.trip === 'keys' && unblamedKeys(circuit).size < 3 ? commonest(likeLast(circuit.keyRow)) : undefined;
    const all = circuit.results.filter((one) => one !== 'success');
    // O3: with a window, failures before a success may still open the circuit, and their Retry-After holds.
    const counted = circuit.rules.failureRate ? all : failuresInARow(circuit);
    const notBeforeMs = Math.max(...counted.map((one) => one.notBeforeMs));
    const category = (result === 'success' ? all.filter(isStrong).at(-1) : result)?.category ?? 'unknown';
    open(circuit, ofRow ?? category, around.at, notBeforeMs);
    return 'opens';
  }
  circuit.results.push(result);
  if (result !== 'success') {
    const { failedProbes, ladder } = circuit;
    circuit.trip = 'probe';
    circuit.waitFrom = undefined;
    open(circuit, result.category, around.at, result.notBeforeMs);
    circuit.failedProbes = failedProbes + 1;
    // G4, G5: the fleet says when the next one may go, unless its own circuit is closed.
    circuit.held = circuit.held === undefined || circuit.held.untilMs === Infinity ? undefined : NO_PROBE;
    if (result.tool !== circuit.tool) circuit.avoids = result.tool; // C15
    if (ladder !== undefined) climb(circuit, ladder.rung, around);
    return 'opens';
  }
  if (circuit.results.length < circuit.rules.probes) return undefined;
  close(circuit);
  return 'closes';
};

/** C14: the keys cannot be reached, or they turn the tool away. */
const DOWN: readonly ErrorCategory[] = ['network', 'timeout', 'server'];
const OF_KEYS: readonly ErrorCategory[] = [...DOWN, 'permission', 'rate_limit'];

const addToRow = ({ keyRow, rules }: ModelCircuit, { key, category }: Failed): void => {
  if (key === undefined || rules.keysThreshold.later === Infinity || !OF_KEYS.includes(category)) return;
  if (!keyRow.some((one) => one.key === key)) keyRow.push({ key, category });
};

const isFull = ({ keyRow, rules }: ModelCircuit, hasSucceeded: boolean): boolean => {
  const { first, later } = rules.keysThreshold;
  const down = hasSucceeded ? later : first;
  return likeLast(keyRow).length >= (isDown(keyRow.at(-1)) ? down : 2 * later);
};

const isDown = (one: ModelCircuit['keyRow'][number] | undefined) => one === undefined || DOWN.includes(one.category);

/** Keys that are down and keys that turn the tool away count apart. */
const likeLast = (row: ModelCircuit['keyRow']): ModelCircuit['keyRow'] =>
  row.filter((one) => isDown(one) === isDown(row.at(-1)));

const commonest = (row: ModelCircuit['keyRow']): ErrorCategory | undefined => {
  const times = (category: ErrorCategory) => row.filter((one) => one.category === category).length;
  const most = Math.max(...row.map(({ category }) => times(category)));
  return row.find(({ category }) => times(category) === most)?.category;
};

/** C14: a key is blamed. The row may open its tool, which is all that the tool hears of it. */
export const keyFailed = (circuit: ModelCircuit, failed: Failed, around: Around): boolean => {
  addToRow(circuit, failed);
  if (failed.key === undefined || !OF_KEYS.includes(failed.category)) return false;
  const unblamed = unblamedKeys(circuit).size >= 3;
  if (!unblamed && !isFull(circuit, around.hasSucceeded)) return false;
  const waits = failuresInARow(circuit).map((one) => one.notBeforeMs);
  const all = circuit.rules.failureRate
    ? circuit.results.flatMap((one) => (one === 'success' ? [] : one.notBeforeMs))
    : waits;
  const category = unblamed ? failed.category : commonest(likeLast(circuit.keyRow));
  circuit.trip = 'keys';
  open(circuit, category ?? failed.category, around.at, Math.max(ANY_TIME, ...all));
  return true;
};

/** C8: a probe of it has ended without a verdict. It waits as after a failed one, and what opened it stays as it was. */
export const retreat = (circuit: ModelCircuit, tool: string, around: Around): void => {
  const { category, trip, openedAt, notBeforeMs } = circuit;
  takeIn(circuit, { tool, category: 'unknown', notBeforeMs: ANY_TIME, key: undefined, blamesGroup: false }, around);
  Object.assign(circuit, { category, trip, openedAt, notBeforeMs, waitFrom: around.at });
};

/** C13: the categories that may be the group's. */
const GROUP_CATEGORIES: readonly ErrorCategory[] = ['network', 'timeout', 'server', 'resource'];

export const isOfGroup = (category: ErrorCategory): boolean => GROUP_CATEGORIES.includes(category);

/** C13: a group leaves out the failures that are a tool's own. */
const isWeighed = ({ rules }: ModelCircuit, result: Result): boolean =>
  rules.groupThreshold === undefined || result === 'success' || result.blamesGroup || isOfGroup(result.category);

/** O6. */
const isStrong = ({ category }: Failed): boolean => category !== 'unknown';

/** C14: the keys of failures in a row that blame the tool. */
const unblamedKeys = (circuit: ModelCircuit): ReadonlySet<string> =>
  new Set(
    failuresInARow(circuit).flatMap(({ key, category }) =>
      key === undefined || !DOWN.includes(category) ? [] : [key],
    ),
  );

const tripOf = (
  circuit: ModelCircuit,
  result: Result,
  { degraded, hasSucceeded }: Pick<Around, 'degraded' | 'hasSucceeded'>,
): ModelCircuit['trip'] => {
  const { failureThreshold, groupThreshold, failureRate } = circuit.rules;
  const row = failuresInARow(circuit);
  if (groupThreshold !== undefined) {
    if (result !== 'success' && result.blamesGroup) return 'transport';
    const tools = new Set(row.map(({ tool }) => tool));
    return row.length >= failureThreshold && tools.size >= groupThreshold ? 'consecutive' : undefined;
  }
  if (result !== 'success' && result.category === 'unusable' && !circuit.rules.isKey) return 'unusable'; // O8
  const threshold = Math.max(1, degraded ? failureThreshold - 1 : failureThreshold);
  const strong = row.filter((one) => circuit.rules.isKey || isStrong(one)).length;
  if (result !== 'success' && strong + (row.length - strong) / 2 >= threshold) return 'consecutive'; // O6
  if (result !== 'success' && (unblamedKeys(circuit).size >= 3 || isFull(circuit, hasSucceeded))) return 'keys'; // C14
  if (failureRate === undefined) return isRefused(circuit) ? 'custom' : undefined;
  const rated = circuit.results.filter((one) => one === 'success' || isStrong(one));
  const last = rated.slice(-failureRate.windowCalls);
  const share = last.filter((one) => one !== 'success').length / last.length;
  return last.length >= failureRate.minimumCalls && share >= failureRate.rate ? 'failure_rate' : undefined;
};

/** L3: a model that this key may not use, twice in a row. */
const isRefused = ({ results, rules }: ModelCircuit): boolean =>
  results.length >= rules.refusals &&
  results.slice(-rules.refusals).every((one) => one !== 'success' && one.category === 'permission');

/** P3: 3, 6, 12, 20, 20 … steps, and later where another tool probes on that step. */
const climb = (circuit: ModelCircuit, below: number, { at, taken }: Pick<Around, 'at' | 'taken'>): void => {
  const { probeAfterSteps } = circuit.rules;
  const [first = 0] = probeAfterSteps;
  const rung = below === 0 ? first : Math.max(below, Math.min(2 * below, 20));
  let dueStep = at.step + rung;
  while (taken(dueStep)) dueStep += 1;
  circuit.ladder = { rung, dueStep };
};

/** P3: a systemic event is over, and the wait starts again. */
export const restage = (circuit: ModelCircuit, around: Pick<Around, 'at' | 'taken'>): void => {
  if (circuit.state === 'open') {
    circuit.waitFrom = around.at;
    circuit.ladder = undefined;
    if (circuit.rules.bySteps) climb(circuit, 0, around);
  }
  // Its probes are under way: if they fail, it starts at the foot of the ladder.
  if (circuit.state === 'half_open' && circuit.rules.bySteps) circuit.ladder = { rung: 0, dueStep: around.at.step };
};

export const open = (circuit: ModelCircuit, category: ErrorCategory, at: When, notBeforeMs: number): void => {
  enter(circuit, 'open');
  circuit.category = category;
  circuit.openedAt = at;
  circuit.notBeforeMs = notBeforeMs;
};

/** P1, P2, O3, G4: what is left of each wait. `isGranted`: a grant of another circuit lets its probe through. */
export const waits = (circuit: ModelCircuit, { ms, step }: When, lastStepMs: number, isGranted = false): ProbeWait => {
  const { rules, openedAt, failedProbes, notBeforeMs, held, firstWaitMs = rules.cooldownMs } = circuit;
  const wait = failedProbes === 0 ? firstWaitMs : Math.min(firstWaitMs * 2 ** failedProbes, rules.maxCooldownMs);
  if (held !== undefined) {
    if (isGranted || (held.fromMs <= ms && ms < held.untilMs)) return { ms: 0, notBeforeMs: 0 };
    const dueMs = held.fromMs > ms ? held.fromMs : openedAt.ms + wait;
    return { ms: Math.max(1_000, dueMs - ms), notBeforeMs: 0 };
  }
  const from = circuit.waitFrom ?? openedAt;
  const since = rules.byTime === 'while_steps_stand' ? Math.max(from.ms, lastStepMs) : from.ms;
  const byTimeMs = rules.byTime === false ? Infinity : since + wait;
  const latestMs = rules.bySteps ? from.ms + rules.maxCooldownMs : Infinity;
  const steps = rules.probeAfterSteps[failedProbes] ?? rules.probeAfterSteps.at(-1) ?? 0;
  return {
    ...(rules.bySteps && { steps: (circuit.ladder?.dueStep ?? from.step + steps) - step }),
    ms: Math.min(byTimeMs, latestMs) - ms,
    notBeforeMs: Math.max(0, notBeforeMs - ms),
  };
};

export const isDue = ({ steps, ms, notBeforeMs }: ProbeWait): boolean =>
  notBeforeMs === 0 && ((steps !== undefined && steps <= 0) || (ms !== undefined && ms <= 0));

/**
 * C15: the tool whose probe of a group (or of an event) failed probes again after its own wait; the others when the circuit is
 * due. Its Retry-After ends at the same time for all (O3).
 */
export const isDueFor = (circuit: ModelCircuit, tool: string, own: Rules, when: When, lastStepMs: number): boolean => {
  const now = waits(circuit, when, lastStepMs);
  if (circuit.avoids !== tool) return isDue(now);
  const early = { ms: when.ms - own.cooldownMs, step: when.step - (own.probeAfterSteps[0] ?? 0) };
  return isDue({ ...waits(circuit, early, lastStepMs), notBeforeMs: now.notBeforeMs });
};
