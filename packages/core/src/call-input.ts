import { digest, digestOfSmall } from './digest.ts';

/** Size in characters and parts up to which arguments are hashed at once. That takes a few microseconds. */
const SMALL = 2_048;

/** Counts the digests that match no other. */
let released = 0;

/**
 * The arguments of one call, for as long as their digest may be needed (O5, F1, F2). Small ones are hashed at once. Large ones are
 * kept until their digest is needed, because hashing a megabyte takes milliseconds and most calls succeed without a digest. If a
 * tool changes large arguments during its call, a digest that is taken later is of the changed ones.
 *
 * All of it is private, so that neither JSON nor `console.log` shows arguments (Q2).
 */
export class CallInput {
  readonly #seed: number;
  #digest: string | undefined;
  /** Undefined once the arguments are no longer kept. */
  #value: unknown;

  constructor(value: unknown, seed: number) {
    this.#seed = seed;
    this.#digest = digestOfSmall(value, seed, SMALL);
    this.#value = this.#digest === undefined ? value : undefined;
  }

  /** The digest, computed once. After `release()`, a digest that was not computed before matches no other. */
  digest(): string {
    if (this.#digest !== undefined) return this.#digest;
    if (this.#value === undefined) {
      released += 1;
      return `released ${released}`;
    }
    this.#digest = digest(this.#value, this.#seed);
    this.release();
    return this.#digest;
  }

  /** The call is over, or was not made: drops the arguments. */
  release(): void {
    this.#value = undefined;
  }
}
