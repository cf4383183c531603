import { createRequire } from 'node:module';
import { scriptedModel } from '@breakerbox/scripted-models/langchain';
import { RunnableLambda } from '@langchain/core/runnables';
import { DynamicTool, StructuredTool, tool } from '@langchain/core/tools';
import { createAgent, tool as langchainTool } from 'langchain';
import { describe, expect, test } from 'vitest';
import { ask, broken, callOf, query, refused, runAgent, runGraph, search } from '../test-support/langchain-agents.ts';
import { watchedSession } from '../test-support/watched-session.ts';
import { breakerMiddleware, guardTool, guardTools } from './langchain.ts';

const open = { tools: { search: { failureThreshold: 1 } } };

describe('a guarded tool behaves like the tool', () => {
  class Private extends StructuredTool {
    readonly #answer: string;
    readonly name = 'search';
    readonly description = 'Searches';
    readonly schema = query;
    constructor(answer: string) {
      super();
      this.#answer = answer;
    }
    get answer(): string {
      return this.#answer;
    }
    override async _call({ q }: { q: string }): Promise<string> {
      return `${this.#answer} ${q}`;
    }
  }

  test('a frozen tool', async () => {
    const { session, decisions } = watchedSession();
    const own = Object.freeze(Object.assign(new Private('found'), { invoke: async () => 'its own' }));
    expect(await guardTool(own, session).invoke({ q: 'x' })).toBe('its own');
    expect(decisions).toEqual(['search: call']);
  });

  test('private members, accessors, name, schema, prototype', async () => {
    const { session, decisions } = watchedSession();
    const own = new Private('found');
    const guarded = guardTool(own, session);
    expect(guarded).toBeInstanceOf(Private);
    expect(guarded.schema).toBe(own.schema);
    expect(guarded.answer).toBe('found');
    expect(await guarded.invoke({ q: 'x' })).toBe('found x');
    expect(decisions).toEqual(['search: call']);
    expect(await own.invoke({ q: 'x' })).toBe('found x');
    expect(decisions).toHaveLength(1);
  });

  test('methods that use private members, and one object for each method of LangChain', async () => {
    class Counting extends Private {
      #times = 0;
      reset(): void {
        this.#times = 0;
      }
      override async _call(input: { q: string }): Promise<string> {
        this.#times += 1;
        return `${await super._call(input)} ${this.#times}`;
      }
    }
    const guarded = guardTool(new Counting('found'), watchedSession().session);
    expect(await guarded.invoke({ q: 'x' })).toBe('found x 1');
    guarded.reset();
    expect(await guarded.invoke({ q: 'x' })).toBe('found x 1');
    expect(guarded.constructor).toBe(Counting);
    expect(guarded.batch).toBe(Counting.prototype.batch);
  });

  /** As tools with a cache, or of a remote platform, are made. */
  class Cached extends Private {
    readonly #answers = new Map<string, unknown>();
    override async invoke(...given: Parameters<Private['invoke']>): Promise<never> {
      const key = JSON.stringify(given[0]);
      if (!this.#answers.has(key)) this.#answers.set(key, await super.invoke(...given));
      return this.#answers.get(key) as never;
    }
  }

  test('a class with its own invoke is guarded around it, by guardTool and by the middleware', async () => {
    const { session, decisions, outcomes } = watchedSession(open);
    const guarded = guardTool(new Cached('found'), session);
    expect(await guarded.invoke({ q: 'x' })).toBe('found x');
    expect(await guarded.invoke(callOf('y'))).toMatchObject({ content: 'found y', tool_call_id: 'call-1' });
    expect(await guarded.batch([{ q: 'x' }])).toEqual(['found x']);
    expect(await guarded.call({ q: 'x' })).toBe('found x');
    expect(decisions).toEqual(Array(4).fill('search: call'));
    const { heard } = await runAgent(
      [breakerMiddleware(session)],
      [new Cached('found')],
      [[ask('x'), ask(5)], 'Done.'],
    );
    expect(heard).toEqual(['found x', expect.stringContaining('did not match expected schema')]);
    expect(outcomes.slice(4).toSorted().toReversed()).toEqual(['search: success', 'search: ignored, invalid_input']);
  });

  test('its rejection is a message too, in any response format', async () => {
    const { session } = watchedSession(open);
    const cached = new Cached('found');
    cached.responseFormat = 'content_and_artifact';
    const guarded = guardTool(cached, session);
    session.control('search', 'forced_open');
    const content = expect.stringContaining('is unavailable');
    expect(await guarded.invoke(callOf('x'))).toMatchObject({ content, status: 'error', tool_call_id: 'call-1' });
  });

  test('a class whose invoke never runs its function is guarded', async () => {
    class Remote extends Private {
      override async invoke(): Promise<never> {
        throw refused;
      }
    }
    const { session, outcomes } = watchedSession();
    const guarded = guardTool(new Remote(''), session);
    await expect(guarded.invoke()).rejects.toBe(refused);
    await expect(guarded.call({ q: 'x' })).rejects.toBe(refused);
    expect(outcomes).toEqual(Array(2).fill('search: failure, network'));
  });

  test('invoke, call, batch, stream and withConfig all make a decision', async () => {
    const { session, decisions } = watchedSession();
    const guarded = guardTool(
      search(async ({ q }) => `found ${q}`),
      session,
    );
    expect(await guarded.invoke({ q: 'a' })).toBe('found a');
    expect(await guarded.call({ q: 'b' })).toBe('found b');
    expect(await guarded.batch([{ q: 'c' }, { q: 'd' }])).toEqual(['found c', 'found d']);
    for await (const piece of await guarded.stream({ q: 'e' })) expect(piece).toBe('found e');
    expect(await guarded.withConfig({ tags: ['tagged'] }).invoke({ q: 'f' })).toBe('found f');
    expect(await guarded.pipe(RunnableLambda.from((text: string) => text.length)).invoke({ q: 'g' })).toBe(7);
    expect(decisions).toEqual(Array(7).fill('search: call'));
  });

  test('so do all methods of a tool made from a Runnable', async () => {
    const { session, decisions } = watchedSession();
    const runnable = RunnableLambda.from<{ q: string }, string>(({ q }) => `found ${q}`);
    const [guarded] = guardTools([runnable.asTool({ name: 'search', schema: query })], session) as unknown as [
      typeof runnable,
    ];
    expect(await guarded.invoke({ q: 'a' })).toBe('found a');
    expect(await guarded.batch([{ q: 'b' }, { q: 'c' }])).toEqual(['found b', 'found c']);
    for await (const piece of await guarded.stream({ q: 'd' })) expect(piece).toBe('found d');
    expect(await guarded.withConfig({ tags: ['tagged'] }).invoke({ q: 'e' })).toBe('found e');
    expect(await guarded.withRetry().invoke({ q: 'f' })).toBe('found f');
    expect(await guarded.pipe(RunnableLambda.from((text: string) => text.length)).invoke({ q: 'g' })).toBe(7);
    expect(decisions).toEqual(Array(7).fill('search: call'));
  });

  const cjs = createRequire(import.meta.url)('@langchain/core/tools') as { tool: typeof tool };
  const down = () => Promise.reject<string>(refused);
  const settings = { name: 'search', description: '', schema: query };

  test.each([
    ['the CJS build', () => cjs.tool(down, settings)],
    ['DynamicTool', () => new DynamicTool({ name: 'search', description: '', func: down })],
    ['a Runnable', () => RunnableLambda.from<{ q: string }, string>(down).asTool(settings)],
  ])('tools of %s', async (_, make) => {
    const { session, decisions } = watchedSession(open);
    const call = (q: string) => [{ tool: 'search', input: { q, input: q } }];
    const { messages, text } = await runGraph(guardTools([make()], session), [call('x'), call('y'), 'Done.']);
    expect(text).toBe('Done.');
    expect(decisions).toEqual(['search: call', 'search: skip']);
    expect(messages[1]).toMatchObject({ content: expect.stringContaining('is unavailable'), status: 'error' });
  });

  test('the CJS build has different classes', () => {
    expect(cjs.tool(down, settings)).not.toBeInstanceOf(tool(down, settings).constructor);
  });

  test('arguments that the schema of a Runnable rejects cost nothing', async () => {
    const { session, outcomes } = watchedSession();
    const runnable = RunnableLambda.from<{ q: string }, string>(() => 'found').asTool({
      name: 'runnable',
      schema: query,
    });
    await runGraph(guardTools([runnable], session), [[ask(5, 'runnable')], 'Done.']);
    expect(outcomes).toEqual(['runnable: ignored, invalid_input']);
  });

  test('some are passed on unchanged: provider tools, headless tools, guarded tools', () => {
    const { session, box } = watchedSession();
    const provider = { type: 'web_search_preview', name: 'web_search' };
    const headless = langchainTool({ name: 'location', description: '', schema: query });
    const guarded = guardTool(broken(), session);
    const given = guardTools([provider, headless, guarded], session);
    expect(given[0]).toBe(provider);
    expect(given[1]).toBe(headless);
    expect(given[2]).toBe(guarded);
    expect(box.tools).toEqual(['search']);
  });

  test('createAgent and bindTools accept them', async () => {
    const { session } = watchedSession(open);
    const { model, heard } = scriptedModel([[ask('x')], [ask('y')], 'Done.']);
    await createAgent({ model, tools: guardTools([broken()], session) }).invoke({ messages: 'Go.' });
    expect(heard()).toEqual([
      expect.stringMatching(
        /^Error: connect ECONNREFUSED 127.0.0.1:9\n<breakerbox>.*<.breakerbox>\n Please fix your mistakes\.$/,
      ),
      expect.stringContaining("Tool 'search' is unavailable"),
    ]);
  });
});
