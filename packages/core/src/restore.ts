import type { Budget } from './budget/budget.ts';
import { type Charge, NONE_EARLIER, type ProvisionalCharge, summedUp } from './budget/strict.ts';
import { type WindowCharge, withCharges } from './budget/window.ts';
import { type Circuit, closedCircuit, type Outage } from './circuit/circuit.ts';
import { countsFrom } from './circuit/trips/snapshot.ts';
import type { Moment } from './clock.ts';
import { type Correlation, type CorrelationPolicy, NO_CORRELATION } from './correlation.ts';
import type { KeyCircuits } from './keys.ts';
import type { Ledger } from './ledger.ts';
import type { KeptCircuit, SessionMemory } from './memory.ts';
import type {
  ChargeSnapshot,
  CircuitSnapshot,
  KeySnapshot,
  LedgerSnapshot,
  MomentSnapshot,
  OpeningSnapshot,
  ProvisionalSnapshot,
  SessionSnapshot,
  WindowChargeSnapshot,
} from './snapshot.ts';
import { type Opening, systemicEvent } from './systemic.ts';

/** When a snapshot is restored. */
export interface RestoredAt {
  /** What the monotonic clock shows. */
  readonly ms: number;
  /** How much time has passed since the snapshot. */
  readonly elapsedMs: number;
}

/**
 * The state in a checked snapshot, on the clock of this process. Time since the snapshot counts as passed; steps do not (C11).
 * `ownsCircuits`: the circuits belong to the session, not to its box (C12). Pure.
 */
export const recall = (
  snapshot: Omit<SessionSnapshot, 'id'>,
  { ms: now, elapsedMs }: RestoredAt,
  policy: Pick<CorrelationPolicy, 'sharedDependency' | 'sharedGroup'>,
  ownsCircuits: boolean,
): SessionMemory => {
  const ms = now - elapsedMs; // What the clock would have shown when the snapshot was taken.
  const real = recalled(snapshot.ledger, ms, policy, ownsCircuits);
  const shadow = snapshot.shadow === null ? undefined : recalled(snapshot.shadow, ms, policy, ownsCircuits);
  return {
    books: { real: real.ledger, shadow: shadow?.ledger },
    correlation: real.correlation,
    shadowCorrelation: shadow?.correlation,
    step: snapshot.step,
    stepMs: ms - snapshot.stepAgeMs,
    circuits: ownsCircuits ? new Map(snapshot.circuits.map((one) => [one.tool, circuitFrom(one, ms)])) : new Map(),
  };
};

const momentFrom = ({ step, ageMs }: MomentSnapshot, ms: number): Moment => {
  const then = ms - ageMs;
  return { ms: then, step, stepMs: then };
};

const circuitFrom = (snapshot: CircuitSnapshot, ms: number): KeptCircuit => ({
  mode: snapshot.mode,
  circuit: stateFrom(snapshot, ms),
  openedBy: snapshot.openedBy === null ? undefined : { ...snapshot.openedBy, isRemote: true },
  keys: snapshot.keys && keysFrom(snapshot.keys, ms),
});

const keysFrom = (keys: readonly KeySnapshot[], ms: number): KeyCircuits => ({
  circuits: new Map(keys.map(({ key, ...one }) => [key, stateFrom({ weak: 0, by: null, counts: null, ...one }, ms)])),
  generation: 0,
});

const stateFrom = (snapshot: Omit<CircuitSnapshot, 'tool' | 'mode' | 'openedBy'>, ms: number): Circuit => {
  const { state, generation, failures, weak, by, succeeded, retryAfterMs, counts, outage: kept } = snapshot;
  const notBeforeMs = retryAfterMs > 0 ? ms + retryAfterMs : 0;
  if (state === 'closed' || kept === null) {
    const row = { failures, weak, by: by ?? undefined };
    return { ...closedCircuit(generation), ...row, notBeforeMs, counts: countsFrom(counts, ms) };
  }
  const { category, trip, opened, waitMs, waitFrom, ladder, probedBy } = kept;
  const outage: Outage = {
    category,
    openedAt: momentFrom(opened, ms),
    waitMs,
    notBeforeMs,
    ...(trip && { trip }),
    ...(waitFrom && { waitFrom: momentFrom(waitFrom, ms) }),
    ...(ladder && { ladder }),
    ...(probedBy !== null && { probedBy }),
  };
  return state === 'open'
    ? { state, generation, outage }
    : { state, generation, outage, leases: [], succeeded, issued: 0 };
};

const recalled = (
  snapshot: LedgerSnapshot,
  ms: number,
  { sharedDependency, sharedGroup }: Pick<CorrelationPolicy, 'sharedDependency' | 'sharedGroup'>,
  ownsCircuits: boolean,
): { readonly ledger: Ledger; readonly correlation: Correlation } => {
  const { openings: opened, failures, event: joined, paid, exhausted } = snapshot;
  const openings = ownsCircuits ? opened.map((one) => openingFrom(one, ms)) : [];
  const event = ownsCircuits ? joined?.map((one) => openingFrom(one, ms)) : undefined;
  const correlation: Correlation = ownsCircuits
    ? {
        openings,
        failures: failures.map((one) => openingFrom(one, ms)),
        event: event && systemicEvent(event, sharedDependency, sharedGroup, event.at(-1)?.at),
      }
    : NO_CORRELATION;
  const budget = budgetFrom(snapshot.budget, openings, ms);
  return { correlation, ledger: { budget, event: correlation.event, paid: ownsCircuits && paid, exhausted } };
};

const budgetFrom = (snapshot: LedgerSnapshot['budget'], openings: readonly Opening[], ms: number): Budget => {
  const { limit, cycle, consumed } = snapshot;
  const tokenLimit = snapshot.tokenLimit ?? undefined;
  if (snapshot.rule === 'window') {
    const { windowSteps, windowMs } = snapshot;
    const charges = snapshot.charges.map((one) => windowChargeFrom(one, ms));
    const spent = snapshot.spent.map(({ at, tokens }) => ({ at: momentFrom(at, ms), tokens }));
    return withCharges({ rule: 'window', limit, tokenLimit, cycle, consumed, windowSteps, windowMs, charges, spent });
  }
  const { granted, earlier = NONE_EARLIER } = snapshot;
  const charges = snapshot.charges.map((one) => chargeFrom(one, ms));
  const provisional = snapshot.provisional.map((one) => provisionalFrom(one, openings, ms));
  return { rule: 'strict', limit, tokenLimit, cycle, granted, consumed, ...summedUp(earlier, charges), provisional };
};

const windowChargeFrom = (snapshot: WindowChargeSnapshot, ms: number): WindowCharge => {
  const { tool, category, at, provisional, event, since, uncapped, count } = snapshot;
  return {
    tool,
    category,
    at: momentFrom(at, ms),
    provisional,
    ...(event && { event }),
    ...(since !== null && { since }),
    ...(uncapped && { uncapped }),
    ...(count > 1 && { count }),
  };
};

const chargeFrom = ({ tool, category, tokens, at, event }: ChargeSnapshot, ms: number): Charge => ({
  tool,
  category,
  tokens,
  at: momentFrom(at, ms),
  ...(event && { event }),
});

const provisionalFrom = (
  { tool, category, tokens, at: when, beside }: ProvisionalSnapshot,
  openings: readonly Opening[],
  ms: number,
): ProvisionalCharge => {
  const at = momentFrom(when, ms);
  const opening = beside === null ? undefined : openings[beside];
  // If the anchor is not the moment of an opening, its circuit has closed: the charge counts with the next call.
  return { tool, category, tokens, at, anchor: opening ? { tool: opening.tool, at: opening.at } : { tool, at } };
};

const openingFrom = ({ tool, category, at, unixMs }: OpeningSnapshot, ms: number): Opening => ({
  tool,
  category,
  at: momentFrom(at, ms),
  unixMs,
});
