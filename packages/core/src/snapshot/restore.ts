import { diag } from '@opentelemetry/api';
import type { BoxContext } from '../box-context.ts';
import type { Breakerbox } from '../breakerbox.ts';
import type { Budget } from '../budget/budget.ts';
import type { Ledger } from '../budget/ledger.ts';
import { type Charge, NONE_EARLIER, type ProvisionalCharge, summedUp } from '../budget/strict.ts';
import { type Correlation, NO_CORRELATION, type Opening, type SharedBy, systemicEvent } from '../budget/systemic.ts';
import { DEFAULT_WINDOW_CALLS, type WindowCharge, withCharges } from '../budget/window.ts';
import { type Circuit, closedCircuit } from '../circuit/circuit.ts';
import type { KeyCircuits } from '../circuit/key-circuits.ts';
import type { Outage } from '../circuit/schedule.ts';
import { countsFrom } from '../circuit/trip-policies/trip-policies.ts';
import type { Moment } from '../clock.ts';
import type { RestoreOptions } from '../config/config.ts';
import { someNames } from '../config/names.ts';
import { validateRestoreOptions } from '../config/validation.ts';
import { safely } from '../safely.ts';
import type { Session } from '../session-api.ts';
import { type BoxInternals, boxInternals } from '../session-internals.ts';
import type { SessionMemory } from '../session-memory.ts';
import type { KeptCircuit } from '../tracked-circuit.ts';
import { noteSuccess } from '../warnings/mistakes.ts';
import type {
  ChargeSnapshot,
  CircuitSnapshot,
  FailedMomentSnapshot,
  KeySnapshot,
  LedgerSnapshot,
  MomentSnapshot,
  OpeningSnapshot,
  ProvisionalSnapshot,
  SessionSnapshot,
  WindowChargeSnapshot,
} from './snapshot.ts';
import { MOST_SUCCEEDED } from './snapshot.ts';
import { checkSnapshot } from './snapshot-checks.ts';

/**
 * Continues a session from a `snapshot(session)`, in this process or another: its circuits, steps, modes and budget. The time since
 * the snapshot counts as passed, by the wall clock or by `elapsedMs`. Probes that were under way may be sent again (C11). The
 * circuit of a tool that is not declared here is kept until the tool is declared.
 *
 * @throws BreakerboxUsageError if `box` is not a box.
 * @throws BreakerboxConfigError if it is not a snapshot, or is a snapshot of another agent. The error lists the first ten faults,
 * and says how many more there are.
 *
 * @example
 * ```ts
 * const session = restore(box, JSON.parse(await store.get(conversationId)));
 * ```
 */
export const restore = (box: Breakerbox, snapshot: unknown, options: RestoreOptions = {}): Session => {
  const { context, scope, continueSession } = boxInternals(box, 'restore(box, snapshot)');
  validateRestoreOptions(options);
  const { id, succeeded = [], ...kept } = checkSnapshot(snapshot, context.agent);
  const known = context.evidence.succeeded;
  // Tools may be declared later. Many snapshots must not fill the box with other names.
  for (const tool of succeeded)
    if (known.size < MOST_SUCCEEDED || context.tool(tool) !== undefined) noteSuccess(context.evidence, tool);
  informOfCircuits(kept.circuits, context, scope);
  const { now, unixNow } = context.clock;
  const elapsedMs = options.elapsedMs ?? Math.max(0, unixNow() - kept.unixMs);
  // What the clock would have shown when the snapshot was taken.
  return continueSession(id, recall(kept, now() - elapsedMs, context.systemic, scope === 'session'), options);
};

const informOfCircuits = (
  circuits: readonly CircuitSnapshot[],
  box: BoxContext,
  scope: BoxInternals['scope'],
): void => {
  if (scope !== 'session' && circuits.length > 0) {
    inform(
      `sessions of a box with scope '${scope}' have no circuits of their own, so those of the snapshot are left out.`,
    );
  }
  const names = circuits.map(({ tool }) => tool);
  const waiting = names.filter((name) => box.tool(name) === undefined && box.group(name) === undefined);
  if (waiting.length > 0)
    inform(`the circuits of undeclared tools are restored once these tools are declared: ${someNames(waiting)}.`);
};

/** A message for people. The logger is application code: if it throws, the caller must not notice (E5). */
const inform = (message: string): void => safely('the logger', () => diag.info(`Breakerbox: ${message}`));

/**
 * The state in a checked snapshot, on the clock of this process. Time since the snapshot counts as passed; steps do not (C11).
 * `ownsCircuits`: the circuits belong to the session, not to its box (C12).
 */
const recall = (
  kept: Omit<SessionSnapshot, 'id' | 'succeeded'>,
  ms: number,
  sharedBy: SharedBy | undefined,
  ownsCircuits: boolean,
): SessionMemory => {
  const real = recalled(kept.ledger, ms, sharedBy, ownsCircuits);
  const dryRun = kept.dryRun === null ? undefined : recalled(kept.dryRun, ms, sharedBy, ownsCircuits);
  return {
    ledgerPair: { real: real.ledger, dryRun: dryRun?.ledger },
    correlation: real.correlation,
    dryRunCorrelation: dryRun?.correlation,
    step: kept.step,
    stepMs: ms - kept.stepAgeMs,
    circuits: ownsCircuits ? new Map(kept.circuits.map((one) => [one.tool, circuitFrom(one, ms)])) : new Map(),
  };
};

const momentFrom = ({ step, ageMs }: MomentSnapshot, ms: number): Moment => {
  const then = ms - ageMs;
  return { ms: then, step, stepMs: then };
};

/** The restored session has settled no call yet, so that its failures are of earlier calls. */
const failedFrom = (at: FailedMomentSnapshot, ms: number): Moment => ({
  ...momentFrom(at, ms),
  calls: -(at.calls ?? 1),
});

const circuitFrom = (snapshot: CircuitSnapshot, ms: number): KeptCircuit => ({
  mode: snapshot.mode,
  circuit: stateFrom(snapshot, ms),
  openedBy: snapshot.openedBy === null ? undefined : { ...snapshot.openedBy, isRemote: true },
  keys: snapshot.keys && keysFrom(snapshot.keys, ms),
});

const keysFrom = (keys: readonly KeySnapshot[], ms: number): KeyCircuits => ({
  circuits: new Map(keys.map(({ key, ...one }) => [key, stateFrom({ latest: null, ...one }, ms)])),
  generation: 0,
});

const stateFrom = (snapshot: Omit<CircuitSnapshot, 'tool' | 'mode' | 'openedBy'>, ms: number): Circuit => {
  const { state, generation, latest, succeeded, retryAfterMs, counts, outage: kept } = snapshot;
  const notBeforeMs = retryAfterMs > 0 ? ms + retryAfterMs : 0;
  if (state === 'closed' || kept === null) {
    return {
      ...closedCircuit(generation),
      notBeforeMs,
      latest: latest ?? undefined,
      counts: countsFrom(counts, ms),
    };
  }
  const { category, trip, opened, waitMs, waitFrom, rung, ladder, probedBy } = kept;
  const outage: Outage = {
    category,
    openedAt: momentFrom(opened, ms),
    waitMs,
    notBeforeMs,
    ...(trip && { trip }),
    ...(waitFrom && { waitFrom: momentFrom(waitFrom, ms) }),
    ...(rung !== undefined && { rung }),
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
  sharedBy: SharedBy | undefined,
  ownsCircuits: boolean,
): { readonly ledger: Ledger; readonly correlation: Correlation } => {
  const { openings: opened, sinceSuccess = [], failures, event: joined, paid, exhausted } = snapshot;
  const openings = ownsCircuits ? opened.map((one) => openingFrom(one, ms)) : [];
  const event = ownsCircuits ? joined?.map((one) => openingFrom(one, ms)) : undefined;
  const correlation: Correlation = ownsCircuits
    ? {
        openings,
        sinceSuccess,
        failures: failures.map((one) => openingFrom(one, ms)),
        event: event && systemicEvent(event, sharedBy, event.at(-1)?.at),
      }
    : NO_CORRELATION;
  const budget = budgetFrom(snapshot.budget, openings, ms);
  return { correlation, ledger: { budget, event: correlation.event, paid: ownsCircuits && paid, exhausted } };
};

const budgetFrom = (snapshot: LedgerSnapshot['budget'], openings: readonly Opening[], ms: number): Budget => {
  const { limit, cycle, consumed } = snapshot;
  const tokenLimit = snapshot.tokenLimit ?? undefined;
  if (snapshot.rule === 'window') {
    const { windowSteps, windowMs, windowCalls = DEFAULT_WINDOW_CALLS } = snapshot;
    const window = { windowSteps, windowMs, windowCalls };
    const charges = snapshot.charges.map((one) => windowChargeFrom(one, ms));
    const spent = snapshot.spent.map(({ at, tokens }) => ({ at: failedFrom(at, ms), tokens }));
    return withCharges({ rule: 'window', limit, tokenLimit, cycle, consumed, ...window, charges, spent });
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
    at: failedFrom(at, ms),
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
