import type { Agent } from '@mastra/core/agent';
import { createTool, type ToolHooks } from '@mastra/core/tools';
import { createStep, createWorkflow } from '@mastra/core/workflows';
import { describe, expect, expectTypeOf, test, vi } from 'vitest';
import { z } from 'zod';
import { agentOf, ask, broken, guards, openSearch, refused, search } from '../test-support/mastra-agent.ts';
import { watchedSession } from '../test-support/watched-session.ts';
import { type BreakerHooks, type BreakerHooksOptions, breakerHooks } from './mastra.ts';

const once = (more: object = {}) => watchedSession({ tools: { search: { failureThreshold: 1, ...more } } });
const settings = { maxSteps: 20 };

/** Goes on after a call that waits, as often as there are any. */
const resume = async (agent: Agent, output: Awaited<ReturnType<Agent['generate']>>, more: object) => {
  const { toolCallId } = output.suspendPayload as { toolCallId: string };
  return agent.resumeGenerate(more, { runId: `${output.runId}`, toolCallId });
};

describe.each(Object.entries(guards))('guarded by %s', (_, guarded) => {
  test("R3: a rejection is a tool error that the model reads, and it bypasses the tool's toModelOutput", async () => {
    const watched = once();
    const toModelOutput = (output: unknown) => ({ type: 'text', value: (output as { hits: string[] }).hits.join() });
    const tools = { search: search(() => Promise.reject(refused), { toModelOutput }) };
    const { agent, heard } = agentOf([[ask('x')], [ask('y')], 'Done.'], { tools, ...guarded(watched) });
    expect((await agent.generate('Go.', settings)).text).toBe('Done.');
    expect(heard()).toEqual([
      expect.stringMatching(/^connect ECONNREFUSED 127.0.0.1:9/), // With advice by the processor (R5).
      expect.stringMatching(/^Tool 'search' is unavailable: the last calls failed \(network\)\. Do not call it now/),
    ]);
    expect(watched.decisions).toEqual(['search: call', 'search: skip']);
  });

  test('O1: a result that does not fit outputSchema is not an error of the model', async () => {
    const watched = once();
    const tools = { search: search(() => 5, { outputSchema: z.object({ hits: z.array(z.string()) }) }) };
    const { agent, heard } = agentOf([[ask('x')], 'Done.'], { tools, ...guarded(watched) });
    await agent.generate('Go.', settings);
    expect(heard()[0]).toContain('Tool output validation failed');
    expect(watched.outcomes).toEqual(['search: ignored, tool_error']);
  });

  test('C8: a call that suspends costs nothing and keeps no place; a new decision is made when it resumes', async () => {
    const watched = once();
    openSearch(watched, 3);
    const asking = search((_input, { agent }) => agent?.resumeData ?? agent?.suspend({ why: 'sure?' } as never), {
      suspendSchema: z.object({ why: z.string() }),
      resumeSchema: z.object({ sure: z.boolean() }),
    });
    const { agent, heard } = agentOf([[ask('x')], 'Done.'], { tools: { search: asking }, ...guarded(watched) });
    const output = await agent.generate('Go.', settings);
    expect(output.finishReason).toBe('suspended');
    expect(watched.outcomes.slice(1)).toEqual(['search: ignored, cancelled']);
    expect((await resume(agent, output, { sure: true })).text).toBe('Done.');
    expect(heard()).toEqual(['{"sure":true}']);
    expect(watched.decisions.slice(1)).toEqual(['search: probe', 'search: probe']);
    expect(watched.outcomes.slice(2)).toEqual(['search: success']);
  });

  test('tools of toolsets, workflows and sub-agents are guarded; client and provider tools are passed on', async () => {
    const watched = watchedSession();
    const input = z.object({ q: z.string() });
    const step = createStep({
      id: 'step',
      inputSchema: input,
      outputSchema: input,
      execute: async ({ inputData }) => inputData,
    });
    const flow = createWorkflow({ id: 'flow', description: 'Flows', inputSchema: input, outputSchema: input })
      .then(step)
      .commit();
    const helper = agentOf(['Helped.'], { id: 'helper', name: 'Helper', description: 'Helps' }).agent;
    const calls = [
      ask('x', 'other'),
      { tool: 'workflow-flow', input: { inputData: { q: 'x' } } },
      { tool: 'agent-helper', input: { prompt: 'Help.' } },
    ];
    const { agent, offered } = agentOf([calls, [ask('x', 'ui')], 'Done.'], {
      tools: { search: search(() => 'found') },
      workflows: { flow },
      agents: { helper },
      ...guarded(watched),
    });
    await agent.generate('Go.', {
      ...settings,
      toolsets: { more: { other: search(() => 'other') } },
      clientTools: { ui: createTool({ id: 'ui', description: 'Shows', inputSchema: input }) },
    });
    expect(offered()[0]?.toSorted()).toEqual(['agent-helper', 'other', 'search', 'ui', 'workflow-flow']);
    expect(watched.outcomes.toSorted()).toEqual(['agent-helper: success', 'other: success', 'workflow-flow: success']);
  });
});

describe.each([
  ['both', guards.both],
  ['hooks alone', guards.hooks],
])('your own hooks, guarded by %s', (_, guarded) => {
  const withOwn = (own: ToolHooks, watched = once(), tool = search(() => 'found')) => {
    const config = { ...guarded(watched), hooks: breakerHooks(watched.session, own) };
    return { watched, ...agentOf([[ask('x')], [ask('y')], 'Done.'], { tools: { search: tool }, ...config }) };
  };

  test('get each call and its result', async () => {
    const own = { beforeToolCall: vi.fn(), afterToolCall: vi.fn() };
    const { agent } = withOwn(own);
    await agent.generate('Go.', settings);
    expect(own.beforeToolCall).toHaveBeenCalledTimes(2);
    expect(own.afterToolCall.mock.calls.map(([{ output }]) => output)).toEqual(['found', 'found']);
  });

  test('get the original error; a rejected call does not reach them', async () => {
    const seen: unknown[] = [];
    const { agent, watched } = withOwn(
      { afterToolCall: ({ error }) => void seen.push((error as Error).cause) },
      once(),
      broken,
    );
    await agent.generate('Go.', settings);
    expect(seen).toEqual([refused]);
    expect(watched.decisions).toEqual(['search: call', 'search: skip']);
  });

  test('C8: reject calls without a cost, and without keeping a place', async () => {
    const { agent, watched, heard } = withOwn({ beforeToolCall: () => ({ proceed: false, output: 'Not allowed.' }) });
    openSearch(watched, 3);
    await agent.generate('Go.', settings);
    expect(heard()).toEqual(['Not allowed.', 'Not allowed.']);
    expect(watched.outcomes.slice(1)).toEqual(['search: ignored, denied', 'search: ignored, denied']);
    expect(watched.session.acquire('search').decision).toBe('probe');
  });

  test('E1: throw errors that are not failures of the tool', async () => {
    const { agent, watched, heard } = withOwn({
      beforeToolCall: () => {
        throw new Error('policy server down');
      },
    });
    await agent.generate('Go.', settings);
    expect(heard()).toEqual(['policy server down', 'policy server down']);
    expect(watched.outcomes).toEqual(['search: ignored, denied', 'search: ignored, denied']);
  });
});

describe('breakerHooks()', () => {
  test('E6: rejects values that are not a session or hooks', () => {
    expect(() => breakerHooks({} as never)).toThrow(
      /breakerHooks\(\): got a value of type object instead of a session/,
    );
    const { session } = watchedSession();
    expect(() => breakerHooks(session, { afterToolCall: 5 } as never)).toThrow(/afterToolCall: is 5/);
    expect(() => breakerHooks(session, { onToolCall: () => {} } as never)).toThrow(/onToolCall: is not an option/);
  });

  test('a call without a context, which no hook could follow, is made', async () => {
    const { session, decisions } = watchedSession();
    const { beforeToolCall, afterToolCall } = breakerHooks(session);
    const call = { toolName: 'search', input: {}, context: undefined };
    expect(await beforeToolCall(call)).toBeUndefined();
    await afterToolCall({ ...call, output: 'found' });
    expect(decisions).toEqual([]);
  });

  test('fit into an agent', () => {
    const { session } = watchedSession();
    expectTypeOf(breakerHooks(session)).toEqualTypeOf<BreakerHooks>();
    expectTypeOf(breakerHooks(session)).toExtend<ToolHooks>();
    expectTypeOf(breakerHooks).parameter(1).toEqualTypeOf<BreakerHooksOptions | undefined>();
    expectTypeOf<ToolHooks>().toExtend<BreakerHooksOptions>();
  });
});
