import type { Permit, Session, Settlement } from '@breakerbox/core';
import { extendLease, isObject, read, readText, safely } from '@breakerbox/core/internal';
import { type HookedCalls, hookedCalls } from '@breakerbox/instrumentation';
import { context, propagation, ROOT_CONTEXT } from '@opentelemetry/api';
import { BoundedMap } from './bounded-map.ts';
import { CANCELLED, cancellation, endingOf, SERVER_ENDED, taskEnding } from './call-ending.ts';
import { HeldInputs } from './held-inputs.ts';
import type { Line } from './line-splitter.ts';
import { type Caller, callerOf, errorTo, SERVER_ERROR } from './rejected-call.ts';
import { RejectedTasks } from './rejected-tasks.ts';
import { RelayedTools } from './relayed-tools.ts';
import { idIn, type RpcLine, type RpcMessage, readLine } from './rpc-message.ts';

/** Where the bytes of a line go. */
export interface Forwarding {
  readonly toServer?: Buffer;
  readonly toClient?: Buffer;
}

/** Decides about the calls between one client and one server (M2, M3). It does no I/O: lines go in, and bytes come out. */
export interface Relay {
  fromClient(line: Line): Forwarding;
  fromServer(line: Line): Forwarding;
  /** The server's process has ended. Gives answers to the calls under way, in case the client's connection goes on. */
  serverEnded(why: string): Buffer;
  /** The server did not answer requests of the client, as over a connection that broke. Gives answers to those that are still open. */
  requestsFailed(requests: readonly RpcMessage[], failure: RequestFailure): Buffer;
  /** Whether the server has not answered one of the requests. */
  isOpen(requests: readonly RpcMessage[]): boolean;
  /** The client has gone, or closes. The calls under way cost nothing. */
  clientEnded(): void;
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
  /** The text of a rejection, if it is not the engine's. */
  readonly textOf?: (permit: Permit) => string;
  /** The clock of the session's box, in milliseconds. Default: `performance.now()`, as the box's. */
  readonly now?: () => number;
  /** Whether requests of each method are watched, so that one that fails can be answered. Default: those whose answers are looked at. */
  readonly watchesAll?: boolean;
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
  readonly call: Call | undefined;
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

export const createRelay = (parts: RelayParts): Relay => new ToolRelay(parts);

class ToolRelay implements Relay {
  readonly #parts: RelayParts;
  readonly #calls: HookedCalls;
  readonly #tools = new RelayedTools();
  readonly #open = new BoundedMap<OpenRequest>();
  /** The call of each task that goes on (M6). */
  readonly #tasks = new BoundedMap<Call>();
  readonly #rejected = new RejectedTasks();
  readonly #held = new HeldInputs();
  #group: string;

  constructor(parts: RelayParts) {
    this.#parts = parts;
    this.#group = parts.group;
    this.#calls = hookedCalls(parts.session, { where: 'breakerbox mcp' });
  }

  fromClient(line: Line): Forwarding {
    // A bug here must not stop the client from working (E5).
    return safely('a line of the client', () => this.#fromClient(line)) ?? { toServer: line.bytes };
  }

  fromServer(line: Line): Forwarding {
    if (this.#open.size > 0 || this.#tasks.size > 0)
      safely('a line of the server', () => this.#lookAt(line.whole ? readLine(line.bytes) : undefined));
    return { toClient: line.bytes };
  }

  serverEnded(why: string): Buffer {
    const answers = this.#open.takeAll().flatMap(({ method, caller, call }) => {
      this.#settle(call, SERVER_ENDED);
      return method === 'tools/call' ? [`${this.#rejected.reject(caller, why)}\n`] : [];
    });
    for (const call of this.#tasks.takeAll()) this.#settle(call, SERVER_ENDED);
    return Buffer.from(answers.join(''));
  }

  requestsFailed(requests: readonly RpcMessage[], { settlement, text, status }: RequestFailure): Buffer {
    const answers = requests.flatMap(({ id }) => {
      const open = id === undefined ? undefined : this.#open.take(id);
      if (open === undefined) return [];
      const { method, caller, call } = open;
      this.#settle(call, settlement);
      return [
        `${method === 'tools/call' ? this.#rejected.reject(caller, text) : errorTo(caller, SERVER_ERROR, text, status)}\n`,
      ];
    });
    return Buffer.from(answers.join(''));
  }

  isOpen(requests: readonly RpcMessage[]): boolean {
    return requests.some(({ id }) => id !== undefined && this.#open.has(id));
  }

  clientEnded(): void {
    for (const { call } of this.#open.takeAll()) this.#settle(call, CANCELLED);
    for (const call of this.#tasks.takeAll()) this.#settle(call, CANCELLED);
    this.#calls.abandon();
  }

  #fromClient({ bytes, whole }: Line): Forwarding {
    const line = whole ? readLine(bytes) : undefined;
    if (line === undefined) return { toServer: bytes };
    const answers = line.messages.map((message) => this.#request(message));
    if (answers.every((answer) => answer === undefined)) return { toServer: bytes };
    const rejections = answers.filter((answer) => answer !== undefined);
    if (!line.isBatch) return { toClient: Buffer.from(`${rejections.join('')}\n`) };
    const left = line.messages.flatMap(({ text }, index) => (answers[index] === undefined ? [text] : []));
    return {
      toClient: Buffer.from(`[${rejections.join(',')}]\n`),
      ...(left.length > 0 && { toServer: Buffer.from(`[${left.join(',')}]\n`) }),
    };
  }

  /** Looks at a message of the client. Gives the answer to a call that is rejected. */
  #request(message: RpcMessage): string | undefined {
    const { method, id, params } = message;
    if (method === 'notifications/cancelled') this.#cancel(message);
    if (method === undefined || id === undefined) return undefined;
    if (!WATCHED.has(method) && this.#parts.watchesAll !== true) return undefined;
    const answer = this.#rejected.answer(message);
    if (answer !== undefined) return answer;
    // The client uses the id again, so it does not wait for the request before any more.
    this.#settle(this.#open.take(id)?.call, CANCELLED);
    const decided = method === 'tools/call' ? this.#decide(message, id) : undefined;
    if (typeof decided === 'string') return decided;
    const open = { method, caller: callerOf(message), taskId: readText(params, 'taskId'), call: decided };
    for (const { call } of this.#open.put(id, open)) this.#settle(call, CANCELLED);
    return undefined;
  }

  /** Gives the answer to a call that is rejected, or the call. Undefined for a call that gets no decision. */
  #decide(request: RpcMessage, callId: string): string | Call | undefined {
    const { params } = request;
    const tool = readText(params, 'name');
    if (tool === undefined || tool.trim() === '' || !this.#tools.mayHave(tool)) return undefined;
    this.#parts.beforeDecision?.();
    const { input, bytes } = this.#held.hold(inputOf(params), request.text.length);
    const asked = { callId, tool, input, group: this.#group, type: 'extension', attributes: ATTRIBUTES } as const;
    const permit = safely('a decision', () => context.with(parentOf(params), () => this.#calls.acquire(asked)));
    if (permit === undefined || permit.message !== '') this.#held.free(bytes);
    if (permit === undefined) return undefined;
    if (permit.message !== '')
      return this.#rejected.reject(callerOf(request), this.#parts.textOf?.(permit) ?? permit.message);
    return { callId, permit, bytes };
  }

  #cancel(message: RpcMessage): void {
    const id = idIn(message.params, 'requestId', message);
    const open = id === undefined ? undefined : this.#open.take(id);
    this.#settle(open?.call, cancellation(read(message.params, 'reason')));
  }

  #lookAt(line: RpcLine | undefined): void {
    for (const message of line?.messages ?? []) {
      const { method, id, params } = message;
      if (method === 'notifications/tasks/status') this.#taskState(readText(params, 'taskId'), params);
      if (method !== undefined || id === undefined) continue;
      const open = this.#open.take(id);
      if (open !== undefined) this.#answered(open, message);
    }
  }

  #answered({ method, taskId, call }: OpenRequest, answer: RpcMessage): void {
    const { result, error } = answer;
    switch (method) {
      case 'tools/call':
        this.#callAnswered(call, answer);
        break;
      case 'tools/list':
        this.#tools.record(result, this.#parts.session, this.#group);
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
        break;
      default: // Watched only because it may fail.
    }
  }

  #callAnswered(call: Call | undefined, answer: RpcMessage): void {
    if (call === undefined) return;
    const { taskId, settlement } = endingOf(answer);
    if (taskId === undefined) this.#settle(call, settlement);
    else this.#taskBegins(taskId, call);
  }

  #taskBegins(taskId: string, call: Call): void {
    this.#taskGoesOn(call);
    for (const forgotten of this.#tasks.put(taskId, call)) this.#settle(forgotten, CANCELLED);
  }

  #taskGoesOn({ permit }: Call): void {
    extendLease(permit, (this.#parts.now?.() ?? performance.now()) + TASK_QUIET_MS);
  }

  #taskState(taskId: string | undefined, state: unknown): void {
    const ending = taskEnding(state);
    const call = taskId === undefined || ending !== undefined ? undefined : this.#tasks.get(taskId);
    if (call !== undefined) this.#taskGoesOn(call);
    this.#taskEnded(taskId, ending);
  }

  #taskEnded(taskId: string | undefined, settlement: Settlement | undefined): void {
    if (taskId !== undefined && settlement !== undefined) this.#settle(this.#tasks.take(taskId), settlement);
  }

  /** C13: the group has the name that the server gives itself. */
  #nameGroup(result: unknown): void {
    const info = read(result, 'serverInfo') ?? read(read(result, '_meta'), 'io.modelcontextprotocol/serverInfo');
    const name = readText(info, 'name', MOST_NAME)?.trim();
    if (name && !this.#parts.keepsGroup) this.#group = name;
  }

  #settle(call: Call | undefined, settlement: Settlement): void {
    if (call === undefined) return;
    const { callId, bytes } = call;
    this.#held.free(bytes);
    if (settlement === CANCELLED) this.#calls.abandon(callId);
    else this.#calls.settle(callId, settlement);
  }
}

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
