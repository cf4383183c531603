const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN = new Set([0x7b, 0x5b]);
const CLOSE = new Set([0x7d, 0x5d]);

/** Maximum number of bytes of a member that is kept. An id is shorter. */
const MOST_BYTES = 64 * 1024;

/** The members of a message that are kept. They may stand behind its long ones. */
const KEPT: ReadonlySet<string> = new Set(['id', 'method']);

/** Reads the id and the method of a message that is too long to be kept, piece by piece. */
export class MessageOutline {
  #depth = 0;
  #isString = false;
  #isEscaped = false;
  #token: number[] = [];
  #key: unknown;
  readonly #members = new Map<string, string>();

  push(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += 1) this.#byte(bytes[at] as number);
  }

  /** A message with these members alone, as a line. */
  line(): Buffer {
    const members = [...this.#members].map(([key, value]) => `"${key}":${value}`);
    return Buffer.from(`{${members.join(',')}}\n`);
  }

  #byte(byte: number): void {
    if (this.#isString) this.#inString(byte);
    else if (OPEN.has(byte)) this.#depth += 1;
    else if (CLOSE.has(byte)) this.#close();
    else if (byte === QUOTE) this.#begin(byte);
    else if (this.#depth === 1) this.#between(byte);
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

  #close(): void {
    if (this.#depth === 1) this.#member();
    this.#depth -= 1;
  }

  #between(byte: number): void {
    if (byte === COLON) this.#key = this.#value();
    else if (byte === COMMA) this.#member();
    else if (byte > 0x20) this.#keep(byte);
  }

  #keep(byte: number): void {
    if (this.#depth === 1 && this.#token.length <= MOST_BYTES) this.#token.push(byte);
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
