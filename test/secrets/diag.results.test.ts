/** When adapters read results and arguments, these may throw texts of tools or of the model. Such texts must not be in diag. */

import { inspect } from 'node:util';
import { createBreakerbox } from '@breakerbox/core';
import { guardTools as guardAnthropicTools } from '@breakerbox/instrumentation/anthropic';
import { guardTools as guardLangchainTools } from '@breakerbox/instrumentation/langchain';
import { guardMcpClient, type McpClient } from '@breakerbox/instrumentation/mcp';
import { DiagLogLevel, diag } from '@opentelemetry/api';
import { tool as langchainTool } from 'langchain';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { listenToDiag } from '../../packages/instrumentation/src/test-support/diagnosed.ts';
import { secretOf, secretsIn } from './plants.ts';

const PLACE = 'thrown while it is read';
const refuse = (): never => {
  throw new Error(secretOf(PLACE));
};
const input = { q: 'breakers' };

let logged: ReturnType<typeof listenToDiag>;
beforeEach(() => {
  logged = listenToDiag(DiagLogLevel.WARN);
});
afterEach(() => diag.disable());

const log = (): string => inspect(logged, { depth: 9 });
const leaks = (): readonly string[] => secretsIn(log(), [PLACE]);

test('E5: the content of a tool message of LangChain that throws', async () => {
  const message = { lc_direct_tool_output: true, type: 'tool', status: 'error', content: { toJSON: refuse } };
  const made = langchainTool((async () => message) as never, { name: 'search', schema: z.object({ q: z.string() }) });
  const session = createBreakerbox({ agent: 'tester' }).session();
  const [search] = guardLangchainTools([made], session) as unknown as [{ invoke(input: unknown): unknown }];
  expect(await search.invoke(input)).toBe(message);
  expect(leaks()).toEqual([]);
});

test('E5: the metadata of an MCP result that throws when it is labelled', async () => {
  const metadata = Object.defineProperty({}, 'x', { get: refuse, enumerable: true });
  const result = { content: [{ type: 'text', text: 'ok' }], _meta: metadata };
  const made = { callTool: async () => result, listTools: async () => ({ tools: [{ name: 'search' }] }) };
  const session = createBreakerbox({ agent: 'tester', tools: { search: { labelFreshness: true } } }).session();
  const client = guardMcpClient(made as unknown as McpClient, session);
  const call = (): unknown => client.callTool({ name: 'search', arguments: input } as never);
  await call();
  await call(); // The same result as before, and so labelled.
  expect(leaks()).toEqual([]);
});

test('Q2: parse() of an alternative that quotes what the model asked for', async () => {
  const adapt = (given: unknown): unknown => given;
  const tools = { search: { alternatives: [{ tool: 'news', degradation: 'low', adapt }] }, news: {} } as const;
  const session = createBreakerbox({ agent: 'tester', tools }).session();
  session.control('search', 'forced_open');
  const parse = ({ q }: { readonly q: string }): never => {
    throw new SyntaxError(`"${q}" is not valid JSON`);
  };
  const made = { type: 'custom', input_schema: { type: 'object' }, run: () => 'ok' };
  const [search] = guardAnthropicTools(
    [
      { ...made, name: 'search' },
      { ...made, name: 'news', parse },
    ] as never,
    session,
  ) as unknown as [{ run(input: unknown): Promise<unknown> }];
  await expect(search.run({ q: secretOf(PLACE) })).rejects.toThrow('search');
  expect(log()).toContain("parse() of tool 'news'");
  expect(leaks()).toEqual([]);
});
