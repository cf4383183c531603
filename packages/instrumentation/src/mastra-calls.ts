import type { Permit } from '@breakerbox/core';
import { readable, readOf } from './readable.ts';
import { type CallEnd, excused, type KnownEnd } from './run.ts';

/** What Mastra makes for each call, and gives to the hooks and to the tool. */
export interface CallContext {
  readonly toolCallId?: string;
  readonly abortSignal?: AbortSignal;
  readonly suspend?: Suspend;
  /** In the context of a tool that has not been made ready for the agent yet. */
  readonly agent?: { readonly toolCallId?: string; readonly suspend?: Suspend };
}

type Suspend = (...given: readonly unknown[]) => unknown;

/** The permits of calls that the processor has let through: hooks, which come beneath it, ask nobody again. */
const permits = new WeakMap<object, Permit>();

export const permitOf = (context: unknown): Permit | undefined => permits.get(context as object);

/** The context for a tool that the processor runs: with the call's own signal, and known to the hooks. */
export const within = (context: CallContext, permit: Permit, abortSignal: AbortSignal): CallContext => {
  const inner: CallContext = { ...context, abortSignal, ...watchedSuspend(context, permit) };
  permits.set(inner, permit);
  return inner;
};

/**
 * A call that waits for somebody costs nothing, and keeps no probe's place. Nothing else tells it from one that gave nothing;
 * it is decided again when it resumes.
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

/** How a call ended, as Mastra tells its hooks. */
export const endOf = ({ output, error }: { readonly output?: unknown; readonly error?: unknown }): CallEnd<unknown> =>
  error === undefined ? { result: output } : { error };

/** What can't be known without knowing Mastra, which wraps what a tool throws. */
export const knownEnd = (end: CallEnd<unknown>): KnownEnd | undefined =>
  'error' in end ? (knownError(end.error) ?? knownError(readOf(end.error, 'cause'))) : knownOutput(end.result);

const knownOutput = (output: unknown): KnownEnd | undefined => {
  const error = readOf(output, 'error');
  const message = error === true && readOf(output, 'message');
  // What Mastra gives in place of an output that doesn't fit the tool's `outputSchema`: the tool's own answer, not the model's
  // arguments, which any failed validation is taken for.
  if (typeof message === 'string' && message.startsWith('Tool output validation failed')) {
    return { outcome: 'ignored', category: 'tool_error' };
  }
  // A workflow as a tool that failed gives the error with the id of its run.
  const both = typeof error === 'string' && typeof readOf(output, 'runId') === 'string';
  return both && readable(() => Object.keys(output as object).length) === 2 ? { result: { error } } : undefined;
};

/** Another tool was refused within this one; or Mastra's MCP client threw for a result with `isError`, as for each of them. */
const knownError = (error: unknown): KnownEnd | undefined => {
  const excuse = excused(error);
  if (excuse || readOf(error, 'id') !== 'MCP_CLIENT_TOOL_EXECUTION_FAILED') return excuse;
  return { result: { isError: true, content: [{ type: 'text', text: readOf(error, 'message') }] } };
};
