import { Writable } from 'node:stream';
import type { HttpTarget } from './http-target.ts';
import { HttpUpstream } from './http-upstream.ts';
import { type Destination, pumpLines } from './line-pump.ts';
import type { Relay } from './relay.ts';
import type { RelayHost } from './relay-process.ts';
import { written } from './written.ts';

/** Bytes of the client on their way to the server. Beyond it the client is not read. */
const MOST_WAITING = 16 * 1024 * 1024;

/** Milliseconds that the end of input waits for answers. With the end of the session, it is less than the 2 s of the SDKs' clients. */
const GRACE_OF_ANSWERS_MS = 1_200;

/** Relays between the client on `host` and a server behind HTTP, until the client ends. */
export const runHttpRelay = async (
  target: HttpTarget,
  relay: Relay,
  { stdin, stdout, onStop }: RelayHost,
  graceMs = GRACE_OF_ANSWERS_MS,
): Promise<void> => {
  const upstream = new HttpUpstream({ target, relay, write: (bytes) => written(stdout, bytes) });
  const input = new Input(upstream);
  relay.onTimeout(({ toClient, toServer }) => {
    stdout.write(toClient);
    input.write(toServer);
  });
  relay.onOwnRequest((line) => input.write(line));
  let stop = (): void => {};
  // A signal also ends the wait for answers after the end of input.
  const forget = onStop(() => {
    upstream.stop();
    stop();
  });
  const graceOfEndMs = await new Promise<number>((resolve) => {
    pumpLines(
      stdin,
      (line): readonly Destination[] => {
        const { toServer, toClient } = relay.fromClient(line);
        return [
          ...(toServer ? [{ to: input, bytes: toServer }] : []),
          ...(toClient ? [{ to: stdout, bytes: toClient }] : []),
        ];
      },
      () => resolve(graceMs),
    );
    stdout.on('error', () => resolve(0)); // The client does not read any more.
    stop = () => resolve(0);
  });
  if (graceOfEndMs === 0) relay.clientEnded();
  await upstream.close(graceOfEndMs);
  forget();
  relay.clientEnded();
  stdin.destroy();
};

/** Takes lines for the server. It is full while many bytes are on their way. */
class Input extends Writable {
  readonly #upstream: HttpUpstream;
  #waiting = 0;
  #next: (() => void) | undefined;

  constructor(upstream: HttpUpstream) {
    super({ highWaterMark: MOST_WAITING });
    this.#upstream = upstream;
  }

  override _write(line: Buffer, _: BufferEncoding, done: () => void): void {
    this.#waiting += line.length;
    let isSent = false;
    this.#upstream.send(line, () => {
      if (isSent) return;
      isSent = true;
      this.#waiting -= line.length;
      if (this.#waiting < MOST_WAITING) this.#goOn();
    });
    this.#next = done;
    if (this.#waiting < MOST_WAITING) this.#goOn();
  }

  #goOn(): void {
    const next = this.#next;
    this.#next = undefined;
    next?.();
  }
}
