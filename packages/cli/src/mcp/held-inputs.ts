import { createHash } from 'node:crypto';

/** Maximum number of bytes of arguments that the calls under way hold together. */
const MOST_BYTES = 64 * 1024 * 1024;

/**
 * Limits what the arguments of the calls under way hold of the memory. The engine keeps them until a call ends, because a tool that fails
 * may quote them. When there are too many, the engine gets a digest in their place.
 */
export class HeldInputs {
  readonly #mostBytes: number;
  #bytes = 0;

  constructor(mostBytes = MOST_BYTES) {
    this.#mostBytes = mostBytes;
  }

  /** Gives what the engine keeps of the arguments, and the bytes to free later. */
  hold(input: unknown, bytes: number): { readonly input: unknown; readonly bytes: number } {
    if (this.#bytes + bytes > this.#mostBytes) return { input: digestOf(input), bytes: 0 };
    this.#bytes += bytes;
    return { input, bytes };
  }

  free(bytes: number): void {
    this.#bytes -= bytes;
  }
}

const digestOf = (input: unknown): object => ({
  digest: createHash('sha256')
    .update(JSON.stringify(input) ?? '')
    .digest('hex'),
});
