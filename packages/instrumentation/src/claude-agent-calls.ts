import type { HookInput } from '@anthropic-ai/claude-agent-sdk';
import type { Session } from '@breakerbox/core';
import { type HookedCalls, hookedCalls } from './hooked-calls.ts';

/** The calls of the agents that share a session: the main one of each conversation, and its sub-agents. */
export interface Agents {
  /** Those of the agent that a hook tells of. */
  of(input: HookInput): HookedCalls;
  /** It is done, or was interrupted: what is on its way of its calls is given up. */
  leave(input: HookInput): undefined;
  /** So are all agents of its conversation. */
  end(input: HookInput): undefined;
}

/** By session, not by query: who goes on with an interrupted conversation asks in a query, and with hooks, of its own. */
const bySession = new WeakMap<Session, Agents>();

export const agentsOf = (session: Session): Agents => {
  const found = bySession.get(session) ?? agentsIn(session);
  bySession.set(session, found);
  return found;
};

const agentsIn = (session: Session): Agents => {
  const byName = new Map<string, HookedCalls>();
  const giveUp = (name: string): void => {
    byName.get(name)?.abandon();
    byName.delete(name);
  };
  return {
    of: (input) => {
      const calls = byName.get(nameOf(input)) ?? hookedCalls(session);
      byName.set(nameOf(input), calls);
      return calls;
    },
    leave: (input) => void giveUp(nameOf(input)),
    end: ({ session_id }) => {
      for (const name of byName.keys()) if (name.startsWith(conversation(session_id))) giveUp(name);
    },
  };
};

const conversation = (id: string): string => `${id} `;

/** The main agent has no id. */
const nameOf = ({ session_id, agent_id = '' }: HookInput): string => `${conversation(session_id)}${agent_id}`;
