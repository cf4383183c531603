import { inspect } from 'node:util';
import { BreakerboxUsageError } from '@breakerbox/core';
import { tool as openAiTool } from '@openai/agents';
import type { ToolSet } from 'ai';
import { describe, expect, test } from 'vitest';
import type { SessionSource } from './acquire.ts';
import { guardTools as guardAiSdkTools } from './ai-sdk/ai-sdk.ts';
import { guardTools as guardAnthropicTools } from './anthropic/anthropic.ts';
import { guard, guardAll } from './index.ts';
import { guardMcpClient } from './mcp/mcp.ts';
import { guardMcpServer, guardToolFactory } from './openai-agents/openai-agents.ts';
import { currentSession } from './session.ts';
import { watchedSession } from './test-support/watched-session.ts';

const find = async () => 'found';
const server = {
  name: 'own',
  listTools: async () => [],
  callTool: async () => [],
};
const openAi = { name: 'search', description: 'Searches', parameters: {} as never, strict: false as const };

/** Each wraps what it wrapped before, or a copy of that. */
const wrappers: Readonly<Record<string, (session: SessionSource, before?: never) => unknown>> = {
  'guard()': (session, before = find as never) => guard(session, 'search', before),
  'guardAll()': (session, before = { search: find } as never) => guardAll(session, before),
  'guardToolFactory()': (session, before = openAiTool as never) => guardToolFactory(before, session),
  'guardMcpServer()': (session, before = server as never) => guardMcpServer(before, session),
  'guardMcpClient()': (session, before = server as never) => guardMcpClient(before, session),
  'guardTools() of the AI SDK': (session, before = { search: { execute: find } } as never) => {
    const { search } = guardAiSdkTools<ToolSet>(before, session);
    return { search: { ...search } };
  },
  'guardTools() of Anthropic': (session, before = [{ name: 'search', run: find }] as never) => {
    const [search] = guardAnthropicTools<readonly object[]>(before, session);
    return [{ ...search }];
  },
};

describe.each(Object.entries(wrappers))('%s', (where, wrap) => {
  test('C6: rejects a tool that is already guarded for the same session, because a probe would reject itself', () => {
    for (const session of [watchedSession().session, currentSession]) {
      const once = wrap(session) as never;
      expect(() => wrap(session, once)).toThrow(BreakerboxUsageError);
      expect(() => wrap(session, once)).toThrow(where.replace(/\(\) .*|\)$/, ''));
      expect(() => wrap(session, once)).toThrow(
        /guarded for this session already.*Guard the tool once, at one place\./,
      );
    }
  });

  test('accepts a tool that is guarded for another session, and once more for a third', () => {
    const once = wrap(watchedSession().session) as never;
    expect(() => wrap(watchedSession().session, once)).not.toThrow();
    expect(() => wrap(currentSession, once)).not.toThrow();
  });
});

test('C6: another wrapper for the same session rejects a function of guard', () => {
  const { session } = watchedSession();
  const search = guard(session, 'search', find);
  expect(() => guardToolFactory(openAiTool, session)({ ...openAi, execute: search } as never)).toThrow(
    /guardToolFactory\(\), tool 'search'.*guarded/,
  );
  expect(() => guardAiSdkTools({ search: { execute: search } } as never, session)).toThrow(/tool 'search'.*guarded/);
  expect(() => guardAll(session, { search: search as never })).toThrow(/guardAll\(\), tool 'search'.*guarded/);
});

test('the mark of our functions is not visible, and nothing is written on other functions', () => {
  const own = async () => 'found';
  const before = Reflect.ownKeys(own);
  const guarded = guard(watchedSession().session, 'search', own);
  expect(Reflect.ownKeys(own)).toEqual(before);
  expect(inspect(guarded)).toMatch(/^\[Function.*\]( AsyncFunction)?$/);
  expect(Object.assign({}, guarded)).toEqual({});
});
