import { type Books, enter, hasPending, withShadow } from './books.ts';
import { openCircuit } from './circuit/circuit.ts';
import { restage } from './circuit/outage.ts';
import type { Moment } from './clock.ts';
import type { SystemicRules } from './context.ts';
import {
  absorbMembers,
  type Correlation,
  recordSuccess as emptyLog,
  recordClosing as forgetOpenings,
  latestOf,
  recordOpening as listOpening,
  recordFailure as logFailure,
  resolveEvent,
} from './correlation.ts';
import {
  type Around,
  type Failure,
  followEvent,
  type Ledger,
  recordClosing,
  recordFailure,
  recordGroupOpening,
  recordOpening,
  recordSuccess,
  recordTime,
  renewBudget,
  type SessionState,
  settleExhaustion,
  type Within,
} from './ledger.ts';
import { type CircuitStore, type CorrelationState, correlationMoment, openShadow } from './store.ts';
import { inWindow, type Opening, type SystemicEvent } from './systemic.ts';
import type { Observer } from './telemetry/witness.ts';

/** What an opening changes in the ledgers, beside being listed. */
export interface OpeningFacts {
  /** The circuit was closed: the charges of its tool become one charge (B3). */
  readonly fromClosed: boolean;
  /** Of a group: which tools it absorbs (C15). */
  readonly isMember?: ((tool: string) => boolean) | undefined;
}

/**
 * The ledgers that a session uses, together with the failures of its circuits. Each event is entered, and the observer gets the
 * result. `observed`: the event is of a tool that is only observed, so it counts only in the dry run (C1).
 */
export class Accounts {
  readonly #store: CircuitStore;
  readonly #rules: SystemicRules | undefined;
  readonly #witness: Observer;
  readonly #within: Within | undefined;
  #books: Books;
  /** Whether time or a success may change a ledger. Checked at each call. */
  #hasPending = false;
  /** The state that the metrics were last given. Another session may end the event that pauses this one (C12). */
  #published: SessionState = 'active';

  constructor(books: Books, store: CircuitStore, rules: SystemicRules | undefined, witness: Observer) {
    this.#books = books;
    this.#store = store;
    this.#rules = rules;
    this.#witness = witness;
    this.#within = rules && ((from, to) => inWindow(rules, from, correlationMoment(store, to)));
    this.#hasPending = hasPending(books);
  }

  get books(): Books {
    return this.#books;
  }

  /** The ledger that pauses the session. */
  get real(): Ledger {
    return this.#books.real;
  }

  /** The systemic event that is not over. */
  get event(): SystemicEvent | undefined {
    return this.#store.correlations.real.correlation.event;
  }

  /** Where failures of several tools are compared: those of tools that decide, or also those of tools that are only observed. */
  correlationOf(observed: boolean): CorrelationState {
    const { real, shadow = real } = this.#store.correlations;
    return observed ? shadow : real;
  }

  /** Whether something in the ledgers may change by time, or by a success. */
  get hasPending(): boolean {
    const { real, shadow } = this.#store.correlations;
    return (
      this.#hasPending ||
      this.#published !== 'active' ||
      isBusy(real.correlation) ||
      (shadow !== undefined && isBusy(shadow.correlation))
    );
  }

  /** B1: whether the budget has no failure left. */
  isExhausted(observed: boolean): boolean {
    const { real, shadow = real } = this.#books;
    return (observed ? shadow : real).exhausted;
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
    openShadow(this.#store);
    this.#keep(withShadow(this.#books));
  }

  /** B1, S1, S3: a counted failure. */
  failed(observed: boolean, failure: Omit<Failure, 'isPartOfEvent'>, unixMs: number): void {
    const { tool, category, at, hasCircuit, isProbe } = failure;
    this.#enter(observed, (ledger, isShadow) => {
      const isPartOfEvent = this.#isPartOfEvent(this.correlationOf(isShadow), tool);
      return recordFailure(ledger, { ...failure, isPartOfEvent }, this.#around(isShadow));
    });
    if (!hasCircuit || isProbe) return;
    const entry = { tool, category, at: correlationMoment(this.#store, at), unixMs };
    const isEvent = this.#correlate(observed, (correlation) => logFailure(correlation, entry, this.#rules));
    if (isEvent) this.#witness.detected(this.event);
  }

  /** S3: in scope `process` unaffected tools go on, and their failures are charged as usual. */
  #isPartOfEvent(state: CorrelationState, tool: string): boolean {
    if (state.correlation.event === undefined) return false;
    return this.#store.steps === undefined || this.isAffected(state, tool);
  }

  /** S3: a counted success. `group`: the circuit of its group. */
  succeeded(observed: boolean, tool: string, group: string | undefined): void {
    if (!this.hasPending) return; // Nearly always.
    this.#correlate(observed, emptyLog);
    this.#enter(observed, (ledger) => recordSuccess(ledger, tool, group));
  }

  /** S1, B3, C15: a circuit opened. Returns whether this began the real event. */
  opened(observed: boolean, opening: Opening, { fromClosed, isMember }: OpeningFacts): boolean {
    const { tool } = opening;
    const own = { ...opening, at: correlationMoment(this.#store, opening.at) };
    if (isMember !== undefined) this.#correlate(observed, (one) => absorbMembers(one, tool, isMember));
    const isKnown = [false, true].map((isShadow) => isListed(this.correlationOf(isShadow).correlation, tool));
    const isEvent = this.#correlate(
      observed,
      (one) => listOpening(one, own, this.#rules),
      (ledger, isShadow) => {
        const { rule } = ledger.budget;
        const counts = rule === 'strict' ? isKnown[Number(isShadow)] === false : fromClosed;
        if (!counts) return ledger;
        const around = this.#around(isShadow);
        if (isMember !== undefined)
          return recordGroupOpening(ledger, rule === 'strict' ? own : opening, isMember, around);
        return recordOpening(ledger, rule === 'strict' ? own : opening, around);
      },
    );
    return isEvent;
  }

  closed(observed: boolean, tool: string): void {
    const tools = new Set([tool]);
    this.#correlate(observed, (one) => forgetOpenings(one, tools));
    this.#enter(observed, (ledger) => recordClosing(ledger, tool));
  }

  /** B1, S3, C12: time has passed, and other sessions may have detected an event. */
  pass(at: Moment): void {
    this.#follow(false);
    if (this.#hasPending) {
      this.#enter(false, (ledger, isShadow) =>
        this.#pauses(this.correlationOf(isShadow)) ? ledger : recordTime(ledger, at, this.#around(isShadow)),
      );
    }
    this.settle();
  }

  /** B1: called once all consequences of a call are known. */
  settle(): void {
    const { exhausted } = this.real;
    this.#enter(false, settleExhaustion);
    this.#publish();
    if (!exhausted && this.real.exhausted) this.#witness.exhausted();
  }

  /** B1: the budget is full again. */
  renew(): void {
    this.#enter(false, renewBudget);
    this.#publish();
    this.#witness.resumed();
  }

  /** S5: ends the real event and the event of the dry run. */
  resolve(observedOnly = false): void {
    this.#correlate(observedOnly, resolveEvent);
    this.#publish();
  }

  /** Changes the correlation, gives a new event its gate, and charges it. Returns whether the real event has just begun. */
  #correlate(
    observed: boolean,
    change: (correlation: Correlation) => Correlation,
    before: (ledger: Ledger, isShadow: boolean) => Ledger = same,
  ): boolean {
    const { real, shadow } = this.#store.correlations;
    const known = this.event;
    if (!observed) this.#change(real, change);
    if (shadow !== undefined) this.#change(shadow, change);
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
    this.#enter(observed, (ledger, isShadow) =>
      followEvent(ledger, this.correlationOf(isShadow).correlation.event, within),
    );
  }

  #around(isShadow: boolean): Around {
    return { correlation: this.correlationOf(isShadow).correlation, within: this.#within };
  }

  /** Enters a change; for a tool that is only observed, only in the dry run. */
  #enter(observed: boolean, change: (ledger: Ledger, isShadow: boolean) => Ledger): void {
    this.#keep(enter(this.#books, observed, change));
  }

  #keep(books: Books): void {
    if (books === this.#books) return;
    this.#books = books;
    this.#hasPending = hasPending(books);
  }

  /** Metrics get the result of a call as a whole: a charge that is merged at once was never the last one. */
  #publish(): void {
    this.#published = this.state(false);
    this.#witness.wrote(this.#books.real, this.#published);
  }
}

const same = (ledger: Ledger): Ledger => ledger;

const isBusy = ({ failures, event }: Correlation): boolean => failures.length > 0 || event !== undefined;

const isListed = ({ openings }: Correlation, tool: string): boolean => openings.some((one) => one.tool === tool);
