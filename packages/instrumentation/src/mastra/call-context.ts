import type { Permit } from '@breakerbox/core';
import { read } from '@breakerbox/core/internal';
import { type CallEnd, ignoredRejection, type KnownEnd } from '../settlement.ts';
import { orUndefined } from '../untrusted.ts';

/** The context that Mastra makes for each call, and gives to the hooks and to the tool. */
export interface CallContext {
  readonly toolCallId?: string;
  readonly abortSignal?: AbortSignal;
  readonly suspend?: Suspend;
  /** In the context of a tool that Mastra has not prepared for the agent yet. */
  readonly agent?: { readonly toolCallId?: string; readonly suspend?: Suspend };
}

type Suspend = (...given: readonly unknown[]) => unknown;

/** The permits of calls that the processor has let through. The hooks run beneath it, and do not ask again. */
const permits = new WeakMap<object, Permit>();

export const permitOf = (context: unknown): Permit | undefined => permits.get(context as object);

/** The context for a tool that the processor runs. It has the call's own signal, and the hooks recognize it. */
export const within = (context: CallContext, permit: Permit, abortSignal: AbortSignal): CallContext => {
  const inner: CallContext = { ...context, abortSignal, ...watchedSuspend(context, permit) };
  permits.set(inner, permit);
  return inner;
};

/**
 * A call that suspends costs nothing, and does not keep a probe's place. Only `suspend` tells it from a call without a result. It is
 * decided again when it resumes.
 */
export const watchedSuspend = (
  { suspend, agent }: CallContext,
  permit: Permit,
): Pick<CallContext, 'suspend' | 'agent'> => {
  const watched =
    (own: Suspend): Suspend =>
    (...given) => {
      permit.settle({ outcome: 'ignored', category: 'cancelled' });
      return own(...given);
    };
  return {
    ...(typeof suspend === 'function' && { suspend: watched(suspend) }),
    ...(typeof agent?.suspend === 'function' && { agent: { ...agent, suspend: watched(agent.suspend) } }),
  };
};

/** The end of a call, as Mastra gives it to its hooks. */
export const endOf = ({ output, error }: { readonly output?: unknown; readonly error?: unknown }): CallEnd<unknown> =>
  error === undefined ? { result: output } : { error };

/** The outcomes that only Mastra's own forms show. Mastra wraps errors that a tool throws. */
export const knownEnd = (end: CallEnd<unknown>): KnownEnd | undefined =>
  'error' in end ? (knownError(end.error) ?? knownError(read(end.error, 'cause'))) : knownOutput(end.result);

const knownOutput = (output: unknown): KnownEnd | undefined => {
  const error = read(output, 'error');
  const message = error === true && read(output, 'message');
  // Mastra returns this in place of an output that does not fit the tool's `outputSchema`. The fault is in the tool's answer. Any other
  // failed validation is about the model's arguments.
  if (typeof message === 'string' && message.startsWith('Tool output validation failed')) {
    return { outcome: 'ignored', category: 'tool_error' };
  }
  // A failed workflow that is used as a tool gives the error with the id of its run.
  const both = typeof error === 'string' && typeof read(output, 'runId') === 'string';
  return both && orUndefined(() => Object.keys(output as object).length) === 2 ? { result: { error } } : undefined;
};

/** Another tool was rejected within this one, or Mastra's MCP client threw, as it does for every result with `isError`. */
const knownError = (error: unknown): KnownEnd | undefined => {
  const excuse = ignoredRejection(error);
  if (excuse || read(error, 'id') !== 'MCP_CLIENT_TOOL_EXECUTION_FAILED') return excuse;
  return { result: { isError: true, content: [{ type: 'text', text: read(error, 'message') }] } };
};
