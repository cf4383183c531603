import { BreakerboxConfigError, BreakerboxUsageError } from '@breakerbox/core';
import { describe, expect, expectTypeOf, test, vi } from 'vitest';
import { type GuardedFunction, guardAll, ToolUnavailableError } from './index.ts';
import { open, watchedSession } from './test-support/watched-session.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const failing = async (): Promise<never> => {
  throw refused;
};

describe('guardAll', () => {
  test('guards each function by its name', async () => {
    const { box, session, decisions, outcomes } = watchedSession();
    const { search, news } = guardAll(session, { search: failing, news: async (topic: string) => `news of ${topic}` });
    expect(box.tools).toEqual(['search', 'news']);
    for (let call = 0; call < 3; call += 1) await expect(search()).rejects.toBe(refused);
    await expect(search()).rejects.toThrow(ToolUnavailableError);
    expect(await news('x')).toBe('news of x');
    expect(decisions).toEqual([...Array(3).fill('search: call'), 'search: skip', 'news: call']);
    expect(outcomes).toEqual([...Array(3).fill('search: failure, network'), 'news: success']);
  });

  test('passes on the input and signal of a call, and the options to each function', async () => {
    const { session, outcomes } = watchedSession();
    const tokens = vi.fn(() => 5);
    const { echo, hang } = guardAll(
      session,
      { echo: (input: string, { permit }) => [input, permit.tool], hang: () => new Promise<never>(() => {}) },
      { timeoutMs: 10, tokens },
    );
    expect(await echo('x', { callId: 'call-1' })).toEqual(['x', 'echo']);
    await expect(hang()).rejects.toMatchObject({ name: 'TimeoutError' });
    const left = AbortSignal.abort(new Error('the user left'));
    await expect(echo('y', { signal: left })).rejects.toThrow('the user left');
    expect(outcomes).toEqual(['echo: success', 'hang: failure, timeout']);
    expect(tokens).toHaveBeenCalledTimes(2);
  });

  test('R4: the functions are alternatives of each other, in any order', async () => {
    const adapt = (query: string) => ({ topic: query });
    const { session } = watchedSession({
      tools: {
        web: { failureThreshold: 1, alternatives: [{ tool: 'news', degradation: 'low', adapt }] },
        archive: { failureThreshold: 1, alternatives: [{ tool: 'news', degradation: 'high', adapt }] },
        news: {},
      },
      systemic: false,
    });
    const { web, archive } = guardAll(session, {
      web: async (_: string): Promise<string> => failing(),
      news: async ({ topic }: { topic: string }) => `news of ${topic}`,
      archive: async (_: string): Promise<string> => failing(),
    });
    for (const [name, tool] of Object.entries({ web, archive })) {
      open({ session }, name);
      expect(await tool('breakers')).toMatch(/^\[answered by 'news' in place of .*\nnews of breakers$/);
    }
  });

  test('E3: functions keep the record as `this`; a sibling that they call through it is the plain one', async () => {
    const { session, decisions } = watchedSession();
    const tools = {
      at: (path: string) => `wiki/${path}`,
      async page(path: string): Promise<string> {
        return this.at(path);
      },
    };
    const { page } = guardAll(session, tools);
    expect(await page('breakers')).toBe('wiki/breakers');
    expect(decisions).toEqual(['page: call']);
  });

  test('invalid arguments are rejected', () => {
    const { session } = watchedSession();
    for (const [tools, shown] of [
      [null, 'null'],
      [[failing], 'an array'],
      ['search', 'a value of type string'],
      [new Map([['search', failing]]), 'a value of type object'],
    ] as const) {
      expect(() => guardAll(session, tools as never)).toThrow(
        new BreakerboxUsageError(
          `guardAll(): got ${shown} instead of tools, so there is nothing to guard. Pass an object with one function for each tool name.`,
        ),
      );
    }
    expect(() => guardAll(session, { search: 'https://search.example' } as never)).toThrow(
      /guard\('search'\): the tool is a value/,
    );
    expect(() => guardAll({} as never, { search: failing })).toThrow(BreakerboxUsageError);
    expect(() => guardAll(session, { search: failing }, { timeoutMs: -1 })).toThrow(BreakerboxConfigError);
    expect(() => guardAll(session, {}, { timeout: 5 } as never)).toThrow(
      /guardAll\(\) options\.timeout: is not an option/,
    );
    expect(() => guardAll(session, {}, { alternatives: {} } as never)).toThrow(
      /options\.alternatives: is not an option/,
    );
    expect(() => guardAll(session, {}, null as never)).toThrow(BreakerboxConfigError);
  });
});

describe('types', () => {
  const { session } = watchedSession();

  test('input and result of each are kept; a call needs no annotation', () => {
    const all = guardAll(session, {
      search: async ({ query }: { query: string }, { signal, permit }) => {
        expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
        expectTypeOf(permit.tool).toEqualTypeOf<string>();
        return [query];
      },
      now: async () => 'x',
      maybe: async (page?: number) => page ?? 1,
      at_once: (n: number) => n,
      pages: async function* (_: string, { signal }) {
        yield signal.aborted;
      },
    });
    expectTypeOf(all.search).toEqualTypeOf<GuardedFunction<{ query: string }, string[]>>();
    expectTypeOf(all.now).toEqualTypeOf<GuardedFunction<undefined, string>>();
    expectTypeOf(all.now).toBeCallableWith();
    expectTypeOf(all.maybe).toEqualTypeOf<GuardedFunction<number | undefined, number>>();
    expectTypeOf(all.maybe).toBeCallableWith();
    expectTypeOf(all.at_once).toEqualTypeOf<GuardedFunction<number, number>>();
    expectTypeOf(all.pages).returns.resolves.toEqualTypeOf<AsyncGenerator<boolean, void, unknown>>();
    // @ts-expect-error it needs its input
    expect(() => all.search().catch(() => {})).not.toThrow();
  });

  test('a value that is not a record of functions does not typecheck', () => {
    // @ts-expect-error no function
    expect(() => guardAll(session, { search: 5 })).toThrow();
    // @ts-expect-error no object
    expect(() => guardAll(session, undefined)).toThrow();
    // @ts-expect-error they are each other's
    expect(() => guardAll(session, {}, { alternatives: {} })).toThrow();
  });
});
