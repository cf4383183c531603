/** Agents whose model lists files as long as it may call tools, in each framework's own loop. */
import { tool as claudeTool, createSdkMcpServer, query } from '@anthropic-ai/claude-agent-sdk';
import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { createBreakerbox, type Session } from '@breakerbox/core';
import { breakerPrepareStep, guardTools as guardAiTools, guardModels } from '@breakerbox/instrumentation/ai-sdk';
import { guardTools as guardAnthropicTools } from '@breakerbox/instrumentation/anthropic';
import { breakerHooks as claudeHooks } from '@breakerbox/instrumentation/claude-agent';
import { BreakerPlugin } from '@breakerbox/instrumentation/google-adk';
import { breakerMiddleware } from '@breakerbox/instrumentation/langchain';
import { breakerHooks, breakerProcessor } from '@breakerbox/instrumentation/mastra';
import { breakerSteps, guardToolFactory } from '@breakerbox/instrumentation/openai-agents';
import { scriptedModel } from '@breakerbox/scripted-models/claude-agent';
import { BaseLlm, FunctionTool, InMemoryRunner, LlmAgent, type LlmRequest, type LlmResponse } from '@google/adk';
import { HumanMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { Agent as MastraAgent } from '@mastra/core/agent';
import type { MastraModelConfig } from '@mastra/core/llm';
import { createTool } from '@mastra/core/tools';
import { Agent, tool as agentsTool, type Model, Runner } from '@openai/agents';
import { generateText, isStepCount, type LanguageModel, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { createAgent } from 'langchain';
import { z } from 'zod';

/** What a run has asked of its model, and its last text. */
export interface Ran {
  readonly requests: number;
  readonly text: unknown;
}

export interface EagerAgent {
  readonly name: string;
  /** Requests after the third call, which is the last one that may be made. Default: two: a call that is paused, and the answer. */
  readonly more?: number;
  /**
   * @param isStubborn Whether the model reports and calls in every turn, although it may not call.
   * @param hasTools `false`: the agent has no tools, and the provider rejects a choice of tools. Only of some frameworks.
   */
  run(session: Session, list: () => Promise<string>, isStubborn?: boolean, hasTools?: boolean): Promise<Ran>;
}

const REPORT = 'I have seen three folders.';
const nothing = z.object({});
const description = 'Lists files';

const aiModel = (isStubborn = false): MockLanguageModelV4 =>
  new MockLanguageModelV4({
    doGenerate: async ({ toolChoice }) => {
      const usage = {
        inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: 5, text: 5, reasoning: undefined },
      };
      const mayCall = isStubborn || toolChoice?.type !== 'none';
      const report = { type: 'text' as const, text: REPORT };
      const call = { type: 'tool-call' as const, toolCallId: crypto.randomUUID(), toolName: 'list_files', input: '{}' };
      const finishReason = { unified: mayCall ? ('tool-calls' as const) : ('stop' as const), raw: undefined };
      const content = isStubborn ? [report, call] : [mayCall ? call : report];
      return { usage, warnings: [], finishReason, content };
    },
  });

const runAi =
  (modelOf: (model: MockLanguageModelV4, session: Session) => LanguageModel): EagerAgent['run'] =>
  async (session, list, isStubborn) => {
    const model = aiModel(isStubborn);
    const list_files = tool({ description, inputSchema: nothing, execute: list });
    const { text } = await generateText({
      model: modelOf(model, session),
      maxRetries: 0,
      tools: guardAiTools({ list_files }, session),
      prepareStep: breakerPrepareStep(session),
      stopWhen: isStepCount(60),
      prompt: 'What is there?',
    });
    return { text, requests: model.doGenerateCalls.length };
  };

const aiSdk: EagerAgent = { name: 'AI SDK', run: runAi((model) => model) };

const guardedModel: EagerAgent = {
  name: 'AI SDK, guardModels',
  more: 1,
  run: runAi((model, session) => guardModels(createBreakerbox({ agent: 'models' }), { models: [model], session })),
};

interface ChatRequest {
  readonly tool_choice?: string;
}

/** OpenAI's chat API on a function, so that the request is the one that goes to the provider. */
const langChain: EagerAgent = {
  name: 'LangChain',
  run: async (session, list, isStubborn, hasTools = true) => {
    const requests: ChatRequest[] = [];
    const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
      const request = JSON.parse(String(init?.body)) as ChatRequest;
      requests.push(request);
      if (!hasTools && request.tool_choice !== undefined)
        return new Response('A choice without tools.', { status: 400 });
      const call = { id: crypto.randomUUID(), type: 'function', function: { name: 'list_files', arguments: '{}' } };
      const mayCall = isStubborn || (hasTools && request.tool_choice !== 'none');
      const said = { content: isStubborn || !mayCall ? REPORT : null, ...(mayCall && { tool_calls: [call] }) };
      const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', ...said } }];
      return Response.json({ id: crypto.randomUUID(), object: 'chat.completion', created: 0, model: 'gpt', choices });
    };
    const model = new ChatOpenAI({ model: 'gpt', apiKey: 'none', configuration: { fetch } });
    const tools = hasTools ? [langchainTool(list, { name: 'list_files', description, schema: nothing })] : [];
    const agent = createAgent({ model, tools, middleware: [breakerMiddleware(session)] });
    const { messages } = await agent.invoke({ messages: [new HumanMessage('Go.')] }, { recursionLimit: 60 });
    return { requests: requests.length, text: messages.at(-1)?.text };
  },
};

const openAi: EagerAgent = {
  name: 'OpenAI Agents',
  run: async (session, list) => {
    let requests = 0;
    const model: Pick<Model, 'getResponse'> = {
      getResponse: async ({ tools }) => {
        requests += 1;
        const usage = { requests: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 } as never;
        const callId = crypto.randomUUID();
        const said = { type: 'message', role: 'assistant', status: 'completed' } as const;
        if (tools.length === 0)
          return { usage, output: [{ ...said, content: [{ type: 'output_text', text: REPORT }] }] };
        return {
          usage,
          output: [{ type: 'function_call', callId, name: 'list_files', arguments: '{}', status: 'completed' }],
        };
      },
    };
    const guarded = guardToolFactory(agentsTool, session);
    const list_files = guarded({ name: 'list_files', description, parameters: nothing, execute: list });
    const agent = new Agent({ name: 'lister', model: model as Model, tools: [list_files] });
    const runner = new Runner({ tracingDisabled: true });
    const { finalOutput } = await runner.run(agent, 'Go.', {
      callModelInputFilter: breakerSteps(session),
      maxTurns: 60,
    });
    return { requests, text: finalOutput };
  },
};

const mastra: EagerAgent = {
  name: 'Mastra',
  run: async (session, list, isStubborn) => {
    const model = aiModel(isStubborn);
    const list_files = createTool({ id: 'list_files', description, inputSchema: nothing, execute: list });
    const agent = new MastraAgent({
      id: 'lister',
      name: 'Lister',
      instructions: 'List.',
      model: model as MastraModelConfig,
      tools: { list_files },
      hooks: breakerHooks(session),
      inputProcessors: [breakerProcessor(session)],
    });
    const { steps } = await agent.generate('Go.', { maxSteps: 60 });
    return { text: steps.at(-1)?.text, requests: model.doGenerateCalls.length };
  },
};

const adk: EagerAgent = {
  name: 'Google ADK',
  run: async (session, list, isStubborn, hasTools = true) => {
    const asked: LlmRequest[] = [];
    class Eager extends BaseLlm {
      override async *generateContentAsync(request: LlmRequest): AsyncGenerator<LlmResponse> {
        asked.push(request);
        const mode = request.config?.toolConfig?.functionCallingConfig?.mode;
        if (!hasTools && mode !== undefined) throw new Error('A mode of calls without functions.');
        const mayCall = isStubborn || (hasTools && `${mode}` !== 'NONE');
        const call = { functionCall: { id: crypto.randomUUID(), name: 'list_files', args: {} } };
        const report = { text: REPORT };
        yield { content: { role: 'model', parts: isStubborn ? [report, call] : [mayCall ? call : report] } };
      }
      override connect(): Promise<never> {
        return Promise.reject(new Error('The model has no live connection.'));
      }
    }
    const list_files = new FunctionTool({ name: 'list_files', description, parameters: nothing, execute: list });
    const tools = hasTools ? [list_files] : [];
    const agent = new LlmAgent({ name: 'lister', model: new Eager({ model: 'eager' }), tools });
    const runner = new InMemoryRunner({ agent, appName: 'test', plugins: [new BreakerPlugin(session) as never] });
    const user = { userId: 'user', sessionId: 'conversation' };
    await runner.sessionService.createSession({ appName: 'test', ...user });
    let text: unknown;
    const newMessage = { role: 'user', parts: [{ text: 'Go.' }] };
    for await (const { content } of runner.runAsync({ ...user, newMessage })) text = content?.parts?.[0]?.text;
    return { requests: asked.length, text };
  },
};

/** The lines of docs/limits.md in the user's loop. */
const anthropic: EagerAgent = {
  name: 'Anthropic SDK',
  more: 1,
  run: async (session, list) => {
    let requests = 0;
    const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
      requests += 1;
      const { tool_choice } = JSON.parse(String(init?.body)) as { tool_choice?: { type: string } };
      const call = { type: 'tool_use', id: crypto.randomUUID(), name: 'list_files', input: {} };
      const isLast = tool_choice?.type === 'none';
      const content = [isLast ? { type: 'text', text: REPORT } : call];
      const usage = { input_tokens: 1, output_tokens: 1 };
      const said = { content, usage, stop_reason: isLast ? 'end_turn' : 'tool_use' };
      return Response.json({ id: crypto.randomUUID(), type: 'message', role: 'assistant', model: 'claude', ...said });
    };
    const client = new Anthropic({ apiKey: 'none', fetch, maxRetries: 0 });
    const list_files = betaZodTool({ name: 'list_files', description, inputSchema: nothing, run: list });
    const runner = client.beta.messages.toolRunner({
      model: 'claude',
      max_tokens: 1_000,
      messages: [{ role: 'user', content: 'Go.' }],
      tools: guardAnthropicTools([list_files], session),
      max_iterations: 60,
    });
    let text: unknown;
    for await (const message of runner) {
      const [part] = message.content;
      text = part?.type === 'text' ? part.text : '';
      const results = await runner.generateToolResponse(); // runs the tools of this turn, once
      session.step();
      if (results === null || !session.view().state.startsWith('paused')) continue;
      const turn = [{ role: message.role, content: message.content }, results];
      runner.setMessagesParams((params) => ({
        ...params,
        tool_choice: { type: 'none' },
        messages: [...params.messages, ...turn],
      }));
    }
    return { requests, text };
  },
};

/** Its hooks cannot take the tools away: the model reads the pause of a fourth call, has a turn to report, and calls a fifth time. */
const claude: EagerAgent = {
  name: 'Claude Agent SDK',
  run: async (session, list) => {
    const name = 'mcp__files__list_files';
    const script = Array.from({ length: 60 }, (_, n) => [{ tool: name, input: { n } }]);
    const { options, heard, stop } = await scriptedModel(script);
    const list_files = claudeTool('list_files', description, { n: z.number() }, async () => ({
      content: [{ type: 'text', text: await list() }],
    }));
    const running = query({
      prompt: 'Go.',
      options: {
        ...options,
        mcpServers: { files: createSdkMcpServer({ name: 'files', tools: [list_files] }) },
        allowedTools: [name],
        hooks: claudeHooks(session, { nameOf: (tool) => tool.replace('mcp__files__', '') }),
      },
    });
    for await (const _ of running);
    await stop();
    return { requests: heard().length + 1, text: undefined };
  },
};

export const eagerAgents = [aiSdk, guardedModel, langChain, openAi, mastra, adk, anthropic, claude];
