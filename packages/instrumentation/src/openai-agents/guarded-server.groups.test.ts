/** C13: an MCP server of OpenAI Agents is a group, and what the end of its transport means. */
import { createRequire } from 'node:module';
import { MCPServerStdio } from '@openai/agents';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { transportOf } from '../test-support/openai-runs.ts';
import { groupOf, watchedSession } from '../test-support/watched-session.ts';
import { type GuardMcpServerOptions, guardMcpServer } from './openai-agents.ts';

it.each<[string, string, GuardMcpServerOptions, string | undefined]>([
  ['the name that you gave the server', 'own', {}, 'own'],
  ['the prefix before it', 'own', { prefix: 'files.' }, 'files'],
  ['the option before both', 'own', { prefix: 'files.', group: 'disk' }, 'disk'],
  ['not known where the SDK made the name', 'stdio: npx', {}, undefined],
  ['not an address, which may hold a secret', 'sse: https://x.example/?key=1', {}, undefined],
])('C13: the group of the tools is %s', async (_, name, options, group) => {
  const { session } = watchedSession();
  const server = { name, listTools: async () => [{ name: 'search' }], callTool: async () => [] };
  await guardMcpServer(server, session, options).listTools();
  expect(groupOf(session, `${options.prefix ?? ''}search`)).toBe(group);
});

describe('a real server, over stdio', () => {
  const command = process.execPath;
  const script = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
  const args = [script, 'stdio'];
  const long = 'trigger-long-running-operation';
  let server: MCPServerStdio;
  const connect = async (name?: string): Promise<void> => {
    server = new MCPServerStdio({ command, args, timeout: 5_000, ...(name !== undefined && { name }) });
    await server.connect();
  };
  beforeEach(() => connect('everything'));
  afterEach(() => server.close());

  /** A call that the server has got. */
  const underWay = async (guarded: MCPServerStdio) => {
    await guarded.listTools();
    const sent = vi.spyOn(transportOf(server), 'send');
    const call = guarded.callTool(long, { duration: 600, steps: 1 });
    await vi.waitFor(() => expect(sent).toHaveBeenCalled());
    return { call };
  };

  it('C13: opens its group at once when it is killed during a call', async () => {
    const { session, outcomes } = watchedSession();
    const { call } = await underWay(guardMcpServer(server, session));
    process.kill(transportOf(server).pid, 'SIGKILL');
    await expect(call).rejects.toThrow('Connection closed');
    expect(outcomes).toEqual([`${long}: failure, network`]);
    expect(session.acquire('echo').reason).toBe('group_open');
  });

  it.each(['server', 'guarded server'])(
    'C13: costs nothing when you close the %s; its group stays closed',
    async (which) => {
      const { session, outcomes } = watchedSession();
      const guarded = guardMcpServer(server, session);
      const { call } = await underWay(guarded);
      const closed = expect(call).rejects.toThrow('Connection closed');
      await (which === 'server' ? server : guarded).close();
      await closed;
      expect(outcomes).toEqual([`${long}: ignored, cancelled`]);
      expect(session.acquire('echo').reason).toBe('closed');
    },
  );

  it('C13: has the name that it gives itself as its group by default', async () => {
    await server.close();
    await connect();
    const { session } = watchedSession();
    await guardMcpServer(server, session).listTools();
    expect(groupOf(session, 'echo')).toBe('mcp-servers/everything');
  });
});
