import type { Session } from '@breakerbox/core';
import { isControlFlow } from './shapes.ts';

type Work = (signal: AbortSignal) => unknown;

/** Most interrupted calls kept for each session. A call may never be resumed. The one with the oldest interrupt is dropped first. */
const KEPT = 100;

/** Calls that an interrupt ended, by tool and id, with the number of interrupts. */
const interrupts = new WeakMap<Session, Map<string, number>>();

/**
 * A call that an interrupt may end. When it is resumed, LangGraph starts it again with the same arguments. That does not mean that the
 * model is stuck (O5), so core then gets another value than the arguments. A call without an id cannot be recognized.
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
