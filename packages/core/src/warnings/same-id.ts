import { warnOnce } from './warnings.ts';

/** The live sessions of a box, by the ids that the caller gave them. */
export type NamedSessions = Map<string, NamedSession>;

/**
 * A session that may have the same id as another session of its box. Two live sessions with one id are a mistake if both decide,
 * because each knows only half of the calls. A session that was kept by `snapshot()` and restored continues elsewhere, and may be
 * dropped without `end()`.
 */
export class NamedSession {
  readonly #agent: string;
  readonly #id: string;
  readonly #all: NamedSessions;
  /** Whether {@link decides} must be called at its next decision. A field, because every decision reads it. */
  waits = true;
  #hasDecided = false;
  #wasKept = false;
  /** The session that was made while this one lived, or that this one was made beside: a mistake once both have decided. */
  #other: NamedSession | undefined;

  constructor(agent: string, id: string, all: NamedSessions, isRestored: boolean) {
    this.#agent = agent;
    this.#id = id;
    this.#all = all;
    const other = all.get(id);
    all.set(id, this);
    if (other === undefined) return;
    // A session that was kept has gone on in the restored one: then only a later decision of the old one is a mistake.
    if (!isRestored && !other.#wasKept) this.#other = other;
    other.#other = this;
    other.waits = true;
  }

  /** It decides. */
  decides(): void {
    this.#hasDecided = true;
    const other = this.#other;
    this.waits = other !== undefined && !other.#hasDecided;
    if (other === undefined || this.waits) return;
    this.#other = undefined;
    this.#warn();
  }

  /** A snapshot was taken. */
  kept(): void {
    this.#wasKept = true;
  }

  /** It ended, or idles. */
  left(): void {
    const other = this.#other;
    if (other !== undefined && other.#other === this) other.#other = undefined;
    this.#other = undefined;
    if (this.#all.get(this.#id) === this) this.#all.delete(this.#id);
  }

  #warn(): void {
    warnOnce(
      'BREAKERBOX_SAME_SESSION',
      this.#agent,
      () =>
        `Two sessions of agent '${this.#agent}' have the id '${this.#id}', and the first has not ended. Each has its own budget and, in scope 'session', its own circuits, so neither sees all failures. Keep one session for a conversation, call end() when a run is over, or continue elsewhere with snapshot(session) and restore(box, …).`,
    );
  }
}
