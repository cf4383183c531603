import { describe, expect, test } from 'vitest';
import { bench, failOnce, steps, succeedOnce, trip } from '../test-support.ts';
import { at, bringDown, callWith, grouped, keyed, openGroup, openKey, two, visit } from './test-support.rules.ts';

const FAILURE = { outcome: 'failure', category: 'network' } as const;

const search = {
  web: { alternatives: [{ tool: 'news', degradation: 'low', note: 'recent items only' }] },
  news: {},
  lone: { fallback: 'ask the user for a link' },
} as const;

/** A call that fails, once it has settled. */
const failed = (session: ReturnType<typeof bench>['session'], tool: string, input?: unknown) => {
  const permit = session.acquire(tool, { input });
  permit.settle(FAILURE);
  return permit;
};

describe('R5: the advice after a failed call', () => {
  test('R5: the failure that opens the circuit says why, until when and what to use instead; earlier ones say nothing', () => {
    const { session } = bench({ tools: search });
    session.step();
    for (const message of ['', '']) expect(failed(session, 'web')).toMatchObject({ message, route: undefined });
    const third = failed(session, 'web');
    expect(third.message).toBe(
      "Tool 'web' is not available now: the last calls failed (network). Do not call it now. It may work again in about 3 of your " +
        "turns. Use 'news' instead (recent items only; little is lost).",
    );
    expect(third).toMatchObject({ decision: 'call', route: { kind: 'alternative', tool: 'news' } });
    expect(third.toJSON()).toMatchObject({ message: third.message, route: { tool: 'news' } });
  });

  test('R5: a failed probe says it again, with the new wait; a success says nothing', () => {
    const { session } = bench({ tools: search });
    trip(session, 'web');
    steps(session, 3);
    const probe = failed(session, 'web');
    expect(probe.decision).toBe('probe');
    expect(probe.message).toContain(
      "Tool 'web' is not available now: the last calls failed (network). Do not call it now.",
    );
    steps(session, 20);
    const success = session.acquire('web');
    success.settle({ outcome: 'success' });
    expect(success).toMatchObject({ decision: 'probe', message: '', route: undefined });
  });

  test('R5: the advice has neither the mark of a skip nor the words by which older guards recognise one', () => {
    const { session } = bench({ tools: search });
    const batch = Array.from({ length: 3 }, () => session.acquire('web'));
    const opened = batch.map((permit) => permit.settle(FAILURE) ?? permit.message).at(-1);
    const skip = session.acquire('web').message;
    const underWay = session.acquire('news');
    trip(session, 'lone');
    underWay.settle(FAILURE);
    for (const text of [skip, session.acquire('web').message]) expect(text).toMatch(/ \[breakerbox:not-called\]$/);
    for (const text of [opened, underWay.message]) {
      expect(text).not.toMatch(/not-called|is unavailable|Do not retry it|Do not call any tools, including|^$/);
    }
  });

  test('R5: a call that is late, because another one opened the circuit, gets the advice too', () => {
    const { session } = bench({ tools: search });
    const batch = Array.from({ length: 5 }, () => session.acquire('web'));
    for (const permit of batch) permit.settle(FAILURE);
    expect(batch.map(({ message }) => message !== '')).toEqual([false, false, true, true, true]);
  });

  test('R5, C9: so does a probe whose lease ended before it failed', () => {
    const { session, clock } = bench({ tools: search });
    trip(session, 'web');
    steps(session, 3);
    const probe = session.acquire('web');
    clock.advance(60_000);
    session.step();
    probe.settle(FAILURE);
    expect(probe.message).toContain("Use 'news' instead");
  });

  test('R5: when the failure pauses the session, the model reads to stop, and no other tool is named', () => {
    const { session } = bench({ tools: search, budget: { failures: 2 } });
    const last = session.acquire('lone');
    for (let call = 0; call < 3; call += 1) failOnce(session, 'made up', 'server');
    last.settle(FAILURE);
    expect(last.message).toBe(
      'Tool calls are paused: too many tool calls of this run have failed. Call no more tools, not even those that still work. Report ' +
        "what is done, what is not done and why. Say that a person must resume the run. Instead of 'lone': ask the user for a link.",
    );
    expect(last.route).toEqual({ kind: 'manual', fallback: 'ask the user for a link' });
    const { session: other } = bench({ tools: search });
    bringDown(other, 'news', 'lone');
    expect(failed(other, 'web')).toMatchObject({
      message: expect.stringMatching(/^Tool calls are paused: 'news' and/),
    });
  });

  test('R5, C13: a failure that opens the group names the group', () => {
    const { session } = grouped();
    openGroup(session);
    const late = grouped().session;
    late.acquire('a').settle(FAILURE);
    late.acquire('b').settle(FAILURE);
    const third = failed(late, 'a');
    expect(third.message).toContain("the tools of group 'g' failed (network). Do not call it now.");
  });

  test('R5, C14: a failure that opens a key says that other targets work if one has', () => {
    const { session } = keyed();
    const one = () => {
      const permit = session.acquire('a', { input: at('x.example') });
      permit.settle({ ...FAILURE, blames: 'key' });
      return permit.message;
    };
    visit(session, 'a', 'y.example');
    expect([one(), one()]).toEqual(['', '']);
    expect(one()).toMatch(/^Tool 'a' is not available now for this target: .* Other targets still work\./);
    openKey(session, 'y.example');
    expect(visit(session, 'a', 'z.example', FAILURE)).toBeDefined();
  });

  test('R5, F2: where the last good result is served, the model reads that the same call gives it now', () => {
    const { session } = bench({ tools: { a: { serveStaleMs: 60_000 } } });
    callWith(session, 'a', { q: 1 }, { result: 'fresh' });
    trip(session, 'a');
    const late = bench({ tools: { a: { serveStaleMs: 60_000, failureThreshold: 1 } } }).session;
    callWith(late, 'a', { q: 1 }, { result: 'fresh' });
    const last = failed(late, 'a', { q: 1 });
    expect(last.route).toMatchObject({ kind: 'stale', result: 'fresh' });
    expect(last.message).toMatch(
      /The same call gives its last good result now \(stale: .*\)\. Say in your answer how old it is\.$/,
    );
  });

  test('R5, C1: an observed tool, and one that no circuit rejects, get none', () => {
    const { session } = bench({ tools: { a: { mode: 'observe_only' }, b: { mode: 'disabled' }, c: {} } });
    for (const tool of ['a', 'b']) {
      for (let i = 0; i < 4; i += 1) expect(failed(session, tool).message).toBe('');
    }
    succeedOnce(session, 'c');
    for (let i = 0; i < 4; i += 1) {
      const permit = session.acquire('c', { input: 1 });
      if (permit.decision === 'skip') break;
      permit.settle({ outcome: 'ignored', category: 'tool_error' });
      expect(permit.message).toBe(''); // O5: the same call would be skipped now, but the tool works.
    }
  });

  test('R5, C12: another session of the box gives the time, because its turns are not the steps that count', () => {
    const { session, other } = two({ tools: search });
    session.step();
    trip(session, 'web');
    const late = other.acquire('lone');
    expect(other.acquire('web').message).toContain('It may work again in about 60 s.');
    late.settle({ outcome: 'success' });
    expect(late.message).toBe('');
  });
});
