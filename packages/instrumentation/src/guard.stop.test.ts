import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type GuardedCall, guard } from './index.ts';
import { watchedSession } from './test-support/watched-session.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

/** A tool that never comes back. */
const hang = (): Promise<never> => new Promise(() => {});

const unhandled: unknown[] = [];
const noteUnhandled = (reason: unknown): void => void unhandled.push(reason);

beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', noteUnhandled);
});

afterEach(async () => {
  vi.useRealTimers();
  // Node tells of unhandled rejections when the microtasks are done.
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', noteUnhandled);
  expect(unhandled).toEqual([]);
});

describe('a timeout', () => {
  test('aborts the tool, rejects at once and counts as a failure, even if the tool ignores it', async () => {
    const { session, outcomes } = watchedSession();
    let seen: GuardedCall | undefined;
    const search = guard(
      session,
      'search',
      (_: string, call) => {
        seen = call;
        return hang();
      },
      { timeoutMs: 20 },
    );

    const error = await search('q').catch((caught) => caught);

    expect(error).toBeInstanceOf(DOMException);
    expect(error.name).toBe('TimeoutError');
    expect(seen?.signal.reason).toBe(error);
    expect(outcomes).toEqual(['search: failure, timeout']);
  });

  test('drops later output of the tool', async () => {
    const { session, outcomes } = watchedSession();
    const fail = guard(
      session,
      'fail',
      async (_: number, { signal }) => {
        await once(signal, 'abort');
        throw refused;
      },
      { timeoutMs: 1 },
    );
    await expect(fail(1)).rejects.toMatchObject({ name: 'TimeoutError' });
    await new Promise((resolve) => setImmediate(resolve));
    expect(outcomes).toEqual(['fail: failure, timeout']);
  });

  test('B3: of a call cuts off the calls inside it, which are not late themselves', async () => {
    const { session, outcomes } = watchedSession();
    const search = guard(session, 'search', hang, { timeoutMs: 10_000 });
    const research = guard(session, 'research', (q: string, { signal }) => search(q, { signal }), { timeoutMs: 20 });
    await expect(research('q')).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(outcomes.toSorted()).toEqual(['research: failure, timeout', 'search: ignored, cancelled']);
    expect(session.view().budget).toMatchObject({ limit: 5, remaining: 4 });
  });

  test('O10, B3: of the run, which cuts off a guarded call and its inner calls, is no charge', async () => {
    const { session, outcomes } = watchedSession();
    const search = guard(session, 'search', hang);
    const research = guard(session, 'research', (q: string, { signal }) => search(q, { signal }));
    await expect(research('q', { signal: AbortSignal.timeout(10) })).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(outcomes.toSorted()).toEqual(['research: ignored, cancelled', 'search: ignored, cancelled']);
  });

  test('B3: ends a call whose framework derived its own signal from ours', async () => {
    const { session, outcomes } = watchedSession();
    const search = guard(session, 'search', hang);
    const within = (signal: AbortSignal): AbortSignal => AbortSignal.any([signal, new AbortController().signal]);
    const research = guard(session, 'research', (q: string, { signal }) => search(q, { signal: within(signal) }), {
      timeoutMs: 10,
    });
    await expect(research('q')).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(outcomes.toSorted()).toEqual(['research: failure, timeout', 'search: ignored, cancelled']);
  });

  test.each([
    [29_000, 'ignored, cancelled'],
    [30_000, 'failure, timeout'],
  ])(
    'O10: of the caller after %i ms is of the run, or of the tool that did not answer for 30 s',
    async (ms, wanted) => {
      vi.useFakeTimers();
      const { session, outcomes } = watchedSession();
      const caller = new AbortController();
      const call = guard(session, 'search', hang)('q', { signal: caller.signal }).catch((error) => error);
      await vi.advanceTimersByTimeAsync(ms);
      caller.abort(new DOMException('the request is over', 'TimeoutError'));
      expect(await call).toMatchObject({ name: 'TimeoutError' });
      expect(outcomes).toEqual([`search: ${wanted}`]);
      vi.useRealTimers();
    },
  );

  test("O10: a person's abort is never a timeout, however long the call ran", async () => {
    vi.useFakeTimers();
    const { session, outcomes } = watchedSession();
    const caller = new AbortController();
    const call = guard(session, 'search', hang)('q', { signal: caller.signal }).catch((error) => error);
    await vi.advanceTimersByTimeAsync(90_000);
    caller.abort();
    expect(await call).toMatchObject({ name: 'AbortError' });
    expect(outcomes).toEqual(['search: ignored, cancelled']);
    vi.useRealTimers();
  });

  test.each<[string, unknown]>([
    ['an abort', undefined],
    ['an error that says so', new Error('timeout')],
    ['a TimeoutError', new DOMException('late', 'TimeoutError')],
  ])('O10: by a controller inside the tool is a timeout: %s', async (_, reason) => {
    const { session, outcomes } = watchedSession();
    const search = guard(session, 'search', async (_: string) => {
      const limit = new AbortController();
      queueMicrotask(() => limit.abort(reason));
      await once(limit.signal, 'abort');
      limit.signal.throwIfAborted();
    });
    await search('q', { signal: new AbortController().signal }).catch(() => {});
    await search('q').catch(() => {});
    expect(outcomes).toEqual(Array(2).fill('search: failure, timeout'));
  });

  test('of one call leaves the others alone', async () => {
    vi.useFakeTimers();
    const { session, outcomes } = watchedSession();
    const answers: ((result: string) => void)[] = [];
    const run = () => new Promise<string>((resolve) => answers.push(resolve));
    const search = guard(session, 'search', run, { timeoutMs: 100 });
    const slow = expect(search(1)).rejects.toMatchObject({ name: 'TimeoutError' });
    await vi.advanceTimersByTimeAsync(60);
    const quick = search(2);
    await vi.advanceTimersByTimeAsync(60);
    answers[1]?.('found');
    await slow;
    expect(await quick).toBe('found');
    expect(outcomes).toEqual(['search: failure, timeout', 'search: success']);
  });
});

describe("the caller's abort", () => {
  test('rejects with its reason at once and costs nothing', async () => {
    const { session, outcomes } = watchedSession();
    const reason = new Error('the user left');
    const caller = new AbortController();
    const call = guard(session, 'search', hang, { timeoutMs: 60_000 })(1, { signal: caller.signal });
    caller.abort(reason);
    await expect(call).rejects.toBe(reason);
    expect(outcomes).toEqual(['search: ignored, cancelled']);
    expect(session.view().budget.consumed).toBe(0);
  });

  test('before the call prevents the decision and the run', async () => {
    const { session, decisions } = watchedSession();
    const run = vi.fn();
    const reason = new Error('the user left');
    await expect(guard(session, 'search', run)(1, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(run).not.toHaveBeenCalled();
    expect(decisions).toEqual([]);
  });

  test('by the tool itself, during the call, is the same', async () => {
    const { session, outcomes } = watchedSession();
    const caller = new AbortController();
    const search = guard(session, 'search', () => {
      caller.abort();
      throw refused;
    });
    await expect(search(1, { signal: caller.signal })).rejects.toBe(caller.signal.reason);
    expect(outcomes).toEqual(['search: ignored, cancelled']);
  });

  test('during the decision prevents the run', async () => {
    const { box, session, outcomes } = watchedSession();
    const caller = new AbortController();
    const run = vi.fn();
    box.on('decision', () => caller.abort());
    const call = guard(session, 'search', run, { timeoutMs: 60_000 })(1, { signal: caller.signal });
    await expect(call).rejects.toBe(caller.signal.reason);
    expect(run).not.toHaveBeenCalled();
    expect(outcomes).toEqual(['search: ignored, cancelled']);
  });

  test('frees the slot of a probe', async () => {
    const { session, decisions } = watchedSession({ defaults: { failureThreshold: 1, probeAfterSteps: 1 } });
    await expect(guard(session, 'search', () => Promise.reject(refused))(1)).rejects.toBe(refused);
    session.step();
    const caller = new AbortController();
    const probe = guard(session, 'search', hang)(1, { signal: caller.signal });
    caller.abort();
    await expect(probe).rejects.toBe(caller.signal.reason);
    expect(await guard(session, 'search', () => 'back')(1)).toBe('back');
    expect(decisions).toEqual(['search: call', 'search: probe', 'search: probe']);
    expect(session.peek('search')?.state).toBe('closed');
  });
});

describe("O10: a tool's own controller", () => {
  const abort = async (): Promise<never> => {
    const own = new AbortController();
    own.abort();
    return Promise.reject(own.signal.reason);
  };
  test.each<[string, (message: string, error: Error) => unknown]>([
    ['the error as it is', (_, error) => Promise.reject(error)],
    ['an error with its message', (message) => Promise.reject(new Error(message))],
    ['an error with a prefix', (message) => Promise.reject(new Error(`Search failed: ${message}`))],
    ['an object', (message) => ({ error: message })],
    ['an MCP result', (message) => ({ isError: true, content: [{ type: 'text', text: message }] })],
    ['the error, returned', (_, error) => error],
    ['a string', (message) => `Error: ${message}`],
  ])('O10: counts as a timeout: %s', async (_, end) => {
    const { session, outcomes } = watchedSession();
    const search = guard(session, 'search', (_given: { page: number }) =>
      abort().catch((error) => end(error.message, error)),
    );
    await search({ page: 1 }).catch(() => {});
    expect(outcomes).toEqual(['search: failure, timeout']);
  });
});

describe('the end of the time of a run', () => {
  const deadline = { name: 'TimeoutError', message: expect.stringContaining('deadline') };

  test('D4: cuts a call, before its own time limit', async () => {
    const { session, outcomes } = watchedSession({ limits: { durationMs: 40 } });
    let seen: GuardedCall | undefined;
    const search = guard(
      session,
      'search',
      (_: string, call) => {
        seen = call;
        return hang();
      },
      { timeoutMs: 60_000 },
    );
    await expect(search('q')).rejects.toMatchObject(deadline);
    expect(seen?.signal.reason).toMatchObject(deadline);
    expect(outcomes).toEqual(['search: ignored, cancelled']);
    expect(session.view().budget).toMatchObject({ consumed: 0 });
  });

  test('D4: is no time limit of a tool that is only observed, and none where it only advises', async () => {
    const observed = watchedSession({ limits: { durationMs: 40 }, tools: { search: { mode: 'observe_only' } } });
    const advised = watchedSession({ limits: { durationMs: { limit: 40, mode: 'advise' } } });
    for (const { session, outcomes } of [observed, advised]) {
      const search = guard(session, 'search', () => new Promise((resolve) => setTimeout(resolve, 60, 'found')));
      expect(await search()).toBe('found');
      expect(outcomes).toEqual(['search: success']);
    }
  });

  test('D4: leaves a shorter time limit as it is', async () => {
    const { session, outcomes } = watchedSession({ limits: { durationMs: 60_000 } });
    const search = guard(session, 'search', hang, { timeoutMs: 20 });
    await expect(search()).rejects.toMatchObject({ message: 'No answer within 20 ms' });
    expect(outcomes).toEqual(['search: failure, timeout']);
  });

  test('D2, D4: moves on for a call under way, if a person extends the limit', async () => {
    vi.useFakeTimers();
    const { session, outcomes } = watchedSession({ limits: { durationMs: 60_000 } });
    const after = (ms: number) => () => new Promise((resolve) => setTimeout(resolve, ms, 'found'));
    const short = guard(session, 'search', after(70_000))();
    const long = guard(session, 'crawl', hang)().catch((error) => error);
    const own = guard(session, 'own', hang, { timeoutMs: 58_000 })().catch((error) => error);
    session.extend('durationMs', 40_000);
    await vi.advanceTimersByTimeAsync(70_000);
    expect(await short).toBe('found');
    expect(await own).toMatchObject({ message: 'No answer within 58000 ms' });
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await long).toMatchObject(deadline);
    expect(outcomes).toEqual(['own: failure, timeout', 'search: success', 'crawl: failure, timeout']);
  });

  test('D4, O10: is the fault of a tool that had most of it', async () => {
    vi.useFakeTimers();
    const { session, outcomes } = watchedSession({ limits: { durationMs: 60_000 } });
    const search = guard(session, 'search', hang);
    const end = search().catch((error) => error);
    await vi.advanceTimersByTimeAsync(54_000);
    expect(await end).toMatchObject(deadline);
    expect(outcomes).toEqual(['search: failure, timeout']);
  });

  test('D4, B3: costs neither a call nor the calls inside it', async () => {
    const { session, outcomes } = watchedSession({ limits: { durationMs: 40 } });
    const search = guard(session, 'search', hang);
    const deaf = guard(session, 'deaf', () => search()); // Passes no signal on.
    await expect(deaf()).rejects.toMatchObject(deadline);
    await vi.waitFor(() => expect(outcomes).toHaveLength(2));
    expect(outcomes.toSorted()).toEqual(['deaf: ignored, cancelled', 'search: ignored, cancelled']);
  });

  test('D4: is not later than a timer can wait', async () => {
    const { session, outcomes } = watchedSession({ limits: { durationMs: 365 * 86_400_000 } });
    expect(await guard(session, 'search', async () => 'found')()).toBe('found');
    expect(outcomes).toEqual(['search: success']);
  });
});
