import type { Socket } from 'node:net';
import { safeJson } from '@breakerbox/core/internal';
import type { Shares } from '@breakerbox/listen';
import type { Change, Changes } from './changes.ts';

/** Text that a client may leave unread before it is dropped. The client connects again, and reads the state. */
const MOST_WAITING = 256 * 1024;
/** Proxies close a connection that is silent. Also how long a client stays connected after its token was revoked. */
const ALIVE_MS = 15_000;

const line = (change: Change): string => `event: change\ndata: ${safeJson(change)}\n\n`;

/** The last lines of these that leave room for new ones. */
const latest = (lines: readonly string[]): string => {
  let room = MOST_WAITING / 2;
  const from = lines.findLastIndex((one) => {
    room -= Buffer.byteLength(one);
    return room < 0;
  });
  return lines.slice(from + 1).join('');
};

/**
 * Server-sent events (A2): the recent changes, then each new one. `drop` ends the connection of a client that does not read, or that
 * is no longer admitted.
 */
export const changeStream = (
  changes: Pick<Changes, 'recent' | 'listen'>,
  isAdmitted: () => Promise<boolean>,
  drop: () => void,
): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder();
  let stop = (): void => {};
  let stopped = false;
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        const end = (): void => {
          stop();
          drop();
        };
        const send = (text: string): void => {
          const bytes = encoder.encode(text);
          if ((controller.desiredSize ?? 0) < bytes.byteLength) end();
          else controller.enqueue(bytes);
        };
        const off = changes.listen((change) => send(line(change)));
        const check = async (): Promise<void> => {
          const admitted = await isAdmitted().catch(() => false);
          if (stopped) return;
          if (admitted) send(': alive\n\n');
          else end();
        };
        const alive = setInterval(() => void check(), ALIVE_MS);
        alive.unref();
        stop = () => {
          stopped = true;
          off();
          clearInterval(alive);
        };
        send(latest(changes.recent().map(line)) || ': connected\n\n');
      },
      cancel: () => stop(),
    },
    { highWaterMark: MOST_WAITING, size: (chunk) => chunk?.byteLength ?? 0 },
  );
};

/**
 * Takes a share of the streams for a client, until its connection has closed. Gives what ends the connection, or undefined if all are taken. An
 * answer does not always say that it has closed: not one that waits for another one.
 */
export const takeStream = (streams: Shares, client: string, socket: Socket | undefined): (() => void) | undefined => {
  const drop = (): void => void socket?.destroy();
  const release = streams.take(client, drop);
  if (release === undefined) return undefined;
  if (socket?.destroyed) release();
  else socket?.once('close', release);
  return drop;
};
