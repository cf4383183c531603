import { withoutLineEnd } from './json-line.ts';
import { joined, LineSplitter, MOST_BYTES } from './line-splitter.ts';
import { TooLongError } from './too-long.ts';

/** An event of a `text/event-stream`. */
export interface SseEvent {
  /** The lines of data, each with its line end. Empty for an event that only has an id. May share the memory of the bytes that were read. */
  readonly data: Buffer;
  /** False for data that is too long: a message with its id and method alone. */
  readonly whole: boolean;
  /** Its type. Default: `message`. */
  readonly type: string;
  /** The last id, by which the stream can be resumed after this event. */
  readonly lastEventId: string | undefined;
}

const FEED = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/** Reads a `text/event-stream` and keeps the bytes of the data. Lines end with LF, CRLF or CR. */
export class SseReader {
  readonly #ends = new LineEnds();
  readonly #lines = new LineSplitter(MOST_BYTES);
  #isBegun = false;
  #data: Buffer[] = [];
  #length = 0;
  #isWhole = true;
  #type = 'message';
  #lastEventId: string | undefined;
  /** Whether a field of the event was read. */
  #hasField = false;
  /** Milliseconds until a stream that ended should be opened again, as the server wishes. */
  retryMs: number | undefined;

  /**
   * Adds bytes, and gives the events that they complete.
   *
   * @throws TooLongError for an event of several lines that are too long together.
   */
  push(chunk: Buffer): readonly SseEvent[] {
    return this.#lines.push(this.#ends.unified(chunk)).flatMap(({ bytes, whole }) => {
      const line = this.#isBegun ? bytes : withoutMark(bytes);
      this.#isBegun = true;
      if (!whole) return this.#tooLong(line);
      return this.#line(line) ?? [];
    });
  }

  /** Whether the bytes end with an event, or with a comment behind it. */
  get isBetween(): boolean {
    return !this.#hasField && this.#lines.isEmpty;
  }

  #tooLong(outline: Buffer): readonly SseEvent[] {
    this.#data = [outline];
    this.#isWhole = false;
    this.#hasField = true;
    return [];
  }

  #line(line: Buffer): SseEvent | undefined {
    const end = withoutLineEnd(line).length;
    if (end === 0) return this.#event();
    const colon = line.subarray(0, end).indexOf(':');
    const field = line.toString('latin1', 0, colon < 0 ? end : colon);
    const start = colon < 0 ? end : colon + 1;
    this.#hasField ||= field !== '';
    this.#field(field, line, line[start] === SPACE ? start + 1 : start);
    return undefined;
  }

  #field(name: string, line: Buffer, from: number): void {
    const data = line.subarray(from);
    const value = withoutLineEnd(data);
    switch (name) {
      case 'data':
        this.#length += data.length;
        if (this.#length > MOST_BYTES) throw new TooLongError();
        this.#data.push(data);
        break;
      case 'event':
        this.#type = value.toString() || 'message';
        break;
      case 'id':
        if (!value.includes(0)) this.#lastEventId = value.toString();
        break;
      case 'retry':
        if (/^\d{1,9}$/.test(value.toString())) this.retryMs = Number(value.toString());
        break;
      default: // A comment, or a field of the future.
    }
  }

  #event(): SseEvent {
    const event = {
      data: joined(this.#data),
      whole: this.#isWhole,
      type: this.#type,
      lastEventId: this.#lastEventId,
    };
    this.#data = [];
    this.#isWhole = true;
    this.#hasField = false;
    this.#length = 0;
    this.#type = 'message';
    return event;
  }
}

/** Makes a line feed of each carriage return that ends a line alone. */
class LineEnds {
  #endedByReturn = false;

  /** The same bytes, or a copy. */
  unified(chunk: Buffer): Buffer {
    const isRest = this.#endedByReturn && chunk[0] === FEED;
    const bytes = isRest ? chunk.subarray(1) : chunk; // The line has ended before.
    if (chunk.length > 0) this.#endedByReturn = chunk.at(-1) === RETURN;
    let copy: Buffer | undefined;
    for (let at = bytes.indexOf(RETURN); at >= 0; at = bytes.indexOf(RETURN, at + 1)) {
      if (bytes[at + 1] === FEED) continue;
      copy ??= Buffer.from(bytes);
      copy[at] = FEED;
    }
    return copy ?? bytes;
  }
}

const withoutMark = (line: Buffer): Buffer =>
  line.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? line.subarray(BYTE_ORDER_MARK.length) : line;
