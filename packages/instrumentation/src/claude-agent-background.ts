import type { PostToolUseHookInput, StopHookInput } from '@anthropic-ai/claude-agent-sdk';
import type { Caller } from './claude-agent-calls.ts';
import { readOf } from './readable.ts';

/** The sub-agents that work on while the main agent does something else, or nothing. */
export interface Background {
  /** A call of the tool that starts sub-agents says so where it doesn't wait for its own. */
  started(input: PostToolUseHookInput): void;
  /** Those that Claude Code doesn't name any more have ended; nobody tells of one that was stopped. */
  remain(input: StopHookInput): void;
  ended(agent: string): void;
  /** Whether a caller does nothing any more once this agent is done, or hears a new prompt. */
  leavesWith(agent: Caller): (caller: Caller) => boolean;
}

export const background = (): Background => {
  const conversations = new Map<string, string>();
  return {
    started: ({ session_id, tool_response }) => {
      const agentId = readOf(tool_response, 'status') === 'async_launched' && readOf(tool_response, 'agentId');
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
