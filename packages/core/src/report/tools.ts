import type { Route } from '../capability/route.ts';
import type { ReportedState } from '../circuit/mode.ts';
import type { ProbeWait } from '../circuit/schedule.ts';
import type { Trip } from '../circuit/trips/counts.ts';
import type { FreshnessKind } from '../freshness.ts';
import { circuitNameOf, groupNameOf } from '../groups.ts';
import type { ErrorCategory } from '../outcome/taxonomy.ts';
import { decisionOf, isExecuted, type Reason, type SystemicDecision } from '../reasons.ts';
import type { ToolTally } from '../tally.ts';
import type { CircuitView } from '../view.ts';
import { type Counts, countsOf, entriesOf, millis } from './values.ts';

/** A tool's health, and the results of its calls (Q1). */
export interface ToolReport {
  readonly tool: string;
  /** Null: the tool has no circuit, because it was never declared or the box keeps none (B5). */
  readonly state: ReportedState | null;
  /** Its group; null without one (C13). */
  readonly group: string | null;
  /** The state of its group's circuit, which rejects its calls too; null without a group. */
  readonly groupState: ReportedState | null;
  /** The category that its circuit opened with; null when closed. */
  readonly category: ErrorCategory | null;
  /** The policy that opened it (C3), or a failed probe; null when closed. */
  readonly trip: Trip | null;
  /** Milliseconds since the latest opening; null when closed. */
  readonly openForMs: number | null;
  /** The wait until the next probe; null unless open. */
  readonly nextProbe: ProbeReport | null;
  /** Counts the changes of its circuit's state; null without a circuit. */
  readonly generation: number | null;
  /** Failures in a row while closed. */
  readonly failuresInRow: number;
  /** Number of its keys whose circuit is not closed (C14). */
  readonly openKeys: number;
  readonly calls: CallReport;
  /** Calls that were not made, by reason, and their fallbacks (R2). */
  readonly heldUp: HeldUpReport;
  /** Calls that were made only because the circuit is observed (C1). */
  readonly wouldHaveBeenHeldUp: number;
  /** Tokens spent on failed calls (O4). */
  readonly tokensWasted: number;
  /** Results that may not be current, by label (F1). */
  readonly labels: Counts<FreshnessKind>;
}

/** The wait until a probe: by steps or by time, the one that is reached first, but never before `notBeforeMs`. */
export interface ProbeReport {
  /** Steps left, 0 when due; null if the schedule counts no steps. */
  readonly steps: number | null;
  /** Milliseconds left, 0 when due; null if the schedule counts no time. */
  readonly ms: number | null;
  /** Milliseconds left of a Retry-After; 0 for none (O3). */
  readonly notBeforeMs: number;
}

/** Calls that were made. The difference to succeeded, failed and ignored is calls that have not settled. */
export interface CallReport {
  readonly made: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly ignored: number;
}

/** Calls that were not made. */
export interface HeldUpReport {
  readonly skipped: number;
  readonly paused: number;
  readonly reasons: Counts<Reason>;
  readonly routes: Counts<Route['kind']>;
  /** Tools that were named as alternatives, most often named first. */
  readonly alternatives: readonly { readonly tool: string; readonly times: number }[];
}

/** Tools with a circuit in the order of their first use, then those that were called without one. */
export const reportTools = (
  circuits: readonly CircuitView[],
  tallies: ReadonlyMap<string, ToolTally>,
  systemic: SystemicDecision,
): readonly ToolReport[] => {
  const known = new Map(circuits.map((circuit) => [circuit.tool, circuit]));
  const tools = [...known.keys()].filter((name) => groupNameOf(name) === undefined);
  return [...new Set([...tools, ...tallies.keys()])].map((tool) => {
    const circuit = known.get(tool);
    const group = circuit?.group === undefined ? undefined : known.get(circuitNameOf(circuit.group));
    return reportTool(tool, { circuit, group, tally: tallies.get(tool), systemic });
  });
};

interface ToolFacts {
  readonly circuit: CircuitView | undefined;
  /** The circuit of its group. */
  readonly group: CircuitView | undefined;
  readonly tally: ToolTally | undefined;
  /** The decision of a systemic event in this box (S2). */
  readonly systemic: SystemicDecision;
}

const reportTool = (tool: string, { circuit, group, tally, systemic }: ToolFacts): ToolReport => {
  const decisions = entriesOf<Reason>(tally?.decisions);
  const sum = (belongs: (reason: Reason) => boolean) =>
    decisions.reduce((total, [reason, times]) => (belongs(reason) ? total + times : total), 0);
  return {
    tool,
    state: circuit?.state ?? null,
    group: circuit?.group ?? null,
    groupState: group?.state ?? null,
    category: circuit?.category ?? null,
    trip: circuit?.trip ?? null,
    openForMs: circuit?.openForMs === undefined ? null : millis(circuit.openForMs),
    nextProbe: circuit?.nextProbe === undefined ? null : probeReport(circuit.nextProbe),
    generation: circuit?.generation ?? null,
    failuresInRow: circuit?.failures ?? 0,
    openKeys: circuit?.openKeys ?? 0,
    calls: {
      made: sum(isExecuted),
      succeeded: tally?.succeeded ?? 0,
      failed: tally?.failed ?? 0,
      ignored: tally?.ignored ?? 0,
    },
    heldUp: {
      skipped: sum((reason) => decisionOf(reason, systemic) === 'skip'),
      paused: sum((reason) => decisionOf(reason, systemic) === 'pause'),
      reasons: Object.fromEntries(decisions.filter(([reason]) => !isExecuted(reason))),
      routes: countsOf<Route['kind']>(tally?.routes),
      alternatives: entriesOf<string>(tally?.alternatives)
        .map(([alternative, times]) => ({ tool: alternative, times }))
        .toSorted((a, b) => b.times - a.times),
    },
    wouldHaveBeenHeldUp: sum((reason) => reason === 'would_skip' || reason === 'would_pause'),
    tokensWasted: tally?.tokensWasted ?? 0,
    labels: countsOf<FreshnessKind>(tally?.freshness),
  };
};

export const probeReport = ({ steps, ms, notBeforeMs }: ProbeWait): ProbeReport => ({
  steps: steps === undefined ? null : Math.max(0, steps),
  ms: ms === undefined ? null : millis(ms),
  notBeforeMs: millis(notBeforeMs),
});
