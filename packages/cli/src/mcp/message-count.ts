/** Messages of a batch. The relay follows as many open requests of a client. Current revisions of MCP have no batches. */
const MOST_MESSAGES = 1_000;
/** Values of a body, and those of them that have a name. To parse a name takes longest. */
const MOST_VALUES = 400_000;
const MOST_MEMBERS = 100_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const LIST = 0x5b;
const OBJECT = 0x7b;
const LIST_END = 0x5d;
const OBJECT_END = 0x7d;

/** A body has more than is looked at. */
export class CountError extends Error {}

/** Counts what a JSON text has, piece by piece and before it is parsed: to parse and to follow all of it could take minutes. */
export class MessageCount {
  #messages = 1;
  #values = 1;
  #members = 0;
  #depth = 0;
  #isBatch = false;
  #isString = false;
  /** Where the next piece goes on: its first byte may be escaped. */
  #from = 0;

  push(bytes: Buffer): void {
    let at = this.#from;
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (this.#isString) {
        if (byte === BACKSLASH) at += 1;
        else if (byte === QUOTE) this.#isString = false;
      } else if (byte === QUOTE) this.#isString = true;
      else if (byte === COMMA) this.#next();
      else if (byte === COLON) this.#members += 1;
      else if (byte === LIST || byte === OBJECT) this.#open(byte);
      else if (byte === LIST_END || byte === OBJECT_END) this.#depth -= 1;
    }
    this.#from = at - bytes.length;
  }

  /** What there is too much of, for people. */
  get excess(): string | undefined {
    if (this.#messages > MOST_MESSAGES) return `The batch has more than ${MOST_MESSAGES} messages.`;
    if (this.#values > MOST_VALUES) return `The message has more than ${MOST_VALUES} values.`;
    return this.#members > MOST_MEMBERS ? `The message has more than ${MOST_MEMBERS} members.` : undefined;
  }

  #open(byte: number): void {
    if (this.#depth === 0) this.#isBatch = byte === LIST;
    this.#depth += 1;
    this.#values += 1;
  }

  #next(): void {
    this.#values += 1;
    if (this.#isBatch && this.#depth === 1) this.#messages += 1;
  }
}
