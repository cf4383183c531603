import type { HookInput } from '@anthropic-ai/claude-agent-sdk';
import type { Permit, Session, Settlement } from '@breakerbox/core';
import { isRejected } from '../acquire.ts';
import { hookedCalls, type JudgedCall, MAX_UNDER_WAY } from '../hooked-calls.ts';

/** An agent of a conversation. The main agent has no id. */
export type Caller = Pick<HookInput, 'session_id' | 'agent_id'>;

/** The calls of a session that are under way, in all its conversations and their sub-agents. */
export interface Calls {
  /** @param signal Gives the call up when it fires. */
  acquire(call: JudgedCall, caller: Caller, signal: AbortSignal | undefined): Permit;
  /** Frees the place of a probe while a person is asked, who may take longer than its lease. `ran` asks for it again. */
  ask(callId: string): void;
  ran(callId: string, settlement: Settlement): Permit | undefined;
  /** The call never ran. */
  deny(callId: string): void;
  /** Gives up the calls of these callers, because no hook will report their ends. */
  giveUp(isMeant: (caller: Caller) => boolean): void;
}

/** By session, not by query: an interrupted conversation continues in a new query with new hooks. */
const bySession = new WeakMap<Session, Calls>();

export const callsOf = (session: Session): Calls => {
  const found = bySession.get(session) ?? callsIn(session);
  bySession.set(session, found);
  return found;
};

interface PendingCall {
  readonly call: JudgedCall;
  readonly caller: Caller;
  readonly isProbe: boolean;
  readonly isAsked: boolean;
  /** Removes the listener. Many queries may share a signal, and a listener left on it is a leak. */
  readonly release: () => void;
}

const callsIn = (session: Session): Calls => {
  const hooked = hookedCalls(session);
  const pending = new Map<string, PendingCall>();

  const take = (callId: string): PendingCall | undefined => {
    const taken = pending.get(callId);
    pending.delete(callId);
    taken?.release();
    return taken;
  };
  const giveUp = (callId: string): void => {
    take(callId);
    hooked.abandon(callId);
  };

  return {
    acquire: (call, caller, signal) => {
      const { callId } = call;
      take(callId); // Asked again under the same id.
      const permit = hooked.acquire(call);
      if (isRejected(permit)) return permit;
      const onAbort = (): void => giveUp(callId);
      const release = (): void => signal?.removeEventListener('abort', onAbort);
      pending.set(callId, { call, caller, isProbe: permit.decision === 'probe', isAsked: false, release });
      const [oldest] = pending.keys();
      if (pending.size > MAX_UNDER_WAY && oldest !== undefined) giveUp(oldest);
      signal?.addEventListener('abort', onAbort, { once: true });
      if (signal?.aborted) giveUp(callId);
      return permit;
    },
    ask: (callId) => {
      const asked = pending.get(callId);
      if (!asked?.isProbe) return; // C9. Other calls have no lease.
      hooked.abandon(callId);
      pending.set(callId, { ...asked, isAsked: true });
    },
    ran: (callId, settlement) => {
      const taken = take(callId);
      // If another call has become the probe, this one reports no outcome.
      if (taken?.isAsked && isRejected(hooked.acquire(taken.call))) return undefined;
      return hooked.settle(callId, settlement);
    },
    deny: (callId) => {
      take(callId);
      hooked.settle(callId, { outcome: 'ignored', category: 'denied' });
    },
    giveUp: (isMeant) => {
      for (const [callId, { caller }] of pending) if (isMeant(caller)) giveUp(callId);
    },
  };
};
