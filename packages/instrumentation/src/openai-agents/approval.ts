import { safely } from '@breakerbox/core/internal';
import type { Rejection } from '../acquire.ts';

/** Whether a person has to approve a call, as the SDK asks. */
type NeedsApproval = (context: unknown, input: unknown, callId?: string) => Promise<boolean>;

/** Asks the session before a person: a person does not approve a call that is rejected then. */
export interface CircuitFirst {
  readonly needsApproval: NeedsApproval;
  /** The rejection because of which no person was asked. The tool must not run then. */
  rejectionOf(context: unknown, callId: string | undefined): Rejection | undefined;
}

/**
 * @param given The tool's own `needsApproval`.
 * @param reject Decides about a call, if the session rejects it now; undefined if the tool may run.
 * @returns undefined if no call of the tool needs approval.
 */
export const circuitFirst = (
  given: unknown,
  toolName: () => string,
  reject: (input: unknown, callId: string) => Rejection | undefined,
): CircuitFirst | undefined => {
  if (given !== true && typeof given !== 'function') return undefined;
  const unasked = new WeakMap<object, Map<string, Rejection>>();
  const of = (context: object): Map<string, Rejection> => {
    const found = unasked.get(context) ?? new Map<string, Rejection>();
    unasked.set(context, found);
    return found;
  };
  return {
    needsApproval: async (context, input, callId) => {
      const isKnown = typeof context === 'object' && context !== null && typeof callId === 'string';
      if (isKnown) of(context).delete(callId); // The model may use an id again.
      if (given !== true && !(await (given as NeedsApproval)(context, input, callId))) return false;
      if (!isKnown || answer(context, toolName(), callId) !== undefined) return true;
      const rejection = reject(input, callId);
      if (rejection !== undefined) of(context).set(callId, rejection);
      return rejection === undefined;
    },
    // Kept as long as the run: a call with the same id in the same turn was not approved either.
    rejectionOf: (context, callId) => {
      if (typeof context !== 'object' || context === null || callId === undefined) return undefined;
      const rejection = unasked.get(context)?.get(callId);
      return rejection === undefined || answer(context, toolName(), callId) === true ? undefined : rejection;
    },
  };
};

/** What a person has said about the call; undefined if not asked yet. */
const answer = (context: object, toolName: string, callId: string): unknown =>
  safely('isToolApproved() of the SDK', () =>
    (context as { isToolApproved?(call: object): unknown }).isToolApproved?.({ toolName, callId }),
  );
