import type { Readable, Writable } from 'node:stream';
import { setTimeout as after } from 'node:timers/promises';
import { ClientHandshake, INITIALIZED } from './client-handshake.ts';
import { withoutLineEnd } from './json-line.ts';
import { type Destination, pumpLines } from './line-pump.ts';
import type { Line } from './line-splitter.ts';
import type { Relay } from './relay.ts';
import { readLine } from './rpc-message.ts';
import { ServerInput } from './server-input.ts';
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

/** Milliseconds until a server that has ended is started again. They double with each end, and are short again after {@link STEADY_MS}. */
const WAIT_MS = 1_000;
const MOST_WAIT_MS = 60_000;

/** Milliseconds after which a server that runs is not one that ends again and again. */
const STEADY_MS = 60_000;

/** Milliseconds that a server may take for the handshake when it is started again. */
const HANDSHAKE_MS = 60_000;

/** Bytes of the client that may wait for a server that does not read. Up to then the relay sees that the client has ended. */
const MOST_WAITING = 16 * 1024 * 1024;

export interface RunOptions {
  readonly graceMs?: number;
  /** Starts a server that has ended before its client again, and says so. Default: the relay ends with the server. */
  readonly onRestart?: ((why: string, waitMs: number) => void) | undefined;
  readonly waitMs?: number;
}

/** Relays between the client on `host` and a server's process, until one of them ends. Gives how the server ended (M7). */
export const runRelay = async (
  command: string,
  args: readonly string[],
  relay: Relay,
  host: RelayHost,
  { graceMs = GRACE_MS, onRestart, waitMs: firstWaitMs = WAIT_MS }: RunOptions = {},
): Promise<ServerEnd> => {
  const { stdin, stdout } = host;
  const input = onRestart && new ServerInput(relay, (bytes) => stdout.write(bytes));
  const start = (): ServerRun => new ServerRun(startServer(command, args), relay, stdout, input, graceMs);
  const handshake = new ClientHandshake();
  const closed = new AbortController();
  let run = start();
  input?.connect(run.server.stdin);

  const close = (how: 'begin' | 'hurry'): void => {
    run.ending[how]();
    closed.abort();
  };
  pumpLines(
    stdin,
    (line) => {
      if (input) handshake.look(line.bytes);
      return run.places(relay.fromClient(line));
    },
    () => close('begin'),
    MOST_WAITING,
  );
  stdout.on('error', () => close('begin')); // The client does not read any more.
  const forget = host.onStop(() => close('hurry'));
  relay.onTimeout((forwarding) => {
    for (const { to, bytes } of run.places(forwarding)) if (to.writable) to.write(bytes);
  });
  relay.onOwnRequest((toServer) => {
    for (const { to, bytes } of run.places({ toServer })) if (to.writable) to.write(bytes);
  });

  let waitMs = firstWaitMs;
  let end = await run.end();
  // A server that ends before its first result has a wrong command or wrong settings.
  while (input && !closed.signal.aborted && (run.hasWorked || run.isRestarted)) {
    const why = `The MCP server has ended (${end.why}). breakerbox mcp starts it again.`;
    if (run.ranMs() >= STEADY_MS) waitMs = firstWaitMs;
    stdout.write(relay.serverEnded(why, waitMs));
    input.disconnect(why);
    await run.ending.rest();
    onRestart?.(end.why, waitMs);
    await after(waitMs, undefined, { signal: closed.signal }).catch(() => {}); // The client has ended.
    if (closed.signal.aborted) break;
    waitMs = Math.min(2 * waitMs, MOST_WAIT_MS);
    input.wait();
    run = start();
    run.begin(handshake);
    end = await run.end();
  }
  relay.serverEnded(`The MCP server has ended (${end.why}).`);
  await run.ending.rest();
  forget();
  stdin.destroy();
  run.server.stdout.destroy(); // A daemon may hold the other end open.
  return end;
};

/** A server from its start to its end. */
class ServerRun {
  readonly server: ServerProcess;
  readonly ending: Ending;
  readonly #relay: Relay;
  readonly #stdout: Writable;
  readonly #input: ServerInput | undefined;
  readonly #outputOver: Promise<void>;
  readonly #beganMs = performance.now();
  /** Looks for the answer to a handshake that the client has not sent. */
  #answer: ((line: Line) => boolean) | undefined;
  /** Whether the server has given a result, as to the handshake. Looked at only if it may be started again. */
  hasWorked = false;
  isRestarted = false;

  constructor(server: ServerProcess, relay: Relay, stdout: Writable, input: ServerInput | undefined, graceMs: number) {
    this.server = server;
    this.#relay = relay;
    this.#stdout = stdout;
    this.#input = input;
    this.ending = new Ending(server, relay, input ?? server.stdin, graceMs);
    this.#outputOver = new Promise<void>((resolve) => {
      pumpLines(server.stdout, (line) => this.#fromServer(line), resolve);
    });
  }

  places({ toServer, toClient }: ReturnType<Relay['fromClient']>): readonly Destination[] {
    return [
      ...(toServer ? [{ to: this.#input ?? this.server.stdin, bytes: toServer }] : []),
      ...(toClient ? [{ to: this.#stdout, bytes: toClient }] : []),
    ];
  }

  /** Gives a server that was started again the client's session. The client's lines go to it from then on. */
  begin(handshake: ClientHandshake): void {
    this.isRestarted = true;
    const { stdin } = this.server;
    if (handshake.body === undefined) {
      this.#relay.sessionBegan();
      this.#input?.connect(stdin);
      return;
    }
    const timer = setTimeout(() => this.server.kill('SIGKILL'), HANDSHAKE_MS).unref();
    void this.server.ended.then(() => clearTimeout(timer));
    this.#answer = ({ bytes, whole }) => {
      const accepts = whole ? handshake.accepts(bytes) : undefined;
      if (accepts === undefined) return false;
      clearTimeout(timer);
      this.#answer = undefined;
      if (!accepts) this.server.kill('SIGKILL');
      else {
        stdin.write(Buffer.concat([INITIALIZED, LINE_FEED]));
        const { toServer, toClient } = this.#relay.sessionBegan();
        if (toServer.length > 0) stdin.write(toServer);
        if (toClient.length > 0) this.#stdout.write(toClient);
        this.#input?.connect(stdin);
      }
      return true;
    };
    stdin.write(Buffer.concat([withoutLineEnd(handshake.body), LINE_FEED]));
  }

  async end(): Promise<ServerEnd> {
    const end = await this.server.ended;
    await Promise.race([this.#outputOver, after(OUTPUT_MS, undefined, { ref: false })]);
    return end;
  }

  ranMs(): number {
    return performance.now() - this.#beganMs;
  }

  #fromServer(line: Line): readonly Destination[] {
    if (this.#input && !this.hasWorked) this.hasWorked = hasResult(line);
    if (this.#answer?.(line)) return [];
    // The relay's own lines may follow, so the client gets no line that the server could not finish.
    if (this.#input && line.whole && line.bytes.at(-1) !== LINE_FEED[0]) return [];
    return this.places(this.#relay.fromServer(line));
  }
}

const hasResult = ({ bytes }: Line): boolean =>
  readLine(bytes)?.messages.some(({ id, result }) => id !== undefined && result !== undefined) === true;

const LINE_FEED = Buffer.from('\n');

/** Ends the server step by step. */
class Ending {
  readonly #server: ServerProcess;
  readonly #relay: Relay;
  readonly #input: Writable;
  readonly #graceMs: number;
  #timer: NodeJS.Timeout | undefined;
  #isTold = false;
  #isHurried = false;

  constructor(server: ServerProcess, relay: Relay, input: Writable, graceMs: number) {
    this.#server = server;
    this.#relay = relay;
    this.#input = input;
    this.#graceMs = graceMs;
  }

  /** The client has closed: the server may end by itself. */
  begin(): void {
    if (this.#isTold) return;
    this.#isTold = true;
    this.#relay.clientEnded();
    this.#input.end();
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
