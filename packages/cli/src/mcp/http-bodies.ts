import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { type Line, MOST_BYTES } from './line-splitter.ts';
import { CountError, MessageCount } from './message-count.ts';
import { MessageOutline } from './message-outline.ts';

/** Bytes of all bodies that are not whole yet, and of those that are always taken. */
const MOST_UNDER_WAY = 4 * MOST_BYTES;
const SMALL = 1024 * 1024;
/** Bytes that are read of one that is too long, so that its client gets the answer. */
const MOST_READ = 4 * MOST_BYTES;
/** Bytes that may come between those of a body, such as the sizes of its chunks, and half as many as the body has. Each chunk takes time. */
const MOST_BETWEEN = 128 * 1024;

/** A request, with the connection that it comes from. */
type Body = Readable & { readonly socket?: Pick<Socket, 'bytesRead'> };

/** Reads the bodies of requests. */
export interface Bodies {
  /**
   * @throws CountError (rejects) if the body has too many messages or values. It is read to its end, so that its client gets the answer.
   * @throws Error (rejects) if the body has no end or comes in tiny chunks, or if all bodies together are too many.
   */
  read(request: Body): Promise<Line>;
}

/** Without a bound, a few clients that do not end their requests would fill the memory. */
export const createBodies = (mostUnderWay = MOST_UNDER_WAY): Bodies => {
  let underWay = 0;
  return {
    read: async (request) => {
      const parts: Buffer[] = [];
      const before = request.socket?.bytesRead ?? 0;
      let length = 0;
      let kept = 0;
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
            underWay -= kept;
            kept = 0;
            continue;
          }
          if (outline === undefined) {
            kept += part.length;
            underWay += part.length;
            if (underWay > mostUnderWay && length > SMALL) throw new Error('Too many large bodies are under way.');
          }
          parts.push(part);
          if (outline === undefined && length <= MOST_BYTES) continue;
          outline ??= new MessageOutline();
          for (const one of parts.splice(0)) {
            outline.push(one);
            await setImmediate(); // Others have their turn.
          }
        }
      } finally {
        underWay -= kept;
      }
      if (count.excess !== undefined) throw new CountError(count.excess);
      return outline === undefined
        ? { bytes: Buffer.concat(parts, length), whole: true }
        : { bytes: outline.line(), whole: false };
    },
  };
};
