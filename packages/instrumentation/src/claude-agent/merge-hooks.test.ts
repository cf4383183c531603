import type { HookCallbackMatcher } from '@anthropic-ai/claude-agent-sdk';
import { BreakerboxUsageError } from '@breakerbox/core';
import { describe, expect, it } from 'vitest';
import { claudeCode } from '../test-support/claude-code.ts';
import { watchedSession } from '../test-support/watched-session.ts';
import { breakerHooks, mergeHooks } from './claude-agent.ts';

describe('mergeHooks', () => {
  const matcher = (more: Partial<HookCallbackMatcher> = {}): HookCallbackMatcher => ({
    hooks: [async () => ({})],
    ...more,
  });

  it('keeps matchers as they are, and their order', () => {
    const [bash, all, end] = [matcher({ matcher: 'Bash', timeout: 5 }), matcher(), matcher()];
    const own = { PreToolUse: [bash], Stop: [end] };
    const more = { PreToolUse: [all] };
    const merged = mergeHooks(own, undefined, more);
    expect(merged).toEqual({ PreToolUse: [bash, all], Stop: [end] });
    expect(merged.PreToolUse?.[0]).toBe(bash);
    expect([own, more]).toEqual([{ PreToolUse: [bash], Stop: [end] }, { PreToolUse: [all] }]);
  });

  it('keeps ours beside those of the user', async () => {
    const watched = watchedSession();
    const ask = { hookSpecificOutput: { hookEventName: 'PreToolUse' as const, permissionDecision: 'ask' as const } };
    const claude = claudeCode(
      mergeHooks({ PreToolUse: [matcher({ hooks: [async () => ask] })] }, breakerHooks(watched.session)),
    );
    expect(await claude.before('a')).toEqual(ask);
    expect(watched.decisions).toEqual(['search: call']);
  });

  it('rejects other values', () => {
    for (const wrong of [null, [], 5, { PreToolUse: async () => ({}) }]) {
      expect(() => mergeHooks({}, wrong as never)).toThrow(BreakerboxUsageError);
    }
    expect(mergeHooks()).toEqual({});
  });
});
