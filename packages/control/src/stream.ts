import type { Change, Changes } from './changes.ts';

/** Text that a client may leave unread before it is dropped. The client connects again, and reads the state. */
const MOST_WAITING = 256 * 1024;
/** Proxies close a connection that is silent. */
const ALIVE_MS = 15_000;

const line = (change: Change): string => `event: change\ndata: ${JSON.stringify(change)}\n\n`;

/** The last lines of these that leave room for new ones. */
const latest = (lines: readonly string[]): string => {
  let room = MOST_WAITING / 2;
  const from = lines.findLastIndex((one) => {
    room -= Buffer.byteLength(one);
    return room < 0;
  });
  return lines.slice(from + 1).join('');
};

/** Server-sent events (A2): the recent changes, then each new one. `drop` ends the connection of a client that does not read. */
export const changeStream = (
  changes: Pick<Changes, 'recent' | 'listen'>,
  drop: () => void,
): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder();
  let stop = (): void => {};
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        const send = (text: string): void => {
          const bytes = encoder.encode(text);
          if ((controller.desiredSize ?? 0) < bytes.byteLength) {
            stop();
            drop();
            return;
          }
          controller.enqueue(bytes);
        };
        const off = changes.listen((change) => send(line(change)));
        const alive = setInterval(() => send(': alive\n\n'), ALIVE_MS);
        alive.unref();
        stop = () => {
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
