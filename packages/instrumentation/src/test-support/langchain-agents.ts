import { scriptedModel } from '@breakerbox/scripted-models/langchain';
import type { ScriptedStep } from '@breakerbox/scripted-models/script';
import { type BaseMessage, HumanMessage, type ToolMessage } from '@langchain/core/messages';
import { type StructuredToolInterface, tool } from '@langchain/core/tools';
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import { type AgentMiddleware, createAgent } from 'langchain';
import { z } from 'zod';

export const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' });
export const query = z.object({ q: z.string() });
/** A call of a script. */
export const ask = (q: unknown, name = 'search') => ({ tool: name, input: { q } });

/** A call as a model makes it. */
export const callOf = (q: string, name = 'search') => ({ type: 'tool_call' as const, id: 'call-1', name, args: { q } });

type Config = Parameters<Parameters<typeof tool>[0]>[1];

/** A tool named `search` unless it is told otherwise. */
export const search = (
  run: (input: { q: string }, config: Config) => unknown,
  more: Readonly<Record<string, unknown>> = {},
) =>
  tool((input: { q: string }, config: Config) => run(input, config) as Promise<string>, {
    name: 'search',
    description: 'Searches',
    schema: query,
    ...more,
  });

/** Always out. */
export const broken = () => search(() => Promise.reject(refused));

/** The messages of the tools in the conversation. */
export const toolMessages = (messages: readonly BaseMessage[]) =>
  messages
    .filter((message): message is ToolMessage => message.type === 'tool')
    .map(({ content, status, name, tool_call_id, artifact }) => ({
      content,
      status,
      name,
      id: tool_call_id,
      artifact,
    }));

/** `createAgent` to the end of the script. */
export const runAgent = async (
  middleware: readonly AgentMiddleware[],
  tools: readonly object[],
  script: readonly ScriptedStep[],
  config: object = {},
) => {
  const { model, heard } = scriptedModel(script);
  const agent = createAgent({ model, tools: tools as StructuredToolInterface[], middleware: [...middleware] });
  const { messages } = await agent.invoke({ messages: [new HumanMessage('Go.')] }, config);
  return { heard: heard(), messages: toolMessages(messages), text: messages.at(-1)?.content, model };
};

/** A graph with a `ToolNode`, to the end of the script. */
export const runGraph = async (
  tools: readonly object[],
  script: readonly ScriptedStep[],
  options: ConstructorParameters<typeof ToolNode>[1] = {},
) => {
  const { model, heard } = scriptedModel(script);
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addNode('tools', new ToolNode(tools as StructuredToolInterface[], options))
    .addEdge('__start__', 'model')
    .addConditionalEdges('model', toolsCondition)
    .addEdge('tools', 'model')
    .compile();
  const { messages } = await graph.invoke({ messages: [new HumanMessage('Go.')] });
  return { heard: heard(), messages: toolMessages(messages), text: messages.at(-1)?.content };
};
