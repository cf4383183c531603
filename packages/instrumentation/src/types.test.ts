/** What has to typecheck, and what must not: `tsc` reads this file too. */
import type { ToolConfig } from '@breakerbox/core';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { type GuardedFunction, guard } from './index.ts';
import { watchedSession } from './test-support/watched-session.ts';

describe('types', () => {
  const { session } = watchedSession();

  test('a tool without input is called without arguments', async () => {
    const now = guard(session, 'now', async () => 'x');
    expect(await now()).toBe('x');
    expect(await now(undefined, { callId: 'call-1' })).toBe('x');
    const maybe = guard(session, 'maybe', async (page?: number) => page ?? 1);
    expect([await maybe(), await maybe(2)]).toEqual([1, 2]);
  });

  test('a tool with input needs it', () => {
    const search = guard(session, 'search', async ({ query }: { query: string }) => [query]);
    expectTypeOf(search).toEqualTypeOf<GuardedFunction<{ query: string }, string[]>>();
    expectTypeOf(search).parameter(0).toEqualTypeOf<{ query: string }>();
    // @ts-expect-error it needs its input
    const call = () => search();
    expect(call).toBeTypeOf('function');
  });

  test('any guarded function can be an alternative, whatever its input', () => {
    const now = guard(session, 'now', async () => 'x');
    const search = guard(session, 'search', async ({ query }: { query: string }) => [query]);
    expect(guard(session, 'first', async (_: number) => 1, { alternatives: { now, search } })).toBeTypeOf('function');
  });

  test('R4: adapt names the input of the alternative', () => {
    const adapt = (input: { query: string }) => ({ topic: input.query });
    const web: ToolConfig = { alternatives: [{ tool: 'news', adapt }] };
    const inline: ToolConfig = {
      alternatives: [{ tool: 'news', adapt: ({ query }: { query: string }) => ({ topic: query }) }],
    };
    expect([web, inline]).toHaveLength(2);
    // @ts-expect-error it is a function
    const none: ToolConfig = { alternatives: [{ tool: 'news', adapt: 'topic' }] };
    expect(none).toBeDefined();
  });

  test('a generator stays a generator', async () => {
    const pages = guard(session, 'pages', async function* (_: string) {
      yield 1;
    });
    expectTypeOf(pages).returns.resolves.toEqualTypeOf<AsyncGenerator<number, void, unknown>>();
    const read = await pages('x');
    expect(await read.next()).toEqual({ done: false, value: 1 });
  });
});
