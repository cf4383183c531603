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
  recordClosings,
  recordOpening,
  recordOpenings,
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
  /** What follows from the books, since each call asks for it. */
  #state: SessionState = 'active';
  #shadowState: SessionState = 'active';
  #isPaused = false;
  #hasPending = false;

  constructor(books: Books, systemic: Correlation | undefined, witness: SessionWitness) {
    this.#systemic = systemic;
    this.#witness = witness;
    this.#books = books;
    this.#keep(books);
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

  /** Whether something in the books may change by time alone. */
  get hasPending(): boolean {
    return this.#hasPending;
  }

  /** Whether the session is paused, or would be if what is only observed counted. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  state(observed: boolean): SessionState {
    return observed ? this.#shadowState : this.#state;
  }

  /** Something is only observed from now on: the shadow begins with all that has happened so far (C1). */
  observe(): void {
    this.#keep(withShadow(this.#books));
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

  /** C12: what other sessions opened, first to last; the witness hears which of them made an event. */
  openedElsewhere(openings: readonly Opening[]): void {
    const { real, shadow = real } = this.#books;
    const [known, knownToShadow] = [toolsOf(real), toolsOf(shadow)];
    const fresh = openings.filter(({ tool }) => !known.has(tool) || !knownToShadow.has(tool));
    for (const [index, opening] of fresh.entries()) {
      if (this.event !== undefined) {
        this.#enter(false, (ledger) => recordOpenings(ledger, fresh.slice(index), this.#systemic));
        return;
      }
      if (this.opened(false, opening)) this.#witness.joined(this.event);
    }
  }

  /** C12: and what they closed. */
  closedElsewhere(tools: ReadonlySet<string>): void {
    this.#enter(false, (ledger) => recordClosings(ledger, tools));
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
    this.#keep(enter(this.#books, observed, change));
    this.#witness.wrote(this.#books.real);
  }

  #keep(books: Books): void {
    const { real, shadow = real } = books;
    this.#books = books;
    this.#state = sessionState(real);
    this.#shadowState = sessionState(shadow);
    this.#isPaused = this.#state !== 'active' || this.#shadowState !== 'active';
    this.#hasPending = real.event !== undefined || shadow.event !== undefined || hasProvisional(books);
  }
}

const toolsOf = ({ openings }: Ledger): ReadonlySet<string> => new Set(openings.map(({ tool }) => tool));
