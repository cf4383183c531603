import type { Session } from '@breakerbox/core';
import { isControlFlow } from './langchain-shapes.ts';
import type { Cook } from './run-tool.ts';

type Work = (signal: AbortSignal) => unknown;

/** Calls that an interrupt ended, by tool and id, and how often. */
const interrupts = new WeakMap<Session, Map<string, number>>();

/**
 * A call that an interrupt may end, and LangGraph begin again from its start when it is resumed. That is the same call with
 * the same arguments once more, and yet no sign of a model that is stuck (O5): core is asked with something else then.
 *
 * @param call tool and id; undefined for a call without an id, which nobody knows again
 */
export const resumable = (
  session: Session,
  call: string | undefined,
): { readonly asked: unknown; following(work: Work): Cook<unknown> } => {
  if (call === undefined) return { asked: undefined, following: uninterrupted };
  const calls = interrupts.get(session) ?? new Map<string, number>();
  interrupts.set(session, calls);
  const times = calls.get(call);
  return {
    asked: times === undefined ? undefined : { call, resumed: times },
    following: (work) =>
      uninterrupted(async (signal) => {
        calls.delete(call);
        try {
          return await work(signal);
        } catch (error) {
          if (isControlFlow(error)) calls.set(call, (times ?? 0) + 1);
          throw error;
        }
      }),
  };
};

/** Runs a tool's work; what steers the graph costs nothing, and takes no probe with it (C8). */
export const uninterrupted =
  (work: Work): Cook<unknown> =>
  async ({ signal, permit }) => {
    try {
      return await work(signal);
    } catch (error) {
      if (isControlFlow(error)) permit.settle({ outcome: 'ignored', category: 'cancelled' });
      throw error;
    }
  };
