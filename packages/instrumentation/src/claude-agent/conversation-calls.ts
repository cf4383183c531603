import type { HookInput } from '@anthropic-ai/claude-agent-sdk';
import type { Permit, Session, Settlement } from '@breakerbox/core';
import { read } from '@breakerbox/core/internal';
import { isRejected } from '../acquire.ts';
import { type HookedCalls, hookedCalls, type JudgedCall, MAX_UNDER_WAY } from '../hooked-calls.ts';
import { runInContext } from '../run.ts';

/** An agent of a conversation. The main agent has no id. */
export type Caller = Pick<HookInput, 'session_id' | 'agent_id' | 'agent_type'>;

/** The calls of a session that are under way, in all its conversations and their sub-agents. */
export interface Calls {
  /**
   * @param signal Gives the call up when it fires.
   * @throws ChildLimitError if the caller is a sub-agent that may not begin (D1).
   */
  acquire(call: JudgedCall, caller: Caller, signal: AbortSignal | undefined): Permit;
  /** Frees the place of a probe while a person is asked, who may take longer than its lease. `ran` asks for it again. */
  ask(callId: string): void;
  ran(callId: string, settlement: Settlement): Permit | undefined;
  /** The call never ran. */
  deny(callId: string): void;
  /** A turn of this caller is over. Tells whether it is the second one in a row with a paused call, and the run still is paused (D6). */
  step(caller: Caller): { readonly isLast: boolean };
  /** Gives up the calls of these callers, because no hook will report their ends. Their sub-agents' sessions end. */
  giveUp(isMeant: (caller: Caller) => boolean): void;
}

/** By session, not by query: an interrupted conversation continues in a new query with new hooks. */
const bySession = new WeakMap<Session, Calls>();

export const callsOf = (session: Session): Calls => {
  const found = bySession.get(session) ?? callsIn(session);
  bySession.set(session, found);
  return found;
};

/** An agent, with its session: that of the conversation, or one beneath it for a sub-agent (D1). */
interface Agent {
  readonly session: Session;
  readonly hooked: HookedCalls;
  readonly caller: Caller;
}

interface PendingCall {
  readonly agent: Agent;
  readonly permit: Permit;
  readonly call: JudgedCall;
  readonly caller: Caller;
  readonly isProbe: boolean;
  readonly isAsked: boolean;
  /** Removes the listener. Many queries may share a signal, and a listener left on it is a leak. */
  readonly release: () => void;
}

const callsIn = (session: Session): Calls => {
  const agents = new Map<string, Agent>();
  const main = { session, hooked: hookedCalls(session) };
  const pending = new Map<string, PendingCall>();
  /** D6: the turns in a row in which a call of a main agent was paused, by its conversation. `now`: so was one of this turn. */
  const pauses = new Map<string, { turns: number; now: boolean }>();
  /** The permits of the calls whose sub-agent is known. */
  const parents = new WeakSet<Permit>();

  /** Claude Code names no parent: it is the oldest call under way that starts an agent of this type. */
  const parentOf = ({ session_id, agent_type }: Caller): PendingCall | undefined => {
    const found = [...pending.values()].find(
      ({ call, caller, permit }) =>
        caller.session_id === session_id && read(call.input, 'subagent_type') === agent_type && !parents.has(permit),
    );
    if (found !== undefined) parents.add(found.permit);
    return found;
  };
  const begin = (caller: Caller, id: string): Agent => {
    const parent = parentOf(caller);
    const { session: above } = parent?.agent ?? main;
    const { agent_type: name = 'sub-agent' } = caller;
    const child =
      parent === undefined
        ? above.child({ id, name })
        : runInContext(parent.permit, () => above.child({ id, name, call: parent.permit }));
    const agent: Agent = { session: child, hooked: hookedCalls(child), caller };
    agents.set(id, agent);
    return agent;
  };
  const agentOf = (caller: Caller): Agent => {
    const { agent_id } = caller;
    if (agent_id === undefined) return { ...main, caller };
    return agents.get(agent_id) ?? begin(caller, agent_id);
  };

  const take = (callId: string): PendingCall | undefined => {
    const taken = pending.get(callId);
    pending.delete(callId);
    taken?.release();
    return taken;
  };
  const giveUp = (callId: string): void => {
    take(callId)?.agent.hooked.abandon(callId);
  };

  return {
    acquire: (call, caller, signal) => {
      const { callId } = call;
      take(callId); // Asked again under the same id.
      const agent = agentOf(caller);
      const permit = agent.hooked.acquire(call);
      if (permit.decision === 'pause' && caller.agent_id === undefined) {
        pauses.set(caller.session_id, { turns: pauses.get(caller.session_id)?.turns ?? 0, now: true });
      }
      if (isRejected(permit)) return permit;
      const onAbort = (): void => giveUp(callId);
      const release = (): void => signal?.removeEventListener('abort', onAbort);
      pending.set(callId, {
        agent,
        permit,
        call,
        caller,
        isProbe: permit.decision === 'probe',
        isAsked: false,
        release,
      });
      const [oldest] = pending.keys();
      if (pending.size > MAX_UNDER_WAY && oldest !== undefined) giveUp(oldest);
      signal?.addEventListener('abort', onAbort, { once: true });
      if (signal?.aborted) giveUp(callId);
      return permit;
    },
    ask: (callId) => {
      const asked = pending.get(callId);
      if (!asked?.isProbe) return; // C9. Other calls have no lease.
      asked.agent.hooked.abandon(callId);
      pending.set(callId, { ...asked, isAsked: true });
    },
    ran: (callId, settlement) => {
      const taken = take(callId);
      if (taken === undefined) return undefined;
      const { hooked } = taken.agent;
      // If another call has become the probe, this one reports no outcome.
      if (taken.isAsked && isRejected(hooked.acquire(taken.call))) return undefined;
      return hooked.settle(callId, settlement);
    },
    deny: (callId) => {
      take(callId)?.agent.hooked.settle(callId, { outcome: 'ignored', category: 'denied' });
    },
    step: (caller) => {
      agentOf(caller).session.step();
      if (caller.agent_id !== undefined) return { isLast: false };
      const paused = pauses.get(caller.session_id);
      pauses.delete(caller.session_id);
      // It may have been extended or resumed since.
      if (!paused?.now || !session.view().state.startsWith('paused')) return { isLast: false };
      pauses.set(caller.session_id, { turns: paused.turns + 1, now: false });
      return { isLast: paused.turns > 0 };
    },
    giveUp: (isMeant) => {
      for (const conversation of pauses.keys()) if (isMeant({ session_id: conversation })) pauses.delete(conversation);
      for (const [callId, { caller }] of pending) if (isMeant(caller)) giveUp(callId);
      for (const [id, { session, caller }] of agents) {
        if (!isMeant(caller)) continue;
        agents.delete(id);
        session.end();
      }
    },
  };
};
