import type { CircuitMode } from './circuit/mode.ts';
import { isObject, read } from './outcome/untrusted.ts';

/** How far `cause` is followed. */
const MOST_CAUSES = 5;

/** A call as far as it matters which errors it has counted. */
interface Call {
  readonly serial: number;
  readonly mode: CircuitMode;
}

/**
 * Which errors a session has counted. A guarded tool may call another guarded tool and rethrow its error: that is one failure, not
 * two. An error object that a tool throws again and again is a new failure each time, so it matters when it was counted.
 */
export class CountedErrors {
  readonly #real = new WeakMap<object, number>();
  /** Of tools that are only observed: they hide no failure of one that is not (C1). */
  readonly #observed = new WeakMap<object, number>();

  /** Whether the error, or one of its causes, was counted for a call that began within this one: after it, and settled before it. */
  has({ serial, mode }: Call, error: unknown): boolean {
    const counted = (one: object) =>
      this.#real.get(one) ?? (mode === 'observe_only' ? this.#observed.get(one) : undefined);
    return chainOf(error).some((one) => (counted(one) ?? -1) > serial);
  }

  /** The error was counted for this call. */
  add({ serial, mode }: Call, error: unknown): void {
    if (isObject(error)) (mode === 'observe_only' ? this.#observed : this.#real).set(error, serial);
  }
}

const chainOf = (error: unknown): readonly object[] => {
  const chain: object[] = [];
  for (let one = error; isObject(one) && chain.length < MOST_CAUSES; one = read(one, 'cause')) chain.push(one);
  return chain;
};
