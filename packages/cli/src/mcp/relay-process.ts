import type { Readable, Writable } from 'node:stream';
import { setTimeout as after } from 'node:timers/promises';
import { type Destination, pumpLines } from './line-pump.ts';
import type { Line } from './line-splitter.ts';
import type { Relay } from './relay.ts';
import { type ServerEnd, type ServerProcess, startServer } from './server-process.ts';

/** The streams and signals of the relay's own process. */
export interface RelayHost {
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Calls back when the process should end: a signal, or its parent is gone. Gives a function that stops listening. */
  onStop(listener: () => void): () => void;
}

/**
 * Milliseconds until the next step of ending a server: it may end by itself, then it gets SIGTERM, then SIGKILL. The SDKs' clients wait
 * 2 s for each step with the relay, so the relay is faster.
 */
export const GRACE_MS = 1_500;

/** Milliseconds that a server's output may go on after its process has ended, because a process that it started holds it open. */
const OUTPUT_MS = 500;

/** Relays between the client on `host` and a server's process, until one of them ends. Gives how the server ended (M7). */
export const runRelay = async (
  command: string,
  args: readonly string[],
  relay: Relay,
  host: RelayHost,
  graceMs = GRACE_MS,
): Promise<ServerEnd> => {
  const server = startServer(command, args);
  const { stdin, stdout } = host;
  const places = ({ toServer, toClient }: ReturnType<Relay['fromClient']>): readonly Destination[] => [
    ...(toServer ? [{ to: server.stdin, bytes: toServer }] : []),
    ...(toClient ? [{ to: stdout, bytes: toClient }] : []),
  ];
  const outputOver = new Promise<void>((resolve) => {
    pumpLines(server.stdout, (line: Line) => places(relay.fromServer(line)), resolve);
  });
  const ending = new Ending(server, relay, graceMs);
  pumpLines(
    stdin,
    (line) => places(relay.fromClient(line)),
    () => ending.begin(),
  );
  stdout.on('error', () => ending.begin()); // The client does not read any more.
  const forget = host.onStop(() => ending.hurry());

  const end = await server.ended;
  await Promise.race([outputOver, after(OUTPUT_MS, undefined, { ref: false })]);
  relay.serverEnded(`The MCP server has ended (${end.why}).`);
  await ending.rest();
  forget();
  stdin.destroy();
  return end;
};

/** Ends the server step by step. */
class Ending {
  readonly #server: ServerProcess;
  readonly #relay: Relay;
  readonly #graceMs: number;
  #timer: NodeJS.Timeout | undefined;
  #isTold = false;
  #isHurried = false;

  constructor(server: ServerProcess, relay: Relay, graceMs: number) {
    this.#server = server;
    this.#relay = relay;
    this.#graceMs = graceMs;
  }

  /** The client has closed: the server may end by itself. */
  begin(): void {
    if (this.#isTold) return;
    this.#isTold = true;
    this.#relay.clientEnded();
    this.#server.stdin.end();
    this.#timer = setTimeout(() => this.#terminate(), this.#graceMs);
  }

  /** The relay is told to end: so is the server, at once. */
  hurry(): void {
    if (this.#isHurried) return; // It is told again and again, and each time would put off SIGKILL.
    this.#isHurried = true;
    this.begin();
    clearTimeout(this.#timer);
    this.#terminate();
  }

  #terminate(): void {
    this.#server.kill('SIGTERM');
    this.#timer = setTimeout(() => this.#server.kill('SIGKILL'), this.#graceMs);
  }

  /** Ends what the server started and left behind. */
  async rest(): Promise<void> {
    this.#isTold = true; // From here on there is nothing left to begin.
    this.#isHurried = true;
    clearTimeout(this.#timer);
    if (!this.#server.isAlive()) return;
    this.#server.kill('SIGTERM');
    for (let waitedMs = 0; waitedMs < this.#graceMs; waitedMs += 50) {
      if (!this.#server.isAlive()) return;
      await after(50);
    }
    this.#server.kill('SIGKILL');
    await after(50);
    this.#server.isAlive();
  }
}
