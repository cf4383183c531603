import type { HookInput } from '@anthropic-ai/claude-agent-sdk';
import type { Permit, Session, Settlement } from '@breakerbox/core';
import { hookedCalls, type JudgedCall, MAX_UNDER_WAY } from './hooked-calls.ts';
import { isRefused } from './unavailable.ts';

/** An agent of a conversation; the main one has no id. */
export type Caller = Pick<HookInput, 'session_id' | 'agent_id'>;

/** The calls of a session that are on their way: those of all its conversations, and of the sub-agents in them. */
export interface Calls {
  /** @param signal gives the call up when it fires. */
  acquire(call: JudgedCall, caller: Caller, signal: AbortSignal | undefined): Permit;
  /** A person is asked, who may take longer than the lease of a probe: that one's place is free until its tool has run. */
  ask(callId: string): void;
  ran(callId: string, settlement: Settlement): Permit | undefined;
  /** It never ran. */
  deny(callId: string): void;
  /** Nobody will tell of the rest of those calls. */
  giveUp(isMeant: (caller: Caller) => boolean): void;
}

/** By session, not by query: who goes on with an interrupted conversation asks in a query, and with hooks, of its own. */
const bySession = new WeakMap<Session, Calls>();

export const callsOf = (session: Session): Calls => {
  const found = bySession.get(session) ?? callsIn(session);
  bySession.set(session, found);
  return found;
};

interface Going {
  readonly call: JudgedCall;
  readonly caller: Caller;
  readonly isProbe: boolean;
  readonly isAsked: boolean;
  /** A signal is often shared by many queries: what stays on it is a leak. */
  readonly release: () => void;
}

const callsIn = (session: Session): Calls => {
  const hooked = hookedCalls(session);
  const going = new Map<string, Going>();

  const take = (callId: string): Going | undefined => {
    const taken = going.get(callId);
    going.delete(callId);
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
      take(callId); // Asked again.
      const permit = hooked.acquire(call);
      if (isRefused(permit)) return permit;
      const onAbort = (): void => giveUp(callId);
      const release = (): void => signal?.removeEventListener('abort', onAbort);
      going.set(callId, { call, caller, isProbe: permit.decision === 'probe', isAsked: false, release });
      const [oldest] = going.keys();
      if (going.size > MAX_UNDER_WAY && oldest !== undefined) giveUp(oldest);
      signal?.addEventListener('abort', onAbort, { once: true });
      if (signal?.aborted) giveUp(callId);
      return permit;
    },
    ask: (callId) => {
      const asked = going.get(callId);
      if (!asked?.isProbe) return; // C9. Any other call may take its time.
      hooked.abandon(callId);
      going.set(callId, { ...asked, isAsked: true });
    },
    ran: (callId, settlement) => {
      const taken = take(callId);
      // Another may have taken the place of the probe: then this one says nothing.
      if (taken?.isAsked && isRefused(hooked.acquire(taken.call))) return undefined;
      return hooked.settle(callId, settlement);
    },
    deny: (callId) => {
      take(callId);
      hooked.settle(callId, { outcome: 'ignored', category: 'denied' });
    },
    giveUp: (isMeant) => {
      for (const [callId, { caller }] of going) if (isMeant(caller)) giveUp(callId);
    },
  };
};
