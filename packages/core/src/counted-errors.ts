import type { CircuitMode } from './circuit/circuit.ts';
import { isObject, read } from './safely.ts';

/** Number of `cause` links that are followed. */
const MOST_CAUSES = 5;

/** The part of a call that decides which errors it has counted. */
interface Call {
  readonly serial: number;
  readonly mode: CircuitMode;
}

/**
 * The errors that a session has counted. A guarded tool may call another guarded tool and rethrow its error: that is one failure,
 * not two. An error object that a tool throws again and again is a new failure each time, so the order of the calls matters.
 */
export class CountedErrors {
  readonly #real = new WeakMap<object, number>();
  /** Errors of tools that are only observed. They hide no failure of a tool that is not (C1). */
  readonly #observed = new WeakMap<object, number>();

  /**
   * Whether the error, or one of its causes, was counted for a nested call: one that began after this call and settled before it.
   */
  has({ serial, mode }: Call, error: unknown): boolean {
    const counted = (one: object) =>
      this.#real.get(one) ?? (mode === 'observe_only' ? this.#observed.get(one) : undefined);
    return chainOf(error).some((one) => (counted(one) ?? -1) > serial);
  }

  add({ serial, mode }: Call, error: unknown): void {
    if (isObject(error)) (mode === 'observe_only' ? this.#observed : this.#real).set(error, serial);
  }
}

const chainOf = (error: unknown): readonly object[] => {
  const chain: object[] = [];
  for (let one = error; isObject(one) && chain.length < MOST_CAUSES; one = read(one, 'cause')) chain.push(one);
  return chain;
};
