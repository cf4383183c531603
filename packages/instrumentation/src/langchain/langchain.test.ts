import { BreakerboxConfigError, BreakerboxUsageError, type Session } from '@breakerbox/core';
import { scriptedModel } from '@breakerbox/scripted-models/langchain';
import {
  type AgentMiddleware,
  createAgent,
  createMiddleware,
  modelRetryMiddleware,
  toolErrorMiddleware,
} from 'langchain';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { currentSession } from '../session.ts';
import { ask, broken, refused, runAgent, search } from '../test-support/langchain-agents.ts';
import { open, watchedSession } from '../test-support/watched-session.ts';
import { breakerMiddleware, guardTools } from './langchain.ts';

const passing = createMiddleware({ name: 'passing', wrapToolCall: (request, handler) => handler(request) });
/** Opens after one failure, and is asked for twice. */
const brittle = () => watchedSession({ tools: { search: { failureThreshold: 1 } } });
describe('errors of tools', () => {
  const script = [[ask('x'), ask(5), ask('x', 'made_up'), ask('y', 'odd')], 'Done.'];
  const tools = () => [broken(), search(() => Promise.reject('out of order'), { name: 'odd' })];

  test('any middleware that wraps tool calls lets an error of a tool end the run', async () => {
    await expect(runAgent([passing], [broken()], [[ask('x')], 'Done.'])).rejects.toThrow('ECONNREFUSED');
  });

  test('with the breaker, they are the messages that createAgent makes without middleware', async () => {
    const { session } = watchedSession();
    const without = await runAgent([], tools(), script);
    const guarded = await runAgent([breakerMiddleware(session)], tools(), script);
    const stackless = (messages: typeof guarded.messages) =>
      messages.map((one) => ({ ...one, content: String(one.content).replace(/^ +at .*\n/gm, '') }));
    expect(without.text).toBe('Done.');
    expect(stackless(guarded.messages)).toEqual(stackless(without.messages));
    expect(guarded.messages.map(({ status }) => status)).toEqual(Array(4).fill('error'));
  });

  test.each(['front', 'behind'])('they stay so with other middleware %s', async (place) => {
    const { session, outcomes } = watchedSession();
    const ours = breakerMiddleware(session);
    const order = place === 'front' ? [passing, ours] : [ours, passing];
    const { heard, text } = await runAgent(order, tools(), script);
    expect(heard[0]).toBe('Error: connect ECONNREFUSED 127.0.0.1:9\n Please fix your mistakes.');
    expect(heard[3]).toBe('out of order\n Please fix your mistakes.');
    expect(text).toBe('Done.');
    expect(outcomes.toSorted()).toEqual(['odd: failure, unknown', 'search: failure, network']);
  });

  test('an error of a middleware ends the run, also if its cause is the error of the tool', async () => {
    const { session } = watchedSession();
    const strict = createMiddleware({
      name: 'strict',
      wrapToolCall: async (request, handler) => {
        try {
          return await handler(request);
        } catch (cause) {
          throw new Error('no errors here', { cause });
        }
      },
    });
    const run = runAgent([breakerMiddleware(session), strict], [broken()], [[ask('x')], 'Done.']);
    await expect(run).rejects.toThrow('no errors here');
  });

  test("onToolError 'throw' leaves them to the middleware in front, or to the run", async () => {
    const { session, outcomes } = watchedSession();
    const ours = breakerMiddleware(session, { onToolError: 'throw' });
    await expect(runAgent([ours], [broken()], [[ask('x')], 'Done.'])).rejects.toThrow('ECONNREFUSED');
    const told = toolErrorMiddleware({ onError: (error) => `It said: ${(error as Error).message}` });
    const { heard } = await runAgent([told, ours], [broken()], [[ask('x')], 'Done.']);
    expect(heard).toEqual(['It said: connect ECONNREFUSED 127.0.0.1:9']);
    expect(outcomes).toEqual(Array(2).fill('search: failure, network'));
  });
});

describe('decisions are made at the tool', () => {
  test('a middleware that answers for the tool makes no decision', async () => {
    const { session, decisions } = watchedSession();
    const { ToolMessage } = await import('@langchain/core/messages');
    const answering = createMiddleware({
      name: 'answering',
      wrapToolCall: ({ toolCall }) => new ToolMessage({ content: 'kept', tool_call_id: toolCall.id ?? '' }),
    });
    const { heard } = await runAgent([breakerMiddleware(session), answering], [broken()], [[ask('x')], 'Done.']);
    expect(heard).toEqual(['kept']);
    expect(decisions).toEqual([]);
  });

  test('a tool that a middleware in front adds is guarded; one that a middleware behind adds is not', async () => {
    const { session, decisions } = watchedSession();
    const extra = search(async () => 'extra', { name: 'extra' });
    const bringing = createMiddleware({
      name: 'bringing',
      wrapModelCall: (request, handler) => handler({ ...request, tools: [...request.tools, extra] }),
      wrapToolCall: (request, handler) =>
        handler(request.toolCall.name === 'extra' ? { ...request, tool: extra } : request),
    });
    const script = [[ask('x', 'extra')], 'Done.'];
    const ours = breakerMiddleware(session);
    expect((await runAgent([bringing, ours], [broken()], script)).heard).toEqual(['extra']);
    expect(decisions).toEqual(['extra: call']);
    expect((await runAgent([ours, bringing], [broken()], script)).heard).toEqual(['extra']);
    expect(decisions).toEqual(['extra: call']);
  });

  test('tools of guardTools keep their own guard: one decision, and the middleware counts the turns', async () => {
    const own = watchedSession();
    const other = watchedSession();
    const tools = guardTools([broken()], own.session);
    await runAgent([breakerMiddleware(other.session)], tools, [[ask('x')], 'Done.']);
    expect(own.outcomes).toEqual(['search: failure, network']);
    expect(other.decisions).toEqual([]);
    expect(other.session.view().step).toBe(2);
  });

  test('a tool has its circuit before its first call', async () => {
    const { box, session } = watchedSession();
    await runAgent([breakerMiddleware(session)], [broken()], ['Done.']);
    expect(box.tools).toEqual(['search']);
  });

  test('R4: an alternative of the agent is called', async () => {
    const adapt = (input: unknown) => ({ q: `news of ${(input as { q: string }).q}` });
    const alternatives = [{ tool: 'news', degradation: 'high', adapt } as const];
    const { session, decisions } = watchedSession({
      tools: { search: { failureThreshold: 1, alternatives }, news: {} },
    });
    const news = search(async ({ q }) => q, { name: 'news' });
    open({ session });
    const script = [[ask('y')], 'Done.'];
    const { heard } = await runAgent(
      [breakerMiddleware(session, { inPlace: ['news'], interruptOn: {} })],
      [broken(), news],
      script,
    );
    expect(heard[0]).toBe("[answered by 'news' in place of 'search', which is unavailable: much is lost]\nnews of y");
    expect(decisions).toEqual(['search: call', 'search: skip', 'news: call']);
  });

  test('a rejected tool with returnDirect does not end the run', async () => {
    const { session } = brittle();
    const direct = search(() => Promise.reject(refused), { returnDirect: true });
    const { text } = await runAgent([breakerMiddleware(session)], [direct], [[ask('x')], [ask('y')], 'Done.']);
    expect(text).toBe('Done.');
  });
});

describe('turns', () => {
  const found = () => search(async () => 'found');

  test('P1: each turn of the model is one step, however often a middleware in front asks the model', async () => {
    const { session } = watchedSession();
    let calls = 0;
    const failing = createMiddleware({
      name: 'failing',
      wrapModelCall: (request, handler) => {
        calls += 1;
        if (calls === 1) throw new Error('overloaded');
        return handler(request);
      },
    });
    const again = modelRetryMiddleware({ maxRetries: 2, initialDelayMs: 0, jitter: false });
    await runAgent([again, breakerMiddleware(session), failing], [found()], [[ask('x')], [ask('y')], 'Done.']);
    expect(session.view().step).toBe(3);
    await runAgent([breakerMiddleware(session)], [found()], [[ask('x')], 'Done.']);
    expect(session.view().step).toBe(5);
  });

  test('the graph has no additional nodes, which would count for the recursion limit', () => {
    const { model } = scriptedModel([]);
    const nodes = (middleware: AgentMiddleware[]) =>
      Object.keys(createAgent({ model, tools: [found()], middleware }).graph.nodes);
    expect(nodes([breakerMiddleware(watchedSession().session)])).toEqual(nodes([]));
  });

  test('R3: note adds unavailable tools to the system prompt, and changes nothing while all tools work', async () => {
    const { session } = brittle();
    const { model } = scriptedModel([[ask('x')], 'Done.']);
    const middleware = [breakerMiddleware(session, { note: true })];
    const agent = createAgent({ model, tools: [broken()], middleware, systemPrompt: 'Be brief.' });
    await agent.invoke({ messages: 'Go.' });
    const prompts = model.calls.map(({ messages }) => messages[0]?.text);
    expect(prompts).toEqual(['Be brief.', expect.stringMatching(/^Be brief\.\n\n.*search/s)]);
    expect(prompts[1]).toContain(`<breakerbox>\n${session.note()}\n</breakerbox>`);
  });

  test('note works without a system prompt; it is off by default', async () => {
    const { session } = brittle();
    const withNote = await runAgent([breakerMiddleware(session, { note: true })], [broken()], [[ask('x')], 'Done.']);
    expect(withNote.model.calls[1]?.messages[0]).toMatchObject({
      type: 'system',
      content: `<breakerbox>\n${session.note()}\n</breakerbox>`,
    });
    const without = await runAgent([breakerMiddleware(session)], [broken()], ['Done.']);
    expect(without.model.calls[0]?.messages[0]).toMatchObject({ type: 'human' });
  });
});

describe('arguments', () => {
  test('E6: invalid settings are rejected, each with a fix', () => {
    const { session } = watchedSession();
    const options = { timeoutMs: 0, note: 'yes', onToolError: 'crash', except: 'x', retries: 2 } as object;
    expect(() => breakerMiddleware(session, options)).toThrow(BreakerboxConfigError);
    expect(() => breakerMiddleware(session, options)).toThrow(/timeoutMs.*note.*onToolError.*except.*retries/s);
    expect(() => breakerMiddleware({} as Session)).toThrow(BreakerboxUsageError);
  });

  test('without a session from the session function, the run ends with the reason', async () => {
    await expect(runAgent([breakerMiddleware(currentSession)], [broken()], ['Done.'])).rejects.toThrow('withSession');
  });

  test('types: state and context of an agent do not change', () => {
    const { session } = watchedSession();
    const { model } = scriptedModel([]);
    const tools = [search(async () => 'found')];
    const plain = createAgent({ model, tools, middleware: [passing] });
    const guarded = createAgent({ model, tools, middleware: [passing, breakerMiddleware(session)] });
    type End<Agent extends { invoke(...given: never[]): Promise<unknown> }> = Awaited<ReturnType<Agent['invoke']>>;
    expectTypeOf<End<typeof guarded>['messages']>().toEqualTypeOf<End<typeof plain>['messages']>();
    expectTypeOf(breakerMiddleware(session)).toExtend<AgentMiddleware>();
  });
});
