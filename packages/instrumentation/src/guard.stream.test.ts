import { trace } from '@opentelemetry/api';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { guard, ToolUnavailableError } from './index.ts';
import { lastOf } from './iterate.ts';
import { startTracing, stopTracing } from './test-support/tracing.ts';
import { watchedSession } from './test-support/watched-session.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

afterEach(stopTracing);

describe('a tool that streams', () => {
  test('succeeds when its pieces have been read to the end, and not before', async () => {
    const { session, outcomes } = watchedSession();
    const pages = guard(session, 'pages', async function* (count: number) {
      for (let page = 1; page <= count; page += 1) yield page;
      return 'all';
    });
    const pieces = await pages(2);
    expect(outcomes).toEqual([]);
    expect([await pieces.next(), await pieces.next()]).toEqual([1, 2].map((value) => ({ done: false, value })));
    expect(outcomes).toEqual([]);
    expect(await pieces.next()).toEqual({ done: true, value: 'all' });
    expect(await pieces.next()).toEqual({ done: true, value: undefined });
    expect(outcomes).toEqual(['pages: success']);
  });

  test('fails by an error among its pieces, and is then skipped', async () => {
    const { session, outcomes } = watchedSession({ defaults: { failureThreshold: 1 } });
    const pages = guard(session, 'pages', async function* (_?: undefined) {
      yield 1;
      throw refused;
    });
    await expect(lastOf(await pages())).rejects.toBe(refused);
    expect(outcomes).toEqual(['pages: failure, network']);
    await expect(pages()).rejects.toThrow(ToolUnavailableError);
  });

  test('may be a plain or promised async iterable; a second reading is not a new call', async () => {
    const made = {
      async *[Symbol.asyncIterator]() {
        yield 1;
        yield 2;
      },
    };
    for (const prototype of [Object.prototype, null]) {
      const { session, outcomes } = watchedSession();
      const pages = await guard(session, 'pages', async () => Object.setPrototypeOf({ ...made }, prototype))();
      expect(await lastOf(pages)).toBe(2);
      expect(await lastOf(pages)).toBe(2);
      expect(outcomes).toEqual(['pages: success']);
    }
  });

  test('may be the source of another guard: its end settles both', async () => {
    const { session, outcomes } = watchedSession();
    const inner = guard(session, 'inner', async function* (_?: undefined) {
      yield 1;
    });
    const pieces = await guard(session, 'outer', () => inner())();
    expect(outcomes).toEqual([]);
    expect(await lastOf(pieces)).toBe(1);
    expect(outcomes).toEqual(['inner: success', 'outer: success']);
  });

  test('costs nothing if its reader leaves early, and cleans up', async () => {
    const { session, outcomes } = watchedSession();
    const seen: string[] = [];
    const pages = guard(session, 'pages', async function* (_: undefined, { signal }) {
      try {
        yield 1;
        yield 2;
      } finally {
        seen.push(`closed, ${signal.aborted ? 'told' : 'not told'}`);
      }
    });
    for await (const _ of await pages()) break;
    expect(seen).toEqual(['closed, told']);
    const thrown = await pages();
    await thrown.next();
    await expect(thrown.throw(refused)).rejects.toBe(refused);
    const unread = await pages();
    await unread[Symbol.asyncDispose]();
    expect(outcomes).toEqual(['pages: ignored, cancelled', 'pages: ignored, cancelled', 'pages: ignored, cancelled']);
  });

  test('O5: counts as a repeat after the reader leaves early three times in a row; the circuit stays closed', async () => {
    const { session, decisions } = watchedSession();
    const pages = guard(session, 'pages', async function* (_: string) {
      yield 1;
    });
    for (let time = 0; time < 3; time += 1) for await (const _ of await pages('all')) break;
    await expect(pages('all')).rejects.toMatchObject({ reason: 'repeat' });
    expect(await lastOf(await pages('others'))).toBe(1);
    expect(decisions).toEqual(['call', 'call', 'call', 'skip', 'call'].map((decision) => `pages: ${decision}`));
    expect([session.peek('pages')?.state, session.view().budget.consumed]).toEqual(['closed', 0]);
  });

  test('times out unread too, and its return() ends the wait', async () => {
    const { session, outcomes } = watchedSession();
    vi.useFakeTimers();
    try {
      const pages = guard(
        session,
        'pages',
        async function* (_?: undefined) {
          yield 1;
        },
        { timeoutMs: 1_000 },
      );
      await (await pages()).return(undefined);
      expect(vi.getTimerCount()).toBe(0);
      await pages();
      vi.advanceTimersByTime(1_000);
      expect(outcomes).toEqual(['pages: ignored, cancelled', 'pages: failure, timeout']);
    } finally {
      vi.useRealTimers();
    }
  });

  test('receives the values that its reader sends', async () => {
    const { session } = watchedSession();
    const talk = guard(session, 'talk', async function* (first: string): AsyncGenerator<string, void, string> {
      let next = first;
      for (;;) next = yield `you said ${next}`;
    });
    const pieces = await talk('a');
    expect((await pieces.next('not heard')).value).toBe('you said a');
    expect((await pieces.next('b')).value).toBe('you said b');
  });

  test('may be an iterator without throw and return', async () => {
    const { session, outcomes } = watchedSession();
    const bare = () => {
      const iterator: AsyncIterableIterator<number> = {
        next: async () => ({ done: true, value: undefined }),
        [Symbol.asyncIterator]: () => iterator,
      };
      return iterator;
    };
    const pieces = await guard(session, 'bare', bare)();
    expect([pieces.return, pieces.throw]).toEqual([undefined, undefined]);
    await pieces.next();
    const iterable = await guard(session, 'bare', () => ({ [Symbol.asyncIterator]: bare }))();
    const reading = iterable[Symbol.asyncIterator]();
    await expect(reading.throw?.(refused)).rejects.toBe(refused);
    expect(outcomes).toEqual(['bare: success', 'bare: ignored, cancelled']);
  });

  test('obeys the timeout until its last piece', async () => {
    const { session, outcomes } = watchedSession();
    const pages = guard(
      session,
      'pages',
      async function* (_?: undefined) {
        yield 1;
        await new Promise(() => {});
      },
      { timeoutMs: 20 },
    );
    await expect(lastOf(await pages())).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(outcomes).toEqual(['pages: failure, timeout']);
  });

  test('makes each piece in the context of the decision', async () => {
    const traced = startTracing();
    const pages = guard(watchedSession().session, 'pages', async function* (_?: undefined) {
      await Promise.resolve();
      trace.getTracer('test').startSpan('GET').end();
      yield 1;
    });
    await lastOf(await pages());
    expect(traced.paths()).toEqual(['execute_tool pages > GET', 'execute_tool pages']);
  });

  test('F1, F2: has no label and is not a last good result; its cost is read at its end', async () => {
    const { session, outcomes } = watchedSession({
      tools: { pages: { failureThreshold: 1, labelFreshness: true, serveStaleMs: 60_000 } },
    });
    let works = true;
    const tokens = vi.fn(({ result }: { result?: unknown }) => (result === undefined ? 5 : 7));
    const pages = guard(
      session,
      'pages',
      async function* (_?: undefined) {
        yield { page: 1 };
        if (!works) throw refused;
      },
      { tokens, freshness: () => ({ retrievedUnixMs: null }) },
    );
    const first = await pages();
    expect(tokens).not.toHaveBeenCalled();
    expect(await first.next()).toEqual({ done: false, value: { page: 1 } });
    expect(await first.next()).toEqual({ done: true, value: undefined });
    expect(tokens).toHaveReturnedWith(7);
    works = false;
    await expect(lastOf(await pages())).rejects.toBe(refused);
    expect(tokens).toHaveLastReturnedWith(5);
    await expect(pages()).rejects.toMatchObject({ route: { kind: 'defer' } });
    expect(outcomes).toEqual(['pages: success', 'pages: failure, network']);
  });

  test('E5: a result that throws when its iterator is read is not a stream', async () => {
    const { session, outcomes } = watchedSession();
    const hostile = {
      get [Symbol.asyncIterator]() {
        throw new Error('do not look at me');
      },
    };
    expect(await guard(session, 'pages', () => hostile as object)()).toBe(hostile);
    expect(outcomes).toEqual(['pages: success']);
  });
});

describe('a response', () => {
  const answer = (status: number) => guard(watched().session, 'fetch', async () => new Response('', { status }))();
  const watched = () => watchedSession();

  test('O2: that reports an outage counts as one, even if its reader ignores it', async () => {
    const { session, outcomes } = watched();
    let status = 503;
    const get = guard(session, 'fetch', async () => new Response('', { status }));
    expect((await get()).status).toBe(503);
    status = 404;
    await get();
    status = 200;
    await get();
    expect(outcomes).toEqual(['fetch: failure, server', expect.stringMatching(/^fetch: ignored/), 'fetch: success']);
    expect((await answer(200)).ok).toBe(true);
  });

  test('F2: is never a last good result, because it can be read only once', async () => {
    const { session } = watchedSession({ tools: { fetch: { failureThreshold: 1, serveStaleMs: 60_000 } } });
    let works = true;
    const get = guard(session, 'fetch', async () => {
      if (!works) throw refused;
      return { page: new Response('good') };
    });
    expect(await (await get()).page.text()).toBe('good');
    works = false;
    await expect(get()).rejects.toBe(refused);
    await expect(get()).rejects.toThrow(ToolUnavailableError);
  });
});
