import { BreakerboxUsageError } from '@breakerbox/core';
import { afterEach, describe, expect, expectTypeOf, test, vi } from 'vitest';
import { activeSession } from './active-session.ts';
import { guardTools } from './ai-sdk/ai-sdk.ts';
import { guard } from './guard.ts';
import { guardAll } from './guard-all.ts';
import { hookedCalls } from './hooked-calls.ts';
import { currentSession, withSession } from './session.ts';
import { watchedSession } from './test-support/watched-session.ts';

const two = () => [watchedSession(), watchedSession()] as const;
const turn = () => new Promise((resolve) => setImmediate(resolve));

const piecesOf = async (source: AsyncIterable<unknown>): Promise<unknown[]> => {
  const pieces: unknown[] = [];
  for await (const piece of source) pieces.push(piece);
  return pieces;
};

afterEach(() => {
  vi.resetModules();
});

describe('withSession', () => {
  test('returns what the function returns, and throws what it throws', async () => {
    const { session } = watchedSession();
    expect(withSession(session, () => 0)).toBe(0);
    expectTypeOf(withSession(session, async () => 'done')).toEqualTypeOf<Promise<string>>();
    const error = new Error('no');
    expect(() =>
      withSession(session, () => {
        throw error;
      }),
    ).toThrow(error);
    await expect(withSession(session, () => Promise.reject(error))).rejects.toBe(error);
    expect(activeSession()).toBeUndefined();
  });

  test('is valid only inside, and the innermost session counts', () => {
    const [outer, inner] = two();
    withSession(outer.session, () => {
      expect(currentSession()).toBe(outer.session);
      withSession(inner.session, () => expect(currentSession()).toBe(inner.session));
      expect(currentSession()).toBe(outer.session);
    });
    expect(activeSession()).toBeUndefined();
  });

  test('is valid in asynchronous work that started inside, timers and callbacks too, after it has returned', async () => {
    const { session } = watchedSession();
    const seen: unknown[] = [];
    const started = withSession(session, () => {
      const later = new Promise<void>((resolve) =>
        setImmediate(() => {
          seen.push(activeSession());
          resolve();
        }),
      );
      return { later };
    });
    expect(activeSession()).toBeUndefined();
    await started.later;
    await withSession(session, async () => {
      await turn();
      seen.push(currentSession());
    });
    expect(seen).toEqual([session, session]);
  });

  test('goes around the loop that reads a generator: a generator that is made inside runs where it is read', async () => {
    const [made, read] = two();
    async function* sessions() {
      yield activeSession();
      await turn();
      yield activeSession();
    }
    const inside = await withSession(read.session, async () => piecesOf(withSession(made.session, sessions)));
    expect(inside).toEqual([read.session, read.session]);
    expect(await piecesOf(withSession(made.session, sessions))).toEqual([undefined, undefined]);
  });
});

describe('currentSession', () => {
  test('outside withSession names the fix', () => {
    expect(currentSession).toThrow(BreakerboxUsageError);
    expect(currentSession).toThrow(/Run the agent inside withSession\(session, \(\) => …\)/);
  });

  test('gives tools that are guarded once the session of each conversation, concurrently', async () => {
    const [broken, working] = two();
    const search = async ({ up }: { up: boolean }) => {
      await turn();
      if (!up) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
      return 'found';
    };
    const guarded = guard(currentSession, 'search', search);
    const all = guardAll(currentSession, { news: search });
    const tools = guardTools({ wiki: { inputSchema: {} as never, execute: search } }, currentSession);
    const wiki = async (input: { up: boolean }) => tools.wiki.execute(input);
    const conversation = async (up: boolean) => {
      const ends: unknown[] = [];
      for (const call of [guarded, all.news, wiki])
        ends.push(await call({ up }).catch((error: Error) => error.message));
      return ends;
    };
    const ends = await Promise.all([
      withSession(broken.session, () => conversation(false)),
      withSession(working.session, () => conversation(true)),
    ]);
    expect(ends).toEqual([Array(3).fill('connect ECONNREFUSED'), Array(3).fill('found')]);
    expect(broken.outcomes).toEqual(['search', 'news', 'wiki'].map((tool) => `${tool}: failure, network`));
    expect(working.outcomes).toEqual(['search', 'news', 'wiki'].map((tool) => `${tool}: success`));
  });

  test('is missing for a call outside withSession, which is not made: the caller gets the reason', async () => {
    const run = vi.fn(async () => 'found');
    const search = guard(currentSession, 'search', run);
    await expect(search()).rejects.toThrow(BreakerboxUsageError);
    expect(run).not.toHaveBeenCalled();
  });

  test('keeps the hooked calls of each conversation apart, those with the same id too', () => {
    const [one, other] = two();
    const calls = hookedCalls(currentSession);
    for (const { session } of [one, other]) {
      withSession(session, () => calls.acquire({ callId: 'call-1', tool: 'search' }));
    }
    withSession(one.session, () => calls.settle('call-1', { outcome: 'success' }));
    withSession(other.session, () => calls.abandon());
    expect(one.outcomes).toEqual(['search: success']);
    expect(other.outcomes).toEqual(['search: ignored, cancelled']);
  });
});
