import { mcpTools } from '@anthropic-ai/sdk/helpers/beta/mcp';
import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory';
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError';
import type { ScriptedStep } from '@breakerbox/scripted-models/script';
import { describe, expect, it } from 'vitest';
import { type GuardToolsOptions, guardTools } from './anthropic.ts';
import { ask, broken, play, refused, search, type Tools } from './test-support/anthropic-runner.ts';
import { watchedSession } from './test-support/watched-session.ts';

describe('how a call counts', () => {
  const outcomesOf = async (tools: Tools, script: readonly ScriptedStep[]) => {
    const watched = watchedSession();
    const { heard } = await play(watched, tools, script);
    return { outcomes: watched.outcomes, heard };
  };

  it('O2: a ToolError counts as what its text says, and reaches the model as it is', async () => {
    const blocks = [
      { type: 'text' as const, text: 'HTTP 503' },
      { type: 'text' as const, text: 'come back later' },
    ];
    const errors = [new ToolError(blocks), new ToolError('no such order'), new ToolError('')];
    const tool = search(() => Promise.reject(errors.shift()));
    const { outcomes, heard } = await outcomesOf([tool], [ask('a'), ask('b'), ask('c'), 'Done.']);
    expect(outcomes).toEqual(['search: failure, server', 'search: ignored, tool_error', 'search: ignored, tool_error']);
    expect(heard.slice(0, 2)).toEqual(['HTTP 503\ncome back later', 'no such order']);
  });

  it("O2: so does a class of ToolErrors of one's own", async () => {
    class OrderError extends ToolError {
      override readonly name = 'OrderError';
    }
    const errors = [new OrderError('no such order'), new OrderError('HTTP 503')];
    const tool = search(() => Promise.reject(errors.shift()));
    const { outcomes } = await outcomesOf([tool], [ask('a'), ask('b'), 'Done.']);
    expect(outcomes).toEqual(['search: ignored, tool_error', 'search: failure, server']);
  });

  it('O2: so do the results of MCP tools that report an error', async () => {
    const texts = ['connect ECONNREFUSED 127.0.0.1:9', 'no such file'];
    const client = {
      callTool: async () => ({ isError: true, content: [{ type: 'text' as const, text: texts.shift() ?? '' }] }),
    };
    const tools = mcpTools([{ name: 'search', inputSchema: { type: 'object' } }], client);
    const { outcomes } = await outcomesOf(tools, [ask('a'), ask('b'), 'Done.']);
    expect(outcomes).toEqual(['search: failure, network', 'search: ignored, tool_error']);
  });

  it('O2: what the memory tool throws is an answer to the model, unless its code or its cause tells of an outage', async () => {
    const remembered = 'search answers 503 Service Unavailable, fetch ECONNREFUSED';
    const errors = [
      new Error('The path /memories/x does not exist. Please provide a valid path.'),
      new Error(`No replacement was performed, old_str \`${remembered}\` did not appear verbatim in /memories/x.`),
      Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' }),
      new Error('not saved', { cause: refused }),
    ];
    const memory = betaMemoryTool({ view: () => Promise.reject(errors.shift()) } as never);
    const view = (path: string) => [{ tool: 'memory', input: { command: 'view', path } }];
    const script = [...['/memories/a', '/memories/b', '/memories/c', '/memories/d'].map(view), 'Done.'];
    const { outcomes, heard } = await outcomesOf([memory], script);
    expect(outcomes).toEqual([
      'memory: ignored, tool_error',
      'memory: ignored, tool_error',
      'memory: failure, resource',
      'memory: failure, network',
    ]);
    expect(heard[0]).toContain('does not exist');
    expect(heard[1]).toContain(remembered);
  });

  it('B3: the refusal of another tool that it calls costs nothing more', async () => {
    const watched = watchedSession({ tools: { search: { failureThreshold: 1 } } });
    const [inner] = guardTools([broken], watched.session);
    const memory = betaMemoryTool({ view: () => inner?.run({ q: 'x' }) } as never);
    const view = [{ tool: 'memory', input: { command: 'view', path: '/memories/x' } }];
    await play(watched, [memory], [ask('x'), view, view, 'Done.']);
    expect(watched.outcomes.slice(-2)).toEqual(['memory: failure, network', 'memory: ignored, denied']);
  });

  it('O4: what it cost is read in the result, in the error, and in a ToolError', async () => {
    const watched = watchedSession({ budget: { tokens: 1_000 } });
    const errors: unknown[] = [refused, new ToolError('HTTP 503')];
    const tokens: GuardToolsOptions['tokens'] = ({ error }) => (error === undefined ? 1 : 100);
    const [tool] = guardTools([search(() => Promise.reject(errors.shift()))], watched.session, { tokens });
    for (const q of ['a', 'b']) await Promise.resolve(tool?.run({ q })).catch(() => {});
    expect(watched.session.view().budget).toMatchObject({ remaining: 3, tokensRemaining: 800 });
  });

  it('O1: a signal that has fired already asks nobody', async () => {
    const watched = watchedSession();
    const [tool] = guardTools([search(() => 'found')], watched.session);
    const context = { toolUse: { id: 'call-1' }, signal: AbortSignal.abort(new Error('the user left')) } as never;
    await expect(tool?.run({ q: 'x' }, context)).rejects.toThrow('the user left');
    expect(watched.decisions).toEqual([]);
  });
});
