import { ToolMessage } from '@langchain/core/messages';
import { type DynamicStructuredTool, tool } from '@langchain/core/tools';
import { Command } from '@langchain/langgraph';
import { tool as langchainTool } from 'langchain';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { broken, callOf, refused, search } from '../test-support/langchain-agents.ts';
import { watchedSession } from '../test-support/watched-session.ts';
import { guardTool, guardTools } from './langchain.ts';

describe('instead of a rejection', () => {
  const stale = { tools: { search: { failureThreshold: 1, serveStaleMs: 60_000 } } };
  const once = (answer: unknown, more: object = {}) => {
    let calls = 0;
    return search(
      async () => {
        calls += 1;
        if (calls > 1) throw refused;
        return answer;
      },
      more as Record<string, unknown>,
    );
  };
  const outage = async (guarded: DynamicStructuredTool): Promise<unknown> => {
    await guarded.invoke(callOf('x'));
    await guarded.invoke(callOf('down')).catch(() => {});
    return guarded.invoke(callOf('x'));
  };

  test.each([
    ['text', 'found', {}, { content: expect.stringMatching(/^\[stale: retrieved .*\]\nfound$/) }],
    ['an object', { rows: 2 }, {}, { content: expect.stringMatching(/^{"rows":2,"freshness":"stale: .*"}$/) }],
    [
      'content blocks',
      [{ type: 'text', text: 'found' }],
      {},
      {
        content: [
          { type: 'text', text: expect.stringContaining('[stale') },
          { type: 'text', text: 'found' },
        ],
      },
    ],
    [
      'content, without its artifact',
      ['found', { rows: 2 }],
      { responseFormat: 'content_and_artifact' },
      { content: expect.stringMatching(/^\[stale.*found$/s), artifact: undefined },
    ],
  ])('F2: the last good result, labelled: %s', async (_, answer, more, expected) => {
    const { session } = watchedSession(stale);
    const given = await outage(guardTool(once(answer, more), session) as unknown as DynamicStructuredTool);
    expect(given).toMatchObject({ ...expected, tool_call_id: 'call-1' });
  });

  const routed = () => {
    const adapt = (input: unknown) => ({ topic: (input as { q: string }).q });
    const alternatives = [{ tool: 'news', degradation: 'low', note: 'recent items only', adapt } as const];
    const watched = watchedSession({ tools: { search: { failureThreshold: 1, alternatives }, news: {} } });
    watched.session.acquire('search').settle({ outcome: 'failure', category: 'network' });
    return watched;
  };
  const topic = z.object({ topic: z.string() });
  const NOTE = "[answered by 'news' in place of 'search', which is unavailable: recent items only; little is lost]";

  test.each([
    ['text', async () => 'the news', {}, { content: `${NOTE}\nthe news` }],
    [
      'a ToolMessage',
      async () => new ToolMessage({ content: 'the news', tool_call_id: '?' }),
      {},
      { content: `${NOTE}\nthe news` },
    ],
    [
      'content, without its artifact',
      async () => ['the news', 1],
      { responseFormat: 'content_and_artifact' },
      { content: `${NOTE}\nthe news`, artifact: undefined },
    ],
  ])('R4: an alternative of the list is called, with its own decision: %s', async (_, run, more, expected) => {
    const { session, decisions, outcomes } = routed();
    const news = tool(run as () => Promise<string>, { name: 'news', description: '', schema: topic, ...more });
    const [guarded] = guardTools([broken(), news], session, { inPlace: ['news'], interruptOn: {} });
    expect(await guarded?.invoke(callOf('x'))).toMatchObject({ ...expected, name: 'search', tool_call_id: 'call-1' });
    expect(decisions).toEqual(['search: call', 'search: skip', 'news: call']);
    expect(outcomes.slice(1)).toEqual(['news: success']);
  });

  test('R4: the alternative gets the id of the call, for its own messages', async () => {
    const { session } = routed();
    const calls: unknown[] = [];
    const news = tool(
      async (_, { toolCall }) => {
        calls.push(toolCall);
        return new ToolMessage({ content: 'the news', tool_call_id: toolCall.id });
      },
      { name: 'news', description: '', schema: topic },
    );
    const [guarded] = guardTools([broken(), news], session, { inPlace: ['news'], interruptOn: {} });
    expect(await guarded?.invoke(callOf('x'))).toMatchObject({ content: `${NOTE}\nthe news`, tool_call_id: 'call-1' });
    expect(calls).toEqual([{ type: 'tool_call', id: 'call-1', name: 'news', args: { topic: 'x' } }]);
  });

  test('R4, O2: an error in the result of the alternative is a failure of the alternative', async () => {
    const { session, outcomes } = routed();
    const news = tool(async () => ({ error: 'HTTP 503' }), { name: 'news', description: '', schema: topic });
    const [guarded] = guardTools([broken(), news] as const, session, { inPlace: ['news'], interruptOn: {} });
    await guarded.invoke(callOf('x'));
    expect(outcomes.slice(1)).toEqual(['news: failure, server']);
  });

  test('R4: a Command of the alternative is not changed', async () => {
    const command = new Command({ update: { seen: true } });
    const { session } = routed();
    const news = tool(async () => command, { name: 'news', description: '', schema: topic });
    const [guarded] = guardTools([broken(), news] as const, session, { inPlace: ['news'], interruptOn: {} });
    expect(await guarded.invoke(callOf('x'))).toBe(command);
  });

  test('F1: labels are put on results, but not on a ToolMessage or a Command', async () => {
    const { session } = watchedSession({ tools: { search: { labelFreshness: true } } });
    const answers: unknown[] = ['found', 'found'];
    const text = guardTool(
      search(async () => answers.shift()),
      session,
    );
    await text.invoke({ q: 'x' });
    expect(await text.invoke({ q: 'x' })).toMatch(/^\[cached: .*\]\nfound$/);
    const command = new Command({ update: { seen: true } });
    const other = guardTool(
      search(async () => command),
      session,
    );
    await other.invoke(callOf('y'));
    expect(await other.invoke(callOf('y'))).toBe(command);
  });

  test('R4: the schema of the alternative checks the result of adapt, and a mismatch costs nothing', async () => {
    const { session, outcomes } = routed();
    const news = tool(async () => 'the news', {
      name: 'news',
      description: '',
      schema: z.object({ topic: z.number() }),
    });
    const [guarded] = guardTools([broken(), news], session, { inPlace: ['news'], interruptOn: {} });
    await expect(guarded?.invoke(callOf('x'))).rejects.toThrow('did not match expected schema');
    expect(outcomes.slice(1)).toEqual(['news: ignored, invalid_input']);
  });

  test('R4: headless tools and tools with another guard are not called as alternatives', async () => {
    const headless = langchainTool({ name: 'news', description: '', schema: topic });
    const own = tool(async () => 'the news', { name: 'news', description: '', schema: topic });
    for (const news of [headless, guardTool(own, watchedSession().session)]) {
      const { session, decisions } = routed();
      const [guarded] = guardTools([broken(), news], session, { inPlace: ['news'], interruptOn: {} });
      const given = await (guarded as ReturnType<typeof broken>).invoke(callOf('x'));
      expect(given).toMatchObject({ content: expect.stringContaining("Use 'news' instead"), status: 'error' });
      expect(decisions).toEqual(['search: call', 'search: skip']);
    }
  });
});
