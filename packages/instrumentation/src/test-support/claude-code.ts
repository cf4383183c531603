import type { HookEvent, HookInput, SyncHookJSONOutput } from '@anthropic-ai/claude-agent-sdk';
import type { BreakerboxConfig, Session } from '@breakerbox/core';
import type { Hooks } from '../claude-agent/merge-hooks.ts';
import { type Watched, watchedSession } from './watched-session.ts';

/** Claude Code, as hooks see it: tells of what happens in one conversation. */
export const claudeCode = (hooks: Hooks, conversation = 'one', agent?: string) => {
  const base = {
    session_id: conversation,
    transcript_path: '',
    cwd: '',
    ...(agent !== undefined && { agent_id: agent }),
  };
  const tell = async (event: HookEvent, input: object = {}, toolUseId?: string): Promise<SyncHookJSONOutput> => {
    const told = { ...base, hook_event_name: event, ...input } as HookInput;
    const { signal } = new AbortController();
    const said = await Promise.all(
      (hooks[event] ?? []).flatMap((one) => one.hooks.map((hook) => hook(told, toolUseId, { signal }))),
    );
    return Object.assign({}, ...said);
  };
  const call = (id: string, tool: string, q: string) => ({ tool_use_id: id, tool_name: tool, tool_input: { q } });
  return {
    tell,
    before: (id: string, tool = 'search', q = id) => tell('PreToolUse', call(id, tool, q)),
    /** Names the call beside its input, alone of all. */
    asking: (id: string, tool = 'search') => tell('PermissionRequest', { tool_name: tool, tool_input: { q: id } }, id),
    after: (id: string, response: unknown, tool = 'search', more: object = {}) =>
      tell('PostToolUse', { ...call(id, tool, id), tool_response: response, ...more }),
    failed: (id: string, error: string, more: object = {}, tool = 'search') =>
      tell('PostToolUseFailure', { ...call(id, tool, id), error, ...more }),
    batch: (...ids: string[]) => tell('PostToolBatch', { tool_calls: ids.map((id) => call(id, 'search', id)) }),
  };
};

/** A session in which a tool is due for a probe. */
export const probing = (tool = 'search', more: Partial<BreakerboxConfig> = {}): Watched => {
  const watched = watchedSession({ tools: { [tool]: { failureThreshold: 1 } }, ...more });
  watched.session.acquire(tool).settle({ outcome: 'failure', category: 'network' });
  for (let step = 0; step < 3; step += 1) watched.session.step();
  return watched;
};

export const isProbeFree = (session: Session, tool = 'search'): boolean => session.acquire(tool).decision === 'probe';
