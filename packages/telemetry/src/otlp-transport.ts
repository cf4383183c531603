import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { inPieces } from '@breakerbox/listen';

/** What an attempt to send came to, as OpenTelemetry's transports say it. */
interface Answer {
  readonly status: string;
  readonly error?: Error;
  readonly retryInMillis?: number | undefined;
}

interface Transport {
  send(data: Uint8Array, timeoutMillis: number): Promise<Answer>;
  shutdown(): void;
}

/** The parts of OpenTelemetry's OTLP exporters that have no public access. Over HTTP, a transport that retries holds the real one. */
interface OtlpExporter {
  readonly _delegate?: { _transport?: Transport & { readonly _transport?: Transport } };
}

/** The longest delay that Node accepts, in milliseconds. A timer with a longer one fires at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Milliseconds to open a connection. Unlike an open connection, one that is being opened keeps the process alive. */
const CONNECT_MS = 1_500;

/** As OpenTelemetry retries. */
const MOST_RETRIES = 5;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 5_000;
const GROWTH = 1.5;
const JITTER = 0.2;

/** The open connections of an exporter. */
interface Connections {
  readonly sockets: Set<Socket>;
  /** Whether a connection is only open when the backend has sent something, as gRPC has it. */
  readonly backendFirst: boolean;
}

const current = new AsyncLocalStorage<Connections>();

const timedOut = (): Error => Object.assign(new Error('The connection took too long'), { code: 'ETIMEDOUT' });

function detach(socket: Socket): void {
  const connections = current.getStore();
  if (!connections || connections.sockets.has(socket)) return;
  const { sockets, backendFirst } = connections;
  sockets.add(socket);
  socket.unref();
  // HTTP agents and gRPC call it for each request, and gRPC over TLS calls it on the handle.
  socket.ref = () => socket;
  socket.once('connect', () => {
    const { _handle: handle } = socket as Socket & { readonly _handle?: { ref(): void } | null };
    if (handle) handle.ref = () => {};
  });
  const isOpening = (): boolean => socket.connecting || (backendFirst && socket.bytesRead === 0);
  const timer = setTimeout(() => isOpening() && socket.destroy(timedOut()), CONNECT_MS).unref();
  socket.once('close', () => {
    clearTimeout(timer);
    sockets.delete(socket);
  });
}

/** Of an answer, OTLP needs a few bytes. An exporter keeps megabytes of it, each part on its own, and parts may have one byte. */
const MOST_ANSWER = 256 * 1024;
const MOST_PARTS = 1_000;

function limitAnswer(request: ClientRequest): void {
  request.once('socket', inPieces);
  request.once('response', (response: IncomingMessage) => {
    let bytes = 0;
    let parts = 0;
    response.on('data', (part: Uint8Array) => {
      bytes += part.length;
      parts += 1;
      if (bytes > MOST_ANSWER || parts > MOST_PARTS)
        request.destroy(new Error('The answer of the backend is too long'));
    });
  });
}

const onRequest = (message: unknown): void => {
  if (current.getStore() === undefined) return;
  const { request } = message as { readonly request: ClientRequest };
  limitAnswer(request);
  if (request.socket) detach(request.socket);
  else request.once('socket', detach);
};

const onSocket = (message: unknown): void => detach((message as { readonly socket: Socket }).socket);

/** Node announces TLS connections only by their request, and those of gRPC only by their socket. */
const CHANNELS = [
  ['http.client.request.start', onRequest],
  ['net.client.socket', onSocket],
] as const;

/** Starts to follow the connections of exporters that {@link keepOffExit} has prepared. Returns a function that stops it. */
export function followSockets(): () => void {
  for (const [channel, listener] of CHANNELS) subscribe(channel, listener);
  return () => {
    for (const [channel, listener] of CHANNELS) unsubscribe(channel, listener);
  };
}

const STOPPED: Answer = { status: 'failure', error: new Error('Telemetry was shut down') };

const late = (timeoutMs: number): Answer => ({
  status: 'failure',
  error: new Error(`The backend did not answer within ${timeoutMs / 1000} s`),
});

const isGrpc = (transport: object): boolean => '_deadlineExceededCount' in transport;

const opened = new WeakMap<Transport, Connections>();

function connectionsOf(transport: Transport): Connections {
  const connections = opened.get(transport) ?? { sockets: new Set(), backendFirst: isGrpc(transport) };
  opened.set(transport, connections);
  return connections;
}

/** Sends once. When the time is up or telemetry stops, the connections are closed. */
function attempt(to: Transport, data: Uint8Array, millis: number, stop: AbortSignal): Promise<Answer> {
  const connections = connectionsOf(to);
  // gRPC's own deadline is a timer that keeps the process alive.
  const ownMillis = isGrpc(to) ? Number.POSITIVE_INFINITY : millis;
  return new Promise((resolve, reject) => {
    const end = (answer: Answer): void => {
      resolve(answer);
      for (const socket of connections.sockets) socket.destroy();
    };
    const timer = setTimeout(() => end(late(millis)), millis).unref();
    const onStop = (): void => end(STOPPED);
    stop.addEventListener('abort', onStop, { once: true });
    current
      .run(connections, () => to.send(data, ownMillis))
      .then(resolve, reject)
      .finally(() => {
        clearTimeout(timer);
        stop.removeEventListener('abort', onStop);
      });
  });
}

const backoff = (retries: number): number =>
  Math.min(FIRST_WAIT_MS * GROWTH ** retries * (1 + JITTER * (2 * Math.random() - 1)), LONGEST_WAIT_MS);

async function send(to: Transport, data: Uint8Array, timeoutMs: number, stop: AbortSignal): Promise<Answer> {
  const end = performance.now() + Math.min(timeoutMs, LONGEST_TIMER_MS);
  for (let retries = 0; !stop.aborted; retries += 1) {
    const left = end - performance.now();
    if (left <= 0) return late(timeoutMs);
    const answer = await attempt(to, data, left, stop);
    if (answer.status !== 'retryable' || retries === MOST_RETRIES) return answer;
    const waitMs = answer.retryInMillis ?? backoff(retries);
    if (waitMs > end - performance.now()) return answer;
    await sleep(waitMs, undefined, { ref: false, signal: stop }).catch(() => {});
  }
  return STOPPED;
}

/**
 * Makes an OTLP exporter retry and wait without keeping the process alive, over HTTP and gRPC. `OTEL_EXPORTER_OTLP_TIMEOUT` limits
 * the whole export: the exporter's own timeout only limits silence, and an answer that never ends would be read for ever. The end of
 * the process has its own limit. An exporter of another kind is left alone.
 *
 * @param stop Ends what is being sent, and everything later fails at once.
 */
export function keepOffExit<Exporter extends object>(exporter: Exporter, stop: AbortSignal): Exporter {
  const delegate = (exporter as OtlpExporter)._delegate;
  const outer = delegate?._transport;
  if (!delegate || !outer) return exporter;
  const to = outer._transport ?? outer;
  delegate._transport = {
    send: (data, timeoutMs) => send(to, data, timeoutMs, stop),
    shutdown: () => to.shutdown(),
  };
  return exporter;
}
