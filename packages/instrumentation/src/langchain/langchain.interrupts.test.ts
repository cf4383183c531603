import { scriptedModel } from '@breakerbox/scripted-models/langchain';
import type { ScriptedStep } from '@breakerbox/scripted-models/script';
import { type StructuredToolInterface, tool } from '@langchain/core/tools';
import { Command, interrupt, MemorySaver, MessagesAnnotation, ParentCommand, StateGraph } from '@langchain/langgraph';
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import { type AgentMiddleware, createAgent, humanInTheLoopMiddleware } from 'langchain';
import { describe, expect, test, vi } from 'vitest';
import { ask, broken, callOf, search, toolMessages } from '../test-support/langchain-agents.ts';
import { type Watched, watchedSession } from '../test-support/watched-session.ts';
import { resumable } from './interrupts.ts';
import { breakerMiddleware, guardTool, guardTools } from './langchain.ts';

const config = { configurable: { thread_id: 'one' } };
const script: readonly ScriptedStep[] = [[ask('x')], 'Done.'];

/** Asks a person so many times, and then gives the answers. */
const asking = (times: number) =>
  search(async () => Array.from({ length: times }, (_, index) => interrupt(`question ${index}`)).join());

const agentOf = (
  { session }: Watched,
  tools: readonly object[],
  steps = script,
  more: readonly AgentMiddleware[] = [],
) => {
  const { model, heard } = scriptedModel(steps);
  const middleware = [breakerMiddleware(session, { inPlace: ['news'], interruptOn: {} }), ...more];
  const agent = createAgent({
    model,
    tools: tools as StructuredToolInterface[],
    middleware,
    checkpointer: new MemorySaver(),
  });
  return { agent, heard };
};

const graphOf = ({ session }: Watched, tools: readonly object[]) => {
  const { model, heard } = scriptedModel(script);
  const guarded = guardTools(tools as StructuredToolInterface[], session, { inPlace: ['news'], interruptOn: {} });
  const agent = new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addNode('tools', new ToolNode(guarded))
    .addEdge('__start__', 'model')
    .addConditionalEdges('model', toolsCondition)
    .addEdge('tools', 'model')
    .compile({ checkpointer: new MemorySaver() });
  return { agent, heard };
};

/** A tool that is due for a probe: a slot could be lost. */
const onProbe = (): Watched => {
  const watched = watchedSession({ tools: { search: { failureThreshold: 1 } } });
  watched.session.acquire('search').settle({ outcome: 'failure', category: 'network' });
  for (let step = 0; step < 3; step += 1) watched.session.step();
  return watched;
};

describe.each([
  ['createAgent with breakerMiddleware', agentOf],
  ['ToolNode with guardTools', graphOf],
])('interrupt() in a tool: %s', (_, make) => {
  test('it reaches the caller, costs nothing, and the resumed call succeeds', async () => {
    const watched = watchedSession();
    const { agent, heard } = make(watched, [asking(1)]);
    expect(await agent.invoke({ messages: 'Go.' }, config)).toMatchObject({ __interrupt__: [{ value: 'question 0' }] });
    expect(watched.outcomes).toEqual(['search: ignored, cancelled']);
    await agent.invoke(new Command({ resume: 'yes' }), config);
    expect(heard()).toEqual(['yes']);
    expect(watched.decisions).toEqual(['search: call', 'search: call']);
    expect(watched.outcomes).toEqual(['search: ignored, cancelled', 'search: success']);
    expect(watched.session.view().budget.consumed).toBe(0);
  });

  test('O5: a tool that interrupts repeatedly in one call is not a repeat', async () => {
    const watched = watchedSession();
    const { agent, heard } = make(watched, [asking(5)]);
    await agent.invoke({ messages: 'Go.' }, config);
    for (let answer = 0; answer < 5; answer += 1) await agent.invoke(new Command({ resume: `${answer}` }), config);
    expect(heard()).toEqual(['0,1,2,3,4']);
    expect(watched.decisions).toEqual(Array(6).fill('search: call'));
  });

  test('C8: an interrupted probe gives its place back, and the resumed probe closes the circuit', async () => {
    const watched = onProbe();
    const { agent } = make(watched, [asking(1)]);
    await agent.invoke({ messages: 'Go.' }, config);
    expect(watched.session.peek('search')).toMatchObject({ state: 'half_open' });
    await agent.invoke(new Command({ resume: 'yes' }), config);
    expect(watched.decisions.slice(1)).toEqual(['search: probe', 'search: probe']);
    expect(watched.session.peek('search')).toMatchObject({ state: 'closed' });
  });
});

test('R4: an alternative of a call that was interrupted and resumed gets the arguments of the call', async () => {
  const adapt = vi.fn((input: unknown) => input);
  const alternatives = [{ tool: 'news', degradation: 'low', adapt } as const];
  const watched = watchedSession({ tools: { search: { alternatives }, news: {} } });
  const news = tool(async ({ q }: { q: string }) => `news of ${q}`, {
    name: 'news',
    description: '',
    schema: asking(1).schema,
  });
  const { agent, heard } = agentOf(watched, [asking(1), news]);
  await agent.invoke({ messages: 'Go.' }, config);
  watched.session.control('search', 'forced_open');
  await agent.invoke(new Command({ resume: 'yes' }), config);
  expect(adapt).toHaveBeenCalledWith({ q: 'x' });
  expect(heard()).toEqual([expect.stringMatching(/^\[answered by 'news'.*news of x$/s)]);
});

test('O5: an alternative that interrupts repeatedly in one call is not a repeat', async () => {
  const alternatives = [{ tool: 'news', degradation: 'low', adapt: (input: unknown) => input } as const];
  const watched = watchedSession({ tools: { search: { alternatives }, news: {} } });
  watched.session.control('search', 'forced_open');
  const news = search(async () => Array.from({ length: 5 }, (_, index) => interrupt(`question ${index}`)).join(), {
    name: 'news',
  });
  const { agent, heard } = agentOf(watched, [broken(), news]);
  await agent.invoke({ messages: 'Go.' }, config);
  for (let answer = 0; answer < 5; answer += 1) await agent.invoke(new Command({ resume: `${answer}` }), config);
  expect(heard()).toEqual([expect.stringMatching(/^\[answered by 'news'.*0,1,2,3,4$/s)]);
});

describe('errors that steer the graph', () => {
  const handing = (thrown: unknown, watched: Watched) =>
    guardTool(
      search(() => Promise.reject(thrown)),
      watched.session,
    );

  test('C8: a handoff to the graph above passes, and is a success that closes a circuit', async () => {
    const watched = onProbe();
    const handoff = new ParentCommand(new Command({ goto: 'writer', graph: Command.PARENT }));
    await expect(handing(handoff, watched).invoke(callOf('x'))).rejects.toBe(handoff);
    expect(watched.outcomes.slice(1)).toEqual(['search: success']);
    expect(watched.session.peek('search')).toMatchObject({ state: 'closed' });
  });

  test('all others pass, and cost nothing', async () => {
    const watched = watchedSession();
    const bubble = Object.assign(new Error('drained'), { is_bubble_up: true });
    await expect(handing(bubble, watched).invoke(callOf('x'))).rejects.toBe(bubble);
    expect(watched.outcomes).toEqual(['search: ignored, cancelled']);
  });

  test('O5: a resumed call is recognised once; of calls that were never resumed, the oldest is forgotten', async () => {
    const { session } = watchedSession();
    const bubble = Object.assign(new Error('asks'), { is_bubble_up: true });
    const interrupted = async (callId: string) => {
      const { asked, following } = resumable(session, { tool: 'search', callId });
      await expect(following(() => Promise.reject(bubble))(new AbortController().signal)).rejects.toBe(bubble);
      return asked;
    };
    const asked = (callId: string) => resumable(session, { tool: 'search', callId }).asked;
    expect(await interrupted('one')).toBeUndefined();
    expect(await interrupted('one')).toEqual({ call: 'search one', resumed: 1 });
    expect(asked('one')).toEqual({ call: 'search one', resumed: 2 }); // Refused, say.
    expect(asked('one')).toBeUndefined();
    for (let other = 0; other <= 100; other += 1) await interrupted(`${other}`);
    expect(asked('0')).toBeUndefined();
    expect(asked('1')).toEqual({ call: 'search 1', resumed: 1 });
  });
});

test('of two parallel calls, the interrupted one does not disturb the other', async () => {
  const watched = watchedSession();
  const news = tool(async () => 'the news', { name: 'news', description: '', schema: asking(1).schema });
  const { agent, heard } = agentOf(watched, [asking(1), news], [[ask('x'), ask('y', 'news')], 'Done.']);
  await agent.invoke({ messages: 'Go.' }, config);
  await agent.invoke(new Command({ resume: 'yes' }), config);
  expect(heard()).toEqual(['yes', 'the news']);
  expect(watched.outcomes.toSorted()).toEqual(['news: success', 'search: ignored, cancelled', 'search: success']);
});

describe('humanInTheLoopMiddleware', () => {
  // LangChain's types don't fit one another under exactOptionalPropertyTypes.
  const approval = () =>
    humanInTheLoopMiddleware({ interruptOn: { search: true } } as never) as unknown as AgentMiddleware;
  const decide = (decision: object) => new Command({ resume: { decisions: [decision] } });

  test('a decision is made only after a person was asked', async () => {
    const watched = onProbe();
    const run = vi.fn(async ({ q }: { q: string }) => `found ${q}`);
    const { agent, heard } = agentOf(watched, [search(run)], script, [approval()]);
    expect(await agent.invoke({ messages: 'Go.' }, config)).toHaveProperty('__interrupt__');
    expect(watched.decisions.slice(1)).toEqual([]);
    const edited = { name: 'search', args: { q: 'y' } };
    await agent.invoke(decide({ type: 'edit', editedAction: edited }), config);
    expect(heard()).toEqual(['found y']);
    expect(watched.decisions.slice(1)).toEqual(['search: probe']);
    expect(watched.session.peek('search')).toMatchObject({ state: 'closed' });
  });

  test('a rejected call makes no decision; a call that is approved while the tool is unavailable is skipped', async () => {
    const watched = watchedSession({ tools: { search: { failureThreshold: 1 } } });
    const steps = [[ask('a')], [ask('b')], [ask('c')], 'Done.'];
    const { agent, heard } = agentOf(watched, [broken()], steps, [approval()]);
    await agent.invoke({ messages: 'Go.' }, config);
    await agent.invoke(decide({ type: 'reject', message: 'No.' }), config);
    expect(watched.decisions).toEqual([]);
    await agent.invoke(decide({ type: 'approve' }), config);
    const { messages } = await agent.invoke(decide({ type: 'approve' }), config);
    expect(watched.decisions).toEqual(['search: call', 'search: skip']);
    expect(heard()).toEqual([
      'No.',
      expect.stringContaining('ECONNREFUSED'),
      expect.stringContaining('is unavailable'),
    ]);
    expect(toolMessages(messages).map(({ status }) => status)).toEqual(Array(3).fill('error'));
  });

  test.each<[string, object, object, object, boolean]>([
    ['of the middleware', { news: true }, { news: true }, {}, false],
    ['with a condition', { news: { allowedDecisions: ['approve'], when: () => false } }, {}, {}, false],
    ['of the run', {}, {}, { interruptOn: { news: true } }, false],
    ['of another tool', { search: false, news: false }, {}, {}, true],
  ])(
    'R4, R5: a tool that a person has to approve is not called in place: %s',
    async (_, known, asked, context, isCalled) => {
      const alternatives = [{ tool: 'news', degradation: 'low', adapt: (input: unknown) => input } as const];
      const watched = watchedSession({ tools: { search: { failureThreshold: 1, alternatives }, news: {} } });
      const run = vi.fn(async () => 'the news');
      const { model, heard } = scriptedModel([[ask('x')], [ask('y')], 'Done.']);
      const agent = createAgent({
        model,
        tools: [broken(), search(run, { name: 'news' })] as StructuredToolInterface[],
        middleware: [
          breakerMiddleware(watched.session, { inPlace: ['news'], interruptOn: known }),
          humanInTheLoopMiddleware({ interruptOn: asked } as never) as unknown as AgentMiddleware,
        ],
        checkpointer: new MemorySaver(),
      });
      await agent.invoke({ messages: 'Go.' }, { ...config, context } as never);
      expect(run).toHaveBeenCalledTimes(isCalled ? 2 : 0);
      expect(heard()).toEqual(Array(2).fill(expect.stringContaining(isCalled ? "answered by 'news'" : "'news'")));
    },
  );

  test.each<[string, (options: object) => unknown]>([
    ['guardTool()', (options) => guardTool(broken(), watchedSession().session, options)],
    ['guardTools()', (options) => guardTools([broken()], watchedSession().session, options)],
    ['breakerMiddleware()', (options) => breakerMiddleware(watchedSession().session, options)],
  ])('R5, E6: %s refuses inPlace without interruptOn, because a person may have to approve the tool', (name, make) => {
    expect(() => make({ inPlace: ['news'] })).toThrow(
      `${name} options.inPlace: lists tools to call in place of others, but it is not known which of them a person has to approve. Set interruptOn to the value that you give humanInTheLoopMiddleware, or to {} if a person approves none.`,
    );
    expect(() => make({ inPlace: [] })).not.toThrow();
    expect(() => make({ interruptOn: true })).toThrow('options.interruptOn: is of type boolean');
  });
});
