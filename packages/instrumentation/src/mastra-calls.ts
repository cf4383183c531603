import type { Permit } from '@breakerbox/core';
import { ToolUnavailableError } from './unavailable.ts';

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

export const permitOf = (context: object): Permit | undefined => permits.get(context);

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

/** Settles a call by what core can't know of Mastra; core judges the rest. */
export const settleReturned = (permit: Permit, output: unknown): void => {
  // The tool's own answer, not the model's arguments, which core takes any failed validation for.
  if (isMisshapen(output)) permit.settle({ outcome: 'ignored', category: 'tool_error' });
};

/** The same for what was thrown: another tool was refused within this one, and that is charged already (B3). */
export const settleThrown = (permit: Permit, error: unknown): void => {
  const { cause } = (error ?? {}) as { readonly cause?: unknown };
  if (cause instanceof ToolUnavailableError) permit.settle({ outcome: 'ignored', category: 'denied' });
};

/** What Mastra gives in place of an output that doesn't fit the tool's `outputSchema`. */
const isMisshapen = (output: unknown): boolean => {
  const { error, message } = (output ?? {}) as { readonly error?: unknown; readonly message?: unknown };
  return error === true && typeof message === 'string' && message.startsWith('Tool output validation failed');
};
