import type { BaseTool, Context } from '@google/adk';
import type { ToolHookContext } from '@mastra/core/tools';
import { diag } from '@opentelemetry/api';
import { afterEach, describe, expect, test } from 'vitest';
import { breakerHooks as claudeHooks } from './claude-agent/claude-agent.ts';
import { breakerCallbacks } from './google-adk/google-adk.ts';
import { hookedCalls } from './hooked-calls.ts';
import { labelContent } from './langchain/shapes.ts';
import { breakerHooks, breakerProcessor } from './mastra/mastra.ts';
import { guardMcpClient } from './mcp/mcp.ts';
import { guardMcpServer } from './openai-agents/openai-agents.ts';
import { claudeCode, isProbeFree, probing } from './test-support/claude-code.ts';
import { listenToDiag } from './test-support/diagnosed.ts';
import { watchedSession } from './test-support/watched-session.ts';

const throwing = (): never => {
  throw new Error('it was looked at');
};

/** Throws at every look. Only what is thrown can be like that: of what is returned each promise asks for its `then`. */
const untouchable: unknown = new Proxy(
  {},
  { get: throwing, has: throwing, ownKeys: throwing, getPrototypeOf: throwing, getOwnPropertyDescriptor: throwing },
);

const KEYS = 'error message runId isError content status agentId resultType structuredContent _meta cause id'.split(
  ' ',
);

/** Throws at every look at the keys that adapters know. */
const guarded = <Value extends object>(value: Value): Value =>
  Object.defineProperties(
    value,
    Object.fromEntries(KEYS.map((key) => [key, { get: throwing, enumerable: true, configurable: true }])),
  );

const outage = () => Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' });
const outageWithoutCause = Object.defineProperty(outage(), 'cause', { get: throwing });

afterEach(() => diag.disable());

/** What came of a promise, in a list: results may throw at any look. */
const endOf = async (run: () => Promise<unknown>): Promise<readonly ['gave' | 'threw', unknown]> => {
  try {
    return ['gave', await run()];
  } catch (error) {
    return ['threw', error];
  }
};

describe('Mastra: a result that throws when it is read reaches the caller unchanged, is settled, and gives its probe back', () => {
  const rows = { rows: 3 };
  test.each<[string, 'gave' | 'threw', unknown, string]>([
    ['a result', 'gave', guarded(rows), 'search: success'],
    ['an error', 'threw', outageWithoutCause, 'search: failure, network'],
    ['a thing that is no error', 'threw', untouchable, 'search: failure, unknown'],
  ])('E3: %s', async (_, how, what, outcome) => {
    const run = async (): Promise<unknown> => {
      if (how === 'threw') throw what;
      return what;
    };

    const byProcessor = probing();
    const step = { stepNumber: 0, tools: { search: { execute: run } }, state: {}, systemMessages: [] };
    const { tools } = breakerProcessor(byProcessor.session).processInputStep(step as never);
    const { execute } = (tools as Record<'search', { execute(input: unknown, context: object): Promise<unknown> }>)
      .search;
    const [ended, given] = await endOf(() => execute({}, { toolCallId: 'a' }));
    // R5: the model reads a copy of the error with the advice.
    const own = what === outageWithoutCause ? (given as Error).cause : given;
    expect([ended, Object.is(own, what)]).toEqual([how, true]);
    expect(byProcessor.outcomes.slice(1)).toEqual([outcome]);

    const byHooks = probing();
    const { beforeToolCall, afterToolCall } = breakerHooks(byHooks.session);
    const call = { toolName: 'search', input: {}, context: { toolCallId: 'a' } } as unknown as ToolHookContext;
    await beforeToolCall(call);
    expect(byHooks.decisions.at(-1)).toBe('search: probe');
    await afterToolCall({ ...call, ...(how === 'gave' ? { output: what } : { error: what }) } as never);
    expect(byHooks.outcomes.slice(1)).toEqual([outcome]);
  });

  test('C8: with such a context, the call is decided, and gives its place back', async () => {
    const heard = listenToDiag();
    const { session, outcomes } = probing();
    const { beforeToolCall, afterToolCall } = breakerHooks(session);
    const context = Object.defineProperty({ toolCallId: 'a' }, 'agent', { get: throwing });
    const call = { toolName: 'search', input: {}, context } as unknown as ToolHookContext;
    expect(await beforeToolCall(call)).toBeUndefined();
    await afterToolCall({ ...call, output: 'found' } as never);
    expect(outcomes.slice(1)).toEqual(['search: success']);
    expect(heard).toHaveLength(1);
  });
});

describe('Claude Code', () => {
  test('a failure is counted at any depth of the input, and quoted input is found there', async () => {
    const nested = (text: string): unknown => {
      let input: unknown = text;
      for (let depth = 0; depth < 20_000; depth += 1) input = { a: input };
      return input;
    };
    const { session, outcomes } = watchedSession();
    const claude = claudeCode(claudeHooks(session));
    for (const [id, text] of [
      ['a', 'x'],
      ['b', 'ECONNREFUSED'],
    ] as const) {
      await claude.before(id);
      await claude.failed(id, 'no match for: ECONNREFUSED', { tool_input: nested(text) });
    }
    expect(outcomes).toEqual(['search: failure, network', 'search: ignored, tool_error']);
  });

  test.each([
    ['throws when it is looked at', { q: guarded({}) }],
    [
      'has no end',
      (() => {
        const endless: Record<string, unknown> = {};
        for (const key of ['a', 'b']) endless[key] = [endless, endless];
        return endless;
      })(),
    ],
    [
      'holds more texts than are looked for',
      [...Array.from({ length: 1_000 }, (_, index) => `text ${index}`), 'ECONNREFUSED'],
    ],
  ])('a failure is counted if the input %s', async (_, input) => {
    const { session, outcomes } = probing();
    const claude = claudeCode(claudeHooks(session));
    await claude.before('a');
    await claude.failed('a', 'connect ECONNREFUSED', { tool_input: input });
    expect(outcomes.slice(1)).toEqual(['search: failure, network']);
  });

  test('a response that throws when it is read is settled', async () => {
    for (const response of [guarded({ rows: 3 }), untouchable, [untouchable]]) {
      const { session, outcomes } = probing();
      const claude = claudeCode(claudeHooks(session));
      await claude.before('a');
      await claude.after('a', response);
      expect(outcomes.slice(1)).toEqual(['search: success']);
    }
  });
});

test('hookedCalls: an error and a result that throw when they are read are settled', () => {
  const { session, outcomes } = watchedSession();
  const calls = hookedCalls(session);
  for (const [index, settlement] of [{ error: untouchable }, { result: untouchable }].entries()) {
    calls.acquire({ callId: `${index}`, tool: 'search' });
    calls.settle(`${index}`, settlement);
  }
  expect(outcomes).toEqual(['search: failure, unknown', 'search: success']);
});

test('ADK: an unreadable context does not replace the result of the tool', async () => {
  const heard = listenToDiag();
  const { session, outcomes } = probing();
  const tool = { name: 'search', runAsync: async () => 'found' } as unknown as BaseTool;
  const context = { functionCallId: 'a', invocationContext: {} } as unknown as Context; // Without `actions`.
  const { beforeToolCallback } = breakerCallbacks(session) as { beforeToolCallback(call: object): unknown };
  beforeToolCallback({ tool, args: {}, context });
  expect(await tool.runAsync({ args: {}, toolContext: context as never })).toBe('found');
  expect(outcomes.slice(1)).toEqual(['search: success']);
  expect(heard).toHaveLength(1);
});

test.each([
  ['nothing', null],
  ['a list that throws when it is looked at', guarded([{ type: 'text', text: 'found' }])],
])('OpenAI Agents: %s of an MCP server reaches the model, and is settled', async (_, content) => {
  const { session, outcomes } = probing();
  const server = { name: 'own', listTools: async () => [], callTool: async (..._: unknown[]) => content };
  const answer = await guardMcpServer(server, session).callTool('search', {});
  expect(Object.is(answer, content)).toBe(true);
  expect(outcomes.slice(1)).toEqual(['search: success']);
});

test('MCP: a result that throws when it is read is returned unchanged, and settled', async () => {
  const { session, outcomes } = probing();
  const result = guarded({ rows: 3 });
  const client = {
    listTools: async () => ({ tools: [{ name: 'search' }] }),
    callTool: async (_: { readonly name: string }) => result,
  };
  const answer = await guardMcpClient(client, session, { tools: ['search'] }).callTool({ name: 'search' });
  expect(Object.is(answer, result)).toBe(true);
  expect(outcomes.slice(1)).toEqual(['search: success']);
});

test('LangChain: content that throws when it is read has its label beside it', () => {
  const content = [untouchable];
  const labelledContent = labelContent(content, { kind: 'cached', retrievedUnixMs: undefined });
  expect(Object.is((labelledContent as { readonly result: unknown }).result, content)).toBe(true);
});

test('C8: a probe that was cancelled by an error which throws when it is read gives its place back', async () => {
  const { session } = probing();
  const { beforeToolCall, afterToolCall } = breakerHooks(session);
  const call = { toolName: 'search', input: {}, context: { toolCallId: 'a' } } as unknown as ToolHookContext;
  await beforeToolCall(call);
  await afterToolCall({ ...call, error: guarded(new DOMException('gone', 'AbortError')) } as never);
  expect(isProbeFree(session)).toBe(true);
});
