import type { Settlement } from '@breakerbox/core';
import { isObject, read } from '@breakerbox/core/internal';

/** What the answer to a call means: it ended, or it goes on as a task. */
export type CallEnding =
  | { readonly settlement: Settlement; readonly taskId?: undefined }
  | { readonly settlement?: undefined; readonly taskId: string };

export const CANCELLED: Settlement = { outcome: 'ignored', category: 'cancelled' };

/** The server's process ended, so none of its tools can be reached (C13). */
export const SERVER_ENDED: Settlement = {
  error: new Error('Connection closed'),
  verdict: { category: 'network' },
  blames: 'group',
};

/** The server answers nothing any more, not even a ping (O10). */
export const HUNG: Settlement = { outcome: 'failure', category: 'timeout', blames: 'group' };

export const TIMED_OUT: Settlement = { outcome: 'failure', category: 'timeout' };

/** The server has answered, with more than the relay forwards. */
export const TOO_LONG: Settlement = { outcome: 'ignored', category: 'tool_error' };

/** Reads the answer to a call. */
export const endingOf = ({ result, error }: { readonly result: unknown; readonly error: unknown }): CallEnding => {
  if (error !== undefined) return { settlement: { error: rpcError(error) } };
  const type = read(result, 'resultType');
  // The caller answers the server's question in another request. There is no result yet, so it closes no probe.
  if (type === 'input_required') return { settlement: CANCELLED };
  const taskId = read(read(result, 'task'), 'taskId') ?? (type === 'task' ? read(result, 'taskId') : undefined);
  return typeof taskId === 'string' ? { taskId } : { settlement: { result } };
};

/** Reads the state of a task. Undefined while the task goes on. */
export const taskEnding = (state: unknown): Settlement | undefined => {
  const task = isObject(read(state, 'task')) ? read(state, 'task') : state;
  switch (read(task, 'status')) {
    case 'completed':
      return { result: read(task, 'result') ?? {} };
    case 'failed':
      return { error: failureOf(task) };
    case 'cancelled':
      return CANCELLED;
    default:
      return undefined;
  }
};

const failureOf = (task: unknown): Error => {
  const error = read(task, 'error');
  if (error !== undefined) return rpcError(error);
  const why = read(task, 'statusMessage');
  return new Error(typeof why === 'string' ? why : 'The task failed');
};

/** A client cancels when a person stops the agent, and when its own timeout fires. Only the second is a failure. Few clients say which. */
export const cancellation = (reason: unknown): Settlement =>
  typeof reason === 'string' && /\btime(?:d ?|-)?out\b|\bdeadline exceeded\b/i.test(reason) ? TIMED_OUT : CANCELLED;

/** The error as the SDKs throw it, because the classifier knows that form. */
const rpcError = (error: unknown): Error => {
  const message = `MCP error ${read(error, 'code')}: ${read(error, 'message')}`;
  return Object.assign(new Error(message), { name: 'McpError', code: read(error, 'code'), data: read(error, 'data') });
};
