import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { type Line, MOST_BYTES } from './line-splitter.ts';
import { CountError, MessageCount } from './message-count.ts';
import { MessageOutline } from './message-outline.ts';

/** Bytes of all bodies that are not whole yet, and of all that wait for an answer. */
const MOST_IN_ALL = 4 * MOST_BYTES;
/** Bytes of a body that is always taken. */
const SMALL = 64 * 1024;
/** Milliseconds after which a body that is not whole gives way to others. */
const SLOW_MS = 5_000;
/** Bytes that are read of one that is too long, so that its client gets the answer. */
const MOST_READ = 4 * MOST_BYTES;
/** Bytes that may come between those of a body, such as the sizes of its chunks, and half as many as the body has. Each chunk takes time. */
const MOST_BETWEEN = 128 * 1024;

/** A request, with the connection that it comes from. */
type Body = Readable & { readonly socket?: Pick<Socket, 'bytesRead'> };

/** What becomes of a request. */
type Answer = Pick<ServerResponse, 'once' | 'destroyed'>;

/** A body that is not whole yet. */
interface Coming {
  bytes: number;
  readonly sinceMs: number;
  readonly end: () => void;
}

/** Reads the bodies of requests. */
export interface Bodies {
  /**
   * @throws CountError (rejects) if the body has too many messages or values. It is read to its end, so that its client gets the answer.
   * @throws Error (rejects) if the body has no end or comes in tiny chunks, or if all bodies together are too many. One that has been coming for 5 s gives way.
   */
  read(request: Body, answer: Answer): Promise<Line>;
}

/** Without a bound, a few clients that do not end their requests would fill the memory. */
export const createBodies = (most = MOST_IN_ALL, now = () => performance.now()): Bodies => {
  const coming = new Set<Coming>();
  let bytesComing = 0;
  let bytesWaiting = 0;
  const forget = (one: Coming): void => {
    if (coming.delete(one)) bytesComing -= one.bytes;
  };
  const takes = (own: Coming, bytes: number): boolean => {
    if (!coming.has(own)) return false;
    own.bytes += bytes;
    bytesComing += bytes;
    for (const first of coming) {
      if (bytesComing <= most || now() - first.sinceMs < SLOW_MS) break;
      forget(first);
      first.end();
    }
    return own.bytes <= SMALL || (coming.has(own) && Math.max(bytesComing, bytesWaiting + own.bytes) <= most);
  };
  return {
    read: async (request, answer) => {
      const parts: Buffer[] = [];
      const before = request.socket?.bytesRead ?? 0;
      let length = 0;
      const own = { bytes: 0, sinceMs: now(), end: () => void request.destroy() };
      coming.add(own);
      let outline: MessageOutline | undefined;
      const count = new MessageCount();
      try {
        for await (const part of request as AsyncIterable<Buffer>) {
          length += part.length;
          const between = (request.socket?.bytesRead ?? 0) - before - length;
          if (between > MOST_BETWEEN + length / 2) throw new Error('The body comes in tiny chunks.');
          if (length > MOST_READ) throw new Error('The body has no end.');
          if (count.excess === undefined) count.push(part);
          if (count.excess !== undefined) {
            parts.length = 0;
            forget(own);
            continue;
          }
          if (outline === undefined) {
            if (!takes(own, part.length)) throw new Error('Too many large bodies are under way.');
          }
          parts.push(part);
          if (outline === undefined && length <= MOST_BYTES) continue;
          outline ??= new MessageOutline();
          forget(own);
          for (const one of parts.splice(0)) {
            outline.push(one);
            await setImmediate(); // Others have their turn.
          }
        }
      } finally {
        forget(own);
      }
      if (count.excess !== undefined) throw new CountError(count.excess);
      if (outline !== undefined) return { bytes: outline.line(), whole: false };
      if (!answer.destroyed) {
        bytesWaiting += length;
        answer.once('close', () => {
          bytesWaiting -= length;
        });
      }
      return { bytes: Buffer.concat(parts, length), whole: true };
    },
  };
};
