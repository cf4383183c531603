import type { Session } from '@breakerbox/core';
import { isControlFlow } from './langchain-shapes.ts';

type Work = (signal: AbortSignal) => unknown;

/** Kept of each session. A call may never be resumed; the one that was interrupted longest ago goes first. */
const KEPT = 100;

/** Calls that an interrupt ended, by tool and id, and how often. */
const interrupts = new WeakMap<Session, Map<string, number>>();

/**
 * A call that an interrupt may end, and LangGraph begin again from its start when it is resumed. That is the same call with
 * the same arguments once more, and yet no sign of a model that is stuck (O5): core is asked with something else then. A
 * call without an id nobody knows again.
 */
export const resumable = (
  session: Session,
  { tool, callId }: { readonly tool: string; readonly callId?: string | undefined },
): { readonly asked: unknown; following(work: Work): Work } => {
  if (callId === undefined) return { asked: undefined, following: (work) => work };
  const call = `${tool} ${callId}`;
  const calls = interrupts.get(session) ?? new Map<string, number>();
  interrupts.set(session, calls);
  const times = calls.get(call);
  calls.delete(call);
  return {
    asked: times === undefined ? undefined : { call, resumed: times },
    following: (work) => async (signal) => {
      try {
        return await work(signal);
      } catch (error) {
        if (isControlFlow(error)) remember(calls, call, (times ?? 0) + 1);
        throw error;
      }
    },
  };
};

const remember = (calls: Map<string, number>, call: string, times: number): void => {
  const [oldest] = calls.keys();
  if (calls.size >= KEPT && oldest !== undefined) calls.delete(oldest);
  calls.set(call, times);
};
