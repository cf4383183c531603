import { breakerMiddleware, guardTools } from '@breakerbox/instrumentation/langchain';
import * as oldestParts from '@breakerbox/oldest-langchain';
import { scriptedModel } from '@breakerbox/scripted-models/langchain';
import { type BaseMessage, HumanMessage } from '@langchain/core/messages';
import { type StructuredToolInterface, tool } from '@langchain/core/tools';
import { Command, MemorySaver, MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import * as langchain from 'langchain';
import { z } from 'zod';
import { contract } from './contract.ts';
import type { AgentEnd, AgentRun, Harness, ToolBody } from './harness.ts';

const newest = {
  ...langchain,
  HumanMessage,
  tool,
  Command,
  MemorySaver,
  MessagesAnnotation,
  StateGraph,
  ToolNode,
  toolsCondition,
};
type Parts = typeof newest;
const oldest = oldestParts as unknown as Parts;

const schema = z.object({ q: z.string() });

/** In LangChain the return value of a generator is its result, and the yielded values are progress. */
const isGeneratorFunction = (body: ToolBody): boolean =>
  Object.prototype.toString.call(body) === '[object AsyncGeneratorFunction]';

const returningLast = async function* (pieces: AsyncIterable<unknown>): AsyncGenerator<unknown, unknown> {
  let last: unknown;
  for await (const piece of pieces) {
    last = piece;
    yield piece;
  }
  return last;
};

const toolsOf = ({ tool }: Parts, { tools, servers, frameworkTimeoutMs }: AgentRun): StructuredToolInterface[] =>
  Object.entries(tools).map(([name, body]) => {
    const run = (input: { q: string }, { signal }: { signal?: AbortSignal }): unknown => {
      const answer = body(input, signal);
      return isGeneratorFunction(body) ? returningLast(answer as AsyncIterable<unknown>) : answer;
    };
    return tool(run, {
      name,
      description: name,
      schema,
      ...(servers && { metadata: { serverName: servers[name] } }),
      ...(frameworkTimeoutMs !== undefined && { defaultConfig: { timeout: frameworkTimeoutMs } }),
    });
  });

const endOf = (messages: readonly BaseMessage[], heard: readonly string[]): AgentEnd => ({
  text: String(messages.at(-1)?.content),
  heard,
});

const ours = ({ timeoutMs, judging }: AgentRun) => ({
  inPlace: ['news'],
  interruptOn: {},
  ...judging,
  ...(timeoutMs !== undefined && { timeoutMs }),
});

const callersSignal = 'LangGraph leaves a listener on the signal of a run.';

const createAgentOf = (parts: Parts, version: string): Harness => ({
  framework: `LangChain ${version}, createAgent`,
  run: async (agent) => {
    const { session, script, signal, deny = [], approve = [] } = agent;
    const asked = [...deny, ...approve];
    const { model, heard } = scriptedModel(script);
    const { createAgent, createMiddleware, humanInTheLoopMiddleware, Command, MemorySaver, HumanMessage } = parts;
    // Each middleware may change an error that passes through it.
    const passing = createMiddleware({ name: 'passing', wrapToolCall: (request, handler) => handler(request) });
    const interruptOn = Object.fromEntries(asked.map((name) => [name, true]));
    // LangChain's types are not compatible with each other under exactOptionalPropertyTypes.
    const approval = humanInTheLoopMiddleware({ interruptOn } as never) as unknown as langchain.AgentMiddleware;
    const chain = createAgent({
      model,
      tools: toolsOf(parts, agent),
      middleware: [breakerMiddleware(session, ours(agent)), passing, ...(asked.length > 0 ? [approval] : [])],
      ...(asked.length > 0 && { checkpointer: new MemorySaver() }),
    });
    const config = { ...(signal && { signal }), configurable: { thread_id: 'one' }, recursionLimit: 60 };
    let end = await chain.invoke({ messages: [new HumanMessage('Go.')] }, config);
    if ('__interrupt__' in end) {
      const decision = deny.length > 0 ? { type: 'reject', message: 'No.' } : { type: 'approve' };
      end = await chain.invoke(new Command({ resume: { decisions: [decision] } }), config);
    }
    return endOf(end.messages, heard());
  },
  inBand: (error) => ({ error }),
  lacks: { callersSignal, nativeSpan: 'LangChain makes no OpenTelemetry spans.' },
});

const graphOf = (parts: Parts, version: string): Harness => ({
  framework: `LangGraph ${version}, ToolNode with guardTools`,
  run: async (agent) => {
    const { session, script, signal } = agent;
    const { model, heard } = scriptedModel(script);
    const { StateGraph, MessagesAnnotation, ToolNode, toolsCondition, HumanMessage } = parts;
    const tools = guardTools(toolsOf(parts, agent), session, ours(agent));
    const bound = model.bindTools(tools);
    const chain = new StateGraph(MessagesAnnotation)
      .addNode('model', async ({ messages }) => {
        (typeof session === 'function' ? session() : session).step();
        return { messages: [await bound.invoke(messages)] };
      })
      .addNode('tools', new ToolNode(tools))
      .addEdge('__start__', 'model')
      .addConditionalEdges('model', toolsCondition)
      .addEdge('tools', 'model')
      .compile();
    const end = await chain.invoke(
      { messages: [new HumanMessage('Go.')] },
      { ...(signal && { signal }), recursionLimit: 60 },
    );
    return endOf(end.messages, heard());
  },
  inBand: (error) => ({ error }),
  lacks: {
    callersSignal,
    nativeSpan: 'LangGraph makes no OpenTelemetry spans.',
    approval: 'ToolNode does not ask for approval. Put an interrupt() in a node before it, or in the tool.',
  },
});

contract(createAgentOf(newest, '1.5.14'));
contract(createAgentOf(oldest, '1.2.13'));
contract(graphOf(newest, '1.4.18'));
contract(graphOf(oldest, '1.1.2'));
