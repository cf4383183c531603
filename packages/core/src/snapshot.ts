import { isSpanContextValid, type SpanContext } from '@opentelemetry/api';
import type { Budget, Charge, EarlierCharges } from './budget.ts';
import type { CircuitState, Ladder, Outage } from './circuit/circuit.ts';
import type { CircuitMode } from './circuit/mode.ts';
import type { Trip } from './circuit/trips/counts.ts';
import { type CountsSnapshot, snapshotOfCounts } from './circuit/trips/snapshot.ts';
import type { Moment } from './clock.ts';
import type { Ledger } from './ledger.ts';
import type { KeptCircuit, SessionMemory } from './memory.ts';
import type { ErrorCategory } from './outcome/taxonomy.ts';
import type { Opening } from './systemic.ts';

/**
 * A session as plain JSON (C11), for `box.restore`. Times are ages and remaining waits in milliseconds, never points in time:
 * monotonic clocks differ between processes, and wall clocks get changed.
 */
export interface SessionSnapshot {
  /** Of this format. */
  readonly version: 1;
  readonly agent: string;
  /** The session's id. */
  readonly id: string;
  readonly step: number;
  /** Milliseconds since the step last moved, or the session began. */
  readonly stepAgeMs: number;
  /** Budget and openings, as they pause the session. */
  readonly ledger: LedgerSnapshot;
  /** The same for tools that are only observed (C1); null where none ever was. */
  readonly shadow: LedgerSnapshot | null;
  /** Circuits in the order of their first use. */
  readonly circuits: readonly CircuitSnapshot[];
}

/** A circuit in a snapshot. Probes that were under way have given their places back. */
export interface CircuitSnapshot {
  readonly tool: string;
  readonly mode: CircuitMode;
  readonly state: CircuitState;
  readonly generation: number;
  /** Failures in a row; 0 unless closed. */
  readonly failures: number;
  /** Probes of this round that have succeeded; 0 unless half-open. */
  readonly succeeded: number;
  /** Milliseconds left of a Retry-After; 0 for none. */
  readonly retryAfterMs: number;
  /** The windows of rates and tokens; null where none is configured, and unless closed (C3). */
  readonly counts: CountsSnapshot | null;
  /** What it opened with; null when closed. */
  readonly outage: OutageSnapshot | null;
  /** The span whose failure opened it, to link to; null where nobody traced. */
  readonly openedBy: { readonly traceId: string; readonly spanId: string; readonly traceFlags: number } | null;
}

/** What a circuit that isn't closed knows of its failure. */
export interface OutageSnapshot {
  readonly category: ErrorCategory;
  /** What opened it; null where nobody knows. */
  readonly trip: Trip | null;
  readonly opened: MomentSnapshot;
  /** The cooldown of this round, in milliseconds. */
  readonly waitMs: number;
  /** Where this round's wait began, if not with the opening; null: with the opening (P3). */
  readonly waitFrom: MomentSnapshot | null;
  /** Where it stands on the ladder of probes after a systemic event; null: on none (P3). */
  readonly ladder: Ladder | null;
}

/** A point in the life of a session. */
export interface MomentSnapshot {
  readonly step: number;
  /** Milliseconds before the snapshot. */
  readonly ageMs: number;
}

/** Failure budget, openings and systemic event in a snapshot. */
export interface LedgerSnapshot {
  readonly limit: number;
  /** Of tokens; null for none (B4). */
  readonly tokenLimit: number | null;
  readonly cycle: number;
  readonly granted: number;
  readonly consumed: number;
  /** What stands charged in this cycle: the latest 200. */
  readonly charges: readonly ChargeSnapshot[];
  /** What was charged before those; left out where nothing was. */
  readonly earlier?: EarlierCharges;
  /** Failures that may be part of a systemic event to come (S3). */
  readonly provisional: readonly ProvisionalSnapshot[];
  /** Circuits that are open as far as an event to come goes. */
  readonly openings: readonly OpeningSnapshot[];
  /** What the event that pauses the session is made of; null where there is none. */
  readonly event: readonly OpeningSnapshot[] | null;
  /** Whether that event has had its one charge (S3). */
  readonly paid: boolean;
}

export interface ChargeSnapshot {
  readonly tool: string;
  readonly category: ErrorCategory;
  /** 0 where nobody said (B4). */
  readonly tokens: number;
  readonly at: MomentSnapshot;
  /** The one charge that a systemic event came to. */
  readonly event: boolean;
}

export interface ProvisionalSnapshot {
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly tokens: number;
  readonly at: MomentSnapshot;
  /** Which of `openings` it waits beside; null where that circuit has closed, so that it counts with the next call. */
  readonly beside: number | null;
}

export interface OpeningSnapshot {
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly at: MomentSnapshot;
  /** Unix milliseconds, for people. */
  readonly unixMs: number;
}

/** The snapshot of a session at `ms`. Pure. */
export const takeSnapshot = (
  { id, agent }: { readonly id: string; readonly agent: string },
  { books, step, stepMs, circuits }: SessionMemory,
  ms: number,
): SessionSnapshot => ({
  version: 1,
  agent,
  id,
  step,
  stepAgeMs: age(stepMs, ms),
  ledger: ledgerAt(books.real, ms),
  shadow: books.shadow === undefined ? null : ledgerAt(books.shadow, ms),
  circuits: [...circuits].map(([tool, kept]) => circuitAt(tool, kept, ms)),
});

const age = (then: number, ms: number): number => Math.max(0, ms - then);

const momentAt = ({ step, ms: then }: Moment, ms: number): MomentSnapshot => ({ step, ageMs: age(then, ms) });

const circuitAt = (tool: string, { mode, circuit, openedBy }: KeptCircuit, ms: number): CircuitSnapshot => {
  const outage = circuit.state === 'closed' ? undefined : circuit.outage;
  const { notBeforeMs } = circuit.state === 'closed' ? circuit : circuit.outage;
  return {
    tool,
    mode,
    state: circuit.state,
    generation: circuit.generation,
    failures: circuit.state === 'closed' ? circuit.failures : 0,
    succeeded: circuit.state === 'half_open' ? circuit.succeeded : 0,
    retryAfterMs: Math.max(0, notBeforeMs - ms),
    counts: circuit.state === 'closed' ? snapshotOfCounts(circuit.counts, ms) : null,
    outage: outage ? outageAt(outage, ms) : null,
    openedBy: openedBy && isSpanContextValid(openedBy) ? spanOf(openedBy) : null,
  };
};

const outageAt = ({ category, trip, openedAt, waitMs, waitFrom, ladder }: Outage, ms: number): OutageSnapshot => ({
  category,
  trip: trip ?? null,
  opened: momentAt(openedAt, ms),
  waitMs,
  waitFrom: waitFrom ? momentAt(waitFrom, ms) : null,
  ladder: ladder ?? null,
});

const spanOf = ({ traceId, spanId, traceFlags }: SpanContext) => ({ traceId, spanId, traceFlags });

const ledgerAt = ({ budget, openings, event, paid }: Ledger, ms: number): LedgerSnapshot => ({
  limit: budget.limit,
  tokenLimit: budget.tokenLimit ?? null,
  cycle: budget.cycle,
  granted: budget.granted,
  consumed: budget.consumed,
  charges: budget.charges.map((one) => ({ ...chargeAt(one, ms), event: one.event === true })),
  ...(budget.earlier.failures > 0 && { earlier: budget.earlier }),
  provisional: provisionalAt(budget, openings, ms),
  openings: openings.map((one) => openingAt(one, ms)),
  event: event === undefined ? null : event.openings.map((one) => openingAt(one, ms)),
  paid,
});

const chargeAt = ({ tool, category, tokens, at }: Charge, ms: number) => ({
  tool,
  category,
  tokens,
  at: momentAt(at, ms),
});

const provisionalAt = ({ provisional }: Budget, openings: readonly Opening[], ms: number): ProvisionalSnapshot[] =>
  provisional.map((one) => {
    const beside = openings.findIndex(({ tool, at }) => tool === one.anchor.tool && at === one.anchor.at);
    return { ...chargeAt(one, ms), beside: beside === -1 ? null : beside };
  });

const openingAt = ({ tool, category, at, unixMs }: Opening, ms: number): OpeningSnapshot => ({
  tool,
  category,
  at: momentAt(at, ms),
  unixMs: unixMs > 0 && Number.isFinite(unixMs) ? unixMs : 0, // A clock of one's own may say anything.
});
