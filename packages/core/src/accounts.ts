import { type Books, enter, hasProvisional, withShadow } from './books.ts';
import type { Moment } from './clock.ts';
import {
  chargeFailure,
  type Failure,
  joinEvent,
  type Ledger,
  matureCharges,
  noticeExhaustion,
  recordClosing,
  recordOpening,
  renewBudget,
  resolveEvent,
  type SessionState,
  sessionState,
} from './ledger.ts';
import type { Correlation, Opening, SystemicEvent } from './systemic.ts';
import type { SessionWitness } from './telemetry/witness.ts';

/** A session's books in use: what happens is entered, and the witness hears what came of it. `observed`: of a trial (C1). */
export class Accounts {
  readonly #systemic: Correlation | undefined;
  readonly #witness: SessionWitness;
  #books: Books;

  constructor(books: Books, systemic: Correlation | undefined, witness: SessionWitness) {
    this.#books = books;
    this.#systemic = systemic;
    this.#witness = witness;
  }

  get books(): Books {
    return this.#books;
  }

  /** The ledger that pauses the session. */
  get real(): Ledger {
    return this.#books.real;
  }

  /** The event that pauses the session. */
  get event(): SystemicEvent | undefined {
    return this.#books.real.event;
  }

  /** The event that pauses the session, or what is only observed. */
  eventOf(observed: boolean): SystemicEvent | undefined {
    const { real, shadow } = this.#books;
    return observed ? shadow?.event : real.event;
  }

  state(observed: boolean): SessionState {
    const { real, shadow = real } = this.#books;
    return sessionState(observed ? shadow : real);
  }

  /** Something is only observed from now on: the shadow begins with all that has happened so far (C1). */
  observe(): void {
    this.#books = withShadow(this.#books);
  }

  /** B1, S3. */
  failed(observed: boolean, failure: Failure): void {
    this.#enter(observed, (ledger) => chargeFailure(ledger, failure, this.#systemic));
  }

  /** S1. Whether it made the event that pauses the session. */
  opened(observed: boolean, opening: Opening): boolean {
    const known = this.event;
    this.#enter(observed, (ledger) => recordOpening(ledger, opening, this.#systemic));
    return known === undefined && this.event !== undefined;
  }

  /** C12: another session has found out an event, and this one has not. Whether that is news. */
  joined(event: SystemicEvent): boolean {
    const known = this.event;
    this.#enter(false, (ledger) => joinEvent(ledger, event, this.#systemic));
    return known === undefined && this.event !== undefined;
  }

  closed(observed: boolean, tool: string): void {
    this.#enter(observed, (ledger) => recordClosing(ledger, tool));
  }

  /** S3: provisional charges whose window has passed may be what empties the budget. */
  mature(at: Moment): void {
    if (!hasProvisional(this.#books)) return;
    this.#enter(false, (ledger) => matureCharges(ledger, at, this.#systemic));
    this.noticeExhaustion();
  }

  /** B1: once all consequences of a failure are known. */
  noticeExhaustion(): void {
    const { exhausted } = this.real;
    this.#enter(false, noticeExhaustion);
    if (!exhausted && this.real.exhausted) this.#witness.exhausted();
  }

  /** B1: a new cycle. */
  renew(): void {
    this.#enter(false, renewBudget);
    this.#witness.resumed();
  }

  /** S5: the event is over. */
  resolve(): void {
    this.#enter(false, resolveEvent);
  }

  /** Enters what happened; of a tool that is only observed in the shadow alone. */
  #enter(observed: boolean, change: (ledger: Ledger) => Ledger): void {
    this.#books = enter(this.#books, observed, change);
    this.#witness.wrote(this.#books.real);
  }
}
