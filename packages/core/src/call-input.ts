import { digest, digestOfSmall } from './digest.ts';

/** Characters and parts of arguments up to which they are hashed at once: that costs a few microseconds. */
const SMALL = 2_048;

/** Counts the digests that match nothing. */
let released = 0;

/**
 * The arguments of one call, for as long as their digest may be needed (O5, F1, F2). Small ones are hashed at once. Large ones are
 * kept until then: hashing a megabyte takes milliseconds, and most calls succeed without any need of a digest. A tool that
 * changes large arguments during its call changes a digest that is taken later.
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

  /** Made when it is first needed, then the same again. One that was not made before `release()` matches no other. */
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

  /** The call is over, or is not made: the arguments are no longer kept. */
  release(): void {
    this.#value = undefined;
  }
}
