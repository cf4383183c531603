import { remaining, tokensRemaining } from './budget.ts';
import { categoryOf } from './circuit/circuit.ts';
import { type ReportedState, reportedState } from './circuit/mode.ts';
import { type ProbeWait, probeWait } from './circuit/schedule.ts';
import type { Trip } from './circuit/trips/counts.ts';
import type { Moment } from './clock.ts';
import { type Ledger, type SessionState, sessionState } from './ledger.ts';
import type { ErrorCategory } from './outcome/taxonomy.ts';
import { type CircuitStore, circuitMoment } from './store.ts';
import type { SystemicEvent } from './systemic.ts';
import type { TrackedCircuit } from './tracked.ts';

/** A circuit to look at; looking changes nothing (C11). */
export interface CircuitView {
  readonly tool: string;
  /** The mode, where it isn't `automatic` (C1); what follows is then that of the shadow, or of a circuit at rest. */
  readonly state: ReportedState;
  readonly generation: number;
  /** Failures in a row; 0 unless closed. */
  readonly failures: number;
  /** What the circuit opened with; undefined when closed. */
  readonly category: ErrorCategory | undefined;
  /** Which policy opened it (C3), or a failed probe; undefined when closed. */
  readonly trip: Trip | undefined;
  /** Milliseconds since the latest opening; undefined when closed. */
  readonly openForMs: number | undefined;
  /** How far the next probe is away; only when open. */
  readonly nextProbe: ProbeWait | undefined;
}

/** A failure budget to look at. */
export interface BudgetView {
  /** Failures that a cycle starts with. */
  readonly limit: number;
  /** Which cycle this is, from 1. */
  readonly cycle: number;
  readonly remaining: number;
  /** Failures allowed since the session began, and those charged: what the metrics count. */
  readonly granted: number;
  readonly consumed: number;
  /** Tokens that failed calls may still cost; undefined without a token budget (B4). */
  readonly tokensRemaining: number | undefined;
  /** Failures that count once the window of a possible systemic event has passed (S3). */
  readonly provisional: number;
}

/** A session to look at. */
export interface SessionView {
  readonly id: string;
  readonly agent: string;
  readonly state: SessionState;
  readonly step: number;
  readonly budget: BudgetView;
  /** The event that the session is paused on (S4). */
  readonly systemic: SystemicEvent | undefined;
  /** Circuits of the tools that were used, in the order of their first use. */
  readonly circuits: readonly CircuitView[];
}

/** The view of a circuit at a moment. */
export const viewCircuit = ({ tool, mode, circuit }: TrackedCircuit, at: Moment): CircuitView => ({
  tool: tool.name,
  state: reportedState(mode, circuit),
  generation: circuit.generation,
  failures: circuit.state === 'closed' ? circuit.failures : 0,
  category: categoryOf(circuit),
  trip: circuit.state === 'closed' ? undefined : circuit.outage.trip,
  openForMs: circuit.state === 'closed' ? undefined : at.ms - circuit.outage.openedAt.ms,
  nextProbe: circuit.state === 'open' ? probeWait(circuit.outage, tool.policy, at) : undefined,
});

/** Those of all circuits, in the order of their first use. */
export const viewCircuits = (store: CircuitStore, own: Moment): readonly CircuitView[] => {
  const at = circuitMoment(store, own);
  return [...store.circuits.values()].map((tracked) => viewCircuit(tracked, at));
};

/** The view of a session. */
export const viewSession = (
  { id, agent }: { readonly id: string; readonly agent: string },
  step: number,
  ledger: Ledger,
  circuits: readonly CircuitView[],
): SessionView => {
  const { limit, cycle, granted, consumed, provisional } = ledger.budget;
  return {
    id,
    agent,
    state: sessionState(ledger),
    step,
    budget: {
      limit,
      cycle,
      remaining: remaining(ledger.budget),
      granted,
      consumed,
      tokensRemaining: tokensRemaining(ledger.budget),
      provisional: provisional.length,
    },
    systemic: ledger.event,
    circuits,
  };
};
