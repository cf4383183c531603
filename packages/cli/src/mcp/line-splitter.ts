import { MessageOutline } from './message-outline.ts';

/** Longest message, in bytes, so that it cannot fill the memory. */
export const MOST_BYTES = 64 * 1024 * 1024;

/** The same for people. */
export const MOST_TEXT = '64 MiB';

/** A line with its line feed. */
export interface Line {
  readonly bytes: Buffer;
  /** False for a line that is too long. It is not forwarded, and its bytes are a message with its id and method alone. */
  readonly whole: boolean;
}

const LINE_FEED = 0x0a;

/** Splits a stream of bytes into lines. Together the lines are the stream, byte for byte, except for those that are too long. */
export class LineSplitter {
  readonly #mostBytes: number;
  #parts: Buffer[] = [];
  #length = 0;
  /** Of a line that is too long. */
  #outline: MessageOutline | undefined;

  constructor(mostBytes = MOST_BYTES) {
    this.#mostBytes = mostBytes;
  }

  /** Adds bytes, and gives the lines that they complete. */
  push(chunk: Buffer): readonly Line[] {
    const lines: Line[] = [];
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      this.#keep(chunk.subarray(from, end + 1));
      lines.push(this.#take());
      from = end + 1;
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from));
    return lines;
  }

  /** What is left when the stream ends: a line without a line feed. */
  rest(): Line | undefined {
    return this.isEmpty ? undefined : this.#take();
  }

  /** Whether the bytes end with a line. */
  get isEmpty(): boolean {
    return this.#length === 0 && this.#outline === undefined;
  }

  #keep(part: Buffer): void {
    if (this.#outline !== undefined) {
      this.#outline.push(part);
      return;
    }
    this.#parts.push(part);
    this.#length += part.length;
    if (this.#length <= this.#mostBytes) return;
    this.#outline = new MessageOutline();
    for (const one of this.#parts) this.#outline.push(one);
    this.#parts = [];
    this.#length = 0;
  }

  #take(): Line {
    if (this.#outline !== undefined) {
      const bytes = this.#outline.line();
      this.#outline = undefined;
      return { bytes, whole: false };
    }
    const bytes = joined(this.#parts);
    this.#parts = [];
    this.#length = 0;
    return { bytes, whole: true };
  }
}

/** The parts in one buffer. A single part is not copied, because a copy of a long message counts (M10). */
export const joined = (parts: readonly Buffer[]): Buffer => {
  const [only] = parts;
  return only !== undefined && parts.length === 1 ? only : Buffer.concat(parts);
};
