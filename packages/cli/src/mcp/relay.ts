import type { Permit, Session, Settlement } from '@breakerbox/core';
import { extendLease, groupReturned, isObject, read, readText, safely } from '@breakerbox/core/internal';
import { type HookedCalls, hookedCalls, withAdvice } from '@breakerbox/instrumentation';
import { context, propagation, ROOT_CONTEXT } from '@opentelemetry/api';
import { BoundedMap } from './bounded-map.ts';
import {
  CANCELLED,
  cancellation,
  endingOf,
  HUNG,
  SERVER_ENDED,
  TIMED_OUT,
  TOO_LONG,
  taskEnding,
} from './call-ending.ts';
import { type CallTimeouts, timeoutOf } from './call-timeouts.ts';
import { HangWatch } from './hang-watch.ts';
import { HeldInputs } from './held-inputs.ts';
import { type Line, MOST_TEXT } from './line-splitter.ts';
import { ClientWishes } from './own-requests.ts';
import { rawMember } from './raw-json.ts';
import { type Caller, callerOf, errorTo, SERVER_ERROR } from './rejected-call.ts';
import { RejectedTasks } from './rejected-tasks.ts';
import { RelayedTools } from './relayed-tools.ts';
import { idIn, type RpcLine, type RpcMessage, rawId, readLine, sameIds } from './rpc-message.ts';

/** Where the bytes of a line go. */
export interface Forwarding {
  readonly toServer?: Buffer;
  readonly toClient?: Buffer;
}

/** Decides about the calls between one client and one server (M2, M3). It does no I/O: lines go in, and bytes come out. */
export interface Relay {
  fromClient(line: Line): Forwarding;
  fromServer(line: Line): Forwarding;
  /**
   * The server's process has ended. Gives answers to the requests under way, in case the client's connection goes on.
   *
   * @param againInMs When it is started again. Default: it is not.
   */
  serverEnded(why: string, againInMs?: number): Buffer;
  /** The server did not answer requests of the client, as over a connection that broke. Gives answers to those that are still open. */
  requestsFailed(requests: readonly RpcMessage[], failure: RequestFailure): Buffer;
  /** Whether the server has not answered one of the requests. */
  isOpen(requests: readonly Pick<RpcMessage, 'id'>[]): boolean;
  /** The client has gone, or closes. The calls under way cost nothing. */
  clientEnded(): void;
  /** Calls back with the answer to a call that has timed out, and with the cancellation for the server. Without a listener no call times out. */
  onTimeout(listener: (forwarding: Required<Forwarding>, request: string) => void): void;
  /** Calls back with a request of the relay's own, such as a ping. Without a listener a server that hangs is not asked (O10). */
  onOwnRequest(listener: (line: Buffer) => void): void;
  /**
   * The server has begun another session for the client, which knows nothing of it. Gives what the new session needs, and what tells the
   * client that lists may have changed. If the group's circuit is open, the next call is its probe.
   */
  sessionBegan(): Required<Forwarding>;
  /** The server behind HTTP has answered something. If it could not be reached before, the next call is the probe of its group. */
  reached(): void;
  /** Whether the call may still go: since its decision, another call may have shown that the server cannot be reached. */
  mayStillGo(requests: readonly RpcMessage[]): boolean;
  /** For another client of the same server. Its ids are its own. Circuits, tools and tasks are the same. */
  another(): Relay;
}

/** Why the server did not answer a request. */
export interface RequestFailure {
  readonly settlement: Settlement;
  /** For the model and for people. */
  readonly text: string;
  /** The HTTP status, if there was one. */
  readonly status?: number;
}

export interface RelayParts {
  readonly session: Session;
  /** The name of the server's group, if the server does not name itself. */
  readonly group: string;
  /** Whether {@link group} also replaces the server's own name. */
  readonly keepsGroup?: boolean;
  /** Called before each decision, so that a pause can end by time (M5). */
  readonly beforeDecision?: () => void;
  /**
   * The text of a rejection, or of the advice after a failed call (R5), if it is not the engine's. `serverInMs`: until the server works
   * again, if it is being started again.
   */
  readonly textOf?: (permit: Permit, serverInMs?: number) => string;
  /** The clock of the session's box, in milliseconds. Default: `performance.now()`, as the box's. */
  readonly now?: () => number;
  /** Whether requests of each method are watched, so that one that fails can be answered. Default: those whose answers are looked at. */
  readonly watchesAll?: boolean;
  /** How long a call may take. Default: as long as it likes. */
  readonly timeouts?: CallTimeouts | undefined;
}

/** A call that the session has let through. */
interface Call {
  readonly callId: string;
  readonly permit: Permit;
  /** Bytes that its arguments hold of the memory. */
  readonly bytes: number;
}

/** A request of the client that the server has not answered. */
interface OpenRequest {
  readonly method: string;
  readonly caller: Caller;
  readonly taskId: string | undefined;
  /** Undefined without a decision, and once it was settled. */
  call: Call | undefined;
  /** The token by which the server reports progress, as JSON. */
  readonly progress: string | undefined;
  /** Runs out when the call takes too long. */
  readonly timer: NodeJS.Timeout | undefined;
  /** Its place in the order of the requests of both sides. */
  readonly order: number;
  /** When it was sent, on the clock of the box. */
  readonly sinceMs: number;
  /** A request of the relay itself, whose answer the client does not get. */
  readonly isOwn?: true;
}

/** A request of the server that the client has not answered. */
interface Question {
  /** The id as it was written. */
  readonly id: string;
  readonly order: number;
}

/**
 * A task whose client does not ask for it any more would keep a probe for ever. So the lease of a probe ends when nothing was heard of its task
 * for this time, in milliseconds (M6).
 */
const TASK_QUIET_MS = 3_600_000;

/** Requests whose answers are looked at. */
const WATCHED: ReadonlySet<string> = new Set([
  'initialize',
  'server/discover',
  'tools/call',
  'tools/list',
  'tasks/get',
  'tasks/result',
  'tasks/cancel',
]);

/** Of the span of each decision (M9). */
const ATTRIBUTES = { 'mcp.method.name': 'tools/call' };

export const createRelay = (parts: RelayParts): Relay => new ToolRelay(new Served(parts));

/** What all clients of a server share. */
class Served {
  readonly parts: RelayParts;
  readonly calls: HookedCalls;
  readonly tools = new RelayedTools();
  /** The call of each task that goes on (M6). */
  readonly tasks = new BoundedMap<Call>();
  readonly rejected = new RejectedTasks();
  readonly held = new HeldInputs();
  group: string;
  /** Whether the last call could not reach the server. */
  isUnreachable = false;
  /** When the server is started again, on the clock of the box. Undefined while it runs. */
  againAtMs: number | undefined;
  clients = 0;

  constructor(parts: RelayParts) {
    this.parts = parts;
    this.group = parts.group;
    this.calls = hookedCalls(parts.session, { where: 'breakerbox mcp' });
  }
}

class ToolRelay implements Relay {
  readonly #served: Served;
  readonly #parts: RelayParts;
  /** Calls of other clients may have the same ids. */
  readonly #prefix: string;
  readonly #open = new BoundedMap<OpenRequest>();
  /** Requests that were answered in place of the server. Its own answers come too late. */
  readonly #answered = new BoundedMap<true>();
  /** Tokens of their progress. A client may close a connection on which progress comes for a request that has ended. */
  readonly #finished = new BoundedMap<true>();
  /** The id of the last request that has a token of progress. */
  readonly #byProgress = new BoundedMap<string>();
  /** Requests of the server that the client has not answered. */
  readonly #asked = new BoundedMap<Question>();
  /** The same, of a server that has ended. Another one may use their ids. */
  readonly #stale = new BoundedMap<true>();
  #isStateless = false;
  #order = 0;
  readonly #wishes = new ClientWishes();
  readonly #watch = new HangWatch({
    now: () => this.#now(),
    isWaiting: () => this.#asked.size === 0 && this.#isCallOpen(),
    ping: () => this.#onOwnRequest?.(lines([this.#ownRequest('ping')])),
    hung: () => this.#hung(),
    returned: () => this.#returned(),
  });
  #onOwnRequest: ((line: Buffer) => void) | undefined;
  #onTimeout: ((forwarding: Required<Forwarding>, request: string) => void) | undefined;

  constructor(served: Served) {
    this.#served = served;
    this.#parts = served.parts;
    this.#prefix = served.clients === 0 ? '' : `${served.clients} `;
    served.clients += 1;
  }

  another(): Relay {
    return new ToolRelay(this.#served);
  }

  onTimeout(listener: (forwarding: Required<Forwarding>, request: string) => void): void {
    this.#onTimeout = listener;
  }

  onOwnRequest(listener: (line: Buffer) => void): void {
    this.#onOwnRequest = listener;
  }

  sessionBegan(): Required<Forwarding> {
    this.#watch.reset();
    this.#served.againAtMs = undefined;
    this.#served.tools.mayHaveChanged();
    this.#returned();
    return {
      toServer: lines(this.#wishes.requests().map(([method, params]) => this.#ownRequest(method, params))),
      toClient: lines(this.#wishes.notifications()),
    };
  }

  reached(): void {
    if (!this.#served.isUnreachable) return;
    this.#served.isUnreachable = false;
    this.#returned();
  }

  mayStillGo(requests: readonly RpcMessage[]): boolean {
    const isClosed = requests.some(({ id }) => this.#open.get(id ?? '')?.call?.permit.decision === 'call');
    return !isClosed || !this.#isGroupOpen();
  }

  fromClient(line: Line): Forwarding {
    // A bug here must not stop the client from working (E5).
    return safely('a line of the client', () => this.#fromClient(line)) ?? (line.whole ? { toServer: line.bytes } : {});
  }

  fromServer(line: Line): Forwarding {
    const isWatched = this.#open.size + this.#served.tasks.size + this.#answered.size > 0 || this.#parts.watchesAll;
    if (!isWatched && line.whole) return { toClient: line.bytes };
    return safely('a line of the server', () => this.#fromServer(line)) ?? (line.whole ? { toClient: line.bytes } : {});
  }

  serverEnded(why: string, againInMs?: number): Buffer {
    this.#watch.reset();
    this.#served.againAtMs = againInMs === undefined ? undefined : this.#now() + againInMs;
    const answers = [...this.#open.entries()].map(([id]) => this.#answerInPlace(id, SERVER_ENDED, why));
    for (const call of this.#served.tasks.takeAll()) this.#settle(call, SERVER_ENDED);
    this.#answered.takeAll(); // The answers will not come.
    for (const id of this.#asked.keys()) this.#stale.put(id, true);
    const cancellations = this.#asked.takeAll().map(({ id }) => cancelRequest(id, why));
    return lines([...answers, ...cancellations]);
  }

  requestsFailed(requests: readonly RpcMessage[], { settlement, text, status }: RequestFailure): Buffer {
    const answers = requests.map(({ id }) => this.#answerInPlace(id, settlement, text, status));
    if (settlement.blames === 'group') this.#served.isUnreachable = true;
    return lines(answers);
  }

  isOpen(requests: readonly Pick<RpcMessage, 'id'>[]): boolean {
    return requests.some(({ id }) => id !== undefined && this.#open.has(id));
  }

  clientEnded(): void {
    this.#watch.reset();
    for (const id of this.#open.keys()) this.#settle(this.#take(id)?.call, CANCELLED);
    if (this.#prefix !== '') return;
    for (const call of this.#served.tasks.takeAll()) this.#settle(call, CANCELLED);
    this.#served.calls.abandon();
  }

  #fromClient({ bytes, whole }: Line): Forwarding {
    const line = readLine(bytes);
    if (!whole) return this.#tooLong(line, 'toClient');
    if (line === undefined) return { toServer: bytes };
    const answers = line.messages.map((message) => this.#fromClientMessage(message));
    if (answers.every((answer) => answer === undefined)) return { toServer: bytes };
    const rejections = answers.flatMap((answer) => (answer === undefined || answer === DROPPED ? [] : [answer]));
    const left = line.messages.flatMap(({ text }, index) => (answers[index] === undefined ? [text] : []));
    return {
      ...(rejections.length > 0 && { toClient: lineOf(line, rejections) }),
      ...(left.length > 0 && { toServer: lineOf(line, left) }),
    };
  }

  /** Looks at a message of the client. Gives the answer to a call that is rejected. */
  #fromClientMessage(message: RpcMessage): string | undefined {
    const { method, id, params } = message;
    if (method === 'notifications/cancelled') this.#cancel(message);
    if (id === undefined) return undefined;
    if (method === undefined) return this.#answersServer(id);
    this.#wishes.look(message);
    if (!WATCHED.has(method) && this.#parts.watchesAll !== true) return undefined;
    const answer = this.#served.rejected.answer(message);
    if (answer !== undefined) return answer;
    // The client uses the id again, so it does not wait for the request before any more.
    this.#settle(this.#take(id)?.call, CANCELLED);
    this.#answered.take(id);
    const decided = method === 'tools/call' ? this.#decide(message, id) : undefined;
    if (typeof decided === 'string') return decided;
    const caller = callerOf(message);
    this.#isStateless = caller.isStateless;
    const open: OpenRequest = {
      method,
      caller,
      taskId: readText(params, 'taskId'),
      call: decided,
      progress: tokenOf(read(params, '_meta')),
      timer: method === 'tools/call' ? this.#startTimer(id, readText(params, 'name')) : undefined,
      order: this.#next(),
      sinceMs: this.#now(),
    };
    if (open.progress !== undefined) {
      this.#finished.take(open.progress);
      this.#byProgress.put(open.progress, id);
    }
    for (const gone of this.#open.put(id, open)) this.#forget(gone);
    if (method === 'tools/call' && this.#onOwnRequest) this.#watch.began();
    return undefined;
  }

  /** Asked for each message of the server, so it looks at no more requests than it must. */
  #isCallOpen(): boolean {
    for (const [, { method }] of this.#open.entries()) if (method === 'tools/call') return true;
    return false;
  }

  #ownRequest(method: string, params?: object): string {
    const name = `breakerbox-${crypto.randomUUID()}`;
    const id = JSON.stringify(name);
    const caller = { id, isStateless: false, task: undefined };
    const own = { taskId: undefined, call: undefined, progress: undefined, timer: undefined, isOwn: true } as const;
    for (const gone of this.#open.put(id, { method, caller, ...own, order: this.#next(), sinceMs: this.#now() }))
      this.#forget(gone);
    return JSON.stringify({ jsonrpc: '2.0', id: name, method, ...(params && { params }) });
  }

  /** The server hangs. The calls under way have failed, but their answers are forwarded if they come. */
  #hung(): void {
    for (const [, open] of this.#open.entries()) {
      if (open.call !== undefined) this.#settle(open.call, HUNG);
      open.call = undefined;
    }
  }

  #returned(): void {
    safely('the return of a server', () => groupReturned(this.#parts.session, this.#served.group));
  }

  #isGroupOpen(): boolean {
    return safely('a circuit', () => this.#parts.session.peek(`group:${this.#served.group}`)?.state) === 'open';
  }

  /** Gives the answer to a call that is rejected, or the call. Undefined for a call that gets no decision. */
  #decide(request: RpcMessage, id: string): string | Call | undefined {
    const { params } = request;
    const { calls, tools, held, rejected, group } = this.#served;
    const tool = readText(params, 'name');
    if (tool === undefined || tool.trim() === '') return undefined;
    // A name that the model has made up gets no circuit. But no call reaches a server that is down.
    if (!tools.mayHave(tool) && !this.#isGroupOpen()) return undefined;
    this.#parts.beforeDecision?.();
    const callId = `${this.#prefix}${id}`;
    const { input, bytes } = held.hold(inputOf(params), request.text.length);
    const asked = { callId, tool, input, group, type: 'extension', attributes: ATTRIBUTES } as const;
    const permit = safely('a decision', () => context.with(parentOf(params), () => calls.acquire(asked)));
    if (permit === undefined || permit.message !== '') held.free(bytes);
    if (permit === undefined) return undefined;
    if (permit.message !== '') {
      const text = this.#textOf(permit);
      return rejected.reject(callerOf(request), { text, isSkipped: true });
    }
    return { callId, permit, bytes };
  }

  #cancel(message: RpcMessage): void {
    const id = idIn(message.params, 'requestId', message);
    const open = id === undefined ? undefined : this.#take(id);
    if (open !== undefined) this.#givenUp(open, cancellation(read(message.params, 'reason')));
  }

  /** A call ends without an answer of the server. Gives the advice, as {@link #settle} does. */
  #givenUp({ call, sinceMs }: OpenRequest, settlement: Settlement): string {
    const isHang = settlement === CANCELLED && call !== undefined && this.#watch.isHang(this.#now() - sinceMs);
    return this.#settle(call, isHang ? HUNG : settlement);
  }

  /** The client answers a request of the server. A server that was started again did not ask. */
  #answersServer(id: string): string | undefined {
    const asked = sameIds(id)
      .map((one) => this.#asked.take(one))
      .find((one) => one !== undefined);
    // A person may have needed long. The server has its whole time for the rest.
    if (asked) for (const [, { order, timer }] of this.#open.entries()) if (order < asked.order) timer?.refresh();
    return this.#stale.take(id) && DROPPED;
  }

  #fromServer({ bytes, whole }: Line): Forwarding {
    const line = readLine(bytes);
    if (!whole) return this.#tooLong(line, 'toServer');
    if (line !== undefined) this.#heard(line);
    const instead = (line?.messages ?? []).map((message) => this.#lookAt(message));
    if (line === undefined || instead.every((one) => one === undefined)) return { toClient: bytes };
    const left = line.messages.map(({ text }, index) => instead[index] ?? text).filter((text) => text !== DROPPED);
    return left.length === 0 ? {} : { toClient: lineOf(line, left) };
  }

  #heard({ messages }: RpcLine): void {
    const isPing = messages.some(({ id, method }) => method === undefined && this.#open.get(id ?? '')?.isOwn === true);
    this.#watch.heard(isPing);
  }

  /**
   * Looks at a message of the server. Gives the message in its place, if it gets advice (R5), or is dropped because it answers a request
   * that was answered in its place.
   */
  #lookAt(message: RpcMessage): string | undefined {
    const { method, id, params } = message;
    if (method === 'notifications/tasks/status') this.#taskState(readText(params, 'taskId'), params);
    if (method === 'notifications/progress') {
      const token = tokenOf(params);
      if (this.#finished.has(token ?? '')) return DROPPED;
      this.#progressed(token);
    }
    if (method === 'notifications/tools/list_changed') this.#served.tools.mayHaveChanged();
    if (method === 'notifications/cancelled') this.#asked.take(idIn(params, 'requestId', message) ?? '');
    if (id === undefined) return undefined;
    if (method !== undefined) {
      this.#asked.put(id, { id: rawId(message), order: this.#next() });
      this.#stale.take(id);
      return undefined;
    }
    for (const one of sameIds(id)) {
      const open = this.#take(one);
      if (open?.isOwn === true) return DROPPED;
      if (open !== undefined) return this.#received(open, message) ?? (one === id ? undefined : renamed(message, open));
      if (this.#answered.take(one) === true) return DROPPED;
    }
    return undefined;
  }

  /** Gives the answer with advice, if it gets any. */
  #received({ method, taskId, call, caller }: OpenRequest, answer: RpcMessage): string | undefined {
    const { result, error } = answer;
    switch (method) {
      case 'tools/call':
        return this.#callAnswered(call, answer, caller.id);
      case 'tools/list':
        this.#served.tools.record(result, this.#parts.session, this.#served.group);
        break;
      case 'tasks/get':
      case 'tasks/cancel':
        this.#taskState(taskId, result);
        break;
      case 'tasks/result':
        this.#taskEnded(taskId, endingOf({ result, error }).settlement);
        break;
      case 'initialize':
      case 'server/discover':
        this.#nameGroup(result);
        this.#wishes.learn(result);
        break;
      default: // Watched only because it may fail.
    }
    return undefined;
  }

  #callAnswered(call: Call | undefined, answer: RpcMessage, id: string): string | undefined {
    if (call === undefined) return undefined;
    const { taskId, settlement } = endingOf(answer);
    if (taskId === undefined) return advisedAnswer(answer, id, this.#settle(call, settlement));
    this.#taskBegins(taskId, call);
    return undefined;
  }

  #taskBegins(taskId: string, call: Call): void {
    this.#taskGoesOn(call);
    for (const forgotten of this.#served.tasks.put(taskId, call)) this.#settle(forgotten, CANCELLED);
  }

  #taskGoesOn({ permit }: Call): void {
    extendLease(permit, this.#now() + TASK_QUIET_MS);
  }

  #taskState(taskId: string | undefined, state: unknown): void {
    const ending = taskEnding(state);
    const call = taskId === undefined || ending !== undefined ? undefined : this.#served.tasks.get(taskId);
    if (call !== undefined) this.#taskGoesOn(call);
    this.#taskEnded(taskId, ending);
  }

  #taskEnded(taskId: string | undefined, settlement: Settlement | undefined): void {
    if (taskId !== undefined && settlement !== undefined) this.#settle(this.#served.tasks.take(taskId), settlement);
  }

  /** C13: the group has the name that the server gives itself. */
  #nameGroup(result: unknown): void {
    const info = read(result, 'serverInfo') ?? read(read(result, '_meta'), 'io.modelcontextprotocol/serverInfo');
    const name = readText(info, 'name', MOST_NAME)?.trim();
    if (name && !this.#parts.keepsGroup) this.#served.group = name;
  }

  #startTimer(id: string, tool: string | undefined): NodeJS.Timeout | undefined {
    const ms = this.#onTimeout && timeoutOf(this.#parts.timeouts, tool);
    return ms === undefined ? undefined : setTimeout(() => this.#timedOut(id, tool ?? '', ms), ms).unref();
  }

  #now(): number {
    return this.#parts.now?.() ?? performance.now();
  }

  #next(): number {
    this.#order += 1;
    return this.#order;
  }

  #progressed(token: string | undefined): void {
    if (token === undefined || this.#parts.timeouts === undefined) return;
    const open = this.#open.get(this.#byProgress.get(token) ?? '');
    if (open?.progress === token) open.timer?.refresh();
  }

  #timedOut(id: string, tool: string, ms: number): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    // A person may take long to answer a question of the server. The call did not cause a question that is older than itself.
    if ([...this.#asked.entries()].some(([, { order }]) => order > open.order)) return void open.timer?.refresh();
    const text = `Tool '${tool}' did not answer within ${ms / 1_000} s, and breakerbox mcp has cancelled the call. It may have had its effect.`;
    this.#answered.put(id, true);
    const toServer = lines([cancelRequest(open.caller.id, 'The call has timed out in breakerbox mcp')]);
    this.#onTimeout?.({ toClient: lines([this.#answerInPlace(id, TIMED_OUT, text)]), toServer }, id);
  }

  /** The answers to a message, or to those of a batch, that is too long to be forwarded. */
  #tooLong(line: RpcLine | undefined, to: 'toClient' | 'toServer'): Forwarding {
    if (line === undefined) return {};
    const toReceiver = to === 'toClient' ? 'toServer' : 'toClient';
    const answers = line.messages.flatMap((message) => this.#tooLongAnswer(message, to) ?? []);
    const linesTo = (place: keyof Forwarding): Forwarding => {
      const texts = answers.filter((answer) => answer.to === place).map(({ text }) => text);
      return texts.length > 0 ? { [place]: lineOf(line, texts) } : {};
    };
    return { ...linesTo(to), ...linesTo(toReceiver) };
  }

  #tooLongAnswer(
    message: RpcMessage,
    to: 'toClient' | 'toServer',
  ): { readonly to: keyof Forwarding; readonly text: string } | undefined {
    const caller = { ...callerOf(message), isStateless: this.#isStateless };
    if (caller.id === 'null') return undefined; // A notification.
    const why = `is longer than ${MOST_TEXT}, so breakerbox mcp did not forward it.`;
    const { method, id } = message;
    if (method !== undefined) {
      const text = `The request ${why}`;
      const isCall = method === 'tools/call';
      const { rejected } = this.#served;
      const answer = isCall ? rejected.reject(caller, { text, isSkipped: false }) : errorTo(caller, SERVER_ERROR, text);
      return { to, text: answer };
    }
    const text = `The answer ${why}`;
    const answer = to === 'toServer' ? this.#answerInPlace(id, TOO_LONG, text) : undefined;
    return {
      to: to === 'toClient' ? 'toServer' : 'toClient',
      text: answer ?? errorTo(caller, SERVER_ERROR, text),
    };
  }

  /** Ends a request without the server. Gives the answer; undefined if the request is not open. */
  #answerInPlace(id: string | undefined, settlement: Settlement, text: string, status?: number): string | undefined {
    const open = id === undefined ? undefined : this.#take(id);
    if (id === undefined || open === undefined) return undefined;
    const { method, caller, progress } = open;
    if (open.isOwn === true) {
      this.#watch.pingOver();
      return undefined;
    }
    const advice = this.#givenUp(open, settlement);
    if (progress !== undefined) this.#finished.put(progress, true);
    if (method === 'tools/call')
      return this.#served.rejected.reject(caller, { text: String(withAdvice(text, advice)), isSkipped: false });
    return errorTo(caller, SERVER_ERROR, text, status);
  }

  /** The request is not open any more. */
  #take(id: string): OpenRequest | undefined {
    const open = this.#open.take(id);
    clearTimeout(open?.timer);
    return open;
  }

  #forget({ call, timer }: OpenRequest): void {
    clearTimeout(timer);
    this.#settle(call, CANCELLED);
  }

  /** Gives the advice for the model, if the call left its tool unavailable (R5). */
  #settle(call: Call | undefined, settlement: Settlement): string {
    if (call === undefined) return '';
    const { callId, bytes } = call;
    this.#served.held.free(bytes);
    if (settlement === CANCELLED) this.#served.calls.abandon(callId);
    const permit = settlement === CANCELLED ? undefined : this.#served.calls.settle(callId, settlement);
    return permit === undefined ? '' : this.#textOf(permit);
  }

  /** What the model reads. A server that is started again is back sooner than its circuit says. */
  #textOf(permit: Permit): string {
    const { againAtMs } = this.#served;
    const isDown = permit.message !== '' && againAtMs !== undefined && this.#isGroupOpen();
    const serverInMs = isDown ? Math.max(0, againAtMs - this.#now()) + START_MS : undefined;
    return this.#parts.textOf?.(permit, serverInMs) ?? permit.message;
  }
}

/** The token of a request, or of its progress. */
const tokenOf = (meta: unknown): string | undefined => {
  const token = read(meta, 'progressToken');
  return typeof token === 'string' || typeof token === 'number' ? JSON.stringify(token) : undefined;
};

/** An answer that reports an error, with the advice after the error's text. Undefined for an answer that stays as it is. */
const advisedAnswer = (answer: RpcMessage, id: string, advice: string): string | undefined => {
  const key = answer.error === undefined ? 'result' : 'error';
  if (advice === '' || answer.isCut) return undefined;
  return `{"jsonrpc":"2.0","id":${id},"${key}":${JSON.stringify(withAdvice(answer[key], advice))}}`;
};

/** An answer under the id of its request. Undefined if it stays as it is. */
const renamed = ({ text, isCut, error }: RpcMessage, { caller: { id } }: OpenRequest): string | undefined => {
  const key = error === undefined ? 'result' : 'error';
  const value = isCut ? undefined : rawMember(text, key);
  return value && `{"jsonrpc":"2.0","id":${id},"${key}":${value}}`;
};

/** Milliseconds that a server may take to start. */
const START_MS = 2_000;

/** Marks a message that is dropped and gets no answer. */
const DROPPED = '';

/** Messages as they were sent: alone, or as a batch. */
const lineOf = ({ isBatch }: RpcLine, texts: readonly string[]): Buffer =>
  Buffer.from(isBatch ? `[${texts.join(',')}]\n` : `${texts.join('')}\n`);

const lines = (texts: readonly (string | undefined)[]): Buffer =>
  Buffer.from(texts.flatMap((text) => (text === undefined ? [] : [`${text}\n`])).join(''));

/** @param id As it was written. */
const cancelRequest = (id: string, reason: string): string =>
  `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id},"reason":${JSON.stringify(reason)}}}`;

/** Characters of a server's name that are read. */
const MOST_NAME = 200;

/** The arguments of a call. A caller that answers the server's questions sends the same arguments again, but makes no repeat (O5). */
const inputOf = (params: unknown): unknown => {
  const input = read(params, 'arguments');
  const answers = { requestState: read(params, 'requestState'), inputResponses: read(params, 'inputResponses') };
  return Object.values(answers).every((one) => one === undefined) ? input : { ...(isObject(input) && input), answers };
};

/** The span of the client that the request names (SEP-414). */
const parentOf = (params: unknown) => {
  const meta = read(params, '_meta');
  return isObject(meta) && read(meta, 'traceparent') !== undefined
    ? propagation.extract(ROOT_CONTEXT, meta)
    : context.active();
};
