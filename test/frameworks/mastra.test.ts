import { createBreakerbox } from '@breakerbox/core';
import { breakerHooks, breakerProcessor } from '@breakerbox/instrumentation/mastra';
import { scriptedModel } from '@breakerbox/scripted-models/mastra';
import * as agents from '@mastra/core/agent';
import * as mastra from '@mastra/core/mastra';
import * as storage from '@mastra/core/storage';
import * as tools from '@mastra/core/tools';
import * as workflows from '@mastra/core/workflows';
import * as oldestAgents from 'mastra-oldest/agent';
import * as oldestMastra from 'mastra-oldest/mastra';
import * as oldestStorage from 'mastra-oldest/storage';
import * as oldestTools from 'mastra-oldest/tools';
import * as oldestWorkflows from 'mastra-oldest/workflows';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { contract } from './contract.ts';
import type { AgentRun, Harness } from './harness.ts';

process.env.MASTRA_TELEMETRY_DISABLED = '1';

/** One version of Mastra. */
interface Framework {
  readonly Agent: typeof agents.Agent;
  readonly Mastra: typeof mastra.Mastra;
  readonly InMemoryStore: typeof storage.InMemoryStore;
  readonly createTool: typeof tools.createTool;
  readonly createStep: typeof workflows.createStep;
  readonly createWorkflow: typeof workflows.createWorkflow;
}

const newest: Framework = { ...agents, ...mastra, ...storage, ...tools, ...workflows };
const oldest = {
  ...oldestAgents,
  ...oldestMastra,
  ...oldestStorage,
  ...oldestTools,
  ...oldestWorkflows,
} as unknown as Framework;

type Agent = agents.Agent;
type Settings = { readonly maxSteps: number; readonly abortSignal?: AbortSignal };

/** The parts of a run's end that matter here. */
interface Output {
  readonly text: string;
  readonly finishReason: string | undefined;
  readonly runId?: string | undefined;
  readonly suspendPayload?: unknown;
}

/** Mastra's two loops. */
const loops = {
  generate: {
    start: (agent: Agent, settings: Settings): Promise<Output> => agent.generate('Go.', settings),
    answer: (agent: Agent, approved: boolean, run: { runId: string; toolCallId: string }): Promise<Output> =>
      approved ? agent.approveToolCallGenerate(run) : agent.declineToolCallGenerate(run),
  },
  stream: {
    start: async (agent: Agent, settings: Settings): Promise<Output> =>
      (await agent.stream('Go.', settings)).getFullOutput(),
    answer: async (agent: Agent, approved: boolean, run: { runId: string; toolCallId: string }): Promise<Output> =>
      (await (approved ? agent.approveToolCall(run) : agent.declineToolCall(run))).getFullOutput(),
  },
};

const build = (
  { Agent, Mastra, InMemoryStore, createTool }: Framework,
  { session, tools, servers, judging, script, timeoutMs, deny = [], approve = [] }: AgentRun,
) => {
  const { model, heard } = scriptedModel(script);
  const asked = [...deny, ...approve];
  const told = { ...judging, ...(servers && { group: (tool: string) => servers[tool] }) };
  const agent = new Agent({
    id: 'agent',
    name: 'Agent',
    instructions: 'You are a helpful assistant.',
    model,
    tools: Object.fromEntries(
      Object.entries(tools).map(([id, body]) => [
        id,
        createTool({
          id,
          description: id,
          inputSchema: z.object({ q: z.string() }),
          requireApproval: asked.includes(id),
          execute: async (input, { abortSignal }) => body(input, abortSignal),
        }),
      ]),
    ),
    hooks: breakerHooks(session, told),
    inputProcessors: [breakerProcessor(session, { ...(timeoutMs !== undefined && { timeoutMs }), ...told })],
  });
  // A person is asked between two runs, so the state between them is kept.
  if (asked.length > 0) new Mastra({ agents: { agent }, storage: new InMemoryStore(), logger: false });
  return { agent, heard };
};

const harness = (version: string, framework: Framework, loop: keyof typeof loops): Harness => ({
  framework: `Mastra ${version}, ${loop}`,
  run: async (run) => {
    const { start, answer } = loops[loop];
    const { agent, heard } = build(framework, run);
    let output = await start(agent, { maxSteps: 20, ...(run.signal && { abortSignal: run.signal }) });
    while (output.finishReason === 'suspended') {
      const { toolCallId } = output.suspendPayload as { toolCallId: string };
      output = await answer(agent, run.approve !== undefined, { runId: `${output.runId}`, toolCallId });
    }
    return { text: output.text, heard: heard() };
  },
  inBand: (error) => ({ error }),
  lacks: {
    inPlace: 'Hooks cannot call another tool, because a person may have to approve it.',
    frameworkTimeout: 'Mastra has no time-out for tools.',
    generators: 'A Mastra tool returns one result. Its progress goes to a writer.',
    nativeSpan:
      "Mastra's own tracing does not use OpenTelemetry. With its experimental bridge, its span of a tool is beside ours.",
  },
});

test.each([
  ['1.71.0', newest],
  ['1.42.0', oldest],
])('O1: a failed workflow that is used as a tool is classified by its error, Mastra %s', async (_, framework) => {
  const { Agent, createStep, createWorkflow } = framework;
  const schemas = { inputSchema: z.object({ q: z.string() }), outputSchema: z.object({ q: z.string() }) };
  const step = createStep({ id: 'step', ...schemas, execute: () => Promise.reject(new Error('HTTP 503')) });
  const flow = createWorkflow({ id: 'flow', description: 'Flows', ...schemas })
    .then(step)
    .commit();
  const { model } = scriptedModel([[{ tool: 'workflow-flow', input: { inputData: { q: 'x' } } }], 'Done.']);
  const box = createBreakerbox({ agent: 'agent' });
  const session = box.session();
  const outcomes: unknown[] = [];
  box.on('outcome', ({ tool, outcome, category }) => outcomes.push([tool, outcome, category]));
  const agent = new Agent({
    id: 'agent',
    name: 'Agent',
    instructions: 'You are a helpful assistant.',
    model,
    workflows: { flow },
    hooks: breakerHooks(session),
    inputProcessors: [breakerProcessor(session)],
  });
  await agent.generate('Go.', { maxSteps: 20 });
  expect(outcomes).toEqual([['workflow-flow', 'failure', 'server']]);
});

for (const loop of ['generate', 'stream'] as const) {
  contract(harness('1.71.0', newest, loop));
  contract(harness('1.42.0', oldest, loop));
}
