import { isIgnoredError } from './judged-ending.ts';
import { tallyLimits } from './limit-tally.ts';
import {
  isFalse,
  newToolTally,
  noOutcomes,
  OF_FAILURES,
  type Opening,
  type OutcomeCounts,
  type Pause,
  type ReachedLimit,
  rejecterOf,
  type ToolTally,
} from './rejections.ts';
import type { SimulatedCall, SimulationObserver } from './simulation-observer.ts';

/** Openings and pauses that a report lists. The tallies count all of them. */
const MAX_LISTED = 5000;
const MAX_DIFFERENCES = 20;
/** Keys of a tool that are told apart. */
const MOST_KEYS = 10_000;
/** Decisions that a recording cannot repeat (T8): they depend on arguments, on checks before the call, or on an operator. */
const NOT_COMPARED: readonly string[] = [
  'repeat',
  'busy',
  'limit_reached',
  'limit_reserved',
  'key_open',
  'key_probe_due',
  'unavailable',
  'forced_open',
  'not_allowed',
  'disabled',
];

/** How the decisions of a live run compare to those of the replay (T8). */
export interface Parity {
  compared: number;
  different: number;
  /** Decisions that depend on what a recording does not have. */
  notCompared: number;
  /** The first 20. */
  readonly differences: { session: string; tool: string; atMs: number; live: string; replay: string }[];
}

/** What a simulation found. */
export interface SimulationTally {
  readonly tools: ReadonlyMap<string, ToolTally>;
  /** The first 5,000, in the order in which they began. */
  readonly openings: readonly Opening[];
  /** The first 5,000. */
  readonly pauses: readonly Pause[];
  /** How many there are, by their cause. */
  readonly pausedBy: Readonly<Record<Pause['by'], number>>;
  /** Limits that would have been reached, the first 5,000. */
  readonly limits: readonly ReachedLimit[];
  /** How many there are. */
  readonly limitsReached: number;
  /** Sessions in which anything was rejected. */
  readonly changedSessions: number;
  /** Those in which it was not only by the loop guard or a limit. */
  readonly sessionsOfFailures: number;
  /** Sessions with a recorded failure. */
  readonly failedSessions: number;
  /** Hours, from midnight UTC on, in which anything failed. */
  readonly failedHours: number;
  readonly parity: Parity;
  readonly lastMs: number;
}

/**
 * Counts what a simulation does.
 * @param isShared the sessions share their circuits (scope `process`)
 */
export const tallySimulation = (
  isShared: boolean,
): { readonly observer: SimulationObserver; close(): SimulationTally } => {
  const tools = new Map<string, ToolTally>();
  const openings: Opening[] = [];
  const open = new Map<string, Opening>();
  const pauses: Pause[] = [];
  const pausedBy = { budget: 0, systemic: 0 };
  const lastPause = new Map<string, Pause>();
  const lastCall = new Map<string, number>();
  const changed = new Set<string>();
  const changedByFailures = new Set<string>();
  const limits = tallyLimits();
  const failed = new Set<string>();
  const failedHours = new Set<number>();
  const parity: Parity = { compared: 0, different: 0, notCompared: 0, differences: [] };
  let lastMs = Number.NEGATIVE_INFINITY;

  /** The circuit of a tool or a group. */
  const keyOf = (session: string, tool: string): string => (isShared ? tool : `${session}\n${tool}`);

  const tallyOf = (tool: string): ToolTally => {
    const known = tools.get(tool) ?? newToolTally(tool);
    tools.set(tool, known);
    return known;
  };

  const keys = new Map<string, Set<string>>();

  const keyFailed = (tool: string, key: string): void => {
    const failing = keys.get(tool) ?? new Set();
    keys.set(tool, failing);
    if (failing.size < MOST_KEYS) failing.add(key);
    const tally = tallyOf(tool);
    tally.keyFailures += 1;
    tally.failedKeys = failing.size;
  };

  const closeOpening = (key: string, atMs: number): void => {
    const opening = open.get(key);
    if (!opening) return;
    open.delete(key);
    const tally = tallyOf(opening.tool);
    tally.openMs += atMs - opening.openedAtMs;
    if (isFalse(opening)) tally.falseOpenings += 1;
  };

  const compare = ({ live, session, tool, atMs, decision, reason, isAfterOperator }: SimulatedCall): void => {
    if (!live) return;
    const isSame = live.reason === reason && live.decision === decision;
    if (NOT_COMPARED.includes(live.reason) || NOT_COMPARED.includes(reason) || (isAfterOperator && !isSame)) {
      parity.notCompared += 1;
      return;
    }
    parity.compared += 1;
    if (isSame) return;
    parity.different += 1;
    if (parity.differences.length < MAX_DIFFERENCES) {
      const said = `${live.decision} (${live.reason})`;
      parity.differences.push({ session, tool, atMs, live: said, replay: `${decision} (${reason})` });
    }
  };

  const rejected = (call: SimulatedCall, outcome: keyof OutcomeCounts): void => {
    const by = rejecterOf(call.reason);
    if (by === undefined) return;
    const counts = tallyOf(call.tool).rejected[by];
    (call.isMeasured ? counts.measured : counts.modelled)[outcome] += 1;
    if (by === 'budget' || by === 'systemic') {
      const pause = lastPause.get(call.session);
      if (pause) pause.rejected[outcome] += 1;
    }
    if (by === 'limit') limits.rejected(call.session, outcome);
    const opening = rejectedBy.get(call);
    if (opening) opening.rejected[outcome] += 1;
  };

  /** The opening that rejected a call. It may close before the recorded end of the call. */
  const rejectedBy = new WeakMap<SimulatedCall, Opening>();

  const observer: SimulationObserver = {
    decided(call) {
      compare(call);
      limits.decided(call);
      if (lastCall.has(call.session)) lastCall.set(call.session, call.atMs);
      const by = rejecterOf(call.reason);
      if (by === undefined) return;
      changed.add(call.session);
      if (OF_FAILURES.includes(by)) changedByFailures.add(call.session);
      if (by !== 'circuit') return;
      const circuit = call.reason === 'group_open' ? `group:${call.group}` : call.tool;
      const opening = open.get(keyOf(call.session, circuit));
      if (opening) rejectedBy.set(call, opening);
    },
    ended(call, judged) {
      const outcome = judged?.outcome ?? 'unknown';
      const tally = tallyOf(call.tool);
      tally.calls[outcome] += 1;
      if (outcome === 'failure') {
        failed.add(call.session);
        failedHours.add(Math.floor(call.atMs / 3_600_000));
      }
      if (judged?.isUnjudged) tally.unjudged += 1;
      if (judged?.category !== undefined && isIgnoredError(judged))
        tally.ignoredErrors[judged.category] = (tally.ignoredErrors[judged.category] ?? 0) + 1;
      if (judged?.blames === 'key' && call.key !== undefined) keyFailed(call.tool, call.key);
      rejected(call, outcome);
      if (call.atMs > lastMs) lastMs = call.atMs;
    },
    moved(session, tool, from, to, atMs, category) {
      const key = keyOf(session, tool);
      if (to === 'closed') {
        const opening = open.get(key);
        if (opening) opening.closedAtMs = atMs;
        closeOpening(key, atMs);
      } else if (from === 'half_open' && to === 'open') {
        const opening = open.get(key);
        if (opening) opening.failedProbes += 1;
      } else if (to === 'open') {
        const counts = { failedProbes: 0, rejected: noOutcomes() };
        const opening: Opening = { session, tool, openedAtMs: atMs, closedAtMs: undefined, category, ...counts };
        open.set(key, opening);
        lastCall.set(session, atMs);
        tallyOf(tool).openings += 1;
        if (openings.length < MAX_LISTED) openings.push(opening);
      }
    },
    paused(session, atMs, by) {
      const pause: Pause = { session, atMs, by, rejected: noOutcomes() };
      lastPause.set(session, pause);
      pausedBy[by] += 1;
      if (pauses.length < MAX_LISTED) pauses.push(pause);
    },
    reached: limits.reached,
  };

  return {
    observer,
    close() {
      // What is open stays so to the end of its session; shared circuits to the end of the recording.
      for (const [key, { session, openedAtMs }] of [...open]) {
        closeOpening(key, Math.max(isShared ? lastMs : (lastCall.get(session) ?? 0), openedAtMs));
      }
      return {
        tools,
        openings,
        pauses,
        pausedBy,
        limits: limits.limits,
        limitsReached: limits.count(),
        changedSessions: changed.size,
        sessionsOfFailures: changedByFailures.size,
        failedSessions: failed.size,
        failedHours: failedHours.size,
        parity,
        lastMs,
      };
    },
  };
};
