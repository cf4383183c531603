const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const OPEN = new Set([0x7b, OPEN_LIST]);
const CLOSE = new Set([0x7d, 0x5d]);

/** Maximum number of bytes of a member that is kept. An id is shorter. */
const MOST_BYTES = 64 * 1024;

/** Characters that are kept of a batch. Messages behind them are forgotten. */
const MOST_OF_BATCH = 128 * 1024;

/** The members of a message that are kept. They may stand behind its long ones. */
const KEPT: ReadonlySet<string> = new Set(['id', 'method']);

/** Reads the ids and methods of a message or a batch that is too long to be kept, piece by piece. */
export class MessageOutline {
  #depth = 0;
  /** The depth of a message's members: 2 in a batch. */
  #level = 0;
  #isString = false;
  #isEscaped = false;
  #token: number[] = [];
  #key: unknown;
  readonly #members = new Map<string, string>();
  readonly #batch: string[] = [];
  #batchLength = 0;

  push(bytes: Buffer): void {
    for (let at = 0; at < bytes.length && this.#batchLength < MOST_OF_BATCH; at += 1) this.#byte(bytes[at] as number);
  }

  /** A message with these members alone, or a batch of such messages, as a line. */
  line(): Buffer {
    return Buffer.from(this.#level === 2 ? `[${this.#batch.join(',')}]\n` : `${this.#message()}\n`);
  }

  #message(): string {
    const members = [...this.#members].map(([key, value]) => `"${key}":${value}`);
    return `{${members.join(',')}}`;
  }

  #byte(byte: number): void {
    if (this.#isString) this.#inString(byte);
    else if (OPEN.has(byte)) this.#open(byte);
    else if (CLOSE.has(byte)) this.#close();
    else if (byte === QUOTE) this.#begin(byte);
    else if (this.#depth === this.#level) this.#between(byte);
  }

  #begin(byte: number): void {
    this.#isString = true;
    this.#keep(byte);
  }

  #inString(byte: number): void {
    this.#keep(byte);
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) this.#isString = false;
  }

  #open(byte: number): void {
    if (this.#level === 0) this.#level = byte === OPEN_LIST ? 2 : 1;
    this.#depth += 1;
  }

  #close(): void {
    if (this.#depth === this.#level) this.#member();
    if (this.#depth === 2 && this.#level === 2) this.#item();
    this.#depth -= 1;
  }

  #item(): void {
    if (this.#members.size > 0) {
      const message = this.#message();
      this.#batch.push(message);
      this.#batchLength += message.length;
    }
    this.#members.clear();
  }

  #between(byte: number): void {
    if (byte === COLON) this.#key = this.#value();
    else if (byte === COMMA) this.#member();
    else if (byte > 0x20) this.#keep(byte);
  }

  #keep(byte: number): void {
    if (this.#depth === this.#level && this.#token.length <= MOST_BYTES) this.#token.push(byte);
  }

  #member(): void {
    const text = Buffer.from(this.#token).toString();
    const isWhole = this.#token.length <= MOST_BYTES && this.#value() !== undefined;
    if (isWhole && typeof this.#key === 'string' && KEPT.has(this.#key)) this.#members.set(this.#key, text);
    this.#key = undefined;
  }

  #value(): unknown {
    const text = Buffer.from(this.#token).toString();
    this.#token = [];
    try {
      return JSON.parse(text);
    } catch {
      return undefined; // An object, a list, or no JSON.
    }
  }
}
