/** An agent that runs another one in a tool, in each framework's own loop, on scripts. */

import { query as claudeQuery, tool as claudeTool, createSdkMcpServer } from '@anthropic-ai/claude-agent-sdk';
import type { Session } from '@breakerbox/core';
import { breakerPrepareStep, breakerTelemetry, guardTools as guardAiTools } from '@breakerbox/instrumentation/ai-sdk';
import { breakerHooks as claudeHooks } from '@breakerbox/instrumentation/claude-agent';
import { BreakerPlugin, breakerCallbacks } from '@breakerbox/instrumentation/google-adk';
import { breakerMiddleware } from '@breakerbox/instrumentation/langchain';
import { breakerHooks, breakerProcessor } from '@breakerbox/instrumentation/mastra';
import { breakerSteps, guardToolFactory } from '@breakerbox/instrumentation/openai-agents';
import { currentSession, withSession } from '@breakerbox/instrumentation/session';
import { scriptedModel as aiModel } from '@breakerbox/scripted-models/ai-sdk';
import { scriptedModel as claudeModel } from '@breakerbox/scripted-models/claude-agent';
import { scriptedModel as adkModel } from '@breakerbox/scripted-models/google-adk';
import { scriptedModel as chatModel } from '@breakerbox/scripted-models/langchain';
import { scriptedModel as agentsModel } from '@breakerbox/scripted-models/openai-agents';
import type { ScriptedStep } from '@breakerbox/scripted-models/script';
import { AgentTool, FunctionTool, InMemoryRunner, LlmAgent } from '@google/adk';
import { HumanMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { Agent as MastraAgent } from '@mastra/core/agent';
import type { MastraModelConfig } from '@mastra/core/llm';
import { Mastra } from '@mastra/core/mastra';
import { createTool } from '@mastra/core/tools';
import { Agent, type Tool as AgentsTool, tool as agentsTool, Runner } from '@openai/agents';
import { generateText, isStepCount, registerTelemetry, streamText, tool } from 'ai';
import { createAgent } from 'langchain';
import { z } from 'zod';

/** Two agents of a framework, guarded with one session: a tool of the outer one runs the inner one. */
export interface Framework {
  readonly name: string;
  /** The sub-agent's name. Default: `research`, the tool that it runs in. */
  readonly tool?: string;
  /** The turns that the hooks tell of, if they do not tell of all, and the tool that the sub-agent runs in. */
  readonly told?: { readonly steps: number; readonly allSteps: number; readonly tool: string };
  run(session: Session): PromiseLike<unknown>;
}

/** The turns of two agents: the outer one calls `tool`, in which the inner one searches twice. */
const scriptsOf = (tool: string, input: object) => ({
  outer: [[{ tool, input }], 'All is told.'] as ScriptedStep[],
  inner: [[{ tool: 'search', input: { q: 'a' } }], [{ tool: 'search', input: { q: 'b' } }], 'Found.'] as ScriptedStep[],
});

const query = z.object({ q: z.string() });
const found = async ({ q }: { q: string }): Promise<string> => `found ${q}`;
const stopWhen = isStepCount(10);

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

const aiSdk: Framework = { name: 'AI SDK', run: (session) => generateText(researching(session)) };

const aiStream: Framework = {
  name: 'AI SDK, a stream, with the session of withSession',
  run: (session: Session) => withSession(session, async () => streamText(researching(currentSession)).consumeStream()),
};

const aiTelemetry: Framework = {
  name: 'AI SDK, with breakerTelemetry alone',
  run: async (session) => {
    const { outer, inner } = scriptsOf('research', { q: 'news' });
    const search = tool({ inputSchema: query, execute: found });
    registerTelemetry(breakerTelemetry(session));
    const research = tool({
      inputSchema: query,
      execute: async ({ q }) => {
        const { text } = await generateText({ model: aiModel(inner).model, tools: { search }, prompt: q, stopWhen });
        return text;
      },
    });
    await generateText({ model: aiModel(outer).model, tools: { research }, prompt: 'Go.', stopWhen });
    globalThis.AI_SDK_TELEMETRY_INTEGRATIONS = undefined;
  },
};

const langChain: Framework = {
  name: 'LangChain',
  run: async (session) => {
    const { outer, inner } = scriptsOf('research', { q: 'news' });
    const search = langchainTool(found, { name: 'search', description: 'Searches', schema: query });
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
  },
};

type Guarded = typeof agentsTool;

const openAiAgents =
  (researchBy: (guarded: Guarded, researcher: Agent, options: object) => AgentsTool): Framework['run'] =>
  async (session) => {
    const { outer, inner } = scriptsOf('research', { q: 'news' });
    const guarded = guardToolFactory(agentsTool, session);
    const options = { callModelInputFilter: breakerSteps(session) };
    const search = guarded({ name: 'search', description: 'Searches', parameters: query, execute: found });
    const researcher = new Agent({ name: 'researcher', model: agentsModel(inner).model, tools: [search] });
    const tools = [researchBy(guarded, researcher, options)];
    await runner.run(new Agent({ name: 'boss', model: agentsModel(outer).model, tools }), 'Go.', options);
  };

const runner = new Runner({ tracingDisabled: true });
const described = { name: 'research', description: 'Researches', parameters: query };

const openAi: Framework = {
  name: 'OpenAI Agents',
  run: openAiAgents((guarded, researcher, options) =>
    guarded({
      ...described,
      execute: async ({ q }) => (await runner.run(researcher, q, options)).finalOutput,
    }),
  ),
};

const openAiAsTool: Framework = {
  name: 'OpenAI Agents, asTool',
  run: openAiAgents((guarded, researcher, runOptions) => {
    const research = researcher.asTool({ runConfig: { tracingDisabled: true }, runOptions });
    return guarded({
      ...described,
      execute: ({ q }, context, details) => research.invoke(context as never, JSON.stringify({ input: q }), details),
    });
  }),
};

const mastra: Framework = {
  name: 'Mastra',
  tool: 'agent-researcher',
  run: async (session) => {
    const { outer, inner } = scriptsOf('agent-researcher', { prompt: 'news' });
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
    new Mastra({ agents: { boss }, logger: false });
    await boss.generate('Go.', { maxSteps: 10 });
  },
};

const adk: Framework = {
  name: 'Google ADK',
  tool: 'researcher',
  run: async (session) => {
    const { outer, inner } = scriptsOf('researcher', { request: 'news' });
    const search = new FunctionTool({ name: 'search', description: 'Searches', parameters: query, execute: found });
    const researcher = new LlmAgent({
      name: 'researcher',
      model: adkModel(inner).model as never,
      tools: [search],
      ...(breakerCallbacks(session) as object),
    });
    const agent = new LlmAgent({
      name: 'boss',
      model: adkModel(outer).model as never,
      tools: [new AgentTool({ agent: researcher })],
    });
    const runner = new InMemoryRunner({ agent, appName: 'test', plugins: [new BreakerPlugin(session) as never] });
    const user = { userId: 'user', sessionId: 'conversation' };
    await runner.sessionService.createSession({ appName: 'test', ...user });
    for await (const _ of runner.runAsync({ ...user, newMessage: { role: 'user', parts: [{ text: 'Go.' }] } }));
  },
};

const claude: Framework = {
  name: 'Claude Agent SDK',
  tool: 'general-purpose',
  told: { steps: 2, allSteps: 3, tool: 'Agent' },
  run: async (session) => {
    const helper = { description: 'look', prompt: 'Look.', subagent_type: 'general-purpose', run_in_background: false };
    const name = 'mcp__tools__search';
    const script = [
      [{ tool: 'Task', input: helper }],
      [{ tool: name, input: { q: 'a' } }],
      [{ tool: name, input: { q: 'b' } }],
      'Found.',
      'All is told.',
    ];
    const { options, stop } = await claudeModel(script);
    const search = claudeTool('search', 'Searches', { q: z.string() }, async (input) => ({
      content: [{ type: 'text', text: await found(input) }],
    }));
    const answer = claudeQuery({
      prompt: 'Go.',
      options: {
        ...options,
        mcpServers: { tools: createSdkMcpServer({ name: 'tools', tools: [search] }) },
        allowedTools: ['Task', name],
        hooks: claudeHooks(session, { nameOf: (tool) => tool.replace('mcp__tools__', '') }),
      },
    });
    for await (const _ of answer);
    await stop();
  },
};

export const frameworks = [aiSdk, aiStream, aiTelemetry, langChain, openAi, openAiAsTool, mastra, adk, claude];
