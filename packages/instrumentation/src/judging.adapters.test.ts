/** C14: each adapter takes the host of `url` in the input as the key. */
import { expect, test } from 'vitest';
import { breakerHooks } from './claude-agent.ts';
import { knownTool } from './google-adk-tools.ts';
import { hookedCalls } from './index.ts';
import { guardTool } from './langchain.ts';
import { guardMcpClient } from './mcp.ts';
import { guardMcpServer } from './openai-agents.ts';
import { askedKeys } from './test-support/asked-keys.ts';
import { claudeCode } from './test-support/claude-code.ts';
import { search } from './test-support/langchain-agents.ts';

const input = { url: 'https://live.example/1' };

test('C14: guardMcpClient, but not with `key: false`', async () => {
  const { session, keys } = askedKeys();
  const client = {
    listTools: async () => ({ tools: [{ name: 'open' }] }),
    callTool: async (_: { name: string; arguments: object }) => ({ content: [] }),
  };
  const params = { name: 'open', arguments: input };
  await guardMcpClient(client, session).callTool(params);
  await guardMcpClient({ ...client }, session, { key: false }).callTool(params);
  await guardMcpClient({ ...client }, session, { key: () => 'mine' }).callTool(params);
  expect(keys).toEqual(['live.example', undefined, 'mine']);
});

test('C14: guardMcpServer of OpenAI Agents', async () => {
  const { session, keys } = askedKeys();
  const server = {
    name: 'web',
    listTools: async () => [{ name: 'open' }],
    callTool: async (_: string, __: object | null) => [],
  };
  await guardMcpServer(server, session).callTool('open', input);
  expect(keys).toEqual(['live.example']);
});

test('C14: hooks of Claude Code', async () => {
  const { session, keys } = askedKeys();
  const claude = claudeCode(breakerHooks(session));
  for (const tool_name of ['mcp__web__open', 'WebFetch']) {
    await claude.tell('PreToolUse', { tool_use_id: tool_name, tool_name, tool_input: input });
  }
  expect(keys).toEqual(['live.example', 'live.example']);
});

test('C14: LangChain', async () => {
  const { session, keys } = askedKeys();
  const schema = { type: 'object', properties: { url: { type: 'string' } } };
  for (const metadata of [{ serverName: 'web' }, {}]) {
    await guardTool(
      search(async () => 'found', { schema, metadata }),
      session,
    ).invoke(input as never);
  }
  expect(keys).toEqual(['live.example', 'live.example']);
});

test('C14: Google ADK, by what its toolset keeps of the server', () => {
  const ofServer = {
    name: 'web_open',
    originalName: 'open',
    mcpTool: { name: 'web_open', annotations: { title: 'Open a page' } },
  };
  expect(knownTool(ofServer as never)).toEqual({ name: 'open', title: 'Open a page' });
});

test('C14: hookedCalls', () => {
  const { session, keys } = askedKeys();
  hookedCalls(session).acquire({ callId: '1', tool: 'open', input });
  hookedCalls(session, { key: (_, tool) => tool }).acquire({ callId: '1', tool: 'open', input });
  hookedCalls(session, 'my hooks').acquire({ callId: '1', tool: 'open', input });
  expect(keys).toEqual(['live.example', 'open', 'live.example']);
});

test.each([
  ['relation "customers" does not exist', 'ignored, tool_error'],
  ['syntax error at or near "SELCT"', 'ignored, tool_error'],
  ['connect ECONNREFUSED 127.0.0.1:5432', 'failure, network'],
])('O2: a JSON-RPC error -32603 of an MCP server is judged by its text: %s', async (text, outcome) => {
  const { session, outcomes, decisions } = askedKeys();
  const callTool = async (_: { name: string; arguments: object }): Promise<unknown> => {
    throw Object.assign(new Error(`MCP error -32603: ${text}`), { name: 'McpError', code: -32_603 });
  };
  const client = guardMcpClient({ listTools: async () => ({ tools: [{ name: 'query' }] }), callTool }, session);
  for (const sql of ['SELECT 1', 'SELECT 2', 'SELECT 3', 'SELECT 4']) {
    await client.callTool({ name: 'query', arguments: { sql } }).catch(() => {});
  }
  const isOutage = outcome.startsWith('failure');
  expect(outcomes).toEqual(Array(isOutage ? 3 : 4).fill(`query: ${outcome}`));
  expect(decisions.at(-1)).toBe(isOutage ? 'query: skip' : 'query: call');
});
