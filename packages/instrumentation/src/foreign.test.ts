import { createBreakerbox } from '@breakerbox/core';
import { tool as langChainTool } from '@langchain/core/tools';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { watchWarnings } from '../../core/src/test-support.ts';
import { guardTools as guardAiSdk } from './ai-sdk/ai-sdk.ts';
import { guardTools as guardAnthropic } from './anthropic/anthropic.ts';
import { guardTools as guardLangChain } from './langchain/langchain.ts';

const run = async (): Promise<string> => 'pages';
const schema = z.object({ query: z.string() });

/** Tools as each framework makes them. */
const LANGCHAIN = langChainTool(run, { name: 'search', description: 'Searches', schema });
const AI_SDK = { description: 'Searches', inputSchema: schema, execute: run };
const ANTHROPIC = { type: 'custom', name: 'search', input_schema: {}, run, parse: (input: unknown) => input };
const OPENAI_AGENTS = { type: 'function', name: 'search', parameters: {}, invoke: run };
const GOOGLE_ADK = { name: 'search', description: 'Searches', runAsync: run };
const MCP_CLIENT = { callTool: run, listTools: run };

const session = () => createBreakerbox({ agent: 'tester' }).session();
const guards = {
  'AI SDK': (tool: unknown) => guardAiSdk({ search: tool } as never, session()),
  Anthropic: (tool: unknown) => guardAnthropic([tool] as never, session()),
  LangChain: (tool: unknown) => guardLangChain([tool] as never, session()),
} as const;

describe('a tool of another framework is passed on with a warning', () => {
  test.each<[keyof typeof guards, string, unknown, string]>([
    ['AI SDK', 'LangChain', LANGCHAIN, 'invoke'],
    ['AI SDK', 'Anthropic', ANTHROPIC, 'run'],
    ['AI SDK', 'the OpenAI Agents SDK', OPENAI_AGENTS, 'invoke'],
    ['AI SDK', 'Google ADK', GOOGLE_ADK, 'runAsync'],
    ['AI SDK', 'MCP', MCP_CLIENT, 'callTool'],
    ['Anthropic', 'LangChain', LANGCHAIN, 'invoke'],
    ['Anthropic', 'the AI SDK', AI_SDK, 'execute'],
    ['Anthropic', 'Google ADK', GOOGLE_ADK, 'runAsync'],
    ['LangChain', 'the AI SDK', AI_SDK, 'execute'],
    ['LangChain', 'Anthropic', ANTHROPIC, 'run'],
    ['LangChain', 'Google ADK', GOOGLE_ADK, 'runAsync'],
  ])('%s: one of %s', (adapter, _, tool, method) => {
    const warnings = watchWarnings();
    guards[adapter](tool);
    guards[adapter](tool);
    expect(warnings()).toEqual([expect.stringMatching(new RegExp(`^BREAKERBOX_FOREIGN_TOOL: .* has ${method}\\(\\)`))]);
  });
});

describe('an adapter does not warn about tools that it may pass on', () => {
  test.each<[keyof typeof guards, string, unknown]>([
    ['AI SDK', 'that the client runs', { description: 'Asks', inputSchema: schema }],
    ['AI SDK', 'that the provider runs', { type: 'provider', id: 'openai.web_search', args: {} }],
    ['Anthropic', 'that the provider runs', { type: 'web_search_20250305', name: 'web_search' }],
    ['Anthropic', 'that is a set of tools', { tools: [ANTHROPIC], run }],
    ['LangChain', 'that the provider runs', { type: 'web_search_preview' }],
    ['LangChain', 'that is headless', { name: 'ask', invoke: run, metadata: { headlessTool: true } }],
    [
      'LangChain',
      'that throws when it is looked at',
      new Proxy(
        {},
        {
          get: () => {
            throw new Error('no');
          },
        },
      ),
    ],
  ])('%s: a tool %s', (adapter, _, tool) => {
    const warnings = watchWarnings();
    try {
      guards[adapter](tool);
    } catch {
      // Some refuse what they can't read.
    }
    expect(warnings()).toEqual([]);
  });
});
