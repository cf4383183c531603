import type { IncomingMessage } from 'node:http';
import { setTimeout as after } from 'node:timers/promises';
import { read, readItems, readText } from '@breakerbox/core/internal';
import { ClientHandshake, INITIALIZED } from './client-handshake.ts';
import { Cookies } from './cookies.ts';
import {
  answersSessionLost,
  isAnswerTo,
  isFine,
  isLostSession,
  isMessageStatus,
  isOfServer,
  isRefused,
  mediaType,
  namesSession,
  wholeBody,
} from './http-answer.ts';
import {
  connectionFailure,
  failureOf,
  garbageFailure,
  notSent,
  statusFailure,
  toolFailure,
  unnamedFailure,
} from './http-failure.ts';
import { type DeclaredHeader, declaredHeaders, statelessHeaders, statelessVersion } from './http-headers.ts';
import { CANCEL_MS, type HttpRequest, type HttpTarget } from './http-target.ts';
import { jsonLine, withoutLineEnd } from './json-line.ts';
import { MOST_BYTES } from './line-splitter.ts';
import type { Relay, RequestFailure } from './relay.ts';
import { calledTool, idIn, type RpcMessage, readLine } from './rpc-message.ts';
import { SseReader } from './sse-reader.ts';
import { TooLongError } from './too-long.ts';

/** Milliseconds before a stream is opened again, unless the server says otherwise. They double with each failure. */
const RETRY_MS = 1_000;
const MOST_RETRY_MS = 30_000;

/** The least wait of the stream of messages that answer nothing, whatever the server says; and the longest wait that it may ask for. */
const LEAST_RETRY_MS = 1_000;
const MOST_RETRY_AFTER_MS = 300_000;

/** Failures in a row after which a stream with an answer is given up. */
const MOST_RESUMES = 4;

/** Milliseconds for the end of the session. */
const DELETE_MS = 500;

/** Most tools whose headers are remembered. */
const MOST_TOOLS = 2_000;

/** Characters of an answer that came with an error status. */
const MOST_ERROR_BYTES = 64 * 1024;

export interface HttpUpstreamParts {
  readonly target: HttpTarget;
  readonly relay: Relay;
  /** Writes to the client. Waits while the client does not read, so that the server's stream waits too. */
  readonly write: (bytes: Buffer) => Promise<void>;
}

/** A line of the client on its way. */
interface Outgoing {
  readonly body: Buffer;
  readonly messages: readonly RpcMessage[];
  readonly requests: readonly RpcMessage[];
  /** The revision, for a request of the stateless protocol. */
  readonly version: string | undefined;
  readonly stop: AbortController;
}

/** An MCP server behind streamable HTTP, for one client. It speaks the session protocol and the stateless one, as the messages do. */
export class HttpUpstream {
  readonly #parts: HttpUpstreamParts;
  readonly #closing = new AbortController();
  readonly #stopping = new AbortController();
  readonly #under = new Set<Promise<void>>();
  /** Requests under way, by id. */
  readonly #calls = new Map<string, Outgoing>();
  /** What the tools that declare headers declare. Undefined for a tool that may not be called. */
  readonly #headers = new Map<string, readonly DeclaredHeader[] | undefined>();
  /** Later lines wait for the handshake, because requests of HTTP may overtake each other. */
  #ready: Promise<unknown> = Promise.resolve();
  #sessionId: string | undefined;
  /** Whether the server has answered in this session, and in any. */
  #hasWorked = false;
  #isKnown = false;
  readonly #cookies = new Cookies();
  #version: string | undefined;
  readonly #handshake = new ClientHandshake();
  #beginning: Promise<boolean> | undefined;
  /** Refusals that a new session has met as well, so that they say nothing about the session. */
  readonly #refusals = new Set<string>();
  #stream: AbortController | undefined;
  /** Whether that stream is open. */
  #isListening = false;
  /** Requests that the server has accepted (202), and will answer in it. */
  #later: readonly RpcMessage[] = [];

  constructor(parts: HttpUpstreamParts) {
    this.#parts = parts;
  }

  /**
   * Sends a line of the client. Its answers go to `write`; if the exchange fails, the relay's answers do. Never throws.
   *
   * @param onSent Called once, when the line has left the memory.
   */
  send(line: Buffer, onSent: () => void): void {
    const messages = readLine(line)?.messages ?? [];
    const [first] = messages;
    if (first === undefined) {
      onSent(); // Not a message, so no server can answer it.
      return;
    }
    const requests = messages.filter(({ method, id }) => method !== undefined && id !== undefined);
    const version = messages.length === 1 && requests.length === 1 ? statelessVersion(first) : undefined;
    const outgoing = { body: withoutLineEnd(line), messages, requests, version, stop: new AbortController() };
    const isCancel = first.method === 'notifications/cancelled';
    const cancelled = isCancel ? this.#calls.get(idIn(first.params, 'requestId', first) ?? '') : undefined;
    // In the stateless protocol a client cancels by closing the stream of the answer.
    if (cancelled?.version !== undefined) {
      cancelled.stop.abort();
      onSent();
      return;
    }
    for (const { id = '' } of requests) this.#calls.set(id, outgoing);
    const begin = isCancel ? Promise.resolve() : this.#ready;
    const run = begin.then(() => this.#exchange(outgoing, onSent)).finally(onSent);
    const limit = isCancel ? setTimeout(() => outgoing.stop.abort(), CANCEL_MS).unref() : undefined;
    const done = run.finally(() => {
      clearTimeout(limit);
      for (const { id = '' } of requests) if (this.#calls.get(id) === outgoing) this.#calls.delete(id);
      this.#under.delete(done);
      // The server gives no answer any more, so the stream that waits for it is closed.
      if (cancelled !== undefined && !this.#parts.relay.isOpen(cancelled.requests)) cancelled.stop.abort();
    });
    this.#under.add(done);
    if (first.method === 'initialize' || first.method === 'notifications/initialized') this.#ready = done;
  }

  /** Waits for no answer any more. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Waits for answers under way, at most so many milliseconds; then ends the session and all connections. */
  async close(graceMs: number): Promise<void> {
    const stopped = new Promise<void>((resolve) => this.#stopping.signal.addEventListener('abort', () => resolve()));
    if (!this.#stopping.signal.aborted)
      await Promise.race([Promise.all(this.#under), after(graceMs, undefined, { ref: false }), stopped]);
    this.#closing.abort();
    if (this.#sessionId !== undefined) {
      const signal = AbortSignal.timeout(DELETE_MS);
      const request = { method: 'DELETE', headers: this.#session(), cookies: this.#cookies, signal } as const;
      await this.#parts.target.send(request).then(
        (response) => response.resume(),
        () => {}, // The server may be gone, or keep its sessions itself (405).
      );
    }
    this.#parts.target.close();
  }

  async #exchange(outgoing: Outgoing, onSent: () => void): Promise<void> {
    const { requests, stop } = outgoing;
    const { target, relay } = this.#parts;
    try {
      const tool = this.#rejectedTool(outgoing);
      if (tool !== undefined) return await this.#fail(requests, toolFailure(tool));
      if (!relay.mayStillGo(requests)) return await this.#fail(requests, notSent(target.host));
      const session = this.#sessionId;
      const asItWas = await this.#attempt(outgoing, onSent);
      if (asItWas !== undefined) {
        const beginning = session === this.#sessionId ? this.#beginAgain() : this.#beginning;
        const began = (await beginning?.catch(() => false)) ?? true;
        await (began ? this.#attempt(outgoing, onSent, session) : asItWas());
      }
      if (relay.isOpen(requests) && !requests.some((one) => this.#later.includes(one)))
        await this.#fail(requests, connectionFailure(target.host, await target.isReachable()));
    } catch (error) {
      if (!stop.signal.aborted && !this.#closing.signal.aborted)
        await this.#fail(requests, await failureOf(target, error));
    }
  }

  /**
   * Sends the line and passes the answer on. If it may mean a lost session, it gives what passes it on as it is.
   *
   * @param before The session of the attempt before.
   */
  async #attempt(outgoing: Outgoing, onSent: () => void, before?: string): Promise<(() => Promise<void>) | undefined> {
    const isFirst = before === undefined;
    const session = this.#sessionId;
    const response = await this.#post(outgoing, onSent);
    // A server may give another id with each answer. One that is late is of a session that has ended.
    if (session !== undefined && isFine(response) && this.#sessionId === session)
      this.#sessionId = oneHeader(response, 'mcp-session-id') ?? session;
    const problem = isFine(response) ? undefined : await errorBody(response);
    if (isFirst && problem !== undefined && this.#isLost(response, problem, outgoing))
      return () => this.#answer(response, problem, outgoing);
    if (!isFirst && problem !== undefined && !namesSession(response, problem))
      this.#wasNotLost(refusalIn(response, outgoing), before);
    try {
      await this.#answer(response, problem, outgoing, isFirst && this.#mayBeLost(outgoing));
    } catch (error) {
      if (!(error instanceof SessionLostError)) throw error;
      response.destroy();
      return () => this.#deliver(error.line, outgoing);
    }
    return undefined;
  }

  #post({ body, messages, version, stop }: Outgoing, onSent: () => void): Promise<IncomingMessage> {
    const [message] = messages;
    const begins = message?.method === 'initialize';
    if (begins) this.#handshake.begin(message, body);
    const repeated =
      version === undefined || message === undefined
        ? begins || this.#session()
        : statelessHeaders(message, version, this.#headers.get(calledTool(messages) ?? ''));
    return this.#send({
      method: 'POST',
      headers: { ...JSON_BODY, ...(repeated !== true && repeated) },
      body,
      signal: AbortSignal.any([stop.signal, this.#closing.signal]),
      tool: calledTool(messages),
      cookies: this.#cookies,
      onSent,
    });
  }

  async #send(request: HttpRequest): Promise<IncomingMessage> {
    const response = await this.#parts.target.send(request);
    if (isOfServer(response)) this.#parts.relay.reached();
    return response;
  }

  /** The tool that the line calls in the stateless protocol, if its declared headers are not valid. */
  #rejectedTool({ messages, version }: Outgoing): string | undefined {
    const tool = version === undefined ? undefined : calledTool(messages);
    return tool !== undefined && this.#headers.has(tool) && this.#headers.get(tool) === undefined ? tool : undefined;
  }

  #session(): Record<string, string> {
    return {
      ...(this.#sessionId !== undefined && { 'mcp-session-id': this.#sessionId }),
      ...(this.#version !== undefined && { 'mcp-protocol-version': this.#version }),
    };
  }

  /** @param problem The body of an answer with an error status. */
  async #answer(
    response: IncomingMessage,
    problem: Buffer | undefined,
    outgoing: Outgoing,
    mayBeLost = false,
  ): Promise<void> {
    const { requests, messages } = outgoing;
    const [first] = messages;
    const { target } = this.#parts;
    if (problem !== undefined) {
      // A server of the stateless protocol answers 400 and 404 with a message.
      const line = isMessageStatus(response) ? jsonLine(problem) : undefined;
      if (line !== undefined && isAnswerTo(line, requests)) return this.#deliver(line, outgoing);
      return this.#fail(requests, statusFailure(target, response, problem, this.#isKnown));
    }
    if (first?.method === 'initialize') this.#sessionId = oneHeader(response, 'mcp-session-id');
    if (first?.method === 'notifications/initialized') this.#listen();
    if (requests.length === 0) {
      response.resume();
      return;
    }
    if (response.statusCode === 202 && this.#isListening) {
      response.resume();
      // The answer comes in the stream of messages that answer nothing.
      this.#later = [...this.#later.filter((one) => this.#parts.relay.isOpen([one])), ...requests];
      return;
    }
    switch (mediaType(response)) {
      case 'text/event-stream':
        return this.#readAnswers(response, outgoing, mayBeLost);
      case 'application/json': {
        const line = jsonLine(await wholeBody(response, MOST_BYTES, '\n'));
        if (line === undefined || readLine(line) === undefined)
          return this.#fail(requests, garbageFailure(target.host));
        if (mayBeLost && answersSessionLost(line)) throw new SessionLostError(line);
        await this.#deliver(line, outgoing);
        return this.#failUnnamed(line, outgoing);
      }
      default:
        response.resume();
        return this.#fail(requests, garbageFailure(target.host));
    }
  }

  /** An error with the id null answers the only request that it can be about. */
  async #failUnnamed(line: Buffer, { requests }: Outgoing): Promise<void> {
    const error = readLine(line)?.messages.find(({ id, method }) => id === undefined && method === undefined)?.error;
    if (error !== undefined && this.#parts.relay.isOpen(requests))
      await this.#fail(requests, unnamedFailure(this.#parts.target, error));
  }

  /** Reads a stream to its end. If it ends without the answer, it is resumed after its last event, where it has ids. */
  async #readAnswers(first: IncomingMessage, outgoing: Outgoing, mayBeLost: boolean): Promise<void> {
    const { target, relay } = this.#parts;
    const reader: Resumption = { lastEventId: undefined, retryMs: undefined };
    const isOver = (): boolean => outgoing.stop.signal.aborted || !relay.isOpen(outgoing.requests);
    let response: IncomingMessage | undefined = first;
    // A server may let the client ask again and again, by streams without a message.
    for (let failures = 0, empty = 0; ; failures += 1, empty += 1) {
      try {
        response ??= await this.#get(reader.lastEventId, outgoing.stop.signal);
        if (!isStream(response)) {
          response.resume();
          return await this.#fail(outgoing.requests, connectionFailure(target.host, true));
        }
        if (await this.#readStream(response, reader, outgoing, mayBeLost)) empty = 0;
        failures = 0;
      } catch (error) {
        if (error instanceof TooLongError || error instanceof SessionLostError) throw error; // It would come again.
        if (isOver() || reader.lastEventId === undefined || failures >= MOST_RESUMES) throw error;
      }
      response = undefined;
      if (isOver() || reader.lastEventId === undefined || failures >= MOST_RESUMES) return;
      await this.#wait(reader, Math.max(failures, empty), outgoing.stop.signal);
    }
  }

  /** Opens the stream of messages that answer nothing, and opens it again when it ends. Many servers have none (405). */
  #listen(): void {
    this.#stream?.abort();
    const stop = new AbortController();
    this.#stream = stop;
    this.#keepListening(stop.signal).catch(() => {}); // It was closed.
  }

  async #keepListening(signal: AbortSignal): Promise<void> {
    const reader: Resumption = { lastEventId: undefined, retryMs: undefined };
    for (let failures = 0; ; failures += 1) {
      try {
        reader.leastMs = LEAST_RETRY_MS;
        const response = await this.#get(reader.lastEventId, signal);
        if (!isStream(response)) {
          response.resume();
          reader.leastMs = Math.max(LEAST_RETRY_MS, retryAfterMs(response));
          const { statusCode = 0 } = response;
          if (statusCode < 500 && statusCode !== 408 && statusCode !== 429) return; // No such stream. If the session is lost, the next call finds out.
        } else {
          this.#isListening = true;
          if (await this.#readStream(response, reader)) failures = 0;
        }
      } catch {
        // Opened again below.
      }
      this.#isListening = false;
      const { host } = this.#parts.target;
      await this.#fail(this.#later, connectionFailure(host, true));
      this.#later = [];
      await this.#wait(reader, failures, signal);
    }
  }

  #get(lastEventId: string | undefined, signal: AbortSignal): Promise<IncomingMessage> {
    return this.#send({
      method: 'GET',
      headers: {
        accept: 'text/event-stream',
        ...this.#session(),
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      },
      cookies: this.#cookies,
      signal: AbortSignal.any([signal, this.#closing.signal]),
    });
  }

  /** Delivers the messages of a stream. Gives whether there were any. */
  async #readStream(
    response: IncomingMessage,
    state: Resumption,
    outgoing?: Outgoing,
    mayBeLost = false,
  ): Promise<boolean> {
    const reader = new SseReader();
    let hasMessages = false;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      for (const { data, whole, type, lastEventId } of reader.push(chunk)) {
        state.lastEventId = lastEventId ?? state.lastEventId;
        state.retryMs = reader.retryMs ?? state.retryMs;
        const line = type === 'message' ? jsonLine(data) : undefined;
        if (line === undefined) continue;
        if (mayBeLost && answersSessionLost(line)) throw new SessionLostError(line);
        hasMessages = true;
        await this.#deliver(line, outgoing, whole);
      }
      // The server may keep this stream open, but later lines wait for the end of the handshake.
      if (isHandshake(outgoing) && !this.#parts.relay.isOpen(outgoing.requests)) return hasMessages;
    }
    return hasMessages;
  }

  async #wait({ retryMs, leastMs = 100 }: Resumption, failures: number, signal: AbortSignal): Promise<void> {
    const firstMs = Math.max(retryMs ?? RETRY_MS, leastMs);
    await after(Math.min(firstMs * 2 ** failures, Math.max(firstMs, MOST_RETRY_MS)), undefined, {
      signal: AbortSignal.any([signal, this.#closing.signal]),
      ref: false,
    });
  }

  async #deliver(line: Buffer, outgoing?: Outgoing, whole = true): Promise<void> {
    const [request] = outgoing?.requests ?? [];
    if (request?.method === 'initialize' || request?.method === 'tools/list') this.#learn(request.method, line);
    this.#isKnown = true;
    if (request !== undefined && request.method !== 'initialize' && !answersSessionLost(line)) this.#hasWorked = true;
    const { toClient, toServer } = this.#parts.relay.fromServer({ bytes: line, whole });
    if (toServer !== undefined) this.send(toServer, () => {});
    if (toClient !== undefined) await this.#parts.write(toClient);
  }

  /** What the answers to two methods change in the headers of later requests. */
  #learn(method: string, line: Buffer): void {
    for (const { result } of readLine(line)?.messages ?? []) {
      if (method === 'initialize') this.#version = readText(result, 'protocolVersion', 100) ?? this.#version;
      const tools = read(result, 'tools');
      if (method !== 'tools/list' || !Array.isArray(tools)) continue;
      const mayDeclare = line.includes('x-mcp-header');
      for (const tool of readItems(tools, MOST_TOOLS)) {
        const name = readText(tool, 'name') ?? '';
        const declared = mayDeclare ? declaredHeaders(read(tool, 'inputSchema')) : [];
        this.#headers.delete(name);
        if (declared?.length !== 0 && this.#headers.size < MOST_TOOLS) this.#headers.set(name, declared);
      }
    }
  }

  async #fail(requests: readonly RpcMessage[], failure: RequestFailure): Promise<void> {
    const answers = this.#parts.relay.requestsFailed(requests, failure);
    if (answers.length > 0) await this.#parts.write(answers);
  }

  /**
   * Whether the answer may mean that the server has lost the session. What only refuses the request means it once: if a new session is
   * refused as well, the session was not the reason.
   */
  #isLost(response: IncomingMessage, problem: Buffer, outgoing: Outgoing): boolean {
    const { version, messages, requests } = outgoing;
    if (this.#sessionId === undefined || version !== undefined || messages[0]?.method === 'initialize') return false;
    if (this.#refusals.has(refusalIn(response, outgoing)) && !namesSession(response, problem)) return false;
    if (isLostSession(response, problem)) return true;
    const isAnswer = isMessageStatus(response) && isAnswerTo(problem, requests);
    return !isAnswer && this.#mayBeLost(outgoing) && isRefused(response);
  }

  /** A new session was refused as well. The one before goes on, because the server may keep something in it. */
  #wasNotLost(refusal: string, before: string): void {
    if (this.#refusals.size < MOST_TOOLS) this.#refusals.add(refusal);
    this.#sessionId = before;
    this.#hasWorked = true;
    this.#listen();
  }

  #mayBeLost({ version, messages, requests }: Outgoing): boolean {
    const isRequest = requests.length > 0 && version === undefined && messages[0]?.method !== 'initialize';
    return isRequest && this.#sessionId !== undefined && this.#hasWorked;
  }

  /** Begins a session as the client did. The client is not told, because over stdio it cannot begin again by itself. */
  #beginAgain(): Promise<boolean> {
    this.#beginning ??= this.#begin().finally(() => {
      this.#beginning = undefined;
    });
    this.#ready = this.#beginning.catch(() => {}); // Calls in between would reach a session that is not initialized.
    return this.#beginning;
  }

  async #begin(): Promise<boolean> {
    const { body } = this.#handshake;
    if (body === undefined) return false;
    const signal = AbortSignal.any([AbortSignal.timeout(30_000), this.#closing.signal]);
    const post = (one: Buffer, headers = {}) =>
      this.#parts.target.send({
        method: 'POST',
        headers: { ...JSON_BODY, ...headers },
        body: one,
        cookies: this.#cookies,
        signal,
      });
    const response = await post(body);
    if (!isFine(response)) {
      response.resume();
      return false;
    }
    this.#sessionId = oneHeader(response, 'mcp-session-id');
    const isEvents = mediaType(response) === 'text/event-stream';
    const line = jsonLine(isEvents ? await firstMessage(response) : await wholeBody(response, MOST_BYTES, '\n'));
    if (line === undefined || this.#handshake.accepts(line) !== true) return false;
    this.#learn('initialize', line);
    this.#hasWorked = false;
    (await post(INITIALIZED, this.#session())).resume();
    this.#listen();
    const { toServer, toClient } = this.#parts.relay.sessionBegan();
    for (const one of linesOf(toServer)) this.send(one, () => {});
    if (toClient.length > 0) await this.#parts.write(toClient);
    return true;
  }
}

const isHandshake = (outgoing: Outgoing | undefined): outgoing is Outgoing =>
  outgoing?.messages[0]?.method === 'initialize';

/** By what a stream is resumed. */
interface Resumption {
  lastEventId: string | undefined;
  retryMs: number | undefined;
  /** Milliseconds that a wait takes at least. */
  leastMs?: number;
}

/** An answer that is about the session, in place of the request. */
class SessionLostError extends Error {
  readonly line: Buffer;

  constructor(line: Buffer) {
    super();
    this.line = line;
  }
}

/** What was refused, and how. */
const refusalIn = ({ statusCode }: IncomingMessage, { messages }: Outgoing): string =>
  `${statusCode} ${messages[0]?.method} ${calledTool(messages)}`;

const linesOf = (bytes: Buffer): readonly Buffer[] =>
  bytes
    .toString()
    .split('\n')
    .filter(Boolean)
    .map((line) => Buffer.from(`${line}\n`));

const retryAfterMs = ({ headers }: IncomingMessage): number => {
  const value = headers['retry-after'] ?? '';
  const ms = /^\d{1,6}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? 0 : Math.max(0, Math.min(ms, MOST_RETRY_AFTER_MS));
};

const JSON_BODY = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const isStream = (response: IncomingMessage): boolean =>
  isFine(response) && mediaType(response) === 'text/event-stream';

const oneHeader = ({ headers }: IncomingMessage, name: string): string | undefined => {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
};

/** The start of a body that is only looked at. */
const errorBody = async (response: IncomingMessage): Promise<Buffer> => {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    parts.push(chunk);
    length += chunk.length;
    if (length > MOST_ERROR_BYTES) break;
  }
  return Buffer.concat(parts, length);
};

const firstMessage = async (response: IncomingMessage): Promise<Buffer> => {
  const reader = new SseReader();
  for await (const chunk of response as AsyncIterable<Buffer>)
    for (const { data } of reader.push(chunk)) if (data.toString('latin1', 0, 2).trim() !== '') return data;
  return Buffer.alloc(0);
};
