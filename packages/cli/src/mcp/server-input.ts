import { Writable } from 'node:stream';
import type { Relay } from './relay.ts';
import { readLine } from './rpc-message.ts';

interface Held {
  readonly line: Buffer;
  readonly done: () => void;
}

/** Takes the client's lines for a server that is started again when it has ended (M7). */
export class ServerInput extends Writable {
  readonly #relay: Relay;
  readonly #toClient: (bytes: Buffer) => void;
  #server: Writable | undefined;
  /** Why there is no server. Undefined while one runs, or starts. */
  #why: string | undefined;
  #held: Held | undefined;

  constructor(relay: Relay, toClient: (bytes: Buffer) => void) {
    super();
    this.#relay = relay;
    this.#toClient = toClient;
  }

  /** Lines go to this server. */
  connect(server: Writable): void {
    this.#server = server;
    this.#release();
  }

  /** The server has ended. Requests are answered with the reason until another one starts. */
  disconnect(why: string): void {
    this.#server = undefined;
    this.#why = why;
    this.#release();
  }

  /** Another server starts. Lines wait until it is connected. */
  wait(): void {
    this.#why = undefined;
  }

  override _write(line: Buffer, _: BufferEncoding, done: () => void): void {
    if (this.#why !== undefined) this.#refuse(line, this.#why, done);
    else if (this.#server === undefined) this.#held = { line, done };
    else forward(line, this.#server, done);
  }

  override _final(done: () => void): void {
    this.#server?.end();
    done();
  }

  #release(): void {
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) this._write(held.line, 'utf8', held.done);
  }

  #refuse(line: Buffer, text: string, done: () => void): void {
    const settlement = { error: new Error(text), verdict: { category: 'network' }, blames: 'group' } as const;
    this.#toClient(this.#relay.requestsFailed(readLine(line)?.messages ?? [], { text, settlement }));
    done();
  }
}

/** Writes a line, and waits while the server does not read. */
const forward = (line: Buffer, server: Writable, done: () => void): void => {
  if (!server.writable || server.write(line)) {
    done();
    return;
  }
  const goOn = (): void => {
    server.off('drain', goOn);
    server.off('close', goOn);
    done();
  };
  server.once('drain', goOn);
  server.once('close', goOn);
};
