/** Milliseconds that a call has no answer, and the server says nothing, until the server is asked whether it is alive. They double. */
const ASK_AFTER_MS = 5_000;
const MOST_ASK_AFTER_MS = 60_000;

/** Milliseconds that a ping may take. */
const PING_MS = 5_000;

/** Milliseconds of silence after which a server hangs: if a later call waits too, for a call that its client gives up, and for any call. */
const SEVERAL_MS = 20_000;
const GIVEN_UP_MS = 30_000;
const ALONE_MS = 60_000;

export interface HangParts {
  /** The clock of the box, in milliseconds. */
  now(): number;
  /** Whether the server has not answered a call, and no person is asked in between. */
  isWaiting(): boolean;
  /** Sends a ping. */
  ping(): void;
  /** The server hangs: calls that wait for it have failed. */
  hung(): void;
  /** A server that hung has said something. */
  returned(): void;
}

/**
 * Finds out whether a server hangs (O10, M6). The reasons that clients give for a cancellation are no evidence: some name a person's
 * cancellation and a timeout alike, and some give none. Evidence is a ping without an answer while the server says nothing at all.
 */
export class HangWatch {
  readonly #parts: HangParts;
  #timer: NodeJS.Timeout | undefined;
  /** When the first call was sent after which the server has said nothing. */
  #silentSinceMs: number | undefined;
  #pingedMs: number | undefined;
  #askAfterMs = ASK_AFTER_MS;
  /** Whether a call was sent after the ping. */
  #hasLater = false;
  /** The server speaks, but does not answer pings. */
  #ignoresPings = false;
  #isHung = false;

  constructor(parts: HangParts) {
    this.#parts = parts;
  }

  /** A call was sent. */
  began(): void {
    this.#silentSinceMs ??= this.#parts.now();
    if (this.#pingedMs !== undefined) this.#hasLater = true;
    this.#timer ??= setTimeout(() => this.#look(), ASK_AFTER_MS).unref();
  }

  /** The server has said something. */
  heard(isPing = false): void {
    const askedMs = this.#pingedMs === undefined ? 0 : this.#parts.now() - this.#pingedMs;
    this.#ignoresPings = !isPing && (this.#ignoresPings || askedMs > PING_MS);
    if (isPing) this.pingOver();
    else this.#askAfterMs = ASK_AFTER_MS;
    this.#hasLater = false;
    this.#silentSinceMs = this.#parts.isWaiting() ? this.#parts.now() : undefined;
    const { isHung } = this;
    this.#isHung = false;
    if (isHung) this.#parts.returned();
  }

  /** The ping was answered, or got no answer for a reason that is counted elsewhere, such as a broken connection. */
  pingOver(): void {
    this.#pingedMs = undefined;
    this.#askAfterMs = Math.min(2 * this.#askAfterMs, MOST_ASK_AFTER_MS);
  }

  get isHung(): boolean {
    return this.#isHung;
  }

  /** Whether a call that its client gives up now has failed, because the server hangs. */
  isHang(ranMs: number): boolean {
    if (this.#isHung && ranMs >= PING_MS) return true;
    return this.#isSilent(ranMs >= GIVEN_UP_MS);
  }

  /** The server has ended, or the client has. */
  reset(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#silentSinceMs = undefined;
    this.#pingedMs = undefined;
    this.#askAfterMs = ASK_AFTER_MS;
    this.#hasLater = false;
    this.#isHung = false;
  }

  #isSilent(isGivenUp: boolean): boolean {
    const { now } = this.#parts;
    if (this.#silentSinceMs === undefined || this.#pingedMs === undefined || this.#ignoresPings) return false;
    if (now() - this.#pingedMs < PING_MS) return false;
    const silentMs = now() - this.#silentSinceMs;
    return isGivenUp || silentMs >= ALONE_MS || (this.#hasLater && silentMs >= SEVERAL_MS);
  }

  #look(): void {
    this.#timer = undefined;
    const { now, isWaiting, ping, hung } = this.#parts;
    const isOpen = isWaiting();
    if (!isOpen && this.#pingedMs === undefined && !this.#isHung) {
      this.#silentSinceMs = undefined;
      this.#askAfterMs = ASK_AFTER_MS;
      return;
    }
    const silentMs = now() - (this.#silentSinceMs ?? now());
    if (this.#pingedMs === undefined && (silentMs >= this.#askAfterMs || this.#isHung)) {
      this.#pingedMs = now();
      ping();
    }
    if (isOpen && this.#isSilent(false)) {
      this.#isHung = true;
      hung();
    }
    this.#timer ??= setTimeout(() => this.#look(), ASK_AFTER_MS).unref();
  }
}
