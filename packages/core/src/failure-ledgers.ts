import { mayChange, remaining } from './budget/budget.ts';
import {
  awaitsSuccess,
  endPauseByTime,
  type Ledger,
  type LedgerFailure,
  type LedgerPair,
  NOT_LONG,
  pauseEndMs,
  recordClosing,
  recordExhaustion,
  recordFailure,
  recordOpening,
  recordSuccess,
  recordTime,
  renewBudget,
  type SessionState,
  type Steady,
  steadyUntil,
} from './budget/ledger.ts';
import {
  absorbMembers,
  type Correlation,
  correlateClosing,
  correlateFailure,
  correlateOpening,
  correlateSuccess,
  isAffected,
  isTogether,
  type Opening,
  resolveEvent,
  type SystemicEvent,
  type SystemicRules,
  type Within,
} from './budget/systemic.ts';
import type { CircuitMode } from './circuit/circuit.ts';
import { type CircuitStore, correlationMoment, startDryRun } from './circuit-store.ts';
import type { Moment } from './clock.ts';
import { LedgerSide } from './ledger-side.ts';
import type { PendingChanges } from './pending-changes.ts';

/** What an opening changes in the ledgers, beside being listed. */
export interface OpeningFacts {
  /** The circuit was closed: the charges of its tool become one charge (B3). */
  readonly fromClosed: boolean;
  /** Of a group: which tools it absorbs (C15). */
  readonly isMember?: ((tool: string) => boolean) | undefined;
}

/**
 * The ledgers that a session uses, together with the failures of its circuits. Each event is entered, and the result is
 * reported. What a tool that is only observed does is entered only in the dry run (C1): its mode
 * says so.
 */
export class FailureLedgers {
  readonly #store: CircuitStore;
  readonly #rules: SystemicRules | undefined;
  readonly #changes: PendingChanges;
  readonly #within: Within | undefined;
  /** Its ledger pauses the session. */
  readonly real: LedgerSide<Ledger>;
  readonly #dryRun: LedgerSide;
  /** No ledger has a charge: nearly always. */
  #isUncharged = false;
  /** While the session is at this moment or before it, time changes no ledger. Undefined: a ledger has changed since that was known. */
  #steadyUntil: Steady | undefined = NOT_LONG;
  /** Whether charges leave by calls and time, whatever the steps (D1). */
  #byCalls: Moment['byCalls'];
  /** The state that the metrics were last given. Another session may end the event that pauses this one (C12). */
  #published: SessionState;
  /** The ledger that they were given with it. */
  #reported: Ledger;

  constructor(ledgerPair: LedgerPair, store: CircuitStore, rules: SystemicRules | undefined, changes: PendingChanges) {
    this.real = new LedgerSide(ledgerPair.real, store, 'real');
    this.#dryRun = new LedgerSide<Ledger | undefined>(ledgerPair.dryRun, store, 'dryRun');
    this.#store = store;
    this.#rules = rules;
    this.#changes = changes;
    this.#within = rules && ((from, to) => isTogether(rules, from, correlationMoment(store, to)));
    this.#isUncharged = this.#hasNoCharge();
    this.#published = this.state;
    this.#reported = this.real.ledger;
  }

  get ledgerPair(): LedgerPair {
    return { real: this.real.ledger, dryRun: this.#dryRun.ledger };
  }

  /** The side that decides about a tool in this mode. */
  sideOf(mode: CircuitMode): LedgerSide {
    return mode === 'observe_only' ? this.#dryRun : this.real;
  }

  /** The systemic event that is not over. */
  get event(): SystemicEvent | undefined {
    return this.#store.correlations.real.correlation.event;
  }

  /** Whether the session is not paused, and there is no event. Then nothing here rejects a call of a tool that decides. */
  get isCalm(): boolean {
    const { real, dryRun } = this.#store.correlations;
    const isOver = this.real.ledger.event === undefined && this.#dryRun.ledger?.event === undefined;
    const isQuiet =
      real.correlation.event === undefined && (dryRun === undefined || dryRun.correlation.event === undefined);
    return isOver && isQuiet && this.#published === 'active';
  }

  /** Whether neither time nor another session has changed anything here: nearly always. */
  isSteady(at: Moment): boolean {
    if (!this.isCalm || at.byCalls !== this.#byCalls) return false;
    this.#steadyUntil ??= this.#steady(at);
    return at.ms <= this.#steadyUntil.ms && (at.calls ?? 0) <= this.#steadyUntil.calls;
  }

  /** S3: whether a success of this tool changes nothing here: nearly always. */
  isUntouchedBySuccess(tool: string, group: string | undefined): boolean {
    const { real, dryRun } = this.#store.correlations;
    if (!this.isCalm || isBusy(real.correlation) || (dryRun !== undefined && isBusy(dryRun.correlation))) return false;
    if (this.#isUncharged) return true;
    const { ledger } = this.#dryRun;
    return (
      !awaitsSuccess(this.real.ledger, tool, group) && !(ledger !== undefined && awaitsSuccess(ledger, tool, group))
    );
  }

  /** B1: whether the budget of a side has no failure left. */
  isExhausted({ ledger = this.real.ledger }: LedgerSide): boolean {
    return ledger.exhausted;
  }

  get state(): SessionState {
    if (this.#pauses(this.real)) return 'paused_systemic';
    return this.real.ledger.exhausted ? 'paused_budget' : 'active';
  }

  #pauses({ failures }: LedgerSide): boolean {
    return failures.correlation.event !== undefined && this.#rules?.decision === 'pause';
  }

  /** A tool is only observed from now on: the dry run begins with everything that has happened so far (C1). */
  observe(): void {
    startDryRun(this.#store);
    if (this.#dryRun.ledger !== undefined) return;
    this.#dryRun.ledger = this.real.ledger;
    this.#changed();
  }

  /**
   * B1: a counted failure. That a tool is unusable is its own fault, so it costs nothing, and is no evidence of a common
   * cause. `ofKeys`: of keys, which are compared with other tools only by the opening of theirs.
   */
  failed(mode: CircuitMode, failure: Omit<LedgerFailure, 'isPartOfEvent'>, unixMs: number, ofKeys = false): void {
    const { tool, category, at, hasCircuit, isProbe } = failure;
    if (category === 'unusable') return;
    this.#enter(mode, (ledger, side) => {
      const isPartOfEvent = this.#isPartOfEvent(side.failures.correlation, tool);
      return recordFailure(ledger, { ...failure, isPartOfEvent }, side.around(this.#within));
    });
    if (!hasCircuit || isProbe || ofKeys) return;
    const entry = { tool, category, at: correlationMoment(this.#store, at), unixMs };
    const isEvent = this.#correlate(mode, (correlation) => correlateFailure(correlation, entry, this.#rules));
    if (isEvent && this.event !== undefined) this.#changes.add({ is: 'detected', event: this.event });
  }

  /** S3: in scope `process` unaffected tools go on, and their failures are charged as usual. */
  #isPartOfEvent({ event }: Correlation, tool: string): boolean {
    return event !== undefined && (this.#store.steps === undefined || isAffected(this.#rules, event, tool));
  }

  /** S3: a counted success. `group`: the circuit of its group. */
  succeeded(mode: CircuitMode, tool: string, group: string | undefined): void {
    if (this.isUntouchedBySuccess(tool, group)) return; // Nearly always.
    this.#correlate(mode, (one) => correlateSuccess(one, tool, this.#rules));
    this.#enter(mode, (ledger) => recordSuccess(ledger, tool, group));
  }

  /** S1: a circuit opened. Returns whether this began the real event. */
  opened(mode: CircuitMode, opening: Opening, { fromClosed, isMember }: OpeningFacts): boolean {
    const { tool } = opening;
    const own = { ...opening, at: correlationMoment(this.#store, opening.at) };
    if (isMember !== undefined) this.#correlate(mode, (one) => absorbMembers(one, tool, isMember));
    const listing = [this.real, this.#dryRun].filter(({ failures }) => isListed(failures.correlation, tool));
    const opensAtOnce = (name: string) => this.#store.circuits.get(name)?.tool.policy.failureThreshold === 1;
    const isEvidence = own.category !== 'unusable' && own.at.ms >= this.#store.correlations.fleetEndedMs; // O8
    return this.#correlate(
      mode,
      isEvidence ? (one) => correlateOpening(one, own, this.#rules, opensAtOnce) : same,
      (ledger, side) => {
        const { rule } = ledger.budget;
        if (rule === 'strict' ? listing.includes(side) : !fromClosed) return ledger;
        return recordOpening(ledger, rule === 'strict' ? own : opening, side.around(this.#within), isMember);
      },
    );
  }

  closed(mode: CircuitMode, tool: string): void {
    const tools = new Set([tool]);
    this.#correlate(mode, (one) => correlateClosing(one, tools));
    this.#enter(mode, (ledger) => recordClosing(ledger, tool));
  }

  /** B1: time has passed, and other sessions may have detected an event. */
  advance(given: Moment): void {
    this.#byCalls = given.byCalls;
    const at = given.byCalls ? { ...given, step: 0 } : given; // D1: charges leave by calls and time.
    this.#follow(BOTH);
    this.#enter(BOTH, (ledger, side) =>
      this.#pauses(side) ? ledger : recordTime(ledger, at, side.around(this.#within)),
    );
    this.conclude();
    this.#steadyUntil = this.#steady(at);
  }

  /** B1: called once all consequences of a call are known. */
  conclude(): void {
    const { exhausted } = this.real.ledger;
    this.#enter(BOTH, recordExhaustion);
    this.#publish();
    if (!exhausted && this.real.ledger.exhausted) this.#changes.add({ is: 'exhausted' });
  }

  /** M5: ends a pause of the budget whose time is over. Gives when it ends; undefined without one. */
  endPause(at: Moment): number | undefined {
    const { exhausted } = this.real.ledger;
    this.#enter(BOTH, (ledger) => endPauseByTime(ledger, at));
    this.#publish();
    if (exhausted && !this.real.ledger.exhausted) this.#changes.add({ is: 'resumed', isChange: true });
    return pauseEndMs(this.real.ledger);
  }

  /** B1: the budget is full again. */
  renew(): void {
    const { budget } = this.real.ledger;
    this.#enter(BOTH, renewBudget);
    this.#publish();
    this.#changes.add({ is: 'resumed', isChange: remaining(budget) < budget.limit });
  }

  /** S5: ends the real event and that of the dry run, or that of the dry run alone. */
  resolve(mode: CircuitMode = BOTH): void {
    this.#correlate(mode, resolveEvent);
    this.#steadyUntil = NOT_LONG; // Charges have aged during the pause: the next use of the session catches up.
    this.#publish();
  }

  /** Changes the correlation, and charges a new event. Returns whether the real event has just begun. */
  #correlate(mode: CircuitMode, change: (correlation: Correlation) => Correlation, before: Entry = same): boolean {
    const known = this.event;
    if (mode !== 'observe_only') this.real.correlate(change, this.#rules);
    this.#dryRun.correlate(change, this.#rules);
    if (before !== same) this.#enter(mode, before);
    this.#follow(mode);
    return known === undefined && this.event !== undefined;
  }

  /** S3: each ledger is charged for the event that concerns it. */
  #follow(mode: CircuitMode): void {
    const within = this.#within;
    if (within !== undefined) this.#enter(mode, (ledger, side) => side.follow(ledger, within));
  }

  /** Enters a change; for a tool that is only observed, only in the dry run. */
  #enter(mode: CircuitMode, entry: Entry): void {
    const { ledger } = this.real;
    if (mode !== 'observe_only') this.real.ledger = entry(ledger, this.real);
    const { ledger: ofDryRun } = this.#dryRun;
    if (ofDryRun !== undefined) this.#dryRun.ledger = entry(ofDryRun, this.#dryRun);
    if (this.real.ledger !== ledger || this.#dryRun.ledger !== ofDryRun) this.#changed();
    const goesOn =
      (ledger.exhausted && !this.real.ledger.exhausted) ||
      (ofDryRun?.exhausted === true && this.#dryRun.ledger?.exhausted === false);
    if (goesOn) this.#steadyUntil = NOT_LONG; // As in `resolve`.
  }

  #changed(): void {
    if (this.#steadyUntil !== NOT_LONG) this.#steadyUntil = undefined; // Otherwise the next use catches up.
    this.#isUncharged = this.#hasNoCharge();
  }

  #hasNoCharge(): boolean {
    return (
      !mayChange(this.real.ledger.budget) &&
      (this.#dryRun.ledger === undefined || !mayChange(this.#dryRun.ledger.budget))
    );
  }

  #steady(given: Moment): Steady {
    const at = given.byCalls ? { ...given, step: 0 } : given;
    const real = steadyUntil(this.real.ledger, at, this.#rules?.windowMs);
    const { ledger } = this.#dryRun;
    if (ledger === undefined) return real;
    const dryRun = steadyUntil(ledger, at, this.#rules?.windowMs);
    return { ms: Math.min(real.ms, dryRun.ms), calls: Math.min(real.calls, dryRun.calls) };
  }

  /** Metrics get the result of a call as a whole: a charge that is merged at once was never the last one. */
  #publish(): void {
    const { state } = this;
    if (state === this.#published && this.real.ledger === this.#reported) return;
    this.#published = state;
    this.#reported = this.real.ledger;
    this.#changes.add({ is: 'wrote', ledger: this.real.ledger, state });
  }
}

type Entry = (ledger: Ledger, side: LedgerSide) => Ledger;

const same = <Value>(value: Value): Value => value;

/** What concerns the whole session is entered on both sides, as what a tool that decides does. */
const BOTH = 'automatic';

const isBusy = ({ failures, sinceSuccess }: Correlation): boolean => failures.length > 0 || sinceSuccess.length > 0;

const isListed = ({ openings }: Correlation, tool: string): boolean => openings.some((one) => one.tool === tool);
