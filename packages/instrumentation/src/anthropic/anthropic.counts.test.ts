import { mcpTools } from '@anthropic-ai/sdk/helpers/beta/mcp';
import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory';
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError';
import type { ScriptedStep } from '@breakerbox/scripted-models/script';
import { describe, expect, it } from 'vitest';
import { ask, play, refused, search, type Tools } from '../test-support/anthropic-runner.ts';
import { watchedSession } from '../test-support/watched-session.ts';
import { type GuardToolsOptions, guardTools } from './anthropic.ts';

describe('how a call is counted', () => {
  const outcomesOf = async (tools: Tools, script: readonly ScriptedStep[]) => {
    const watched = watchedSession();
    const { heard } = await play(watched, tools, script);
    return { outcomes: watched.outcomes, heard };
  };

  it('O2: a ToolError is classified by its text, and reaches the model unchanged', async () => {
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

  it('O2: an MCP result that reports an error is classified by its text', async () => {
    const texts = ['connect ECONNREFUSED 127.0.0.1:9', 'no such file'];
    const client = {
      callTool: async () => ({ isError: true, content: [{ type: 'text' as const, text: texts.shift() ?? '' }] }),
    };
    const tools = mcpTools([{ name: 'search', inputSchema: { type: 'object' } }], client);
    const { outcomes } = await outcomesOf(tools, [ask('a'), ask('b'), 'Done.']);
    expect(outcomes).toEqual(['search: failure, network', 'search: ignored, tool_error']);
  });

  it('O2: an error of the memory tool is an answer to the model, unless its code or cause shows an outage', async () => {
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

  it('O4: its cost is read from the result, the error and a ToolError', async () => {
    const watched = watchedSession({ budget: { tokens: 1_000 } });
    const errors: unknown[] = [refused, new ToolError('HTTP 503')];
    const tokens: GuardToolsOptions['tokens'] = ({ error }) => (error === undefined ? 1 : 100);
    const [tool] = guardTools([search(() => Promise.reject(errors.shift()))], watched.session, { tokens });
    for (const q of ['a', 'b']) await Promise.resolve(tool?.run({ q })).catch(() => {});
    expect(watched.session.view().budget).toMatchObject({ remaining: 3, tokensRemaining: 800 });
  });
});
