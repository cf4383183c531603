import type { IncomingMessage, ServerResponse } from 'node:http';
import { CANCELLED } from './call-ending.ts';
import type { Cookies } from './cookies.ts';
import { isAnswerTo, isFine, isLostSession, isMessageStatus, isOfServer, mediaType, wholeBody } from './http-answer.ts';
import { connectionFailure, failureOf, garbageFailure, statusFailure } from './http-failure.ts';
import { CANCEL_MS, type HttpTarget } from './http-target.ts';
import { withoutLineEnd } from './json-line.ts';
import { MOST_BYTES } from './line-splitter.ts';
import { PassedEvents } from './passed-events.ts';
import { headersToClient, headersToServer } from './passed-headers.ts';
import type { Forwarding, Relay, RequestFailure } from './relay.ts';
import { calledTool, type RpcMessage, readLine } from './rpc-message.ts';
import { written } from './written.ts';

/** The client does not wait for the answer any more (M6). */
const GONE: RequestFailure = { settlement: CANCELLED, text: '' };

export interface ExchangeParts {
  readonly target: HttpTarget;
  /** The relay of the client. */
  readonly relay: Relay;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The body for the server. */
  readonly body?: Buffer;
  /** The cookies of a client that keeps none itself. */
  readonly cookies?: Cookies;
  /** The requests in it. */
  readonly requests: readonly RpcMessage[];
  /** Answers to calls of the same batch that are rejected. */
  readonly rejections?: Buffer | undefined;
  /** Whether the client has a stream open for messages that answer nothing. */
  readonly isListening?: () => boolean;
  /** Called with the answer's headers, before the client has them. */
  readonly onAnswer?: (answer: IncomingMessage) => void;
  /** Called when an event stream to the client begins. */
  readonly onStream?: () => void;
}

/** One request of a client over HTTP, and its answer. Headers, statuses and bytes of the server pass as they are. */
export class HttpExchange {
  readonly #parts: ExchangeParts;
  readonly #stop = new AbortController();
  /** The last bytes of an event stream to the client. */
  #tail = Buffer.alloc(0);

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
    const { response } = parts;
    response.once('close', () => {
      if (!response.writableFinished) this.#clientGone();
    });
  }

  /** Never throws. */
  async run(): Promise<void> {
    const { target, request, body, requests } = this.#parts;
    try {
      const answer = await target.send({
        method: request.method ?? '',
        headers: headersToServer(request.headers),
        body,
        signal: this.#stop.signal,
        tool: calledTool(requests),
        cookies: this.#parts.cookies,
      });
      this.#parts.onAnswer?.(answer);
      if (isOfServer(answer)) this.#parts.relay.reached();
      await (mediaType(answer) === 'text/event-stream' && isFine(answer) ? this.#stream(answer) : this.#whole(answer));
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#fail(await failureOf(target, error));
    }
  }

  get requests(): readonly RpcMessage[] {
    return this.#parts.requests;
  }

  /** A call has timed out. Others of its batch end with it. Gives the answers if the client must get them in another stream. */
  timeOut({ toClient, toServer }: Required<Forwarding>): Buffer | undefined {
    const { relay, requests, response } = this.#parts;
    const rest = relay.requestsFailed(requests, { ...GONE, text: 'A call of the same batch has timed out.' });
    const answers = Buffer.concat([toClient, rest]);
    const isOver = response.writableEnded;
    if (!isOver) this.#end(answers);
    this.#stop.abort(); // In the stateless protocol this is the cancellation.
    this.#cancel(toServer);
    return isOver ? answers : undefined;
  }

  /** Writes messages as events. Gives whether it could: the stream may have ended, or be within an event. */
  push(messages: Buffer): boolean {
    const { response } = this.#parts;
    const isBetween = this.#tail.length === 0 || /\n\r?\n$/.test(this.#tail.toString('latin1'));
    if (!response.headersSent || response.writableEnded || response.destroyed || !isBetween) return false;
    response.write(eventsOf(messages));
    return true;
  }

  /** Asks the server something of the relay's own, in the client's session. Any answer shows that the server is alive. */
  ask(line: Buffer): void {
    const { target, request, relay, cookies } = this.#parts;
    const headers = { ...headersToServer(request.headers), accept: 'application/json, text/event-stream' };
    const signal = AbortSignal.timeout(ASK_MS);
    const ended = (): void => void relay.requestsFailed(readLine(line)?.messages ?? [], GONE);
    target.send({ method: 'POST', headers, body: line, signal, cookies }).then((answer) => {
      answer.resume();
      relay.fromServer({ bytes: answerTo(line), whole: true });
    }, ended);
  }

  #cancel(toServer: Buffer): void {
    const { target, request, cookies } = this.#parts;
    if (request.headers['mcp-session-id'] === undefined) return;
    const headers = { ...headersToServer(request.headers), accept: 'application/json, text/event-stream' };
    const signal = AbortSignal.timeout(CANCEL_MS);
    target.send({ method: 'POST', headers, body: toServer, signal, cookies }).then(
      (answer) => answer.resume(),
      () => {}, // The server may hang.
    );
  }

  #clientGone(): void {
    const { relay, requests } = this.#parts;
    relay.requestsFailed(requests, GONE);
    this.#stop.abort();
  }

  /** An answer that is not a stream: JSON, or an HTTP error. */
  async #whole(answer: IncomingMessage): Promise<void> {
    const { rejections, relay, requests, response, target } = this.#parts;
    const asItCame = await wholeBody(answer, MOST_BYTES);
    const body = this.#judge(answer, asItCame);
    // There is nothing that the client could read (M4).
    const failure = body.length === 0 ? connectionFailure(target.host, true) : garbageFailure(target.host);
    // The answer may come in another stream of the client.
    const comesLater = answer.statusCode === 202 && this.#parts.isListening?.() === true;
    const failed = relay.requestsFailed(comesLater ? [] : requests, failure);
    if (failed.length > 0 && requests.length === 1) return this.#end(failed);
    if (failed.length > 0 || rejections !== undefined) return this.#answerBatch(answer, body, failed);
    response.writeHead(
      answer.statusCode ?? 502,
      headersToClient(answer, body === asItCame ? undefined : 'content-length'),
    );
    response.end(body);
  }

  /** Gives the body for the client, which has the advice about a call that has failed (R5). */
  #judge(answer: IncomingMessage, body: Buffer): Buffer {
    const { relay, requests, request, target } = this.#parts;
    if (requests.length === 0) return body;
    const isMessage = isFine(answer) || (isMessageStatus(answer) && isAnswerTo(body, requests));
    if (isMessage) {
      const { toClient = body } = relay.fromServer({ bytes: body, whole: true });
      return toClient === body ? body : withoutLineEnd(toClient);
    }
    if (request.headers['mcp-session-id'] !== undefined && isLostSession(answer, body))
      relay.requestsFailed(requests, GONE); // The client begins another one.
    else relay.requestsFailed(requests, statusFailure(target, answer, body));
    return body;
  }

  /** @param failed The relay's answers to requests that the server did not answer. */
  #answerBatch(answer: IncomingMessage, body: Buffer, failed: Buffer): void {
    const { rejections = NOTHING, response } = this.#parts;
    const textsOf = (bytes: Buffer) => readLine(bytes)?.messages.map(({ text }) => text) ?? [];
    const rest = isFine(answer) ? textsOf(body) : [];
    sendJson(response, `[${[...textsOf(rejections), ...linesOf(failed), ...rest].join(',')}]`);
  }

  /** Passes an event stream once its events were looked at. */
  async #stream(answer: IncomingMessage): Promise<void> {
    const { relay, requests, response, rejections, target } = this.#parts;
    // The relay may add events.
    response.writeHead(answer.statusCode ?? 200, headersToClient(answer, 'content-length'));
    response.flushHeaders();
    if (rejections !== undefined) response.write(eventsOf(rejections));
    this.#parts.onStream?.();
    const events = new PassedEvents((line) => relay.fromServer(line).toClient);
    const pass = async (bytes: Buffer): Promise<void> => {
      if (bytes.length === 0) return;
      this.#tail = Buffer.concat([this.#tail, bytes.subarray(-3)]).subarray(-3);
      await written(response, bytes);
    };
    for await (const chunk of answer as AsyncIterable<Buffer>) await pass(events.push(chunk));
    await pass(events.rest());
    // With the id of an event, the client asks for the rest in a stream of its own.
    if (relay.isOpen(requests) && !events.isResumable)
      this.#fail(connectionFailure(target.host, await target.isReachable()));
    else response.end();
  }

  #fail(failure: RequestFailure): void {
    this.#end(this.#parts.relay.requestsFailed(this.#parts.requests, failure), failure);
  }

  /** @param answers The relay's own answers, as lines. */
  #end(answers: Buffer, failure?: RequestFailure): void {
    const { response, rejections } = this.#parts;
    if (response.headersSent) {
      response.end(Buffer.concat([Buffer.from('\n\n'), eventsOf(answers)]));
      return;
    }
    const all = [...linesOf(answers), ...(rejections ? linesOf(rejections) : [])];
    if (all.length > 0) sendJson(response, all.length === 1 ? `${all[0]}` : `[${all.join(',')}]`);
    else sendProblem(response, 502, failure?.text ?? '');
  }
}

/** Milliseconds for a ping. A server that hangs longer is asked again. */
const ASK_MS = 600_000;

/** An empty answer to a request of the relay's own. */
const answerTo = (line: Buffer): Buffer => {
  const [{ id = '' } = {}] = readLine(line)?.messages ?? [];
  return Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":{}}\n`);
};

const NOTHING = Buffer.alloc(0);

const linesOf = (bytes: Buffer): readonly string[] => bytes.toString().split('\n').filter(Boolean);

const eventsOf = (lines: Buffer): Buffer =>
  Buffer.from(
    linesOf(lines)
      .map((line) => `event: message\ndata: ${line}\n\n`)
      .join(''),
  );

export const sendJson = (response: ServerResponse, json: string, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(json);
};

/** An HTTP error, as the SDKs' servers write it. */
export const sendProblem = (response: ServerResponse, status: number, message: string): void =>
  sendJson(response, JSON.stringify({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }), status);
