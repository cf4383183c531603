import type { Rejection } from './acquire.ts';

/** Asks the session before a person: a person does not approve a call that is rejected then. */
export interface CircuitFirst {
  /**
   * Whether to ask a person about a call.
   *
   * @param context An object of the run or of the conversation, in which the call has its id.
   * @param isNeeded Whether the framework would ask.
   */
  asks(
    context: unknown,
    callId: string | undefined,
    input: unknown,
    isNeeded: () => PromiseLike<unknown> | unknown,
  ): Promise<boolean>;
  /** The rejection because of which no person was asked. The tool must not run then. */
  rejectionOf(context: unknown, callId: string | undefined): Rejection | undefined;
}

/**
 * @param reject Decides about a call, if the session rejects it now; undefined if the tool may run.
 * @param answerOf What a person has said about the call; undefined if not asked yet. Default: the framework does not say.
 */
export const circuitFirst = (
  reject: (input: unknown, callId: string) => Rejection | undefined,
  answerOf: (context: object, callId: string) => unknown = () => undefined,
): CircuitFirst => {
  const unasked = new WeakMap<object, Map<string, Rejection>>();
  const of = (context: object): Map<string, Rejection> => {
    const found = unasked.get(context) ?? new Map<string, Rejection>();
    unasked.set(context, found);
    return found;
  };
  return {
    asks: async (context, callId, input, isNeeded) => {
      const isKnown = typeof context === 'object' && context !== null && typeof callId === 'string';
      if (isKnown) of(context).delete(callId); // The model may use an id again.
      if (!(await isNeeded())) return false;
      if (!isKnown || answerOf(context, callId) !== undefined) return true;
      const rejection = reject(input, callId);
      if (rejection !== undefined) of(context).set(callId, rejection);
      return rejection === undefined;
    },
    // Kept as long as the context: a call with the same id in the same turn was not approved either.
    rejectionOf: (context, callId) => {
      if (typeof context !== 'object' || context === null || callId === undefined) return undefined;
      const rejection = unasked.get(context)?.get(callId);
      return rejection === undefined || answerOf(context, callId) === true ? undefined : rejection;
    },
  };
};

/** Whether a framework's tool may need approval: it says so, or a function decides for each call. */
export const mayNeedApproval = (given: unknown): boolean => given === true || typeof given === 'function';
