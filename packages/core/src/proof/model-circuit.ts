import type { CircuitMode, ErrorCategory, ProbeWait, ReportedState } from '../index.ts';
import type { Rules, When } from './rules.ts';

/** What a call came to that says something of its tool. */
export type Result = 'success' | { readonly category: ErrorCategory; readonly notBeforeMs: number };

/** One circuit, as the rules tell it: mutable, and with its history where the engine has counts. */
export interface ModelCircuit {
  readonly tool: string;
  readonly rules: Rules;
  mode: CircuitMode;
  state: 'closed' | 'open' | 'half_open';
  /** How often the state has changed (C7). */
  generation: number;
  /** What the calls of this generation came to that settled in time. */
  results: Result[];
  /** Ids of the permits that are probes on their way. */
  probing: number[];
  /** What it opened with, if it isn't closed. */
  category: ErrorCategory | undefined;
  /** Which policy opened it (C3), or a failed probe. */
  trip: 'consecutive' | 'failure_rate' | 'probe' | undefined;
  openedAt: When;
  /** P3: where the wait began anew, at the end of an event; and where it stands on the ladder since. */
  waitFrom: When | undefined;
  ladder: { readonly rung: number; readonly dueStep: number } | undefined;
  /** Failed probes since it was closed (P2). */
  failedProbes: number;
  /** No probe before (O3). */
  notBeforeMs: number;
}

/** C2. */
export const newCircuit = (tool: string, rules: Rules): ModelCircuit => ({
  tool,
  rules,
  mode: rules.mode,
  state: 'closed',
  generation: 0,
  results: [],
  probing: [],
  category: undefined,
  trip: undefined,
  openedAt: { ms: 0, step: 0 },
  waitFrom: undefined,
  ladder: undefined,
  failedProbes: 0,
  notBeforeMs: 0,
});

export const reported = ({ mode, state }: ModelCircuit): ReportedState => (mode === 'automatic' ? state : mode);

const enter = (circuit: ModelCircuit, state: ModelCircuit['state']): void => {
  circuit.state = state;
  circuit.generation += 1;
  circuit.results = [];
  circuit.probing = [];
};

/** Closed with nothing on its record: C3 by a probe, C1 by hand. */
export const close = (circuit: ModelCircuit): void => {
  enter(circuit, 'closed');
  circuit.category = undefined;
  circuit.trip = undefined;
  circuit.waitFrom = undefined;
  circuit.ladder = undefined;
  circuit.failedProbes = 0;
  circuit.notBeforeMs = 0;
};

export const halfOpen = (circuit: ModelCircuit): void => enter(circuit, 'half_open');

/** C3: the failures since the last success. */
export const failuresInARow = ({ results }: ModelCircuit) => {
  const failures: Exclude<Result, 'success'>[] = [];
  for (const one of results) {
    if (one === 'success') failures.length = 0;
    else failures.push(one);
  }
  return failures;
};

/** C6: places that are taken, by probes on their way and by those that have succeeded. */
export const placesTaken = ({ results, probing }: ModelCircuit): number => results.length + probing.length;

/** What surrounds a circuit when a call of it ends. */
export interface Around {
  readonly at: When;
  /** K1: one failure fewer opens it, but never none. */
  readonly degraded: boolean;
  /** P3: steps on which others probe. */
  readonly taken: (step: number) => boolean;
}

/** C3, C6: takes in what a call of this generation came to, and says whether the circuit's state must change. */
export const takeIn = (circuit: ModelCircuit, result: Result, around: Around): 'opens' | 'closes' | undefined => {
  circuit.results.push(result);
  if (circuit.state === 'closed') {
    circuit.trip = tripOf(circuit, result, around.degraded);
    if (circuit.trip === undefined) return undefined;
    const all = circuit.results.filter((one) => one !== 'success');
    // O3: with a window, failures before a success may still open the circuit, and their Retry-After holds.
    const counted = circuit.rules.failureRate ? all : failuresInARow(circuit);
    const notBeforeMs = Math.max(...counted.map((one) => one.notBeforeMs));
    open(circuit, all.at(-1)?.category ?? 'unknown', around.at, notBeforeMs);
    return 'opens';
  }
  if (result !== 'success') {
    const { failedProbes, ladder } = circuit;
    circuit.trip = 'probe';
    circuit.waitFrom = undefined;
    open(circuit, result.category, around.at, result.notBeforeMs);
    circuit.failedProbes = failedProbes + 1;
    if (ladder !== undefined) climb(circuit, ladder.rung, around);
    return 'opens';
  }
  if (circuit.results.length < circuit.rules.probes) return undefined;
  close(circuit);
  return 'closes';
};

const tripOf = (circuit: ModelCircuit, result: Result, degraded: boolean): ModelCircuit['trip'] => {
  const { failureThreshold, failureRate } = circuit.rules;
  const threshold = Math.max(1, degraded ? failureThreshold - 1 : failureThreshold);
  if (result !== 'success' && failuresInARow(circuit).length >= threshold) return 'consecutive';
  if (failureRate === undefined) return undefined;
  const last = circuit.results.slice(-failureRate.windowCalls);
  const share = last.filter((one) => one !== 'success').length / last.length;
  return last.length >= failureRate.minimumCalls && share >= failureRate.rate ? 'failure_rate' : undefined;
};

/** P3: 3, 6, 12, 20, 20 … steps, and later where another tool probes on that step. */
const climb = (circuit: ModelCircuit, below: number, { at, taken }: Pick<Around, 'at' | 'taken'>): void => {
  const { probeAfterSteps } = circuit.rules;
  const rung = below === 0 ? probeAfterSteps : Math.max(below, Math.min(2 * below, 20));
  let dueStep = at.step + rung;
  while (taken(dueStep)) dueStep += 1;
  circuit.ladder = { rung, dueStep };
};

/** P3: a systemic event is over, and the wait begins anew. */
export const restage = (circuit: ModelCircuit, around: Pick<Around, 'at' | 'taken'>): void => {
  if (circuit.state === 'open') {
    circuit.waitFrom = around.at;
    circuit.ladder = undefined;
    if (circuit.rules.bySteps) climb(circuit, 0, around);
  }
  // Its probes are under way: if they fail, it begins at the foot of the ladder.
  if (circuit.state === 'half_open' && circuit.rules.bySteps) circuit.ladder = { rung: 0, dueStep: around.at.step };
};

const open = (circuit: ModelCircuit, category: ErrorCategory, at: When, notBeforeMs: number): void => {
  enter(circuit, 'open');
  circuit.category = category;
  circuit.openedAt = at;
  circuit.notBeforeMs = notBeforeMs;
};

/** P1, P2, O3: what is left of each wait. */
export const waits = (circuit: ModelCircuit, { ms, step }: When, lastStepMs: number): ProbeWait => {
  const { rules, openedAt, failedProbes, notBeforeMs } = circuit;
  const wait = Math.min(rules.cooldownMs * 2 ** failedProbes, rules.maxCooldownMs);
  const from = circuit.waitFrom ?? openedAt;
  const since = rules.byTime === 'while_steps_stand' ? Math.max(from.ms, lastStepMs) : from.ms;
  return {
    ...(rules.bySteps && { steps: (circuit.ladder?.dueStep ?? from.step + rules.probeAfterSteps) - step }),
    ...(rules.byTime !== false && { ms: since + wait - ms }),
    notBeforeMs: Math.max(0, notBeforeMs - ms),
  };
};

export const isDue = ({ steps, ms, notBeforeMs }: ProbeWait): boolean =>
  notBeforeMs === 0 && ((steps !== undefined && steps <= 0) || (ms !== undefined && ms <= 0));
