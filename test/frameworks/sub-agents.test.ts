/** D1: an agent that a tool of another agent runs is a sub-agent by itself: one tree in the report, one trace. In each framework's own loop. */
import { createBreakerbox, type Session } from '@breakerbox/core';
import { report } from '@breakerbox/core/report';
import { breakerPrepareStep, breakerTelemetry, guardTools as guardAiTools } from '@breakerbox/instrumentation/ai-sdk';
import { BreakerPlugin, breakerCallbacks } from '@breakerbox/instrumentation/google-adk';
import { breakerMiddleware } from '@breakerbox/instrumentation/langchain';
import { breakerHooks, breakerProcessor } from '@breakerbox/instrumentation/mastra';
import { breakerSteps, guardToolFactory } from '@breakerbox/instrumentation/openai-agents';
import { currentSession, withSession } from '@breakerbox/instrumentation/session';
import { scriptedModel as aiModel } from '@breakerbox/scripted-models/ai-sdk';
import { scriptedModel as adkModel } from '@breakerbox/scripted-models/google-adk';
import { scriptedModel as chatModel } from '@breakerbox/scripted-models/langchain';
import { scriptedModel as agentsModel } from '@breakerbox/scripted-models/openai-agents';
import type { ScriptedStep } from '@breakerbox/scripted-models/script';
import { AgentTool, FunctionTool, InMemoryRunner, LlmAgent } from '@google/adk';
import { HumanMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { Agent as MastraAgent } from '@mastra/core/agent';
import type { MastraModelConfig } from '@mastra/core/llm';
import { createTool } from '@mastra/core/tools';
import { Agent, tool as agentsTool, Runner } from '@openai/agents';
import { context } from '@opentelemetry/api';
import { generateText, isStepCount, registerTelemetry, streamText, tool } from 'ai';
import { createAgent } from 'langchain';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { startTracing, stopTracing } from '../../packages/instrumentation/src/test-support/tracing.ts';

afterEach(stopTracing);

/** The turns of two agents: the outer one calls `tool`, in which the inner one searches twice. */
const scriptsOf = (tool: string, input: object) => ({
  outer: [[{ tool, input }], 'All is told.'] as ScriptedStep[],
  inner: [[{ tool: 'search', input: { q: 'a' } }], [{ tool: 'search', input: { q: 'b' } }], 'Found.'] as ScriptedStep[],
});

const query = z.object({ q: z.string() });
const found = async ({ q }: { q: string }): Promise<string> => `found ${q}`;
const stopWhen = isStepCount(10);

/** A run of two agents with one session: what its report says, and its spans. */
const runOf = async (run: (session: Session) => PromiseLike<unknown>) => {
  const traced = startTracing();
  const box = createBreakerbox({ agent: 'test-agent', limits: { calls: 50, steps: 50 } });
  const session = box.session({ id: 'run-1', span: true });
  await context.with(session.context, () => run(session));
  const { children } = report(session);
  const used = session.view().limits?.map(({ limit, used }) => `${limit}: ${used}`);
  session.end();
  const tree = children?.map(({ name, ended, used, children }) => {
    const { calls, steps } = used;
    return { name, ended, calls, steps, children };
  });
  return { tree, used, paths: traced.paths() };
};

const expectTree = ({ tree, used, paths }: Awaited<ReturnType<typeof runOf>>, tool: string): void => {
  expect(tree).toEqual([{ name: tool, ended: true, calls: 2, steps: 3, children: [] }]);
  expect(used).toEqual(['calls: 3', 'steps: 5']);
  // One trace: each span is beneath that of the session, and the sub-agent's beneath the tool that it runs in.
  for (const path of paths) expect(path).toMatch(/^invoke_agent test-agent/);
  const child = paths.filter((path) => path.endsWith(` > invoke_agent ${tool}`));
  expect(child).toHaveLength(1);
  expect(child[0]?.split(' > ').at(-2)).toMatch(/^(?:execute_tool|breakerbox\.call) /);
  expect(child[0]?.split(' > ').at(-2)).toContain(tool);
  const searches = paths.filter((path) => /(?:execute_tool|breakerbox\.call) search$/.test(path));
  expect(searches.length).toBeGreaterThanOrEqual(2);
  for (const path of searches) expect(path).toContain(` ${tool} > `);
};

const researching = (session: Parameters<typeof guardAiTools>[1]) => {
  const { outer, inner } = scriptsOf('research', { q: 'news' });
  const search = tool({ inputSchema: query, execute: found });
  const research = tool({
    inputSchema: query,
    execute: async ({ q }) => {
      const { text } = await generateText({
        model: aiModel(inner).model,
        tools: guardAiTools({ search }, session),
        prepareStep: breakerPrepareStep(session),
        prompt: q,
        stopWhen,
      });
      return text;
    },
  });
  const tools = guardAiTools({ research }, session);
  return { model: aiModel(outer).model, tools, prepareStep: breakerPrepareStep(session), prompt: 'Go.', stopWhen };
};

test('D1: AI SDK', async () => {
  expectTree(await runOf((session) => generateText(researching(session))), 'research');
});

test('D1: AI SDK, a stream, with the session of withSession', async () => {
  const run = (session: Session) =>
    withSession(session, async () => streamText(researching(currentSession)).consumeStream());
  expectTree(await runOf(run), 'research');
});

test('D1: AI SDK, with breakerTelemetry alone', async () => {
  const { outer, inner } = scriptsOf('research', { q: 'news' });
  const search = tool({ inputSchema: query, execute: found });
  const run = async (session: Session) => {
    registerTelemetry(breakerTelemetry(session));
    const research = tool({
      inputSchema: query,
      execute: async ({ q }) => {
        const { text } = await generateText({ model: aiModel(inner).model, tools: { search }, prompt: q, stopWhen });
        return text;
      },
    });
    await generateText({ model: aiModel(outer).model, tools: { research }, prompt: 'Go.', stopWhen });
  };
  const ran = await runOf(run).finally(() => {
    globalThis.AI_SDK_TELEMETRY_INTEGRATIONS = undefined;
  });
  expectTree(ran, 'research');
});

test('D1: LangChain', async () => {
  const { outer, inner } = scriptsOf('research', { q: 'news' });
  const search = langchainTool(found, { name: 'search', description: 'Searches', schema: query });
  const run = async (session: Session) => {
    const middleware = [breakerMiddleware(session)];
    const research = langchainTool(
      async ({ q }) => {
        const agent = createAgent({ model: chatModel(inner).model, tools: [search], middleware });
        const { messages } = await agent.invoke({ messages: [new HumanMessage(q)] });
        return messages.at(-1)?.text;
      },
      { name: 'research', description: 'Researches', schema: query },
    );
    const agent = createAgent({ model: chatModel(outer).model, tools: [research], middleware });
    await agent.invoke({ messages: [new HumanMessage('Go.')] });
  };
  expectTree(await runOf(run), 'research');
});

test('D1: OpenAI Agents', async () => {
  const { outer, inner } = scriptsOf('research', { q: 'news' });
  const run = async (session: Session) => {
    const runner = new Runner({ tracingDisabled: true });
    const guarded = guardToolFactory(agentsTool, session);
    const options = { callModelInputFilter: breakerSteps(session) };
    const search = guarded({ name: 'search', description: 'Searches', parameters: query, execute: found });
    const researcher = new Agent({ name: 'researcher', model: agentsModel(inner).model, tools: [search] });
    const research = guarded({
      name: 'research',
      description: 'Researches',
      parameters: query,
      execute: async ({ q }) => (await runner.run(researcher, q, options)).finalOutput,
    });
    await runner.run(new Agent({ name: 'boss', model: agentsModel(outer).model, tools: [research] }), 'Go.', options);
  };
  expectTree(await runOf(run), 'research');
});

test('D1: Mastra', async () => {
  const { outer, inner } = scriptsOf('agent-researcher', { prompt: 'news' });
  const run = async (session: Session) => {
    const guards = { hooks: breakerHooks(session), inputProcessors: [breakerProcessor(session)] };
    const search = createTool({ id: 'search', description: 'Searches', inputSchema: query, execute: found });
    const common = { instructions: 'Be of use.', description: 'Researches', ...guards };
    const researcher = new MastraAgent({
      id: 'researcher',
      name: 'Researcher',
      model: aiModel(inner).model as MastraModelConfig,
      tools: { search },
      ...common,
    });
    const boss = new MastraAgent({
      id: 'boss',
      name: 'Boss',
      model: aiModel(outer).model as MastraModelConfig,
      agents: { researcher },
      ...common,
    });
    await boss.generate('Go.', { maxSteps: 10 });
  };
  expectTree(await runOf(run), 'agent-researcher');
});

test('D1: Google ADK', async () => {
  const { outer, inner } = scriptsOf('researcher', { request: 'news' });
  const run = async (session: Session) => {
    const search = new FunctionTool({ name: 'search', description: 'Searches', parameters: query, execute: found });
    const researcher = new LlmAgent({
      name: 'researcher',
      model: adkModel(inner).model,
      tools: [search],
      ...breakerCallbacks(session),
    });
    const agent = new LlmAgent({
      name: 'boss',
      model: adkModel(outer).model,
      tools: [new AgentTool({ agent: researcher })],
    });
    const runner = new InMemoryRunner({ agent, appName: 'test', plugins: [new BreakerPlugin(session)] });
    const user = { userId: 'user', sessionId: 'conversation' };
    await runner.sessionService.createSession({ appName: 'test', ...user });
    for await (const _ of runner.runAsync({ ...user, newMessage: { role: 'user', parts: [{ text: 'Go.' }] } }));
  };
  expectTree(await runOf(run), 'researcher');
});
