import { BreakerboxConfigError, BreakerboxUsageError, type Session } from '@breakerbox/core';
import { context, trace } from '@opentelemetry/api';
import { afterEach, describe, expect, expectTypeOf, test, vi } from 'vitest';
import { guard, ToolUnavailableError } from './index.ts';
import { startTracing, stopTracing } from './test-support/tracing.ts';
import { watchedSession } from './test-support/watched-session.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

afterEach(stopTracing);

describe('a result', () => {
  test.each([[undefined], [null], [0], [''], [false], [Number.NaN]])('of %s is returned unchanged', async (value) => {
    const { session, outcomes } = watchedSession();
    expect(await guard(session, 'tool', () => value)(1)).toBe(value);
    expect(await guard(session, 'tool', async () => value)(1)).toBe(value);
    expect(outcomes).toEqual(['tool: success', 'tool: success']);
  });

  test('that reports an error is judged by core, and returned as the same object', async () => {
    const { session, outcomes } = watchedSession();
    const outage = { isError: true, content: [{ type: 'text', text: 'connect ECONNREFUSED 127.0.0.1:1' }] };
    const answer = { error: 'unknown order id' };
    expect(await guard(session, 'tool', () => outage)(1)).toBe(outage);
    expect(await guard(session, 'tool', () => answer)(1)).toBe(answer);
    expect(outcomes).toEqual(['tool: failure, network', 'tool: ignored, tool_error']);
  });

  test('may come from any thenable', async () => {
    const { session, outcomes } = watchedSession();
    // biome-ignore lint/suspicious/noThenProperty: query builders are thenables
    const query = { then: (resolve: (rows: string) => void) => resolve('rows') } as PromiseLike<string>;
    expect(await guard(session, 'tool', () => query)(1)).toBe('rows');
    expect(outcomes).toEqual(['tool: success']);
  });
});

describe('an error', () => {
  test.each([[refused], [undefined], ['text'], [0]])(
    '%s reaches the caller unchanged, thrown or rejected',
    async (error) => {
      const { session, outcomes } = watchedSession();
      const throwing = guard(session, 'tool', () => {
        throw error;
      });
      const rejecting = guard(session, 'tool', () => Promise.reject(error));
      expect(await throwing(1).then(expect.unreachable, (caught) => [caught])).toEqual([error]);
      expect(await rejecting(1).then(expect.unreachable, (caught) => caught)).toBe(error);
      expect(outcomes).toHaveLength(2);
      expect(outcomes.every((outcome) => outcome.startsWith('tool: failure'))).toBe(true);
    },
  );

  test('opens the circuit at the third; then the tool is not called and the caller gets a ToolUnavailableError', async () => {
    const { session, decisions } = watchedSession();
    const run = vi.fn(() => Promise.reject(refused));
    const search = guard(session, 'search', run);
    for (let call = 0; call < 3; call += 1) await expect(search(1)).rejects.toBe(refused);

    const error = await search(1).catch((caught) => caught);

    expect(error).toBeInstanceOf(ToolUnavailableError);
    expect(error).toMatchObject({
      name: 'ToolUnavailableError',
      code: 'BREAKERBOX_TOOL_UNAVAILABLE',
      tool: 'search',
      decision: 'skip',
      reason: 'open',
      message: expect.stringMatching(/'search' is unavailable.*network/),
    });
    expect(run).toHaveBeenCalledTimes(3);
    expect(decisions.at(-1)).toBe('search: skip');
  });

  test('may be hostile', async () => {
    const { session, outcomes } = watchedSession();
    const trap = () => {
      throw new Error('do not look at me');
    };
    const hostile = new Proxy({}, { get: trap, getPrototypeOf: trap, has: trap, ownKeys: trap });
    const call = guard(session, 'tool', () => Promise.reject(hostile))(1);
    expect(await call.then(expect.unreachable, (caught) => caught === hostile)).toBe(true);
    expect(outcomes).toEqual(['tool: failure, unknown']);
  });

  test('that reports an unavailable inner tool costs the outer tool nothing', async () => {
    const { session, outcomes } = watchedSession({ tools: { inner: { failureThreshold: 1 } } });
    const inner = guard(session, 'inner', () => Promise.reject(refused));
    const outer = guard(session, 'outer', () => inner(1));
    await expect(inner(1)).rejects.toBe(refused);

    await expect(outer(1)).rejects.toBeInstanceOf(ToolUnavailableError);

    expect(outcomes).toEqual(['inner: failure, network', 'outer: ignored, denied']);
  });
});

describe('a pause', () => {
  test('is named in the error', async () => {
    const { session } = watchedSession({ budget: { rule: 'strict', failures: 1 } });
    const search = guard(session, 'search', () => Promise.reject(refused));
    await expect(search(1)).rejects.toBe(refused);
    await expect(search(1)).rejects.toMatchObject({ decision: 'pause', reason: 'budget_exhausted' });
  });
});

describe('the tool', () => {
  test('gets its input, a signal and the permit, and runs in the span of the decision', async () => {
    const traced = startTracing();
    const { session } = watchedSession();
    const search = guard(session, 'search', async (query: string, { signal, permit }) => {
      await Promise.resolve();
      trace.getTracer('test').startSpan('GET').end();
      return {
        query,
        aborted: signal.aborted,
        decision: permit.decision,
        inContext: context.active() === permit.context,
      };
    });
    expect(await search('q', { callId: 'call-1' })).toEqual({
      query: 'q',
      aborted: false,
      decision: 'call',
      inContext: true,
    });
    expect(traced.paths()).toEqual(['execute_tool search > GET', 'execute_tool search']);
    expect(traced.attributes('execute_tool search')[0]).toMatchObject({ 'gen_ai.tool.call.id': 'call-1' });
  });

  test('has a circuit as soon as it is wrapped', () => {
    const { box, session } = watchedSession();
    guard(session, 'search', () => 1);
    expect(box.tools).toEqual(['search']);
  });

  test('of a session function is declared at its calls, in the session of the call', async () => {
    const one = watchedSession();
    const two = watchedSession();
    let current = one.session;
    const search = guard(
      () => current,
      'search',
      () => 1,
    );
    expect(one.box.tools).toEqual([]);
    await search(1);
    current = two.session;
    await search(1);
    expect([one.box.tools, two.box.tools]).toEqual([['search'], ['search']]);
    expect([one.outcomes, two.outcomes]).toEqual([['search: success'], ['search: success']]);
  });
});

describe('invalid arguments are rejected', () => {
  const { box, session } = watchedSession();
  const run = () => 1;

  test.each([[0], [-1], [Number.NaN], [Number.POSITIVE_INFINITY], [2 ** 31], ['5' as never], [null as never]])(
    'a timeout of %s',
    (timeoutMs) => {
      expect(() => guard(session, 'search', run, { timeoutMs })).toThrow(BreakerboxConfigError);
      expect(() => guard(session, 'search', run, { timeoutMs })).toThrow(/guard\('search'\) options\.timeoutMs: is /);
    },
  );

  test('a misspelt option', () => {
    expect(() => guard(session, 'search', run, { timeout: 5 } as never)).toThrow(/options\.timeout: is not an option/);
  });

  test('a box instead of a session, no session, no function to run', async () => {
    expect(() => guard(box as unknown as Session, 'search', run)).toThrow(/got a box instead of a session/);
    const later = (async () => Promise.reject(refused)) as never; // E5: no code would handle this rejection.
    await expect(guard(later, 'search', run)('x')).rejects.toThrow(/given to guard\('search'\): got a promise instead/);
    expect(() => guard(undefined as unknown as Session, 'search', run)).toThrow(BreakerboxUsageError);
    expect(() => guard(session, 'search', undefined as never)).toThrow(BreakerboxUsageError);
    await expect(guard((() => undefined) as never, 'search', run)(1)).rejects.toThrow(BreakerboxUsageError);
  });
});

test('types follow from the tool', () => {
  const { session } = watchedSession();
  const search = guard(session, 'search', async (query: { text: string }) => [query.text]);
  expectTypeOf(search).parameter(0).toEqualTypeOf<{ text: string }>();
  expectTypeOf(search).returns.resolves.toEqualTypeOf<string[]>();
});
