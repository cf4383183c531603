/** Longest line that is looked at, in bytes. A longer one is forwarded piece by piece, so that it cannot fill the memory. */
const MOST_BYTES = 64 * 1024 * 1024;

/** A line with its line feed, or a piece of one. */
export interface Line {
  readonly bytes: Buffer;
  /** False for a piece of a line that is too long, or that the stream cut off. It is forwarded and not looked at. */
  readonly whole: boolean;
}

const LINE_FEED = 0x0a;

/** Splits a stream of bytes into lines. Together the lines are the stream, byte for byte. */
export class LineSplitter {
  readonly #mostBytes: number;
  #parts: Buffer[] = [];
  #length = 0;
  #isCut = false;

  constructor(mostBytes = MOST_BYTES) {
    this.#mostBytes = mostBytes;
  }

  /** Adds bytes, and gives the lines that they complete. */
  push(chunk: Buffer): readonly Line[] {
    const lines: Line[] = [];
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      lines.push(this.#take(chunk.subarray(from, end + 1), true));
      from = end + 1;
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from));
    if (this.#length > this.#mostBytes) lines.push(this.#take(undefined, false));
    return lines;
  }

  /** What is left when the stream ends: a line without a line feed. */
  rest(): Line | undefined {
    return this.#length === 0 ? undefined : this.#take(undefined, true);
  }

  #keep(part: Buffer): void {
    this.#parts.push(part);
    this.#length += part.length;
  }

  #take(last: Buffer | undefined, ends: boolean): Line {
    if (last !== undefined) this.#keep(last);
    const [only] = this.#parts;
    const bytes = only !== undefined && this.#parts.length === 1 ? only : Buffer.concat(this.#parts, this.#length);
    const whole = ends && !this.#isCut;
    this.#parts = [];
    this.#length = 0;
    this.#isCut = !ends;
    return { bytes, whole };
  }
}
