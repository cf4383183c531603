import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import type { Session } from '@breakerbox/core';
import { guardAll } from '@breakerbox/instrumentation';
import { breakerPrepareStep, guardTools as guardAiTools } from '@breakerbox/instrumentation/ai-sdk';
import { guardTools as guardAnthropicTools } from '@breakerbox/instrumentation/anthropic';
import { breakerMiddleware } from '@breakerbox/instrumentation/langchain';
import { guardMcpClient } from '@breakerbox/instrumentation/mcp';
import { breakerSteps, guardToolFactory } from '@breakerbox/instrumentation/openai-agents';
import { scriptedModel as aiModel } from '@breakerbox/scripted-models/ai-sdk';
import { scriptedModel as anthropicModel } from '@breakerbox/scripted-models/anthropic';
import { scriptedModel as langchainModel } from '@breakerbox/scripted-models/langchain';
import { scriptedModel as openAiModel } from '@breakerbox/scripted-models/openai-agents';
import { type Call, scriptedModel as ownModel, runLoop } from '@breakerbox/scripted-models/plain';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { Agent, tool as openAiTool, Runner } from '@openai/agents';
import { tool as aiTool, generateText, isStepCount } from 'ai';
import { createAgent, tool as langchainTool } from 'langchain';
import { z } from 'zod';
import { reply } from '../frameworks/own-loop.ts';
import type { Work } from './tools.ts';

/** An agent of one framework at work. Returns what its model read about its tools. */
export type Kind = (session: Session, work: Work) => Promise<readonly string[]>;

const schema = z.object({ q: z.string() });

/** The failing tool until it is unavailable, and once more; then the other tools. */
const scriptOf = ({ argument, plant }: Work) => [
  ...['search', 'search', 'search', 'search', 'read', 'lookup'].map((tool) => [{ tool, input: argument() }]),
  `All I found is ${plant('words of the model')}.`,
];

const bodiesOf = ({ tools }: Work) =>
  Object.entries(tools).map(([name, body]) => ({ name, run: async (input: { q: string }) => body(input, undefined) }));

const ownLoop: Kind = async (session, work) => {
  const { model, heard } = ownModel(scriptOf(work));
  const guarded = guardAll(session, Object.fromEntries(bodiesOf(work).map(({ name, run }) => [name, run])), {
    timeoutMs: 10_000,
  });
  const callTool = ({ tool, input, id }: Call): Promise<string> =>
    reply(async () => guarded[tool]?.(input as { q: string }, { callId: id }), undefined);
  await runLoop(model, work.plant('prompt'), callTool, () => session.step());
  return heard();
};

const aiSdk: Kind = async (session, work) => {
  const { model, heard } = aiModel(scriptOf(work));
  const tools = Object.fromEntries(
    bodiesOf(work).map(({ name, run }) => [
      name,
      aiTool({ description: work.plant('description'), inputSchema: schema, execute: run }),
    ]),
  );
  await generateText({
    model,
    instructions: work.plant('instructions'),
    prompt: work.plant('prompt'),
    tools: guardAiTools(tools, session, { timeoutMs: 10_000 }),
    prepareStep: breakerPrepareStep(session),
    stopWhen: isStepCount(10),
    headers: { authorization: work.plant('header of the model') },
  });
  return heard();
};

const langchain: Kind = async (session, work) => {
  const { model, heard } = langchainModel(scriptOf(work));
  const tools = bodiesOf(work).map(({ name, run }) =>
    langchainTool(run, {
      name,
      schema,
      description: work.plant('description'),
      metadata: { key: work.plant('metadata') },
    }),
  );
  const agent = createAgent({ model, tools, middleware: [breakerMiddleware(session, { timeoutMs: 10_000 })] });
  await agent.invoke(
    { messages: work.plant('prompt') },
    { configurable: { user: work.plant('metadata of the run') }, metadata: { key: work.plant('metadata of the run') } },
  );
  return heard();
};

const anthropic: Kind = async (session, work) => {
  const { fetch, heard } = anthropicModel(scriptOf(work));
  const tools = bodiesOf(work).map(({ name, run }) =>
    betaZodTool({
      name,
      description: `Does ${name}`, // The SDK's own spans contain it.

      inputSchema: schema,
      run: async (input) => String(await run(input)),
    }),
  );
  const runner = new Anthropic({ apiKey: work.plant('API key'), fetch }).beta.messages.toolRunner({
    model: 'claude-sonnet-5',
    max_tokens: 1_000,
    messages: [{ role: 'user', content: work.plant('prompt') }],
    metadata: { user_id: work.plant('metadata of the run') },
    tools: guardAnthropicTools(tools, session, { timeoutMs: 10_000 }),
  });
  for await (const _ of runner) session.step();
  return heard();
};

const openAiAgents: Kind = async (session, work) => {
  const { model, heard } = openAiModel(scriptOf(work));
  const make = guardToolFactory(openAiTool, session, { timeoutMs: 10_000 });
  const tools = bodiesOf(work).map(({ name, run }) =>
    make({ name, description: work.plant('description'), parameters: schema, execute: run }),
  );
  const agent = new Agent({ name: 'researcher', instructions: work.plant('instructions'), model, tools });
  await new Runner({ tracingDisabled: true }).run(agent, work.plant('prompt'), {
    callModelInputFilter: breakerSteps(session),
    context: { user: work.plant('metadata of the run') },
  });
  return heard();
};

const mcp: Kind = async (session, work) => {
  const server = new McpServer(
    { name: 'files', version: '1.0.0' },
    { instructions: work.plant('instructions of a server') },
  );
  for (const { name, run } of bodiesOf(work)) {
    const described = {
      description: work.plant('description'),
      inputSchema: schema.shape,
      _meta: { key: work.plant('_meta') },
    };
    server.registerTool(name, described, async (input) => {
      const result = await run(input);
      const isError = typeof result === 'object';
      return { isError, content: [{ type: 'text' as const, text: isError ? JSON.stringify(result) : String(result) }] };
    });
  }
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server.connect(far);
  const client = new Client({ name: 'agent', version: '1.0.0' });
  await client.connect(near);
  const guarded = guardMcpClient(client, session, { timeoutMs: 10_000 });
  await guarded.listTools();
  const { model, heard } = ownModel(scriptOf(work));
  const callTool = ({ tool, input }: Call): Promise<string> =>
    reply(
      () =>
        guarded.callTool({
          name: tool,
          arguments: input as { q: string },
          _meta: { user: work.plant('_meta of a call') },
        }),
      undefined,
    );
  await runLoop(model, work.plant('prompt'), callTool, () => session.step());
  await client.close();
  return heard();
};

export const KINDS: Readonly<Record<string, Kind>> = {
  'a loop of your own': ownLoop,
  'AI SDK': aiSdk,
  LangChain: langchain,
  'Anthropic SDK': anthropic,
  'OpenAI Agents': openAiAgents,
  MCP: mcp,
};
