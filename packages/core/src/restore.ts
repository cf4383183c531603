import { type Budget, type Charge, isSpent, NONE_EARLIER, type ProvisionalCharge, summedUp } from './budget.ts';
import { type Circuit, closedCircuit, type Outage } from './circuit/circuit.ts';
import { countsFrom } from './circuit/trips/snapshot.ts';
import type { Moment } from './clock.ts';
import type { Ledger } from './ledger.ts';
import type { KeptCircuit, SessionMemory } from './memory.ts';
import type {
  ChargeSnapshot,
  CircuitSnapshot,
  LedgerSnapshot,
  MomentSnapshot,
  OpeningSnapshot,
  ProvisionalSnapshot,
  SessionSnapshot,
} from './snapshot.ts';
import { type Opening, type SharedDependency, systemicEvent } from './systemic.ts';

/** What a checked snapshot says, on a clock that shows `ms` now: the time in between has not passed. Pure. */
export const recall = (
  snapshot: Omit<SessionSnapshot, 'id'>,
  ms: number,
  sharedDependency: SharedDependency | undefined,
): SessionMemory => ({
  books: {
    real: ledgerFrom(snapshot.ledger, ms, sharedDependency),
    shadow: snapshot.shadow === null ? undefined : ledgerFrom(snapshot.shadow, ms, sharedDependency),
  },
  step: snapshot.step,
  stepMs: ms - snapshot.stepAgeMs,
  circuits: new Map(snapshot.circuits.map((one) => [one.tool, circuitFrom(one, ms)])),
});

const momentFrom = ({ step, ageMs }: MomentSnapshot, ms: number): Moment => {
  const then = ms - ageMs;
  return { ms: then, step, stepMs: then };
};

const circuitFrom = (snapshot: CircuitSnapshot, ms: number): KeptCircuit => ({
  mode: snapshot.mode,
  circuit: stateFrom(snapshot, ms),
  openedBy: snapshot.openedBy === null ? undefined : { ...snapshot.openedBy, isRemote: true },
});

const stateFrom = (snapshot: CircuitSnapshot, ms: number): Circuit => {
  const { state, generation, failures, succeeded, retryAfterMs, counts, outage: kept } = snapshot;
  const notBeforeMs = retryAfterMs > 0 ? ms + retryAfterMs : 0;
  if (state === 'closed' || kept === null) {
    return { ...closedCircuit(generation), failures, notBeforeMs, counts: countsFrom(counts, ms) };
  }
  const { category, trip, opened, waitMs, waitFrom, ladder } = kept;
  const outage: Outage = {
    category,
    openedAt: momentFrom(opened, ms),
    waitMs,
    notBeforeMs,
    ...(trip && { trip }),
    ...(waitFrom && { waitFrom: momentFrom(waitFrom, ms) }),
    ...(ladder && { ladder }),
  };
  return state === 'open'
    ? { state, generation, outage }
    : { state, generation, outage, leases: [], succeeded, issued: 0 };
};

const ledgerFrom = (snapshot: LedgerSnapshot, ms: number, sharedDependency: SharedDependency | undefined): Ledger => {
  const { limit, tokenLimit, cycle, granted, consumed, earlier = NONE_EARLIER, event, paid } = snapshot;
  const openings = snapshot.openings.map((one) => openingFrom(one, ms));
  const budget: Budget = {
    limit,
    tokenLimit: tokenLimit ?? undefined,
    cycle,
    granted,
    consumed,
    ...summedUp(
      earlier,
      snapshot.charges.map((one) => chargeFrom(one, ms)),
    ),
    provisional: snapshot.provisional.map((one) => provisionalFrom(one, openings, ms)),
  };
  const joined = event?.map((one) => openingFrom(one, ms));
  return {
    exhausted: isSpent(budget),
    budget,
    openings,
    event: joined && systemicEvent(joined, sharedDependency),
    paid,
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
  // An anchor that is no opening's own moment is one that has closed: the charge counts with the next call.
  return { tool, category, tokens, at, anchor: opening ? { tool: opening.tool, at: opening.at } : { tool, at } };
};

const openingFrom = ({ tool, category, at, unixMs }: OpeningSnapshot, ms: number): Opening => ({
  tool,
  category,
  at: momentFrom(at, ms),
  unixMs,
});
