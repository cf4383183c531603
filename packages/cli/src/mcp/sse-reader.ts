import { LineSplitter } from './line-splitter.ts';

/** Most bytes of one message of the server that are kept in memory. */
export const MOST_BYTES = 64 * 1024 * 1024;

/** An event of a `text/event-stream`. */
export interface SseEvent {
  /** The lines of data, joined by line feeds. Empty for an event that only has an id. */
  readonly data: Buffer;
  /** Its type. Default: `message`. */
  readonly type: string;
  /** The last id, by which the stream can be resumed after this event. */
  readonly lastEventId: string | undefined;
}

const LINE_FEED = Buffer.from('\n');

/** Reads a `text/event-stream` and keeps the bytes of the data. Lines end with LF or CRLF. */
export class SseReader {
  readonly #lines = new LineSplitter(MOST_BYTES);
  #data: Buffer[] = [];
  #length = 0;
  #type = 'message';
  #lastEventId: string | undefined;
  /** Milliseconds until a stream that ended should be opened again, as the server wishes. */
  retryMs: number | undefined;

  /**
   * Adds bytes, and gives the events that they complete.
   *
   * @throws Error for an event of more than 64 MiB.
   */
  push(chunk: Buffer): readonly SseEvent[] {
    return this.#lines.push(chunk).flatMap(({ bytes, whole }) => {
      if (!whole) throw new Error('An event of the server is too long');
      return this.#line(withoutEnd(bytes)) ?? [];
    });
  }

  #line(line: Buffer): SseEvent | undefined {
    if (line.length === 0) return this.#event();
    const colon = line.indexOf(':');
    const field = line.toString('latin1', 0, colon < 0 ? line.length : colon);
    const start = colon < 0 ? line.length : colon + 1;
    this.#field(field, line.subarray(line[start] === 0x20 ? start + 1 : start));
    return undefined;
  }

  #field(name: string, value: Buffer): void {
    switch (name) {
      case 'data':
        this.#length += value.length + 1;
        if (this.#length > MOST_BYTES) throw new Error('An event of the server is too long');
        this.#data.push(...(this.#data.length === 0 ? [] : [LINE_FEED]), value);
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
    const event = { data: Buffer.concat(this.#data), type: this.#type, lastEventId: this.#lastEventId };
    this.#data = [];
    this.#length = 0;
    this.#type = 'message';
    return event;
  }
}

const withoutEnd = (line: Buffer): Buffer => {
  const end = line.at(-2) === 0x0d ? -2 : -1;
  return line.subarray(0, end);
};
