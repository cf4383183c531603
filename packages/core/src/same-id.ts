import { warnOnce } from './warnings.ts';

/** The live sessions of a box, by the ids that the caller gave them. */
export type NamedSessions = Map<string, NamedSession>;

/**
 * A session that may have the same id as another one of its box. Two that live are a mistake when both decide: each knows half of what
 * happened. One that was kept by `snapshot()` and restored has gone on elsewhere, and may be forgotten without an end.
 */
export class NamedSession {
  readonly #agent: string;
  readonly #id: string;
  readonly #all: NamedSessions;
  /** Its next decision has to be told by {@link decides}. A field, because every decision reads it. */
  waits = true;
  #hasDecided = false;
  #wasKept = false;
  /** A session that was restored while this one lived. */
  #successor: NamedSession | undefined;

  constructor(agent: string, id: string, all: NamedSessions, isRestored: boolean) {
    this.#agent = agent;
    this.#id = id;
    this.#all = all;
    const other = all.get(id);
    all.set(id, this);
    if (other === undefined) return;
    if (isRestored) other.#replacedBy(this);
    else if (other.#hasDecided && !other.#wasKept) this.#warn();
  }

  #replacedBy(successor: NamedSession): void {
    this.#successor = successor;
    this.waits = true;
  }

  /** It decides. */
  decides(): void {
    this.#hasDecided = true;
    const successor = this.#successor;
    this.waits = successor !== undefined && !successor.#hasDecided;
    if (successor === undefined || this.waits) return;
    this.#successor = undefined;
    this.#warn();
  }

  /** A snapshot was taken. */
  kept(): void {
    this.#wasKept = true;
  }

  /** It ended, or idles. */
  left(): void {
    if (this.#all.get(this.#id) === this) this.#all.delete(this.#id);
  }

  #warn(): void {
    warnOnce(
      'BREAKERBOX_SAME_SESSION',
      `${this.#agent}/${this.#id}`,
      () =>
        `Two sessions of agent '${this.#agent}' have the id '${this.#id}', and the first has not ended. Each has its own budget and, in scope 'session', its own circuits, so neither sees all failures. Keep one session for a conversation, call end() when a run is over, or go on elsewhere with snapshot() and box.restore().`,
    );
  }
}
