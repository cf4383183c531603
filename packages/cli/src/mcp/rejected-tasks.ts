import { readText } from '@breakerbox/core/internal';
import { BoundedMap } from './bounded-map.ts';
import { type Caller, callerOf, errorTo, type Rejected, rejectedResult, resultTo } from './rejected-call.ts';
import type { RpcMessage } from './rpc-message.ts';

/** JSON-RPC: the parameters are not valid. The protocol asks for it when a task that has ended is cancelled. */
const INVALID_PARAMS = -32_602;

interface RejectedTask extends Rejected {
  readonly task: object;
}

/**
 * Rejected calls that asked for a task (revision 2025-11-25). Their clients accept nothing but a task as the answer, and fetch its result
 * in another request. So the relay gives them a task that has ended, and answers the requests about it.
 */
export class RejectedTasks {
  readonly #tasks = new BoundedMap<RejectedTask>();

  /** The answer to a rejected call, also to one that asked for no task. */
  reject(caller: Caller, rejected: Rejected): string {
    if (caller.task === undefined) return resultTo(caller, rejectedResult(caller, rejected));
    const taskId = `breakerbox-${crypto.randomUUID()}`;
    const time = new Date().toISOString();
    // Clients do not fetch the result of a task that has failed.
    const task = { taskId, status: 'completed', ttl: caller.task.ttlMs, createdAt: time, lastUpdatedAt: time };
    this.#tasks.put(taskId, { ...rejected, task });
    return resultTo(caller, { task });
  }

  /** The answer to a request about such a task. Undefined for all other requests. */
  answer(request: RpcMessage): string | undefined {
    if (request.method?.startsWith('tasks/') !== true) return undefined;
    const taskId = readText(request.params, 'taskId') ?? '';
    const rejected = this.#tasks.get(taskId);
    if (rejected === undefined) return undefined;
    const caller = callerOf(request);
    if (request.method === 'tasks/get') return resultTo(caller, rejected.task);
    if (request.method !== 'tasks/result') return errorTo(caller, INVALID_PARAMS, 'The task has ended');
    const result = rejectedResult(caller, rejected);
    const _meta = { ...result._meta, 'io.modelcontextprotocol/related-task': { taskId } };
    return resultTo(caller, { ...result, _meta });
  }
}
