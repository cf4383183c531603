import { diag } from '@opentelemetry/api';
import { afterEach, describe, expect, expectTypeOf, test, vi } from 'vitest';
import { type GuardOptions, guard, ToolUnavailableError } from './index.ts';
import { listenToDiag } from './test-support/diagnosed.ts';
import { watchedSession } from './test-support/watched-session.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

afterEach(() => diag.disable());

describe('O5: the arguments reach the loop guard', () => {
  test.each<[string, unknown, unknown]>([
    ['objects', { id: 1, deep: { a: [1] } }, { id: 2, deep: { a: [1] } }],
    ['none at all', undefined, 'some'],
  ])('O5: %s', async (_, same, other) => {
    const { session } = watchedSession();
    const find = vi.fn((_input: unknown) => ({ error: 'unknown order id' }));
    const orders = guard(session, 'orders', find);
    for (let call = 0; call < 3; call += 1) await orders(structuredClone(same));
    await expect(orders(structuredClone(same))).rejects.toMatchObject({ reason: 'repeat', decision: 'skip' });
    await orders(other);
    await orders(same);
    expect(find).toHaveBeenCalledTimes(5);
  });

  test('O5: arguments that throw when they are read do not change the call', async () => {
    const { session, outcomes } = watchedSession();
    const trap = () => {
      throw new Error('do not look at me');
    };
    const hostile = new Proxy({}, { get: trap, getPrototypeOf: trap, has: trap, ownKeys: trap });
    expect(await guard(session, 'tool', (input: object) => input === hostile)(hostile)).toBe(true);
    expect(outcomes).toEqual(['tool: success']);
  });
});

describe('F1: results that may not be current', () => {
  const labelling = () => watchedSession({ tools: { rates: { labelFreshness: true } } }).session;

  test('F1: are labelled if the tool asks for it; fresh results are the same object', async () => {
    const rate = { usd: 1.1 };
    const rates = guard(labelling(), 'rates', (_: string) => rate);
    expect(await rates('eur')).toBe(rate);
    expect(await rates('eur')).toEqual({
      usd: 1.1,
      freshness: 'cached: identical to the last answer, retrieved 1970-01-01 00:00:00 UTC',
    });
    expect(await rates('gbp')).toBe(rate);
    expect(rate).toEqual({ usd: 1.1 });
  });

  test('F1: are not changed without the option', async () => {
    const rate = { usd: 1.1 };
    const rates = guard(watchedSession().session, 'rates', (_: string) => rate);
    for (let call = 0; call < 2; call += 1) expect(await rates('eur')).toBe(rate);
  });

  test.each([
    [{ retrievedUnixMs: -60_000 }, 'stale: retrieved 1969-12-31 23:59:00 UTC'],
    [{ retrievedUnixMs: null }, 'freshness_unknown: retrieved at an unknown time'],
    [{ verified: false }, 'unverified: not checked, retrieved 1970-01-01 00:00:00 UTC'],
  ])('F1: have the label that freshness() returns: %o', async (hint, label) => {
    const rates = guard(labelling(), 'rates', (_: string) => '1.1', { freshness: () => hint });
    expect(await rates('eur')).toBe(`[${label}]\n1.1`);
  });

  test('F1, E5: if freshness() throws, that is reported and the result is fresh', async () => {
    const heard = listenToDiag();
    const rates = guard(labelling(), 'rates', (_: string) => '1.1', {
      freshness: () => {
        throw refused;
      },
    });
    expect(await rates('eur')).toBe('1.1');
    expect(heard).toEqual([[expect.stringContaining("freshness() of tool 'rates' failed"), refused]]);
  });
});

describe('O4: the cost of a call', () => {
  const spending = (
    tokens: (end: { result?: { used: number } | undefined; error?: unknown }) => number | undefined,
  ) => {
    const watched = watchedSession();
    const spent: (number | undefined)[] = [];
    watched.box.on('outcome', (event) => spent.push(event.tokens));
    const call = guard(
      watched.session,
      'agent',
      async (fails: boolean, { signal }) => {
        if (fails) throw Object.assign(new Error('overloaded'), { status: 503, usage: 70 });
        if (signal.aborted) throw signal.reason;
        return { used: 812 };
      },
      { tokens },
    );
    return { call, spent, outcomes: watched.outcomes };
  };

  test('O4: is read from the result or from the error', async () => {
    const { call, spent } = spending(({ result, error }) => result?.used ?? (error as { usage: number }).usage);
    await call(false);
    await expect(call(true)).rejects.toThrow('overloaded');
    expect(spent).toEqual([812, 70]);
  });

  test('O4: is read from the reason that stopped the call', async () => {
    const watched = watchedSession();
    const spent: (number | undefined)[] = [];
    watched.box.on('outcome', (event) => spent.push(event.tokens));
    const tokens = vi.fn(() => 5);
    const hanging = guard(watched.session, 'agent', () => new Promise<void>(() => {}), { timeoutMs: 5, tokens });
    const reason = await hanging(1).catch((error) => error);
    expect(tokens).toHaveBeenCalledExactlyOnceWith({ error: reason });
    expect(spent).toEqual([5]);
  });

  test('O4, E5: if the reader throws, that is reported and costs nothing else', async () => {
    const heard = listenToDiag();
    const { call, spent, outcomes } = spending(() => {
      throw refused;
    });
    expect(await call(false)).toEqual({ used: 812 });
    await expect(call(true)).rejects.toThrow('overloaded');
    expect(outcomes).toEqual(['agent: success', 'agent: failure, server']);
    expect(spent).toEqual([undefined, undefined]);
    expect(heard).toHaveLength(2);
    expect(heard[0]?.[0]).toContain("tokens() of tool 'agent' failed");
  });

  test.each(['tokens', 'freshness'])(
    'E5: %s that returns a promise has no effect, and its rejection is reported',
    async (key) => {
      const heard = listenToDiag();
      const { session, outcomes } = watchedSession({ tools: { agent: { labelFreshness: true } } });
      const late = async () => {
        throw refused;
      };
      expect(await guard(session, 'agent', () => 'done', { [key]: late } as never)(1)).toBe('done');
      expect(outcomes).toEqual(['agent: success']);
      await vi.waitFor(() => expect(heard).toHaveLength(2));
      expect(heard).toEqual([
        [expect.stringContaining(`${key}() of tool 'agent' failed`), expect.objectContaining({ name: 'TypeError' })],
        [expect.stringContaining(`${key}() of tool 'agent' failed`), refused],
      ]);
    },
  );

  test.each([['tokens'], ['freshness']])('%s that is not a function is rejected', (key) => {
    expect(() => guard(watchedSession().session, 'agent', () => 1, { [key]: 5 } as never)).toThrow(
      new RegExp(`options\\.${key}: is 5\\. Set a function`),
    );
  });
});

test('options do not change the type of the result', () => {
  const { session } = watchedSession();
  const options: GuardOptions = { timeoutMs: 5, tokens: () => 1 };
  const any = guard(session, 'any', async (page: number) => `${page}`, options);
  expectTypeOf(any).returns.resolves.toEqualTypeOf<string>();
  const own = guard(session, 'own', async (page: number) => ({ page }), { tokens: ({ result }) => result?.page });
  expectTypeOf(own).returns.resolves.toEqualTypeOf<{ page: number }>();
});

test('R2: a rejection names the route, without results', async () => {
  const { session } = watchedSession({
    tools: { search: { failureThreshold: 1, fallback: 'ask the user for a link' } },
  });
  const search = guard(session, 'search', (_: number) => Promise.reject(refused));
  await expect(search(1)).rejects.toBe(refused);
  const error = await search(1).catch((caught) => caught);
  expect(error).toBeInstanceOf(ToolUnavailableError);
  const fallback = 'ask the user for a link';
  expect(error.route).toEqual({ kind: 'manual', tool: undefined, degradation: undefined, fallback });
});
