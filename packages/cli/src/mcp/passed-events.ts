import { jsonLine } from './json-line.ts';
import { joined, type Line } from './line-splitter.ts';
import { type SseEvent, SseReader } from './sse-reader.ts';

/** Bytes of an event that wait for its end. The beginning of a longer one has gone, so that it is not changed. */
const MOST_HELD = 64 * 1024;

const FEED = 0x0a;
const RETURN = 0x0d;

/** An event, with the message in its place if that is another one. */
interface Seen {
  readonly event: SseEvent;
  readonly instead: Buffer | undefined;
  readonly isChanged: boolean;
}

/** Passes an event stream on, byte for byte, except for events whose message the relay changes: an answer may get advice (R5). */
export class PassedEvents {
  readonly #reader = new SseReader();
  readonly #look: (line: Line) => Buffer | undefined;
  #endsWithFeed = false;
  /** Bytes and events that wait for the end of an event. */
  #held: Buffer[] = [];
  #length = 0;
  #seen: Seen[] = [];
  /** Whether the beginning of an event has gone. */
  #hasGone = false;
  /** Whether an event had an id, by which the client asks for the rest. */
  isResumable = false;

  /** @param look Gives the message for the client: the same bytes, others, or none. */
  constructor(look: (line: Line) => Buffer | undefined) {
    this.#look = look;
  }

  /** Adds bytes, and gives those for the client. */
  push(chunk: Buffer): Buffer {
    const parts = this.#pieces(chunk).flatMap((piece) => this.#pass(piece));
    return joined(parts);
  }

  /** The bytes of an event that the stream has not ended. */
  rest(): Buffer {
    return joined(this.#taken());
  }

  #pass(piece: Buffer): readonly Buffer[] {
    this.#held.push(piece);
    this.#length += piece.length;
    const events = this.#reader.push(piece).map((event) => this.#lookAt(event));
    this.#seen.push(...events);
    const { isBetween } = this.#reader;
    // What is complete does not wait.
    if (!isBetween && this.#length <= MOST_HELD && this.#seen.length === 0) return [];
    const isChanged = isBetween && !this.#hasGone && this.#seen.some((one) => one.isChanged);
    const seen = this.#seen;
    this.#seen = [];
    this.#hasGone = !isBetween;
    const bytes = this.#taken();
    return isChanged ? seen.map((one) => this.#written(one)) : bytes;
  }

  #taken(): Buffer[] {
    const held = this.#held;
    this.#held = [];
    this.#length = 0;
    return held;
  }

  #lookAt(event: SseEvent): Seen {
    this.isResumable ||= event.lastEventId !== undefined;
    const bytes = event.type === 'message' ? jsonLine(event.data) : undefined;
    if (bytes === undefined) return { event, instead: event.data, isChanged: false };
    const instead = this.#look({ bytes, whole: event.whole });
    return event.whole ? { event, instead, isChanged: instead !== bytes } : { event, instead: bytes, isChanged: false };
  }

  #written({ event: { type, lastEventId }, instead }: Seen): Buffer {
    const { retryMs } = this.#reader;
    const fields = [
      ...(lastEventId === undefined ? [] : [`id: ${lastEventId}`]),
      ...(retryMs === undefined ? [] : [`retry: ${retryMs}`]),
      ...(instead === undefined ? [] : [`event: ${type}`, ...dataOf(instead)]),
    ];
    return Buffer.from(
      fields
        .map((field) => `${field}\n`)
        .join('')
        .concat('\n'),
    );
  }

  /** Cuts behind each empty line, so that a piece has the end of one event at most. */
  #pieces(chunk: Buffer): readonly Buffer[] {
    const pieces: Buffer[] = [];
    let from = 0;
    const cut = (end: number): void => {
      if (end > from) pieces.push(chunk.subarray(from, end));
      from = Math.max(from, end);
    };
    if (this.#endsWithFeed) cut(emptyLineEnd(chunk, 0));
    for (let at = chunk.indexOf(FEED); at >= 0; at = chunk.indexOf(FEED, at + 1)) cut(emptyLineEnd(chunk, at + 1));
    cut(chunk.length);
    if (chunk.length > 0) this.#endsWithFeed = chunk.at(-1) === FEED;
    return pieces;
  }
}

/** Where the empty line ends that begins there. 0 if the line is not empty. */
const emptyLineEnd = (bytes: Buffer, at: number): number => {
  if (bytes[at] === FEED) return at + 1;
  return bytes[at] === RETURN && bytes[at + 1] === FEED ? at + 2 : 0;
};

const dataOf = (bytes: Buffer): readonly string[] =>
  bytes
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => `data: ${line}`);
