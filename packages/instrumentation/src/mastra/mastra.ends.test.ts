import { MastraError } from '@mastra/core/error';
import { createStep, createWorkflow } from '@mastra/core/workflows';
import { diag } from '@opentelemetry/api';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { currentSession } from '../session.ts';
import { listenToDiag } from '../test-support/diagnosed.ts';
import { agentOf, ask, broken, guards, refused, search } from '../test-support/mastra-agent.ts';
import { watchedSession } from '../test-support/watched-session.ts';
import { breakerHooks, breakerProcessor } from './mastra.ts';

const settings = { maxSteps: 20 };
const input = z.object({ q: z.string() });
const thrown = (error: unknown) => search(() => Promise.reject(error));
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A workflow of one step, and the model's call of it. */
const flowOf = (execute: () => Promise<{ q: string }>) => {
  const step = createStep({ id: 'step', inputSchema: input, outputSchema: input, execute });
  const flow = createWorkflow({ id: 'flow', description: 'Flows', inputSchema: input, outputSchema: input });
  return { workflows: { flow: flow.then(step).commit() } };
};
const callFlow = { tool: 'workflow-flow', input: { inputData: { q: 'x' } } };

afterEach(() => diag.disable());

describe.each(Object.entries(guards))('guarded by %s', (_, guarded) => {
  test('O1: a failed workflow that is used as a tool is classified by its error', async () => {
    const watched = watchedSession();
    const config = { ...flowOf(() => Promise.reject(refused)), ...guarded(watched) };
    const { agent, heard } = agentOf([[callFlow], 'Done.'], config);
    await agent.generate('Go.', settings);
    expect(heard()).toEqual([
      expect.stringMatching(/^\{"error":"connect ECONNREFUSED 127\.0\.0\.1:9","runId":"[^"]+"\}$/),
    ]);
    expect(watched.outcomes).toEqual(['workflow-flow: failure, network']);
  });

  test.each([
    ['ENOENT: no such file or directory, open notes.md', 'search: ignored, tool_error'],
    ['HTTP 503 Service Unavailable', 'search: failure, server'],
  ])(
    "O1: an error of Mastra's MCP client for a result with isError is classified by its text: %s",
    async (text, outcome) => {
      const watched = watchedSession();
      const id = 'MCP_CLIENT_TOOL_EXECUTION_FAILED';
      const error = new MastraError({ id, domain: 'MCP' as never, category: 'THIRD_PARTY' as never, text });
      const { agent, heard } = agentOf([[ask('x')], 'Done.'], {
        tools: { search: thrown(error) },
        ...guarded(watched),
      });
      await agent.generate('Go.', settings);
      expect(heard()).toEqual([text]);
      expect(watched.outcomes).toEqual([outcome]);
    },
  );
});

describe.each([
  ['both', guards.both],
  ['hooks alone', guards.hooks],
])('E1: an error in your own afterToolCall does not change how the tool ended, guarded by %s', (_, guarded) => {
  test.each([
    ['worked', search(() => 'found'), 'search: success'],
    ['failed', broken, 'search: failure, network'],
  ])('it %s', async (_what, tool, outcome) => {
    const watched = watchedSession();
    const hooks = breakerHooks(watched.session, {
      afterToolCall: () => {
        throw new Error('HTTP 503: audit log');
      },
    });
    const { agent, heard } = agentOf([[ask('x')], 'Done.'], { tools: { search: tool }, ...guarded(watched), hooks });
    await agent.generate('Go.', settings);
    expect(heard()).toEqual(['HTTP 503: audit log']);
    expect(watched.outcomes).toEqual([outcome]);
  });
});

describe('breakerProcessor()', () => {
  test('B3: sub-agents and workflows have no timeout', async () => {
    const watched = watchedSession();
    const slow = async (q = '') => pause(60).then(() => ({ q }));
    const helper = agentOf([[ask('x')], 'Helped.'], {
      id: 'helper',
      name: 'Helper',
      description: 'Helps',
      tools: { search: search(() => slow()) },
    }).agent;
    const { agent } = agentOf([[callFlow, { tool: 'agent-helper', input: { prompt: 'Help.' } }], 'Done.'], {
      ...flowOf(() => slow('x')),
      agents: { helper },
      ...guards.both(watched, { timeoutMs: 20 }),
    });
    await agent.generate('Go.', settings);
    expect(watched.outcomes.toSorted()).toEqual(['agent-helper: success', 'workflow-flow: success']);
  });

  test('P1: with two processors, each call is decided once and each turn counted once', async () => {
    const watched = watchedSession();
    const inputProcessors = [breakerProcessor(watched.session), breakerProcessor(watched.session)];
    const { agent, heard } = agentOf([[ask('x')], 'Done.'], {
      tools: { search: search(() => 'found') },
      inputProcessors,
    });
    await agent.generate('Go.', settings);
    expect(heard()).toEqual(['found']);
    expect([watched.decisions, watched.outcomes]).toEqual([['search: call'], ['search: success']]);
    expect(watched.session.view().step).toBe(2);
  });
});

test.each([
  ['both', { hooks: breakerHooks(currentSession), inputProcessors: [breakerProcessor(currentSession)] }],
  ['hooks alone', { hooks: breakerHooks(currentSession) }],
])('E5: without a session, the run continues, and diag and the model get the reason: %s', async (_, guarded) => {
  const said = listenToDiag();
  const { agent, heard } = agentOf([[ask('x')], 'Done.'], { tools: { search: broken }, ...guarded });
  expect((await agent.generate('Go.', settings)).text).toBe('Done.');
  expect(heard()).toEqual([expect.stringMatching(/^currentSession\(\): there is no current session/)]);
  expect(said.map(([words]) => words)).toContainEqual(
    expect.stringContaining('no session was found, so the tool was not run'),
  );
});
