import { type Circuit, closedCircuit, isLate, type Ticket } from '../circuit/circuit.ts';
import type { CircuitPolicy } from '../circuit/policy.ts';
import type { FailuresInRow } from '../circuit/trip-policies/consecutive.ts';
import type { Moment } from '../clock.ts';

/** A group of two tools and their circuits, with the calls that passed. Canonical: the clock always shows NOW. */
export interface GroupState {
  readonly group: Circuit;
  readonly tools: Readonly<Record<Tool, Circuit>>;
  readonly underWay: readonly Call[];
  /** What the observer has counted: the tools of the failures in a row that may be the group's. */
  readonly row: readonly Tool[];
  /** The tool whose probe of the group failed last. */
  readonly failedLast: Tool | undefined;
}

export interface GroupRules {
  readonly group: CircuitPolicy;
  readonly tool: CircuitPolicy;
}

export interface Call {
  readonly tool: Tool;
  readonly group: Ticket;
  readonly own: Ticket;
}

export type Tool = 'a' | 'b';

export const TOOLS: readonly Tool[] = ['a', 'b'];
export const NOW = 1_000;
const GENERATION = 10;

export const moment = (ms: number): Moment => ({ ms, step: 0, stepMs: 0 });

export const groupStart: GroupState = {
  group: closedCircuit(GENERATION),
  tools: { a: closedCircuit(GENERATION), b: closedCircuit(GENERATION) },
  underWay: [],
  row: [],
  failedLast: undefined,
};

/** The same state as seen from NOW. */
export const canonical = (state: GroupState, { group: ofAll, tool: ofOne }: GroupRules, ms: number): GroupState => {
  const oldest = ofAll.maxCooldownMs + ofOne.maxCooldownMs;
  const ago = (at: Moment) => moment(NOW - Math.min(ms - at.ms, oldest));
  const aheadMs = (untilMs: number) => NOW + Math.max(0, untilMs - ms);
  const seen = (one: Circuit): Circuit => {
    const generation = GENERATION;
    if (one.state === 'closed') {
      const row = one.counts?.consecutive as FailuresInRow | undefined;
      const counts = row && { consecutive: { ...row, failures: Math.min(row.failures, most) } };
      return { ...one, generation, counts };
    }
    const outage = { ...one.outage, openedAt: ago(one.outage.openedAt) };
    if (one.state === 'open') return { ...one, generation, outage };
    const leases = one.leases.map(({ untilMs }, id) => ({ id, untilMs: aheadMs(untilMs) }));
    return { ...one, generation, outage, leases, issued: leases.length };
  };
  const ticketOf = (circuit: Circuit, ticket: Ticket): Ticket => {
    if (isLate(circuit, ticket)) return { generation: GENERATION - 1 };
    const leases = circuit.state === 'half_open' ? circuit.leases : [];
    const id = leases.findIndex((one) => one.id === ticket.lease?.id);
    return {
      generation: GENERATION,
      ...(ticket.lease && { lease: { id, untilMs: aheadMs(ticket.lease.untilMs) } }),
    };
  };
  const most = ofAll.failureThreshold;
  const { group, tools, row } = state;
  // More failures of one tool than open a group of two say nothing more. The tools are what is kept of those before.
  const kept = row.length <= most ? row : [...new Set(row), ...row.slice(-most)].slice(0, most);
  return {
    group: seen(group),
    tools: { a: seen(tools.a), b: seen(tools.b) },
    underWay: state.underWay
      .map((one) => ({ tool: one.tool, group: ticketOf(group, one.group), own: ticketOf(tools[one.tool], one.own) }))
      .sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1)),
    row: [...kept].sort(),
    failedLast: state.failedLast,
  };
};
