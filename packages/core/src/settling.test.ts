import { diag } from '@opentelemetry/api';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Settlement } from './outcome.ts';
import { bench, journal, steps, succeedOnce, trip, watchDiag, watchWarnings } from './test-support.ts';

afterEach(() => diag.disable());

const LATE: readonly (readonly [string, () => unknown, readonly string[]])[] = [
  [
    'rejects',
    async () => {
      throw new Error('too late');
    },
    ['It returned a promise, but it must return its answer synchronously. Return the value itself', 'too late'],
  ],
  [
    'answers later',
    async () => 'server',
    ['It returned a promise, but it must return its answer synchronously. Return the value itself'],
  ],
  [
    "answers what can't be read",
    () => ({
      get category() {
        throw new Error('unreadable');
      },
    }),
    ['unreadable'],
  ],
];

describe('settling', () => {
  test('E3: only the first settle counts', () => {
    const { session } = bench();
    const permit = session.acquire('a');
    permit.settle({ outcome: 'success' });
    for (let i = 0; i < 5; i += 1) permit.settle({ outcome: 'failure' });
    expect(session.peek('a')).toMatchObject({ failures: 0 });
    expect(session.view().budget.remaining).toBe(5);
  });

  test('C7: calls under way when the circuit opened no longer change anything, and cost nothing', () => {
    const { session, box } = bench();
    const late: boolean[] = [];
    box.on('outcome', (event) => late.push(event.late));
    const calls = Array.from({ length: 6 }, () => session.acquire('a'));
    for (const call of calls.slice(0, 5)) call.settle({ outcome: 'failure', category: 'network' });
    expect(session.peek('a')).toMatchObject({ state: 'open', generation: 1 });
    expect(session.view().budget).toMatchObject({ remaining: 4 });
    calls[5]?.settle({ outcome: 'success' });
    expect(session.peek('a')).toMatchObject({ state: 'open', generation: 1 });
    expect(late).toEqual([false, false, false, true, true, true]);
  });

  test('C8: a cancelled probe returns its slot', () => {
    const { session } = bench();
    trip(session, 'a');
    steps(session, 3);
    const controller = new AbortController();
    controller.abort();
    session.acquire('a').settle({ error: controller.signal.reason, signal: controller.signal });
    expect(session.peek('a')?.state).toBe('half_open');
    expect(succeedOnce(session, 'a')).toBe('probe');
    expect(session.peek('a')?.state).toBe('closed');
  });

  test('C9: a probe that never settles counts as failed when its lease ends', () => {
    const { session, clock, box } = bench();
    const outcomes: string[] = [];
    box.on('outcome', ({ outcome, category }) => outcomes.push(`${outcome} ${category}`));
    trip(session, 'a');
    steps(session, 3);
    const hung = session.acquire('a');
    clock.advance(60_000);
    session.step();
    expect(session.peek('a')).toMatchObject({ state: 'open', category: 'timeout', openForMs: 0 });
    expect(session.view().budget).toMatchObject({ remaining: 4 });
    expect(outcomes.at(-1)).toBe('failure timeout');
    hung.settle({ outcome: 'success' });
    expect(session.peek('a')?.state).toBe('open');
    expect(outcomes).toHaveLength(4);
  });

  test('C9: it does not fail earlier; and each of several probes fails at its own time', () => {
    const { session, clock, box } = bench({ systemic: false, budget: { failures: 50 } });
    const lines = journal(box);
    trip(session, 'b');
    trip(session, 'a');
    steps(session, 3);
    session.acquire('b');
    clock.advance(1_000);
    session.acquire('a');
    clock.advance(58_999);
    session.step();
    expect(session.peek('b')?.state).toBe('half_open');
    clock.advance(5_000);
    session.step();
    expect([session.peek('b')?.openForMs, session.peek('a')?.openForMs]).toEqual([4_999, 3_999]);
    expect(lines.slice(-2)).toEqual(['b half_open>open', 'a half_open>open']);
  });

  test('C9: a probe that returns after its lease has failed, whether or not the session was used before', () => {
    const { session, clock } = bench();
    trip(session, 'a');
    steps(session, 3);
    const slow = session.acquire('a');
    clock.advance(60_000);
    slow.settle({ outcome: 'success' });
    expect(session.peek('a')).toMatchObject({ state: 'open', category: 'timeout' });
    expect(session.view().budget.remaining).toBe(4);
  });

  test('C9: hung probes of several rounds never block the circuit permanently', () => {
    const { session, clock } = bench({ budget: { failures: 50 }, defaults: { probes: 2, cooldownMs: 1_000 } });
    trip(session, 'a');
    for (let round = 0; round < 8; round += 1) {
      clock.advance(300_000);
      expect([session.acquire('a').decision, session.acquire('a').decision]).toEqual(['probe', 'probe']);
      clock.advance(60_000);
      session.step();
      expect(session.peek('a')?.state).toBe('open');
    }
    clock.advance(300_000);
    succeedOnce(session, 'a');
    succeedOnce(session, 'a');
    expect(session.peek('a')?.state).toBe('closed');
  });

  test('C9: a call that never settles in the closed state costs nothing', () => {
    const { session, clock } = bench();
    session.acquire('a');
    clock.advance(1e9);
    session.step();
    expect(session.view()).toMatchObject({ state: 'active', budget: { consumed: 0 } });
  });

  test('O1: a tool may have its own judgement of outcomes', () => {
    const { session } = bench({ tools: { a: { outcomes: { tool_error: 'failure', network: 'ignored' } }, b: {} } });
    session.acquire('a').settle({ result: { isError: true, content: [{ type: 'text', text: 'unknown order id' }] } });
    session.acquire('b').settle({ result: { isError: true, content: [{ type: 'text', text: 'unknown order id' }] } });
    session.acquire('a').settle({ error: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }) });
    expect([session.peek('a')?.failures, session.peek('b')?.failures]).toEqual([1, 0]);
  });

  test('O2: a classifier of the user comes first, and may leave the decision to the built-in one', () => {
    const classify = (error: unknown) => (String(error).includes('quota') ? ('resource' as const) : undefined);
    const { session } = bench({ defaults: { failureThreshold: 1, classify } });
    session.acquire('a').settle({ error: new Error('monthly quota used up') });
    session.acquire('b').settle({ error: Object.assign(new Error('x'), { code: 'ENOTFOUND' }) });
    expect([session.peek('a')?.category, session.peek('b')?.category]).toEqual(['resource', 'network']);
  });

  test('E5: if a classifier throws or returns an invalid value, the built-in one decides', () => {
    const error = watchDiag();
    const { session } = bench({
      tools: {
        a: {
          failureThreshold: 1,
          classify: () => {
            throw new Error('broken classifier');
          },
        },
        b: { failureThreshold: 1, classify: () => 'nonsense' as never },
      },
    });
    for (const tool of ['a', 'b']) {
      session.acquire(tool).settle({ error: Object.assign(new Error('x'), { code: 'ECONNRESET' }) });
      expect(session.peek(tool)?.category).toBe('network');
    }
    expect(error).toHaveBeenCalledOnce();
  });

  test.each(LATE)(
    'E5: the built-in one also decides if the classifier %s, and that is reported',
    async (_, classify, told) => {
      const error = watchDiag();
      const { session } = bench({ tools: { a: { failureThreshold: 1, classify: classify as never } } });
      session.acquire('a').settle({ error: Object.assign(new Error('x'), { code: 'ECONNRESET' }) });
      expect(session.peek('a')).toMatchObject({ state: 'open', category: 'network' });
      expect(session.view().budget.remaining).toBe(4);
      await vi.waitFor(() => expect(error).toHaveBeenCalledTimes(told.length));
      expect((error.mock.calls as unknown[][]).map(([, thrown]) => (thrown as Error).message)).toEqual(told);
    },
  );
});

describe('settling by untyped callers', () => {
  test('E3, E5: an invalid settlement does not count for the tool, and throws nothing', () => {
    const error = watchDiag();
    const { session } = bench({ defaults: { failureThreshold: 1 } });
    const broken = {
      get error() {
        throw new Error('broken getter');
      },
    };
    for (const nonsense of [undefined, null, 'success', broken]) session.acquire('a').settle(nonsense as never);
    expect(error).toHaveBeenCalledTimes(4);
    expect(session.view()).toMatchObject({ budget: { consumed: 0 }, circuits: [{ state: 'closed', failures: 0 }] });
  });

  test('E5: unreadable fields beside the outcome do not change it', () => {
    const error = watchDiag();
    const { session, box } = bench();
    const outcomes: string[] = [];
    box.on('outcome', ({ outcome, category, tokens }) => outcomes.push(`${outcome} ${category} ${tokens}`));
    const get = () => {
      throw new Error('broken getter');
    };
    const broken = (key: string, given: object) => Object.defineProperty({ ...given }, key, { get });
    session
      .acquire('a')
      .settle(broken('tokens', { error: Object.assign(new Error('x'), { code: 'ECONNRESET' }) }) as never);
    session.acquire('a').settle(broken('durationMs', { outcome: 'success', tokens: 5 }) as never);
    session.acquire('a').settle(broken('category', { outcome: 'failure', tokens: 5 }) as never);
    expect(outcomes).toEqual(['failure network undefined', 'success undefined undefined', 'failure unknown 5']);
    expect(error).toHaveBeenCalledTimes(2);
  });

  /** What comes of settlements, and what is said of them. */
  const settling = (...settlements: readonly unknown[]) => {
    const error = watchDiag();
    const warnings = watchWarnings();
    const { session, box } = bench({ defaults: { failureThreshold: 9 }, budget: { failures: 99 } });
    const outcomes: string[] = [];
    box.on('outcome', ({ outcome, category }) => outcomes.push(`${outcome} ${category}`));
    for (const one of settlements) session.acquire('a').settle(one as never);
    expect(error).not.toHaveBeenCalled();
    return { outcomes, told: warnings() };
  };

  test('O2: a bare error is classified like one in its field', () => {
    class ApiError extends Error {
      status = 503;
      error = { message: 'what the server said' };
    }
    const refused = Object.assign(new Error('boom'), { code: 'ECONNREFUSED' });
    const { outcomes, told } = settling(
      refused,
      new ApiError(),
      new DOMException('', 'TimeoutError'),
      new Error('boom'),
    );
    expect(outcomes).toEqual(['failure network', 'failure server', 'failure timeout', 'failure unknown']);
    expect(told).toEqual([]);
  });

  const manyKeys = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`k${n}${'x'.repeat(99)}`, n]));

  test.each([
    [{}, 'an object with nothing in it'],
    [{ err: new Error('boom') }, 'an object with err'],
    [{ success: false, data: 'secret' }, 'an object with success, data'],
    [{ ok: false, tokens: 7 }, 'an object with ok, tokens'],
    [Promise.resolve(1), 'an object with nothing in it'],
    [manyKeys, 'and 20 more'],
    [{ 'a\nb': 1 }, 'an object with a\\nb'],
  ])('E5: %o does not say how the call ended: it does not count, and its keys are reported', (one, words) => {
    const { outcomes, told } = settling(one);
    expect(outcomes).toEqual(['ignored unknown']);
    expect(told).toEqual([
      expect.stringMatching(
        /^BREAKERBOX_SETTLEMENT: settle\(\) of tool 'a': .* Give \{ outcome: 'success' \}, \{ error \}, or \{ result \}\.$/,
      ),
    ]);
    expect(told[0]).toContain(words);
    expect(told[0]?.length).toBeLessThan(1_000);
    expect(told[0]).not.toMatch(/secret|boom|false/);
  });

  test.each(['ok', 'faliure', null, 7])('E5: nor does the unknown outcome %j', (outcome) => {
    const { outcomes, told } = settling({ outcome, category: 'network', error: new Error('x') });
    expect(outcomes).toEqual(['ignored unknown']);
    expect(told).toEqual([
      expect.stringContaining('its outcome is not success, failure or ignored, so the call counts as ignored'),
    ]);
  });

  test('O2: without an outcome, the error or the result beside it decides', () => {
    const error = Object.assign(new Error('x'), { code: 'ECONNREFUSED' });
    const { outcomes, told } = settling(
      { outcome: undefined, error },
      { outcome: undefined, result: 1 },
      { outcome: undefined },
    );
    expect(outcomes).toEqual(['failure network', 'success undefined', 'ignored unknown']);
    expect(told).toHaveLength(1);
  });

  test('O1: a category that does not exist becomes unknown, and that is reported', () => {
    const { outcomes, told } = settling(
      { outcome: 'failure', category: 'netwrk' },
      { outcome: 'ignored', category: null },
      { outcome: 'failure', category: undefined },
      { outcome: 'failure' },
    );
    expect(outcomes).toEqual(['failure unknown', 'ignored unknown', 'failure unknown', 'failure unknown']);
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(
      /^BREAKERBOX_SETTLEMENT: settle\(\) of tool 'a': its category .* so it counts as unknown\. Give one of .*network/,
    );
    expect(told[0]).not.toContain('netwrk');
  });
});

describe('O10: whose time-out it was', () => {
  const late = AbortSignal.abort(new DOMException('late', 'TimeoutError'));
  const aborted = new DOMException('This operation was aborted', 'AbortError');
  const judgedAfter = (ms: number, settlement: Settlement): string => {
    const { session, box, clock } = bench({ tools: { a: {} } });
    const heard: string[] = [];
    box.on('outcome', ({ outcome, category }) => heard.push(`${outcome} ${category}`));
    const permit = session.acquire('a');
    clock.advance(ms);
    permit.settle(settlement);
    return heard.join();
  };

  test('O10: a time-out of the signal is of the run before 30 s, and of the tool from then on', () => {
    expect(judgedAfter(29_999, { error: late.reason, signal: late })).toBe('ignored cancelled');
    expect(judgedAfter(30_000, { error: late.reason, signal: late })).toBe('failure timeout');
    expect(judgedAfter(90_000, { error: late.reason, signal: late, durationMs: 5 })).toBe('ignored cancelled');
    expect(judgedAfter(5, { error: late.reason })).toBe('failure timeout');
  });

  test("O10: a person's abort is cancelled; an abort while the signal has not fired is a limit inside the tool", () => {
    const left = AbortSignal.abort(new Error('the user left'));
    expect(judgedAfter(90_000, { error: aborted, signal: left })).toBe('ignored cancelled');
    const { signal } = new AbortController();
    expect(judgedAfter(5, { error: aborted, signal })).toBe('failure timeout');
    expect(judgedAfter(5, { error: Object.assign(new Error('x'), { code: 'ERR_CANCELED' }), signal })).toBe(
      'failure timeout',
    );
    expect(judgedAfter(5, { error: aborted })).toBe('ignored cancelled');
  });
});
