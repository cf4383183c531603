import type { Readable, Writable } from 'node:stream';
import { type Line, LineSplitter } from './line-splitter.ts';

/** Where bytes are written. */
export interface Destination {
  readonly to: Writable;
  readonly bytes: Buffer;
}

/**
 * Reads a stream line by line, and writes what `handle` gives for each line. While a destination is full, the stream is not read, so
 * that a slow reader slows the writer down, as it would without a relay.
 *
 * @param onEnd Called once, when the stream has ended or failed and all of it was handled.
 * @param mostWaiting Bytes that may wait in a full destination before the stream is not read. The end of a stream is seen only while it is read.
 */
export const pumpLines = (
  from: Readable,
  handle: (line: Line) => readonly Destination[],
  onEnd: () => void,
  mostWaiting = 0,
): void => {
  const splitter = new LineSplitter();
  let isOver = false;
  const write = (lines: readonly Line[]): void => {
    const full = new Set<Writable>();
    for (const line of lines) {
      for (const { to, bytes } of handle(line)) {
        if (bytes.length > 0 && to.writable && !to.write(bytes) && to.writableLength > mostWaiting) full.add(to);
      }
    }
    for (const to of full) waitFor(to, from);
  };
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    const rest = splitter.rest();
    if (rest !== undefined) write([rest]);
    onEnd();
  };
  from.on('data', (chunk: Buffer) => write(splitter.push(chunk)));
  from.once('end', end);
  from.once('close', end);
  from.once('error', end);
};

/** Streams that each source waits for. It is read again when all of them have room. */
const waits = new WeakMap<Readable, Set<Writable>>();

const waitFor = (to: Writable, from: Readable): void => {
  const waited = waits.get(from) ?? new Set<Writable>();
  waits.set(from, waited);
  if (waited.has(to)) return;
  waited.add(to);
  from.pause();
  const goOn = (): void => {
    to.off('drain', goOn);
    to.off('close', goOn);
    waited.delete(to);
    if (waited.size === 0) from.resume();
  };
  to.once('drain', goOn);
  to.once('close', goOn);
};
