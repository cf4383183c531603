/** An error that a tool's value throws when it is read is the tool's own text. It must not be on stderr, where diag writes by default. */

import { inspect } from 'node:util';
import { type Classifier, createBreakerbox } from '@breakerbox/core';
import { guard } from '@breakerbox/instrumentation';
import { guardTools as guardAiTools } from '@breakerbox/instrumentation/ai-sdk';
import { guardTools as guardAnthropicTools } from '@breakerbox/instrumentation/anthropic';
import { breakerMiddleware, guardTools as guardLangchainTools } from '@breakerbox/instrumentation/langchain';
import { guardMcpClient, type McpClient } from '@breakerbox/instrumentation/mcp';
import { DiagLogLevel, diag } from '@opentelemetry/api';
import { tool as langchainTool } from 'langchain';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { listenToDiag } from '../../packages/instrumentation/src/test-support/diagnosed.ts';
import { secretOf, secretsIn } from './plants.ts';

const PLACE = 'thrown by a getter';
const refuse = (): never => {
  throw new Error(secretOf(PLACE));
};
const trap = new Proxy({}, { get: refuse, has: refuse, ownKeys: refuse, getPrototypeOf: refuse });

/** Values that throw when they are read. */
const VALUES: Readonly<Record<string, unknown>> = {
  'a message': Object.defineProperty(new Error(), 'message', { get: refuse }),
  'a cause': Object.defineProperty(new Error('x'), 'cause', { get: refuse }),
  'a status': Object.assign(new Error('x'), { status: { valueOf: refuse, toString: refuse } }),
  headers: Object.assign(new Error('x'), { status: 503, headers: { get: refuse } }),
  'a proxy': trap,
  'a string conversion': { toString: refuse, toJSON: refuse, [Symbol.toPrimitive]: refuse },
  content: Object.defineProperty({ isError: true }, 'content', { get: refuse, enumerable: true }),
};

type Tool = () => Promise<unknown>;
const schema = z.object({ q: z.string() });
const input = { q: 'breakers' };

/** One call of such a tool, by each adapter. */
const CALLS: Readonly<Record<string, (tool: Tool, session: ReturnType<typeof sessionOf>) => unknown>> = {
  guard: (tool, session) => guard(session, 'search', tool)(input),
  'AI SDK': (tool, session) => {
    const { search } = guardAiTools({ search: { inputSchema: schema, execute: tool } }, session);
    return search.execute(...([input, { toolCallId: '1', messages: [] }] as never as []));
  },
  'LangChain, tools': (tool, session) => {
    const [search] = guardLangchainTools([langchainTool(tool as never, { name: 'search', schema })], session);
    return (search as { invoke(input: unknown): unknown }).invoke(input);
  },
  'LangChain, middleware': (tool, session) => {
    const { wrapToolCall } = breakerMiddleware(session);
    const toolCall = { type: 'tool_call', name: 'search', args: input, id: '1' };
    const request = {
      toolCall,
      tool: langchainTool(tool as never, { name: 'search', schema }),
      state: {},
      runtime: {},
    };
    // Like ToolNode, which calls the tool of the request.
    const handler = ({ tool, toolCall }: typeof request) => tool.invoke(toolCall as never);
    return wrapToolCall?.(request as never, handler as never);
  },
  Anthropic: (tool, session) => {
    const made = {
      name: 'search',
      type: 'custom',
      input_schema: { type: 'object' },
      run: tool,
      parse: (one: unknown) => one,
    };
    const [search] = guardAnthropicTools([made] as never, session) as unknown as [{ run(input: unknown): unknown }];
    return search.run(input);
  },
  MCP: (tool, session) => {
    const client = { callTool: tool, listTools: async () => ({ tools: [{ name: 'search' }] }) };
    const params = { name: 'search', arguments: input };
    return guardMcpClient(client as unknown as McpClient, session).callTool(params);
  },
};

const sessionOf = (classify?: Classifier) =>
  createBreakerbox({
    agent: 'tester',
    tools: { search: { labelFreshness: true, serveStaleMs: 60_000, ...(classify && { classify }) } },
  }).session();

let logged: ReturnType<typeof listenToDiag>;
beforeEach(() => {
  logged = listenToDiag(DiagLogLevel.WARN);
});
afterEach(() => diag.disable());

const attempt = (call: (typeof CALLS)[string], tool: Tool, session: ReturnType<typeof sessionOf>): Promise<unknown> =>
  Promise.resolve()
    .then(() => call(tool, session))
    .catch(() => undefined);

describe.each(Object.entries(CALLS))('%s', (_, call) => {
  test.each(Object.entries(VALUES))('E5: %s that throws', async (_, value) => {
    for (const tool of [vi.fn(() => Promise.reject(value)), vi.fn(async () => value)]) {
      await attempt(call, tool, sessionOf());
      expect(tool).toHaveBeenCalledTimes(1);
    }
    expect(secretsIn(inspect(logged, { depth: 9 }), [PLACE])).toEqual([]);
  });

  test("E5: a fault of the application's own classifier is reported, without the tool's error", async () => {
    const failing = (): never => {
      throw new Error('the classifier failed');
    };
    await attempt(call, () => Promise.reject(new Error(secretOf(PLACE))), sessionOf(failing));
    const said = inspect(logged, { depth: 9 });
    expect(said).toContain('the classifier failed');
    expect(secretsIn(said, [PLACE])).toEqual([]);
  });
});
