import { describe, expect, test } from 'vitest';
import { guardMcpClient } from '../mcp/mcp.ts';
import { ask, callOf, runAgent, search } from '../test-support/langchain-agents.ts';
import { groupOf, watchedSession } from '../test-support/watched-session.ts';
import { breakerMiddleware, guardTool, guardTools } from './langchain.ts';

/** As `@langchain/mcp-adapters` has it. */
class ToolException extends Error {
  override readonly name = 'ToolException';
}

const serverWith = (text: string) => ({
  listTools: async () => ({ tools: [] }),
  callTool: async (_: { readonly name: string; readonly arguments: object }) => ({
    isError: true,
    content: [{ type: 'text', text }],
  }),
});

/** A tool of an MCP server, as `@langchain/mcp-adapters` makes it: all that reports an error is thrown. */
const adapted = (client: ReturnType<typeof serverWith>, name = 'read_file') =>
  search(
    async (input) => {
      const { isError, content } = await client.callTool({ name, arguments: input });
      const text = content.map((part) => part.text).join('\n');
      if (isError) throw new ToolException(`MCP tool '${name}' on server 'files' returned an error: ${text}`);
      return text;
    },
    { name },
  );

describe('tools of @langchain/mcp-adapters', () => {
  test.each([
    ['unknown order id 17', 'ignored, tool_error'],
    ["ENOENT: no such file or directory, open '/x'", 'ignored, tool_error'],
    ['HTTP 503 Service Unavailable\nlater', 'failure, server'],
    // It quotes what the adapter of another tool said.
    ["HTTP 503 Service Unavailable: MCP tool 'b' on server 'q' returned an error: unknown id", 'failure, server'],
  ])('O2: a thrown error is judged like the result that it contains: %s', async (text, outcome) => {
    const { session, outcomes } = watchedSession();
    const { heard } = await runAgent(
      [breakerMiddleware(session)],
      [adapted(serverWith(text))],
      [[ask('x', 'read_file')], 'Done.'],
    );
    expect(outcomes).toEqual([`read_file: ${outcome}`]);
    expect(heard).toEqual([
      `ToolException: MCP tool 'read_file' on server 'files' returned an error: ${text}\n Please fix your mistakes.`,
    ]);
  });

  test('O2: other errors of that name are ordinary errors', async () => {
    const { session, outcomes } = watchedSession();
    const lost = search(() => Promise.reject(new ToolException('Error calling tool search: Error: fetch failed')));
    await expect(guardTool(lost, session).invoke(callOf('x'))).rejects.toThrow('fetch failed');
    expect(outcomes).toEqual(['search: failure, network']);
  });

  test('C2: a tool of which no name can be seen does not stop the guard of the others', async () => {
    const { session, box } = watchedSession();
    const [blank, read] = guardTools(
      [search(async () => 'found', { name: ' ' }), search(async () => 'found', { name: 'read' })],
      session,
    );
    expect(box.tools).toEqual(['read']);
    expect(await blank?.invoke({ q: 'x' })).toBe('found');
    expect(await read?.invoke({ q: 'x' })).toBe('found');
  });

  test('C13: the group is the option, or else the server in the metadata or in the name of an MCP tool', async () => {
    const named = (name: string, metadata = {}) => search(async () => 'found', { name, metadata });
    const tools = [named('read', { serverName: 'files' }), named('fetch', { serverName: 'web' }), named('now')];
    tools.push(named('notes__add'), named('docs__find', { annotations: undefined }));
    const group = (tool: string) => (tool === 'fetch' ? 'internet' : undefined);
    const [first, second] = [watchedSession(), watchedSession()];
    guardTools(tools, first.session, { group });
    await runAgent([breakerMiddleware(second.session, { group })], tools, ['Done.']);
    for (const { session } of [first, second]) {
      const groups = tools.map(({ name }) => groupOf(session, name));
      expect(groups).toEqual(['files', 'internet', undefined, undefined, 'docs']);
    }
  });

  test('O4: their tokens are read from the error', async () => {
    const { session, box } = watchedSession();
    const wasted: unknown[] = [];
    box.on('outcome', ({ tokens }) => wasted.push(tokens));
    const guarded = guardTool(adapted(serverWith('HTTP 503')), session, {
      tokens: ({ error }) => (error instanceof ToolException ? 7 : 0),
    });
    await guarded.invoke(callOf('x', 'read_file')).catch(() => {});
    expect(wasted).toEqual([7]);
  });

  test('B3: with a guarded client, a rejection costs nothing more, and excepted tools cost nothing', async () => {
    const config = { tools: { 'files.read_file': { failureThreshold: 1 } } };
    const script = [[ask('x', 'read_file')], [ask('y', 'read_file')], 'Done.'];
    const run = async (options: object) => {
      const watched = watchedSession(config);
      const client = guardMcpClient(serverWith('HTTP 503'), watched.session, { prefix: 'files.' });
      const { heard } = await runAgent([breakerMiddleware(watched.session, options)], [adapted(client)], script);
      expect(heard[1]).toContain("'files.read_file' is unavailable");
      return watched.outcomes;
    };
    const inner = 'files.read_file: failure, server';
    expect(await run({})).toEqual([inner, 'read_file: failure, server', 'read_file: ignored, tool_error']);
    expect(await run({ except: ['read_file'] })).toEqual([inner]);
  });
});
