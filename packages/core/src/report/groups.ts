import type { ReportedState } from '../circuit/mode.ts';
import type { Trip } from '../circuit/trips/counts.ts';
import { groupNameOf } from '../groups.ts';
import type { ErrorCategory } from '../outcome/taxonomy.ts';
import type { CircuitView } from '../view.ts';
import { type ProbeReport, probeReport, type ToolReport } from './tools.ts';
import { millis } from './values.ts';

/** The circuit of a group of tools (C13), and what it rejected. */
export interface GroupReport {
  /** The name of the group. */
  readonly group: string;
  readonly state: ReportedState;
  /** The category that its circuit opened with; null when closed. */
  readonly category: ErrorCategory | null;
  /** The policy that opened it; null when closed. */
  readonly trip: Trip | null;
  /** Milliseconds since the latest opening; null when closed. */
  readonly openForMs: number | null;
  /** The wait until the next probe, which serves all tools of the group; null unless open. */
  readonly nextProbe: ProbeReport | null;
  /** Failures in a row while closed. */
  readonly failuresInRow: number;
  /** The tools of the group that this session knows. */
  readonly tools: readonly string[];
  /** Calls of these tools that were skipped because the group's circuit was open. */
  readonly skipped: number;
}

/** The groups among the circuits, in the order of their first use. */
export const reportGroups = (circuits: readonly CircuitView[], tools: readonly ToolReport[]): readonly GroupReport[] =>
  circuits.flatMap((circuit) => {
    const group = groupNameOf(circuit.tool);
    return group === undefined ? [] : [reportGroup(group, circuit, tools)];
  });

const reportGroup = (group: string, circuit: CircuitView, tools: readonly ToolReport[]): GroupReport => {
  const members = tools.filter((tool) => tool.group === group);
  return {
    group,
    state: circuit.state,
    category: circuit.category ?? null,
    trip: circuit.trip ?? null,
    openForMs: circuit.openForMs === undefined ? null : millis(circuit.openForMs),
    nextProbe: circuit.nextProbe === undefined ? null : probeReport(circuit.nextProbe),
    failuresInRow: circuit.failures,
    tools: members.map(({ tool }) => tool),
    skipped: members.reduce((sum, { heldUp }) => sum + (heldUp.reasons.group_open ?? 0), 0),
  };
};
