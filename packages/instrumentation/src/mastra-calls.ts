import type { Permit, Settlement } from '@breakerbox/core';
import { readable, readOf } from './readable.ts';
import { excused } from './run.ts';

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
interface End {
  readonly output?: unknown;
  readonly error?: unknown;
}

/**
 * Settles a call by what core can't know of Mastra; core judges the rest. Never throws, whatever a tool gave or threw: all of it
 * is read by `readOf`.
 */
export const settleKnown = (permit: Permit, { output, error }: End): void => {
  // Mastra wraps what a tool throws.
  const known = error === undefined ? knownOutput(output) : (knownError(error) ?? knownError(readOf(error, 'cause')));
  if (known !== undefined) permit.settle(known);
};

/** Settles a call by how the tool itself ended. */
export const settleEnd = (permit: Permit, { output, error }: End): void => {
  settleKnown(permit, { output, error });
  permit.settle(error === undefined ? { result: evidenceOf(output) } : { error });
};

/** What core is to judge in place of an output: a workflow as a tool that failed gives the error with the id of its run. */
export const evidenceOf = (output: unknown): unknown => {
  const error = readOf(output, 'error');
  const both = typeof error === 'string' && typeof readOf(output, 'runId') === 'string';
  return both && readable(() => Object.keys(output as object).length) === 2 ? { error } : output;
};

/** What Mastra gives in place of an output that doesn't fit the tool's `outputSchema`. */
const knownOutput = (output: unknown): Settlement | undefined => {
  const message = readOf(output, 'error') === true && readOf(output, 'message');
  const misshapen = typeof message === 'string' && message.startsWith('Tool output validation failed');
  // The tool's own answer, not the model's arguments, which core takes any failed validation for.
  return misshapen ? { outcome: 'ignored', category: 'tool_error' } : undefined;
};

/** Another tool was refused within this one; or Mastra's MCP client threw for a result with `isError`, as for each of them. */
const knownError = (error: unknown): Settlement | undefined => {
  const given = { error };
  const settlement = excused(given);
  if (settlement !== given) return settlement;
  if (readOf(error, 'id') !== 'MCP_CLIENT_TOOL_EXECUTION_FAILED') return undefined;
  return { result: { isError: true, content: [{ type: 'text', text: readOf(error, 'message') }] } };
};
