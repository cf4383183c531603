import type { PostToolUseHookInput, StopHookInput } from '@anthropic-ai/claude-agent-sdk';
import { read } from '@breakerbox/core/internal';
import type { Caller } from './conversation-calls.ts';

/** The sub-agents that continue in the background. */
export interface Background {
  /** Reads from a call of the tool that starts sub-agents whether it waits for its own. */
  started(input: PostToolUseHookInput): void;
  /** Ends the sub-agents that Claude Code no longer lists. No other hook reports one that was stopped. */
  remain(input: StopHookInput): void;
  ended(agent: string): void;
  /** Whether a caller's work is over once this agent is done or gets a new prompt. */
  leavesWith(agent: Caller): (caller: Caller) => boolean;
}

export const background = (): Background => {
  const conversations = new Map<string, string>();
  return {
    started: ({ session_id, tool_response }) => {
      const agentId = read(tool_response, 'status') === 'async_launched' && read(tool_response, 'agentId');
      if (typeof agentId === 'string') conversations.set(agentId, session_id);
    },
    remain: ({ session_id, background_tasks }) => {
      if (background_tasks === undefined) return;
      const running = new Set(background_tasks.map(({ id }) => id));
      for (const [agent, conversation] of conversations) {
        if (conversation === session_id && !running.has(agent)) conversations.delete(agent);
      }
    },
    ended: (agent) => void conversations.delete(agent),
    leavesWith:
      ({ session_id, agent_id }) =>
      (caller) =>
        caller.session_id === session_id &&
        (agent_id === undefined ? !conversations.has(caller.agent_id ?? '') : caller.agent_id === agent_id),
  };
};
