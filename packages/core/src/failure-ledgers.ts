import { mayChange, remaining } from './budget/budget.ts';
import {
  type Around,
  awaitsSuccess,
  endPauseByTime,
  followEvent,
  type Ledger,
  type LedgerFailure,
  type LedgerPair,
  pauseEndMs,
  recordClosing,
  recordFailure,
  recordGroupOpening,
  recordOpening,
  recordSuccess,
  recordTime,
  renewBudget,
  type SessionState,
  type Steady,
  settleExhaustion,
  steadyUntil,
  type Within,
} from './budget/ledger.ts';
import {
  absorbMembers,
  type Correlation,
  correlateClosing,
  correlateFailure,
  correlateOpening,
  correlateSuccess,
  inWindow,
  latestOf,
  type Opening,
  resolveEvent,
  type SystemicEvent,
  type SystemicRules,
} from './budget/systemic.ts';
import { openCircuit, restage } from './circuit/circuit.ts';
import { type CircuitStore, type CorrelationState, correlationMoment, startDryRun } from './circuit-store.ts';
import type { Moment } from './clock.ts';
import type { Reports } from './engine/reports.ts';

/** What an opening changes in the ledgers, beside being listed. */
export interface OpeningFacts {
  /** The circuit was closed: the charges of its tool become one charge (B3). */
  readonly fromClosed: boolean;
  /** Of a group: which tools it absorbs (C15). */
  readonly isMember?: ((tool: string) => boolean) | undefined;
}

/**
 * The ledgers that a session uses, together with the failures of its circuits. Each event is entered, and the result is
 * reported. `observed`: the event is of a tool that is only observed, so it counts only in the dry run (C1).
 */
export class FailureLedgers {
  readonly #store: CircuitStore;
  readonly #rules: SystemicRules | undefined;
  readonly #reports: Reports;
  readonly #within: Within | undefined;
  /** The ledger that pauses the session. */
  real: Ledger;
  #dryRun: Ledger | undefined;
  /** No ledger has a charge: nearly always. */
  #isUncharged = false;
  /** While the session is at this moment or before it, time changes no ledger. Undefined: not known. */
  #steadyUntil: Steady | undefined;
  /** The state that the metrics were last given. Another session may end the event that pauses this one (C12). */
  #published: SessionState;
  /** The ledger that they were given with it. */
  #reported: Ledger;

  constructor(ledgerPair: LedgerPair, store: CircuitStore, rules: SystemicRules | undefined, reports: Reports) {
    this.real = ledgerPair.real;
    this.#dryRun = ledgerPair.dryRun;
    this.#store = store;
    this.#rules = rules;
    this.#reports = reports;
    this.#within = rules && ((from, to) => inWindow(rules, from, correlationMoment(store, to)));
    this.#isUncharged = this.#hasNoCharge();
    this.#published = this.state(false);
    this.#reported = this.real;
  }

  get ledgerPair(): LedgerPair {
    return { real: this.real, dryRun: this.#dryRun };
  }

  /** The systemic event that is not over. */
  get event(): SystemicEvent | undefined {
    return this.#store.correlations.real.correlation.event;
  }

  /** Where failures of several tools are compared: those of tools that decide, or also those of tools that are only observed. */
  correlationOf(observed: boolean): CorrelationState {
    const { real, dryRun = real } = this.#store.correlations;
    return observed ? dryRun : real;
  }

  /** Whether the session is not paused, and there is no event. Then nothing here rejects a call of a tool that decides. */
  get isCalm(): boolean {
    const { real, dryRun } = this.#store.correlations;
    const isOver = this.real.event === undefined && (this.#dryRun === undefined || this.#dryRun.event === undefined);
    const isQuiet =
      real.correlation.event === undefined && (dryRun === undefined || dryRun.correlation.event === undefined);
    return isOver && isQuiet && this.#published === 'active';
  }

  /** Whether neither time nor another session has changed anything here: nearly always. */
  isSteady({ ms, calls = 0 }: Moment): boolean {
    const until = this.#steadyUntil;
    return until !== undefined && ms <= until.ms && calls <= until.calls && this.isCalm;
  }

  /** S3: whether a success of this tool changes nothing here: nearly always. */
  isUntouchedBySuccess(tool: string, group: string | undefined): boolean {
    const { real, dryRun } = this.#store.correlations;
    if (!this.isCalm || isBusy(real.correlation) || (dryRun !== undefined && isBusy(dryRun.correlation))) return false;
    if (this.#isUncharged) return true;
    if (this.#dryRun !== undefined && awaitsSuccess(this.#dryRun, tool, group)) return false;
    return !awaitsSuccess(this.real, tool, group);
  }

  /** B1: whether the budget has no failure left. */
  isExhausted(observed: boolean): boolean {
    return (observed ? (this.#dryRun ?? this.real) : this.real).exhausted;
  }

  state(observed: boolean): SessionState {
    if (this.#pauses(this.correlationOf(observed))) return 'paused_systemic';
    return this.isExhausted(observed) ? 'paused_budget' : 'active';
  }

  #pauses({ correlation }: CorrelationState): boolean {
    return correlation.event !== undefined && this.#rules?.decision === 'pause';
  }

  /** S2: whether an event concerns a tool. */
  isAffected(state: CorrelationState, tool: string): boolean {
    const { event } = state.correlation;
    if (event === undefined || this.#rules === undefined) return false;
    const { affectedBy, version } = this.#rules;
    const now = version();
    if (state.affected?.event !== event || state.affected.version !== now) {
      state.affected = { event, version: now, tools: affectedBy(event) };
    }
    return state.affected.tools.has(tool);
  }

  /** A tool is only observed from now on: the dry run begins with everything that has happened so far (C1). */
  observe(): void {
    startDryRun(this.#store);
    this.#keep(this.real, this.#dryRun ?? this.real);
  }

  /**
   * B1, S1, S3: a counted failure. O8: that a tool is unusable is its own fault, so it costs nothing, and is no evidence of a common
   * cause. `ofKeys`: of keys, which are compared with other tools only by the opening of theirs (C14).
   */
  failed(observed: boolean, failure: Omit<LedgerFailure, 'isPartOfEvent'>, unixMs: number, ofKeys = false): void {
    const { tool, category, at, hasCircuit, isProbe } = failure;
    if (category === 'unusable') return;
    this.#enter(observed, (ledger, isDryRun) => {
      const isPartOfEvent = this.#isPartOfEvent(this.correlationOf(isDryRun), tool);
      return recordFailure(ledger, { ...failure, isPartOfEvent }, this.#around(isDryRun));
    });
    if (!hasCircuit || isProbe || ofKeys) return;
    const entry = { tool, category, at: correlationMoment(this.#store, at), unixMs };
    const isEvent = this.#correlate(observed, (correlation) => correlateFailure(correlation, entry, this.#rules));
    if (isEvent && this.event !== undefined) this.#reports.add({ is: 'detected', event: this.event });
  }

  /** S3: in scope `process` unaffected tools go on, and their failures are charged as usual. */
  #isPartOfEvent(state: CorrelationState, tool: string): boolean {
    if (state.correlation.event === undefined) return false;
    return this.#store.steps === undefined || this.isAffected(state, tool);
  }

  /** S3: a counted success. `group`: the circuit of its group. */
  succeeded(observed: boolean, tool: string, group: string | undefined): void {
    if (this.isUntouchedBySuccess(tool, group)) return; // Nearly always.
    this.#correlate(observed, (one) => correlateSuccess(one, tool, this.#rules));
    this.#enter(observed, (ledger) => recordSuccess(ledger, tool, group));
  }

  /** S1, B3, C15: a circuit opened. Returns whether this began the real event. */
  opened(observed: boolean, opening: Opening, { fromClosed, isMember }: OpeningFacts): boolean {
    const { tool } = opening;
    const own = { ...opening, at: correlationMoment(this.#store, opening.at) };
    if (isMember !== undefined) this.#correlate(observed, (one) => absorbMembers(one, tool, isMember));
    const isKnown = [false, true].map((isDryRun) => isListed(this.correlationOf(isDryRun).correlation, tool));
    const isEvidence = own.category !== 'unusable' && own.at.ms >= this.#store.correlations.fleetEndedMs; // O8, G8
    const isEvent = this.#correlate(
      observed,
      isEvidence ? (one) => correlateOpening(one, own, this.#rules) : same,
      (ledger, isDryRun) => {
        const { rule } = ledger.budget;
        const counts = rule === 'strict' ? isKnown[Number(isDryRun)] === false : fromClosed;
        if (!counts) return ledger;
        const around = this.#around(isDryRun);
        if (isMember !== undefined)
          return recordGroupOpening(ledger, rule === 'strict' ? own : opening, isMember, around);
        return recordOpening(ledger, rule === 'strict' ? own : opening, around);
      },
    );
    return isEvent;
  }

  closed(observed: boolean, tool: string): void {
    const tools = new Set([tool]);
    this.#correlate(observed, (one) => correlateClosing(one, tools));
    this.#enter(observed, (ledger) => recordClosing(ledger, tool));
  }

  /** B1, S3, C12: time has passed, and other sessions may have detected an event. */
  pass(at: Moment): void {
    this.#follow(false);
    this.#enter(false, (ledger, isDryRun) =>
      this.#pauses(this.correlationOf(isDryRun)) ? ledger : recordTime(ledger, at, this.#around(isDryRun)),
    );
    this.settle();
    this.#steadyUntil ??= this.#steady(at);
  }

  /** B1: called once all consequences of a call are known. */
  settle(): void {
    const { exhausted } = this.real;
    this.#enter(false, settleExhaustion);
    this.#publish();
    if (!exhausted && this.real.exhausted) this.#reports.add({ is: 'exhausted' });
  }

  /** M5: ends a pause of the budget whose time is over. Gives when it ends; undefined without one. */
  endPause(at: Moment): number | undefined {
    const { exhausted } = this.real;
    this.#enter(false, (ledger) => endPauseByTime(ledger, at));
    this.#publish();
    if (exhausted && !this.real.exhausted) this.#reports.add({ is: 'resumed', isChange: true });
    return pauseEndMs(this.real);
  }

  /** B1: the budget is full again. */
  renew(): void {
    const { budget } = this.real;
    this.#enter(false, renewBudget);
    this.#publish();
    this.#reports.add({ is: 'resumed', isChange: remaining(budget) < budget.limit });
  }

  /** S5: ends the real event and the event of the dry run. `observedOnly`: that of the dry run alone. */
  resolve(observedOnly = false): void {
    this.#correlate(observedOnly, resolveEvent);
    this.#publish();
  }

  /** Changes the correlation, gives a new event its gate, and charges it. Returns whether the real event has just begun. */
  #correlate(
    observed: boolean,
    change: (correlation: Correlation) => Correlation,
    before: (ledger: Ledger, isDryRun: boolean) => Ledger = same,
  ): boolean {
    const { real, dryRun } = this.#store.correlations;
    const known = this.event;
    if (!observed) this.#change(real, change);
    if (dryRun !== undefined) this.#change(dryRun, change);
    if (before !== same) this.#enter(observed, before);
    this.#follow(observed);
    return known === undefined && this.event !== undefined;
  }

  #change(state: CorrelationState, change: (correlation: Correlation) => Correlation): void {
    const known = state.correlation.event;
    state.correlation = change(state.correlation);
    const { event } = state.correlation;
    if (event === known) return;
    const policy = this.#rules?.gate;
    if (event === undefined || policy === undefined) {
      if (state.gate !== undefined) state.generation = state.gate.circuit.generation + 1;
      state.gate = undefined;
      return;
    }
    const at: Moment = { ms: latestOf(event), step: 0, stepMs: 0 };
    // A circuit that joins shows that the event was not over yet: its wait begins again.
    if (state.gate !== undefined) state.gate.circuit = restage(state.gate.circuit, policy, at);
    else state.gate = { circuit: openCircuit(at, event.category ?? 'unknown', policy, state.generation) };
  }

  /** S3: each ledger is charged for the event that concerns it. */
  #follow(observed: boolean): void {
    const within = this.#within;
    if (within === undefined) return;
    this.#enter(observed, (ledger, isDryRun) =>
      followEvent(ledger, this.correlationOf(isDryRun).correlation.event, within),
    );
  }

  #around(isDryRun: boolean): Around {
    return { correlation: this.correlationOf(isDryRun).correlation, within: this.#within };
  }

  /** Enters a change; for a tool that is only observed, only in the dry run. */
  #enter(observed: boolean, change: (ledger: Ledger, isDryRun: boolean) => Ledger): void {
    this.#keep(observed ? this.real : change(this.real, false), this.#dryRun && change(this.#dryRun, true));
  }

  #keep(real: Ledger, dryRun: Ledger | undefined): void {
    if (real === this.real && dryRun === this.#dryRun) return;
    this.real = real;
    this.#dryRun = dryRun;
    this.#steadyUntil = undefined;
    this.#isUncharged = this.#hasNoCharge();
  }

  #hasNoCharge(): boolean {
    return !mayChange(this.real.budget) && (this.#dryRun === undefined || !mayChange(this.#dryRun.budget));
  }

  #steady(at: Moment): Steady {
    const real = steadyUntil(this.real, at, this.#rules?.windowMs);
    const dryRun = this.#dryRun === undefined ? real : steadyUntil(this.#dryRun, at, this.#rules?.windowMs);
    return { ms: Math.min(real.ms, dryRun.ms), calls: Math.min(real.calls, dryRun.calls) };
  }

  /** Metrics get the result of a call as a whole: a charge that is merged at once was never the last one. */
  #publish(): void {
    const state = this.state(false);
    if (state === this.#published && this.real === this.#reported) return;
    this.#published = state;
    this.#reported = this.real;
    this.#reports.add({ is: 'wrote', ledger: this.real, state });
  }
}

const same = <Value>(value: Value): Value => value;

const isBusy = ({ failures, sinceSuccess }: Correlation): boolean => failures.length > 0 || sinceSuccess.length > 0;

const isListed = ({ openings }: Correlation, tool: string): boolean => openings.some((one) => one.tool === tool);
