import type { ReportedState } from '../circuit/circuit.ts';
import { circuitNameOf, groupNameOf } from '../circuit/policy.ts';
import type { ProbeWait } from '../circuit/schedule.ts';
import type { Trip } from '../circuit/trip-policies/trip-policies.ts';
import { type ErrorCategory, isFromOutside } from '../classify/taxonomy.ts';
import type { FreshnessKind } from '../freshness/freshness.ts';
import { decisionOf, isExecuted, type Reason, type SystemicDecision } from '../reasons.ts';
import type { Route } from '../routing/route.ts';
import type { IgnoredCalls, ToolTally } from '../session-tools.ts';
import type { CircuitView } from '../view.ts';

/** TimesByName by name; names with a count of 0 are left out. */
export type TimesByName<Name extends string> = Readonly<Partial<Record<Name, number>>>;

/** What a report says of a circuit. */
interface CircuitReport {
  /** The category that the circuit opened with; null when closed. */
  readonly category: ErrorCategory | null;
  /** The policy that opened it (C3), or a failed probe; null when closed. */
  readonly trip: Trip | null;
  /** Milliseconds since the latest opening; null when closed. */
  readonly openForMs: number | null;
  /** The wait until the next probe, which serves all tools of a group; null unless open. */
  readonly nextProbe: ProbeReport | null;
  /** Failures in a row while closed. */
  readonly failuresInRow: number;
}

/** A tool's health, and the results of its calls (Q1). */
export interface ToolReport extends CircuitReport {
  readonly tool: string;
  /** Null: the tool has no circuit, because it was never declared or the box keeps none (B5). */
  readonly state: ReportedState | null;
  /** Its group; null without one (C13). */
  readonly group: string | null;
  /** The state of its group's circuit, which rejects its calls too; null without a group. */
  readonly groupState: ReportedState | null;
  /** TimesByName the changes of its circuit's state; null without a circuit. */
  readonly generation: number | null;
  /** Number of its keys whose circuit is not closed (C14). */
  readonly openKeys: number;
  /** Number of its keys that have failed in a row, without a success of any key in between; 0 unless closed (C14). */
  readonly failedKeys: number;
  readonly calls: CallReport;
  /** Calls that were not made, by reason, and their fallbacks (R2). */
  readonly rejected: RejectedReport;
  /** Calls that were made only because the circuit is observed (C1). */
  readonly wouldHaveBeenRejected: number;
  /** Tokens spent on failed calls (O4). */
  readonly tokensWasted: number;
  /** Results that may not be current, by label (F1). */
  readonly labels: TimesByName<FreshnessKind>;
}

/** The circuit of a group of tools (C13), and what it rejected. */
export interface GroupReport extends CircuitReport {
  /** The name of the group. */
  readonly group: string;
  readonly state: ReportedState;
  /** The tools of the group that this session knows. */
  readonly tools: readonly string[];
  /** Calls of these tools that were skipped because the group's circuit was open. */
  readonly skipped: number;
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
  /** Those of the ignored calls that are errors of the tool: neither denied nor cancelled, nor failures of keys. */
  readonly ignoredErrors: number;
  /** Those of the ignored calls that blame their key, such as a dead host (C14). */
  readonly keyFailures: number;
}

/** Calls that were not made. */
export interface RejectedReport {
  readonly skipped: number;
  readonly paused: number;
  readonly reasons: TimesByName<Reason>;
  readonly routes: TimesByName<Route['kind']>;
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
    return {
      tool,
      state: circuit?.state ?? null,
      group: circuit?.group ?? null,
      groupState: group?.state ?? null,
      generation: circuit?.generation ?? null,
      openKeys: circuit?.openKeys ?? 0,
      failedKeys: circuit?.failedKeys ?? 0,
      ...circuitReport(circuit),
      ...callReports(tallies.get(tool), systemic),
    };
  });
};

/** The groups among the circuits, in the order of their first use. */
export const reportGroups = (circuits: readonly CircuitView[], tools: readonly ToolReport[]): readonly GroupReport[] =>
  circuits.flatMap((circuit) => {
    const group = groupNameOf(circuit.tool);
    if (group === undefined) return [];
    const members = tools.filter((tool) => tool.group === group);
    const skipped = members.reduce((sum, { rejected }) => sum + (rejected.reasons.group_open ?? 0), 0);
    return [
      { group, state: circuit.state, ...circuitReport(circuit), tools: members.map(({ tool }) => tool), skipped },
    ];
  });

const circuitReport = (circuit: CircuitView | undefined): CircuitReport => ({
  category: circuit?.category ?? null,
  trip: circuit?.trip ?? null,
  openForMs: circuit?.openForMs === undefined ? null : millis(circuit.openForMs),
  nextProbe: circuit?.nextProbe === undefined ? null : probeReport(circuit.nextProbe),
  failuresInRow: circuit?.failures ?? 0,
});

const ignoredCalls = (tally: ToolTally | undefined, belongs: (category: IgnoredCalls['category']) => boolean): number =>
  (tally?.ignoredBy ?? []).reduce((total, { category, times }) => (belongs(category) ? total + times : total), 0);

const callReports = (tally: ToolTally | undefined, systemic: SystemicDecision) => {
  const decisions = entriesOf<Reason>(tally?.decisions);
  const sum = (belongs: (reason: Reason) => boolean) =>
    decisions.reduce((total, [reason, times]) => (belongs(reason) ? total + times : total), 0);
  return {
    calls: {
      made: sum(isExecuted),
      succeeded: tally?.succeeded ?? 0,
      failed: tally?.failed ?? 0,
      ignored: tally?.ignored ?? 0,
      ignoredErrors: ignoredCalls(tally, (category) => category !== 'key' && !isFromOutside(category)),
      keyFailures: ignoredCalls(tally, (category) => category === 'key'),
    },
    rejected: {
      skipped: sum((reason) => decisionOf(reason, systemic) === 'skip'),
      paused: sum((reason) => decisionOf(reason, systemic) === 'pause'),
      reasons: Object.fromEntries(decisions.filter(([reason]) => !isExecuted(reason))),
      routes: Object.fromEntries(entriesOf<Route['kind']>(tally?.routes)),
      alternatives: entriesOf<string>(tally?.alternatives)
        .map(([tool, times]) => ({ tool, times }))
        .toSorted((a, b) => b.times - a.times),
    },
    wouldHaveBeenRejected: sum((reason) => reason === 'would_skip' || reason === 'would_pause'),
    tokensWasted: tally?.tokensWasted ?? 0,
    labels: Object.fromEntries(entriesOf<FreshnessKind>(tally?.freshness)),
  };
};

export const probeReport = ({ steps, ms, notBeforeMs }: ProbeWait): ProbeReport => ({
  steps: steps === undefined ? null : Math.max(0, steps),
  ms: ms === undefined ? null : millis(ms),
  notBeforeMs: millis(notBeforeMs),
});

/** Milliseconds in a report: whole, and never negative. */
export const millis = (ms: number): number => (Number.isFinite(ms) ? Math.max(0, Math.round(ms)) : 0);

/** TimesByName above 0, with what they count. */
export const entriesOf = <Name extends string>(
  counts: TimesByName<Name> | undefined,
): readonly (readonly [Name, number])[] =>
  Object.entries<number | undefined>(counts ?? {}).flatMap(([name, times = 0]) =>
    times > 0 ? [[name as Name, times]] : [],
  );
