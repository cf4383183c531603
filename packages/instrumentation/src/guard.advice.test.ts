/** R5 in a loop of your own: the advice beside the error, and an alternative that answers at once. */
import type { Alternative, BreakerboxConfig } from '@breakerbox/core';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type GuardedFunction, guard, unavailableNotice, withAdvice } from './index.ts';
import { guardMcpClient } from './mcp/mcp.ts';
import { watchedSession } from './test-support/watched-session.ts';

const refusal = () => Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' });
const refused = refusal();
const failing = (_?: string): Promise<string> => Promise.reject(refused);
const hanging = (_?: string): Promise<string> => new Promise(() => {});
const ADVICE = /^Tool 'web' is not available now: the last calls failed \(network\)\. Do not call it now\./;

afterEach(() => vi.useRealTimers());

const routed = (more: Partial<BreakerboxConfig> = {}, alternative: Partial<Alternative> = {}) =>
  watchedSession({
    tools: {
      web: { failureThreshold: 1, alternatives: [{ tool: 'news', adapt: (input) => input, ...alternative }] },
      news: { failureThreshold: 9 },
    },
    ...more,
  });

describe('unavailableNotice', () => {
  test('R5, E3: guard() throws the original error; the notice of the one that opens the circuit is the advice', async () => {
    const { session } = watchedSession();
    const web = guard(session, 'web', () => Promise.reject(refusal()));
    const errors = [
      await web().catch(String),
      await web().catch((error) => error),
      await web().catch((error) => error),
    ];
    expect(errors.map(unavailableNotice)).toEqual([undefined, undefined, expect.stringMatching(ADVICE)]);
    expect(errors[2].message).toBe('connect ECONNREFUSED 127.0.0.1:9');
  });

  test('R5: an error that is thrown again after the recovery has no notice', async () => {
    const { session } = watchedSession({ tools: { web: { failureThreshold: 2 } } });
    const results = [failing, failing, async () => 'found', failing];
    const web = guard(session, 'web', () => results.shift()?.() as Promise<string>);
    await web().catch(() => {});
    await web().catch(() => {});
    expect(unavailableNotice(refused)).toMatch(ADVICE);
    for (let step = 0; step < 3; step += 1) session.step();
    expect(await web()).toBe('found');
    await expect(web()).rejects.toBe(refused);
    expect(unavailableNotice(refused)).toBeUndefined();
  });

  test('R5, E3: a guard around a tool whose error has advice counts it once, and judges the text without it', async () => {
    const { session, outcomes } = watchedSession({ defaults: { failureThreshold: 1 } });
    const client = guardMcpClient({ callTool: failing, listTools: async () => ({ tools: [] }) } as never, session, {
      tools: ['inner'],
    }) as { callTool(params: object): Promise<unknown> };
    const outer = guard(session, 'outer', () => client.callTool({ name: 'inner' }));
    await expect(outer()).rejects.toMatchObject({ cause: refused });
    expect(outcomes).toEqual(['inner: failure, network', 'outer: ignored, network']);
    const advised = withAdvice(new Error('order 7 is unknown'), 'Tool x failed: connect ECONNREFUSED.');
    const plain = guard(watchedSession().session, 'plain', () => Promise.reject(advised));
    const { session: fresh, outcomes: judged } = watchedSession();
    await guard(fresh, 'plain', () => Promise.reject(advised))().catch(() => {});
    expect(judged[0]).not.toContain('network');
    await expect(plain()).rejects.toBe(advised);
  });
});

describe('R5: an alternative with adapt answers a call that failed', () => {
  const pair = (
    watched: ReturnType<typeof routed>,
    other: (input: string) => Promise<string>,
    { first = failing, timeoutMs, otherMs }: { first?: typeof failing; timeoutMs?: number; otherMs?: number } = {},
  ): GuardedFunction<string, string> => {
    const limit = (ms: number | undefined) => (ms === undefined ? {} : { timeoutMs: ms });
    const news = guard(watched.session, 'news', other, limit(otherMs));
    return guard(watched.session, 'web', first, { alternatives: { news }, ...limit(timeoutMs) });
  };

  test('R5: with its own decision; the note says why', async () => {
    const watched = routed();
    expect(await pair(watched, async (topic) => `news of ${topic}`)('x')).toBe(
      "[answered by 'news' in place of 'web', which failed (network): it is unknown how much is lost]\nnews of x",
    );
    expect(watched.outcomes).toEqual(['web: failure, network', 'news: success']);
  });

  test.each([
    ['fails', () => Promise.reject(new Error('HTTP 503'))],
    ['reports an error', async () => ({ isError: true, content: [{ type: 'text', text: 'HTTP 503' }] }) as never],
  ])('R5, E3: one that %s leaves the first error and its notice', async (_, other) => {
    const watched = routed();
    await expect(pair(watched, other)('x')).rejects.toBe(refused);
    expect(unavailableNotice(refused)).toMatch(ADVICE);
    expect(unavailableNotice(refused)).toMatch(
      /'news' was called instead, and failed too\. Continue without them, and say in your answer what is missing\.$/,
    );
    expect(unavailableNotice(refused)).not.toContain('Use ');
    expect(watched.outcomes).toEqual(['web: failure, network', 'news: failure, server']);
  });

  test.each([
    ['returned', async () => ({ success: false, message: 'no result' }) as never],
    ['thrown', () => Promise.reject(Object.assign(new Error('Not Found'), { status: 404 }))],
  ])('R5: one that cannot answer this call can still be called: its error is %s', async (_, other) => {
    const watched = routed();
    await expect(pair(watched, other)('x')).rejects.toBe(refused);
    expect(unavailableNotice(refused)).toMatch(
      /'news' was called instead, and could not answer this call\. Call it with other arguments, or continue without it, and say/,
    );
    expect(unavailableNotice(refused)).not.toContain('failed too');
    expect(watched.outcomes).toEqual(['web: failure, network', expect.stringMatching(/^news: ignored/)]);
  });

  test('R5: one that cannot be called now is not said to have failed', async () => {
    const adapt = (input: unknown): unknown => {
      watched.session.control('news', 'forced_open');
      return input;
    };
    const watched = routed({}, { adapt });
    await expect(pair(watched, async () => expect.unreachable())('x')).rejects.toBe(refused);
    expect(unavailableNotice(refused)).toMatch(/'news' cannot be called instead now\. Continue without them, and say/);
    expect(watched.decisions).toEqual(['web: call', 'news: skip']);
  });

  test('R5: the notice of an error that was returned says how the alternative ended', async () => {
    const watched = routed();
    const down = new Response('down', { status: 503 });
    const first = async (): Promise<never> => down as never;
    expect(await pair(watched, failing, { first })('x')).toBe(down);
    expect(unavailableNotice(down)).toMatch(/'news' was called instead, and failed too/);
  });

  test('R5, R2: in a pause none is called', async () => {
    const watched = routed({ budget: { failures: 1 }, systemic: false });
    await expect(pair(watched, async () => expect.unreachable())('x')).rejects.toBe(refused);
    expect(unavailableNotice(refused)).toMatch(/paused/);
    expect(watched.decisions).toEqual(['web: call']);
  });

  test('R5: an abort by the caller ends it with the reason of the caller, and costs nothing', async () => {
    const watched = routed();
    const caller = new AbortController();
    const reason = new Error('the user left');
    const call = pair(watched, hanging)('x', { signal: caller.signal });
    await watched.settled(1);
    await new Promise((resolve) => setImmediate(resolve));
    caller.abort(reason);
    await expect(call).rejects.toBe(reason);
    expect(watched.outcomes).toEqual(['web: failure, network', 'news: ignored, cancelled']);
  });

  test.each([
    ['its own', { timeoutMs: 50, otherMs: 70 }, 70],
    ['that of the failed tool', { timeoutMs: 50 }, 50],
    ['30 s if there is no other', {}, 30_000],
  ])('R5: its limit is %s', async (_, limits, ms) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const watched = routed();
    const end = vi.fn();
    pair(watched, hanging, limits)('x').catch(end);
    await vi.advanceTimersByTimeAsync(ms - 1);
    expect(end).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(end).toHaveBeenCalledWith(refused);
    expect(watched.outcomes).toEqual(['web: failure, network', 'news: failure, timeout']);
  });

  test('R5: after a time-out of the tool it has the whole of its time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const watched = routed();
    const slow = (topic: string) => new Promise<string>((resolve) => setTimeout(() => resolve(topic), 40));
    const call = pair(watched, slow, { first: hanging, timeoutMs: 50 })('x');
    await vi.advanceTimersByTimeAsync(90);
    expect(await call).toMatch(/which failed \(timeout\).*\nx$/s);
  });
});
