import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { BreakerboxConfigError, BreakerboxUsageError } from '@breakerbox/core';
import { diag } from '@opentelemetry/api';
import { afterEach, describe, expect, expectTypeOf, it, vi } from 'vitest';
import { z } from 'zod';
import {
  type Answer,
  ask,
  broken,
  failing,
  play,
  query,
  refused,
  routed,
  search,
  type Tools,
} from '../test-support/anthropic-runner.ts';
import { listenToDiag } from '../test-support/diagnosed.ts';
import { rejectionOf } from '../test-support/rejection.ts';
import { open, watchedSession } from '../test-support/watched-session.ts';
import { guardTools } from './anthropic.ts';

afterEach(() => diag.disable());

describe('tools of the runner', () => {
  it('keep their types', () => {
    const { session } = watchedSession();
    const own = [
      search(() => 'found'),
      betaTool({ name: 'b', description: '', inputSchema: { type: 'object' }, run: () => '' }),
    ];
    expectTypeOf(guardTools(own, session)).toEqualTypeOf(own);
    const pair = [search(() => 'found'), { type: 'web_search_20250305', name: 'web_search' }] as const;
    expectTypeOf(guardTools(pair, session)).toEqualTypeOf(pair);
    expectTypeOf(guardTools(own, session)[0]?.parse).toEqualTypeOf(own[0]?.parse);
  });

  it('are sent to the API as without a guard', async () => {
    const tools: Tools = [
      { ...search(() => 'found'), cache_control: { type: 'ephemeral' } },
      { type: 'web_search_20250305', name: 'web_search' },
      betaMemoryTool({} as never),
    ];
    const [guarded, plain] = await Promise.all([
      play(watchedSession(), tools, ['Done.']),
      play(watchedSession(), tools, ['Done.'], { tools }),
    ]);
    expect(guarded.requests[0]?.tools).toEqual(plain.requests[0]?.tools);
    expect(guarded.requests[0]?.tools).toHaveLength(3);
  });

  it('are not changed, and provider tools are passed on unchanged', () => {
    const watched = watchedSession();
    const own = search(() => 'found');
    const { run } = own;
    const remote = { type: 'web_search_20250305', name: 'web_search' } as const;
    const toolset = { type: 'browser_toolset_20260801', run: () => [] } as const;
    const guarded = guardTools([own, remote, toolset], watched.session);
    expect(own.run).toBe(run);
    expect(guarded[0]).not.toBe(own);
    expect(guarded.slice(1)).toEqual([remote, toolset]);
    expect(guarded[1]).toBe(remote);
    expect(guarded[2]).toBe(toolset);
    expect(watched.box.tools).toEqual(['search']);
  });

  it('keep their `this`, private members included', async () => {
    class Counter {
      readonly type = 'custom' as const;
      readonly name = 'count';
      readonly input_schema = { type: 'object' as const };
      #calls = 0;
      parse(input: unknown): unknown {
        return input;
      }
      run(): string {
        this.#calls += 1;
        return `${this.#calls}`;
      }
    }
    const { heard } = await play(watchedSession(), [new Counter()], [ask('x', 'count'), ask('y', 'count'), 'Done.']);
    expect(heard).toEqual(['1', '2']);
  });

  it('can be called without a runner: a rejection is a rejected promise', async () => {
    const { session } = watchedSession({ tools: { search: { failureThreshold: 1 } } });
    const run = vi.fn(async (_: { q: string }, _context?: object) => 'found');
    const [tool] = guardTools([search(run)], session);
    expect(await tool?.run({ q: 'x' })).toBe('found');
    expect(run).toHaveBeenCalledWith({ q: 'x' }, undefined);
    run.mockRejectedValueOnce(refused);
    await expect(tool?.run({ q: 'y' })).rejects.toMatchObject({ cause: refused });
    expect(await rejectionOf(Promise.resolve(tool?.run({ q: 'z' })))).toMatchObject({
      tool: 'search',
      decision: 'skip',
    });
  });
});

describe('what the model reads', () => {
  it.each<[string, Answer, unknown]>([
    ['a text', 'found', expect.stringMatching(/^\[stale: .*\]\nfound$/s)],
    [
      'content blocks',
      [{ type: 'text', text: 'found' }],
      [
        { type: 'text', text: expect.stringMatching(/^\[stale: /) },
        { type: 'text', text: 'found' },
      ],
    ],
  ])('F2: %s as the last good result has its label and a shape that the API accepts', async (_, answer, wanted) => {
    const watched = watchedSession({ tools: { search: { failureThreshold: 1, serveStaleMs: 60_000 } } });
    const [tool] = guardTools([failing(answer)], watched.session);
    await tool?.run({ q: 'x' });
    await Promise.resolve(tool?.run({ q: 'down' })).catch(() => {});
    expect(await tool?.run({ q: 'x' })).toEqual(wanted);
  });

  it('F1: results of tools with `labelFreshness` have their label', async () => {
    const watched = watchedSession({ tools: { search: { labelFreshness: true } } });
    const [tool] = guardTools([search(() => [{ type: 'text', text: 'found' }])], watched.session);
    await tool?.run({ q: 'x' });
    expect(await tool?.run({ q: 'x' })).toEqual([
      { type: 'text', text: expect.stringMatching(/^\[cached: /) },
      { type: 'text', text: 'found' },
    ]);
  });
});

describe('R4: an alternative of the same array', () => {
  it('answers through its own schema, with a note and its own decision', async () => {
    const watched = routed();
    const news = betaZodTool({
      name: 'news',
      description: 'news',
      inputSchema: query.extend({ limit: z.number().default(3) }),
      run: ({ q, limit }) => [{ type: 'text', text: `${limit} news of ${q}` }],
    });
    open(watched);
    const { heard } = await play(watched, [broken, news], [ask('b'), 'Done.']);
    expect(heard[0]).toBe(
      "[answered by 'news' in place of 'search', which is unavailable: recent items only; much is lost]\n3 news of b",
    );
    expect(watched.decisions).toEqual(['search: call', 'search: skip', 'news: call']);
    expect(watched.outcomes).toEqual(['search: failure, network', 'news: success']);
  });

  it('leaves the rejection if its schema rejects the result of adapt()', async () => {
    const said = listenToDiag();
    const watched = routed();
    const news = betaZodTool({
      name: 'news',
      description: '',
      inputSchema: z.object({ topic: z.string() }),
      run: () => '',
    });
    const { heard } = await play(watched, [broken, news], [ask('a'), ask('b'), 'Done.']);
    expect(heard[1]).toMatch(/Tool 'search' is unavailable.*'news'/s);
    expect(said.flat().join()).toContain("parse() of tool 'news'");
    expect(watched.decisions).toEqual(['search: call', 'search: skip']);
  });
});

describe('invalid arguments', () => {
  const { session } = watchedSession();

  it('are rejected when the tools are guarded', () => {
    expect(() => guardTools({ search: broken } as never, session)).toThrow(BreakerboxUsageError);
    expect(() => guardTools([broken], {} as never)).toThrow(BreakerboxUsageError);
    expect(() => guardTools([broken], session, { timeoutMs: 0 })).toThrow(BreakerboxConfigError);
    expect(() => guardTools([broken], session, { timeOutMs: 5 } as never)).toThrow(/timeOutMs: is not an option/);
    expect(() => guardTools([broken], session, { tokens: 5 } as never)).toThrow(BreakerboxConfigError);
  });
});
