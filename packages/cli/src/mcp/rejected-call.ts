import { isObject, read, SKIP_KEY } from '@breakerbox/core/internal';
import { type RpcMessage, rawId } from './rpc-message.ts';

/** The key by which a request of the stateless protocol (from revision 2026-07-28) names its revision. */
export const STATELESS = 'io.modelcontextprotocol/protocolVersion';

/** What an answer must know of its request. It keeps nothing else of the request, which can be long. */
export interface Caller {
  /** The id, byte for byte. */
  readonly id: string;
  /** The request belongs to the stateless protocol. */
  readonly isStateless: boolean;
  /** The request asks for a task (revision 2025-11-25), and for how long the task is kept, in milliseconds. */
  readonly task: { readonly ttlMs: number | null } | undefined;
}

export const callerOf = (request: RpcMessage): Caller => {
  const isStateless = read(read(request.params, '_meta'), STATELESS) !== undefined;
  const task = read(request.params, 'task');
  const ttl = read(task, 'ttl');
  return {
    id: rawId(request),
    isStateless,
    task: isObject(task) && !isStateless ? { ttlMs: typeof ttl === 'number' ? ttl : null } : undefined,
  };
};

/** What the model reads in place of a call's result (M4). */
export interface Rejected {
  readonly text: string;
  /** The call was skipped by a decision. Guards in other processes have to know that (R3). */
  readonly isSkipped: boolean;
}

export const rejectedResult = ({ isStateless }: Caller, { text, isSkipped }: Rejected) => ({
  ...(isStateless && { resultType: 'complete' }),
  content: [{ type: 'text', text }],
  isError: true,
  ...(isSkipped && { _meta: { [SKIP_KEY]: true } }),
});

/** A result as JSON-RPC. The model reads results and no JSON-RPC errors. */
export const resultTo = ({ id }: Caller, result: object): string =>
  `{"jsonrpc":"2.0","id":${id},"result":${JSON.stringify(result)}}`;

/** The code of JSON-RPC for errors of an implementation. */
export const SERVER_ERROR = -32_000;

/** @param status The HTTP status, if there was one. */
export const errorTo = ({ id }: Caller, code: number, message: string, status?: number): string => {
  const error = { code, message, ...(status !== undefined && { data: { status } }) };
  return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(error)}}`;
};
