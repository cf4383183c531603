import { type Alternative, BreakerboxConfigError, type ToolConfig } from '@breakerbox/core';
import { diag } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type GuardOptions, guard, unavailableNotice } from './index.ts';
import { listenToDiag } from './test-support/diagnosed.ts';
import { read, startServer, type TestServer } from './test-support/http-server.ts';
import { rejectionOf } from './test-support/rejection.ts';
import { startTracing, stopTracing } from './test-support/tracing.ts';
import { open, type Watched, watchedSession } from './test-support/watched-session.ts';

let server: TestServer;

beforeEach(async () => {
  server = await startServer();
});

afterEach(async () => {
  vi.useRealTimers();
  stopTracing();
  diag.disable();
  await server.stop();
});

/** A tool that fetches a page of the server. */
const page = ({ session }: Watched, tool: string, options: GuardOptions<string> = {}) =>
  guard(session, tool, (path: string, { signal }) => read(server.url(path), signal), options);

const STALE = 'stale: retrieved 1970-01-01 00:00:00 UTC';

describe('R4: an alternative with adapt is called', () => {
  const route = (alternative: Partial<Alternative> = {}, more: ToolConfig = {}) =>
    watchedSession({
      tools: {
        web: {
          failureThreshold: 1,
          alternatives: [
            {
              tool: 'news',
              degradation: 'low',
              note: 'recent items only.',
              adapt: (path) => `/news${path}`,
              ...alternative,
            },
          ],
          ...more,
        },
        news: { failureThreshold: 1 },
      },
    });

  /** Both tools, the first of them out. */
  const outage = (watched: Watched, options: GuardOptions<string> = {}) => {
    const news = page(watched, 'news', options);
    const web = page(watched, 'web', { alternatives: { news } });
    open(watched, 'web', 'server');
    return { web, news };
  };

  test('R4: with its own input, decision, span and settlement; the answer names it and the loss', async () => {
    const traced = startTracing();
    const watched = route();
    const { web } = outage(watched);

    expect(await web('/x', { callId: 'call-1' })).toBe(
      "[answered by 'news' in place of 'web', which is unavailable: recent items only; little is lost]\n/news/x",
    );

    expect(watched.decisions).toEqual(['web: call', 'web: skip', 'news: call']);
    expect(watched.outcomes).toEqual(['web: failure, server', 'news: success']);
    expect(traced.paths()).toEqual(['execute_tool web', 'breakerbox.skip web', 'execute_tool news']);
    const skip = {
      'gen_ai.tool.call.id': 'call-1',
      'breakerbox.route': 'alternative',
      'breakerbox.route.tool': 'news',
    };
    expect(traced.attributes('breakerbox.skip web')[0]).toMatchObject(skip);
    expect(traced.attributes('execute_tool news')[0]).toMatchObject({ 'gen_ai.tool.call.id': 'call-1' });
  });

  test('R4: if it is rejected too, the first rejection remains; there is no second hop', async () => {
    const watched = watchedSession({
      loopGuard: { repeats: 1 },
      tools: {
        web: { failureThreshold: 1, alternatives: [{ tool: 'news', adapt: () => '/gone' }] },
        news: { failureThreshold: 9, alternatives: [{ tool: 'books', adapt: () => '/books' }] },
        books: {},
      },
    });
    const books = page(watched, 'books');
    const news = page(watched, 'news', { alternatives: { books } });
    const web = page(watched, 'web', { alternatives: { news } });
    server.answer('/gone', 404);
    open(watched, 'web', 'server');
    await expect(news('/gone')).rejects.toThrow('HTTP 404');

    const error = await rejectionOf(web('/x'));

    expect(error).toMatchObject({ tool: 'web', reason: 'open' });
    expect(error.route).toEqual({ kind: 'alternative', tool: 'news', degradation: 'unknown', fallback: undefined });
    expect(watched.decisions.slice(2)).toEqual(['web: skip', 'news: skip']);
  });

  test.each<[string, Alternative['adapt'], RegExp]>([
    [
      'throws',
      () => {
        throw new Error('no such field');
      },
      /no such field/,
    ],
    ['gives a promise', async () => '/x', /returned a promise/],
    ['rejects', () => Promise.reject(new Error('later')), /returned a promise|later/],
  ])('R4: adapt that %s is reported, and the rejection remains (E5)', async (_, adapt, said) => {
    const heard = listenToDiag();
    const watched = route({ adapt: adapt as never });
    const { web } = outage(watched);
    expect(await rejectionOf(web('/x'))).toMatchObject({ tool: 'web', route: { kind: 'alternative', tool: 'news' } });
    expect(heard[0]).toEqual([
      expect.stringContaining("adapt() of tool 'web' for 'news' failed"),
      expect.objectContaining({ message: expect.stringMatching(said) }),
    ]);
    expect(watched.decisions).toEqual(['web: call', 'web: skip']);
  });

  test('R4: a failing alternative is settled by its own error, which reaches the caller', async () => {
    const watched = route();
    const { web } = outage(watched);
    server.answer('/news/x', 500);
    await expect(web('/x')).rejects.toMatchObject({ message: 'HTTP 500', status: 500 });
    expect(watched.outcomes).toEqual(['web: failure, server', 'news: failure, server']);
  });

  test('R5, E3: the notice of its error says why the first tool was not called, and what to do', async () => {
    const { web } = outage(route());
    server.answer('/news/x', 404);
    const error = await web('/x').catch((thrown) => thrown);
    expect(error).toMatchObject({ message: 'HTTP 404' });
    expect(unavailableNotice(error)).toMatch(
      /^Tool 'web' is not available now: the last calls failed \(server\)\. Do not call it now\. It may .* 'news' was called instead, and could not answer this call\. Call it with other arguments, or continue without it, and say in your answer what is missing\.$/,
    );
    server.answer('/news/y', 500);
    const failed = await web('/y').catch((thrown) => thrown);
    expect(unavailableNotice(failed)).toMatch(
      /'news' was called instead, and failed too\. Continue without them, and say/,
    );
  });

  test('R5: so it does after a block of the same call', async () => {
    const alternatives = [{ tool: 'news', adapt: (path: unknown) => `/news${path}` }];
    const watched = watchedSession({ loopGuard: { repeats: 1 }, tools: { web: { alternatives }, news: {} } });
    const web = page(watched, 'web', { alternatives: { news: page(watched, 'news') } });
    server.answer('/x', 404);
    server.answer('/news/x', 404);
    await expect(web('/x')).rejects.toThrow('HTTP 404');
    expect(unavailableNotice(await web('/x').catch((thrown) => thrown))).toMatch(
      /^Tool 'web' was not called: .* Do not repeat it: change .* 'news' was called instead, and could not answer/,
    );
  });

  test('R5: the rejection of a tool within the alternative stays as it is', async () => {
    const watched = route();
    const inner = watchedSession({ tools: { books: { failureThreshold: 1 } } });
    open(inner, 'books', 'server');
    const books = guard(inner.session, 'books', async (_: string) => '');
    const news = guard(watched.session, 'news', (path: string) => books(path));
    const web = page(watched, 'web', { alternatives: { news } });
    open(watched, 'web', 'server');
    const error = await rejectionOf(web('/x'));
    expect(error).toMatchObject({ tool: 'books' });
    expect(unavailableNotice(error)).toBeUndefined();
  });

  test('R4: without adapt, or if it is not given, it is left to the caller', async () => {
    const given = route({ adapt: undefined as never });
    expect(await rejectionOf(outage(given).web('/x'))).toMatchObject({ route: { tool: 'news' } });
    const missing = route();
    const web = page(missing, 'web');
    open(missing, 'web', 'server');
    expect((await rejectionOf(web('/x'))).message).toContain("Use 'news' instead");
    expect(missing.decisions).toEqual(['web: call', 'web: skip']);
  });

  test('R4: an abort by the caller ends the alternative, and costs nothing', async () => {
    const watched = route();
    const hanging = guard(watched.session, 'news', (_: string) => new Promise<string>(() => {}));
    const web = page(watched, 'web', { alternatives: { news: hanging } });
    open(watched, 'web', 'server');
    const caller = new AbortController();
    const reason = new Error('the user left');
    const call = web('/x', { signal: caller.signal });
    caller.abort(reason);
    await expect(call).rejects.toBe(reason);
    expect(watched.outcomes.at(-1)).toBe('news: ignored, cancelled');
  });

  test('R4: the timeout of the alternative counts for the alternative', async () => {
    const watched = route();
    const hanging = guard(watched.session, 'news', (_: string) => new Promise<string>(() => {}), { timeoutMs: 5 });
    const web = page(watched, 'web', { alternatives: { news: hanging } });
    open(watched, 'web', 'server');
    await expect(web('/x')).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(watched.outcomes.at(-1)).toBe('news: failure, timeout');
  });

  test('R4: the last good result is preferred to an alternative', async () => {
    const watched = route({}, { serveStaleMs: 60_000 });
    const news = page(watched, 'news');
    const web = page(watched, 'web', { alternatives: { news } });
    await web('/x');
    open(watched, 'web', 'server');
    expect(await web('/x')).toBe(`[${STALE}]\n/x`);
    expect(await web('/y')).toMatch(/^\[answered by 'news'/);
  });

  test.each<[string, (watched: Watched) => unknown, RegExp]>([
    ['a plain function', () => ({ news: async () => 1 }), /has a value under 'news' that guard\(\) did not return/],
    ['the guard of another tool', (watched) => ({ other: page(watched, 'news') }), /the function of tool 'news'/],
    ['a list', () => [], /is an array/],
  ])('R4: the option rejects %s', (_, made, message) => {
    const watched = watchedSession();
    const wrap = () => page(watched, 'web', { alternatives: made(watched) as never });
    expect(wrap).toThrow(BreakerboxConfigError);
    expect(wrap).toThrow(message);
  });

  test.each([
    [20, undefined],
    [20, 60_000],
    [60_000, 20],
  ])('R4: it has the rest of %s ms, and its own %s', async (timeoutMs, ownMs) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const { session, outcomes } = route();
    const hang = () => new Promise<string>(() => {});
    const news = guard(session, 'news', hang, ownMs === undefined ? {} : { timeoutMs: ownMs });
    const web = guard(session, 'web', hang, { timeoutMs, alternatives: { news } });
    open({ session }, 'web', 'server');
    const call = web('/x').catch((caught) => caught);
    await vi.advanceTimersByTimeAsync(20);
    expect(await call).toMatchObject({ name: 'TimeoutError', message: 'No answer within 20 ms' });
    expect(outcomes).toEqual(['web: failure, server', 'news: failure, timeout']);
  });

  test('R4: it has less time after a slow adapt, and does not start without time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const takes = (ms: number) => (input: unknown) => {
      vi.advanceTimersByTime(ms);
      return input;
    };
    for (const [ms, left] of [
      [12.5, 8],
      [50, 1],
    ] as const) {
      const { session } = route({ adapt: takes(ms) });
      const news = guard(session, 'news', () => new Promise<string>(() => {}));
      const web = guard(session, 'web', async (_: string) => '', { timeoutMs: 20, alternatives: { news } });
      open({ session }, 'web', 'server');
      const call = web('/x').catch((error) => error.message);
      await vi.advanceTimersByTimeAsync(left);
      expect(await call).toBe(`No answer within ${left} ms`);
    }
  });
});
