import { BreakerboxUsageError } from '@breakerbox/core';
import { snapshot } from '@breakerbox/core/snapshot';
import { diag } from '@opentelemetry/api';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Rejection } from './acquire.ts';
import { type HookedCalls, hookedCalls } from './hooked-calls.ts';
import { currentSession, withSession } from './session.ts';
import { listenToDiag } from './test-support/diagnosed.ts';
import { stopTracing } from './test-support/tracing.ts';
import { type Watched, watchedSession } from './test-support/watched-session.ts';
import { ToolUnavailableError } from './unavailable.ts';

const once = (more: object = {}) => watchedSession({ tools: { search: { failureThreshold: 1 } }, ...more });
const call = (callId: string, input?: unknown) => ({ callId, tool: 'search', input });
const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

/** Opens the circuit, and lets its steps pass: the next call is a probe. */
const dueForProbe = ({ session }: Watched, calls: HookedCalls): void => {
  calls.acquire(call('first'));
  calls.settle('first', { error: refused });
  for (let step = 0; step < 3; step += 1) session.step();
};

afterEach(() => {
  stopTracing();
  diag.disable();
});

describe('a call', () => {
  test('E3: settles once; an unknown or rejected call settles nothing', () => {
    const { session, decisions, outcomes } = once();
    const calls = hookedCalls(session);
    calls.acquire(call('a'));
    expect(calls.settle('a', { error: refused })).toMatchObject({ decision: 'call' });
    expect(calls.settle('a', { error: refused })).toBeUndefined();
    expect(calls.acquire(call('b'))).toMatchObject({
      decision: 'skip',
      message: expect.stringContaining('unavailable'),
    });
    expect(calls.settle('b', { error: refused })).toBeUndefined();
    expect(calls.settle('never', { result: 1 })).toBeUndefined();
    expect(decisions).toEqual(['search: call', 'search: skip']);
    expect(outcomes).toEqual(['search: failure, network']);
  });

  test.each([undefined, null, 'done'])(
    'E5, C8: settled with %j, which has no outcome, is ignored, and a probe leaves its circuit open again',
    (given) => {
      const watched = once();
      const calls = hookedCalls(watched.session);
      dueForProbe(watched, calls);
      expect(calls.acquire(call('probe')).decision).toBe('probe');
      expect(calls.settle('probe', given as never)).toMatchObject({ decision: 'probe' });
      expect(watched.outcomes.at(-1)).toBe('search: ignored, unknown');
      expect(calls.acquire(call('again')).reason).toBe('open');
      expect(watched.session.view().budget.remaining).toBe(4);
    },
  );

  test('B3: that failed because another tool was rejected costs nothing: that failure is charged already', () => {
    const { session, outcomes } = watchedSession();
    const calls = hookedCalls(session);
    session.declare('other');
    session.control('other', 'forced_open');
    calls.acquire(call('a'));
    calls.settle('a', { error: new ToolUnavailableError(session.acquire('other') as Rejection), tokens: 5 });
    calls.acquire(call('b'));
    calls.settle('b', new ToolUnavailableError(session.acquire('other') as Rejection) as never); // Bare.
    expect(outcomes).toEqual(['search: ignored, denied', 'search: ignored, denied']);
    expect(session.view().budget.consumed).toBe(0);
  });

  test('F1: returns its decision, for the label that the model reads', () => {
    const { session } = watchedSession({ tools: { search: { labelFreshness: true } } });
    const calls = hookedCalls(session);
    for (const id of ['a', 'b']) calls.acquire(call(id, { q: 'x' }));
    expect(calls.settle('a', { result: 'found' })?.freshness).toBeUndefined();
    expect(calls.settle('b', { result: 'found' })?.freshness).toMatchObject({ kind: 'cached' });
  });

  test('C2: gives its tool a circuit; O5: all calls without arguments are the same', () => {
    const { box, session } = watchedSession({ defaults: { failureThreshold: 9 }, budget: { failures: 9 } });
    const calls = hookedCalls(session);
    const decisions = ['a', 'b', 'c', 'd'].map((id) => {
      const { decision, reason } = calls.acquire({ callId: id, tool: 'search' });
      calls.settle(id, { error: refused });
      return `${decision}: ${reason}`;
    });
    expect(box.tools).toEqual(['search']);
    expect(decisions.at(-1)).toBe('skip: repeat');
  });
});

describe('the same id twice', () => {
  test('C8: abandons the earlier call; the result settles the later one', () => {
    const watched = once();
    const calls = hookedCalls(watched.session);
    dueForProbe(watched, calls);
    expect(calls.acquire(call('a')).decision).toBe('probe');
    expect(calls.acquire(call('a')).decision).toBe('probe');
    calls.settle('a', { result: 'found' });
    expect(watched.outcomes.slice(1)).toEqual(['search: ignored, cancelled', 'search: success']);
    expect(watched.session.peek('search')).toMatchObject({ state: 'closed' });
  });

  test('in two systems of hooks, or for two sessions, is two calls', () => {
    const [one, other] = [once(), once()];
    const [calls, more] = [hookedCalls(one.session), hookedCalls(other.session)];
    calls.acquire(call('a'));
    more.acquire(call('a'));
    calls.settle('a', { result: 'found' });
    more.settle('a', { error: refused });
    expect([one.outcomes, other.outcomes]).toEqual([['search: success'], ['search: failure, network']]);
  });
});

describe('calls that are never settled', () => {
  test('C8: cost nothing when they are abandoned, one alone or all; a probe gives its place back', () => {
    const watched = once();
    const calls = hookedCalls(watched.session);
    dueForProbe(watched, calls);
    calls.acquire(call('probe'));
    expect(calls.acquire(call('other')).reason).toBe('probe_in_flight');
    calls.abandon('probe');
    calls.abandon('probe');
    calls.abandon('never');
    expect(calls.acquire(call('again')).decision).toBe('probe');
    calls.abandon();
    expect(calls.acquire(call('last')).decision).toBe('probe');
    expect(watched.outcomes.slice(1)).toEqual(Array(2).fill('search: ignored, cancelled'));
    expect(watched.session.view().budget).toMatchObject({ limit: 5, remaining: 4 });
  });

  test('C9: lose the lease of a probe, and a late end changes nothing', () => {
    let ms = 0;
    const watched = once({ clock: { now: () => ms, unixNow: () => ms } });
    const calls = hookedCalls(watched.session);
    dueForProbe(watched, calls);
    expect(calls.acquire(call('lost')).decision).toBe('probe');
    ms = 60_000;
    expect(calls.acquire(call('next'))).toMatchObject({ decision: 'skip', reason: 'open' });
    const state = watched.session.peek('search');
    calls.settle('lost', { result: 'found' });
    expect(watched.session.peek('search')).toEqual(state);
    expect(watched.outcomes.slice(1)).toEqual(['search: failure, timeout']);
  });

  test('are kept up to a thousand per session: then the oldest is abandoned', () => {
    const [watched, other] = [watchedSession(), watchedSession()];
    let session = other.session;
    const calls = hookedCalls(() => session);
    calls.acquire(call('0'));
    session = watched.session;
    for (let n = 0; n < 1_000; n += 1) calls.acquire(call(`${n}`, n));
    expect(watched.outcomes).toEqual([]);
    calls.acquire(call('1000'));
    expect(watched.outcomes).toEqual(['search: ignored, cancelled']);
    expect(calls.settle('0', { result: 1 })).toBeUndefined();
    expect(calls.settle('1', { result: 1 })).toBeDefined();
    session = other.session;
    expect(calls.settle('0', { result: 1 })).toBeDefined();
  });
});

describe('BREAKERBOX_NEVER_SETTLED', () => {
  const warnings = (run: (calls: HookedCalls, watched: Watched) => void, where?: string): readonly string[] => {
    vi.stubEnv('BREAKERBOX_WARNINGS', '');
    const emit = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const watched = watchedSession();
    run(hookedCalls(watched.session, where), watched);
    const said = emit.mock.calls.map(([text]) => `${text}`);
    vi.unstubAllEnvs();
    emit.mockRestore();
    return said;
  };

  test('is given once for a framework that calls no hook after a failure', () => {
    const said = warnings((calls, { session }) => {
      for (let turn = 0; turn < 10; turn += 1) {
        calls.acquire({ callId: `${turn}`, tool: 'webfetch', input: turn });
        calls.acquire({ callId: `read-${turn}`, tool: 'read', input: turn });
        calls.settle(`read-${turn}`, { result: 'the file' });
        session.step();
      }
    }, 'opencode');
    expect(said).toEqual([
      expect.stringMatching(
        /^opencode: 5 calls of tool 'webfetch' .* never settled.*calls\.settle\(callId, \{ error \}\)/,
      ),
    ]);
  });

  test('is not given for parallel calls that last for many turns, nor for one call a turn that is settled', () => {
    const said = warnings((calls, { session }) => {
      for (let id = 0; id < 30; id += 1) calls.acquire({ callId: `${id}`, tool: 'task', input: id });
      for (let turn = 0; turn < 30; turn += 1) {
        calls.acquire(call(`turn-${turn}`, turn));
        session.step();
        calls.settle(`turn-${turn}`, { result: 'late' });
      }
    });
    expect(said).toEqual([]);
  });
});

describe('a session function', () => {
  test('is asked once for each hook: each session has its own calls', () => {
    const [one, other] = [once(), once()];
    let asked = 0;
    const calls = hookedCalls(() => {
      asked += 1;
      return currentSession();
    });
    withSession(one.session, () => calls.acquire(call('a')));
    withSession(other.session, () => calls.acquire(call('a')));
    withSession(other.session, () => calls.settle('a', { error: refused }));
    withSession(one.session, () => calls.abandon());
    expect(asked).toBe(4);
    expect([one.outcomes, other.outcomes]).toEqual([['search: ignored, cancelled'], ['search: failure, network']]);
  });

  test('that finds no session throws to the caller', () => {
    const calls = hookedCalls(currentSession);
    expect(() => calls.acquire(call('a'))).toThrow(BreakerboxUsageError);
  });

  test('E5: throws to diag if the tool has run: its result is not lost', () => {
    const { session, outcomes } = watchedSession();
    const heard = listenToDiag();
    const calls = hookedCalls(currentSession, 'myHooks()');
    withSession(session, () => calls.acquire(call('a')));
    expect(calls.settle('a', { result: 'found' })).toBeUndefined();
    calls.abandon();
    expect(heard.map(([said]) => said)).toEqual([
      expect.stringContaining('settle() of myHooks()'),
      expect.stringContaining('abandon() of myHooks()'),
    ]);
    withSession(session, () => calls.settle('a', { result: 'found' }));
    expect(outcomes).toEqual(['search: success']);
  });
});

test('5,000 invented names leave declared tools their circuits, and share a bounded number', () => {
  const said = listenToDiag();
  const { box, session, decisions } = once({ maxTools: 10 });
  const calls = hookedCalls(session);
  for (let index = 0; index < 5_000; index += 1) {
    calls.acquire({ callId: `${index}`, tool: `made_up_${index}` });
    calls.settle(`${index}`, { result: 'no such tool' });
  }
  expect(box.tools).toHaveLength(2_000);
  expect(snapshot(session).circuits.length).toBeLessThanOrEqual(2_000);
  calls.acquire(call('a'));
  calls.settle('a', { error: refused });
  expect(calls.acquire(call('b')).decision).toBe('skip');
  expect(decisions.filter((decision) => decision !== 'search: skip').every((one) => one.endsWith(': call'))).toBe(true);
  expect(said).toEqual([]);
});

describe('E6', () => {
  test("a value that is not a session is rejected, with the name of the caller's function", () => {
    expect(() => hookedCalls({} as never)).toThrow(/^hookedCalls\(\): got a value of type object instead of a session/);
    expect(() => hookedCalls(5 as never, 'myHooks()')).toThrow(/^myHooks\(\): got a value of type number/);
  });

  test.each([
    [undefined, 'undefined'],
    ['', 'an empty string'],
    [7, '7'],
  ])('a call with %o as its id is rejected before the decision', (callId, shown) => {
    const { session, decisions } = watchedSession();
    const calls = hookedCalls(session);
    const acquire = () => calls.acquire({ callId: callId as string, tool: 'search' });
    expect(acquire).toThrow(BreakerboxUsageError);
    expect(acquire).toThrow(`a call of tool 'search' got ${shown} as its callId`);
    expect(decisions).toEqual([]);
  });
});
