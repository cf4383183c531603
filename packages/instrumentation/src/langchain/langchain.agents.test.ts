import { scriptedModel } from '@breakerbox/scripted-models/langchain';
import { ToolMessage } from '@langchain/core/messages';
import { Command, interrupt, MemorySaver } from '@langchain/langgraph';
import { createAgent, createMiddleware } from 'langchain';
import { describe, expect, test } from 'vitest';
import { currentSession, withSession } from '../session.ts';
import { ask, broken, refused, runAgent, search } from '../test-support/langchain-agents.ts';
import { open, type Watched, watchedSession } from '../test-support/watched-session.ts';
import { breakerMiddleware } from './langchain.ts';

const passing = createMiddleware({ name: 'passing', wrapToolCall: (request, handler) => handler(request) });

describe('an agent that is a tool of another', () => {
  const overloaded = createMiddleware({
    name: 'overloaded',
    wrapModelCall: () => {
      throw new Error('529 overloaded');
    },
  });
  /** What it throws is a MiddlewareError, for LangChain. */
  const subagent = () =>
    search(
      async () => {
        const { model } = scriptedModel(['Done.']);
        return createAgent({ model, tools: [broken()], middleware: [overloaded] }).invoke({ messages: 'Go.' });
      },
      { name: 'research' },
    );
  const script = [[ask('x', 'research')], 'Done.'];

  test.each([
    ['alone', (watched: Watched) => [breakerMiddleware(watched.session)]],
    ['in front', (watched: Watched) => [breakerMiddleware(watched.session), passing]],
    ['behind', (watched: Watched) => [passing, breakerMiddleware(watched.session)]],
  ])('the model reads its error, as without middleware: %s', async (_, middleware) => {
    const watched = watchedSession();
    const without = await runAgent([], [subagent()], script);
    const { heard, text } = await runAgent(middleware(watched), [subagent()], script);
    expect(text).toBe('Done.');
    expect(heard).toEqual(without.heard);
    expect(heard).toEqual(['Error: 529 overloaded\n Please fix your mistakes.']);
    expect(watched.outcomes).toEqual(['research: failure, server']);
  });

  test('a middleware that fails because of it ends the run', async () => {
    const { session } = watchedSession();
    const run = runAgent([breakerMiddleware(session), overloaded], [subagent()], script);
    await expect(run).rejects.toThrow('529 overloaded');
  });
});

describe('one middleware for many conversations', () => {
  test('R4: a tool of another conversation is not called as an alternative', async () => {
    const alternatives = [{ tool: 'news', degradation: 'low', adapt: (input: unknown) => input } as const];
    const tools = { search: { failureThreshold: 1, alternatives }, news: {} };
    const paid = watchedSession({ tools });
    const free = watchedSession({ tools });
    const shared = breakerMiddleware(currentSession, { inPlace: ['news'], interruptOn: {} });
    const dead = broken();
    const news = search(async () => 'the news', { name: 'news' });
    const script = [[ask('x')], [ask('y')], 'Done.'];
    open(paid);
    const paying = () => withSession(paid.session, () => runAgent([shared], [dead, news], script));
    const meanwhile = createMiddleware({
      name: 'meanwhile',
      wrapToolCall: async (request, handler) => {
        if (request.toolCall.args.q === 'y') expect((await paying()).heard[1]).toContain('the news');
        return handler(request);
      },
    });
    const freely = withSession(free.session, () => runAgent([shared, meanwhile], [dead], script));
    expect((await freely).heard[1]).toContain("Use 'news' instead");
    expect(free.decisions).toEqual(['search: call', 'search: skip']);
    expect(paid.decisions).toEqual(['search: call', 'search: skip', 'news: call', 'search: skip', 'news: call']);
  });

  test('later middleware gets the same object for a tool at each call, with its name', async () => {
    const seen: unknown[] = [];
    const looking = createMiddleware({
      name: 'looking',
      wrapToolCall: (request, handler) => {
        seen.push(request.tool);
        return handler(request);
      },
    });
    const { session } = watchedSession();
    const ours = breakerMiddleware(session);
    const found = search(async () => 'found');
    await runAgent([ours, looking], [found], [[ask('x')], [ask('y')], 'Done.']);
    expect(seen[0]).toMatchObject({ name: 'search' });
    expect(seen[1]).toBe(seen[0]);
  });

  test('without a session on resume, the run ends; the conversation does not see that', async () => {
    const { session, decisions } = watchedSession();
    const { model, heard } = scriptedModel([[ask('x')], 'Done.']);
    const config = { configurable: { thread_id: 'one' } };
    const agent = createAgent({
      model,
      tools: [search(async () => interrupt('sure?'))],
      middleware: [breakerMiddleware(currentSession)],
      checkpointer: new MemorySaver(),
    });
    await withSession(session, () => agent.invoke({ messages: 'Go.' }, config));
    const none = createAgent({
      model,
      tools: [broken()],
      middleware: [breakerMiddleware(currentSession)],
      checkpointer: agent.checkpointer as MemorySaver,
    });
    await expect(none.invoke(new Command({ resume: 'yes' }), config)).rejects.toThrow('withSession');
    await withSession(session, () => agent.invoke(new Command({ resume: 'yes' }), config));
    expect(heard()).toEqual(['yes']);
    expect(decisions).toEqual(['search: call', 'search: call']);
  });
});

describe('except', () => {
  test('skips the decision for these tools, and their errors are messages like others', async () => {
    const { session, box, decisions } = watchedSession();
    const ours = breakerMiddleware(session, { except: ['search'] });
    const { heard, text } = await runAgent([ours, passing], [broken()], [[ask('x')], 'Done.']);
    expect(heard).toEqual(['Error: connect ECONNREFUSED 127.0.0.1:9\n Please fix your mistakes.']);
    expect(text).toBe('Done.');
    expect(decisions).toEqual([]);
    expect(box.tools).toEqual([]);
  });

  test('R4: none of them is called as an alternative', async () => {
    const alternatives = [{ tool: 'news', degradation: 'low', adapt: (input: unknown) => input } as const];
    const { session, decisions } = watchedSession({
      tools: { search: { failureThreshold: 1, alternatives }, news: {} },
    });
    const news = search(async () => new ToolMessage({ content: 'the news', tool_call_id: '?' }), { name: 'news' });
    const ours = breakerMiddleware(session, { except: ['news'], inPlace: ['news'], interruptOn: {} });
    const dead = search(() => Promise.reject(refused));
    const { heard } = await runAgent([ours], [dead, news], [[ask('x')], [ask('y')], 'Done.']);
    expect(heard[1]).toContain("Use 'news' instead");
    expect(decisions).toEqual(['search: call', 'search: skip']);
  });
});
