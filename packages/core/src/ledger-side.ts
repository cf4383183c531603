import { type Around, followEvent, type Ledger } from './budget/ledger.ts';
import { type Correlation, latestOf, type SystemicRules, type Within } from './budget/systemic.ts';
import { openCircuit, restage } from './circuit/circuit.ts';
import type { CircuitStore, CorrelationState } from './circuit-store.ts';
import type { Moment } from './clock.ts';

/**
 * A ledger of a session, and the failures of several tools that it is charged by. There are two sides: the one that decides, and the
 * dry run (C1), which gets the failures of all tools. Each change is made on both, or on the dry run alone.
 */
export class LedgerSide<Kept extends Ledger | undefined = Ledger | undefined> {
  /** Of the dry run: undefined if no tool of the session was ever observed. */
  ledger: Kept;
  readonly #store: CircuitStore;
  readonly #name: 'real' | 'dryRun';

  constructor(ledger: Kept, store: CircuitStore, name: 'real' | 'dryRun') {
    this.ledger = ledger;
    this.#store = store;
    this.#name = name;
  }

  /** Where failures of several tools are compared. Without a dry run, both sides have the same. */
  get failures(): CorrelationState {
    return this.#store.correlations[this.#name] ?? this.#store.correlations.real;
  }

  around(within: Within | undefined): Around {
    return { correlation: this.failures.correlation, within };
  }

  /** Changes the correlation, and gives a new event its gate. Without a dry run, that is done by the other side. */
  correlate(change: (correlation: Correlation) => Correlation, rules: SystemicRules | undefined): void {
    const state = this.#store.correlations[this.#name];
    if (state === undefined) return;
    const known = state.correlation.event;
    state.correlation = change(state.correlation);
    const { event } = state.correlation;
    if (event === known) return;
    const policy = rules?.gate;
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

  /** S3: the ledger is charged for the event that concerns it. */
  follow(ledger: Ledger, within: Within): Ledger {
    return followEvent(ledger, this.failures.correlation.event, within);
  }
}
