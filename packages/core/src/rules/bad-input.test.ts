import { diag } from '@opentelemetry/api';
import { afterEach, describe, expect, test } from 'vitest';
import { createBreakerbox } from '../breakerbox.ts';
import { BreakerboxConfigError, BreakerboxUsageError } from '../errors.ts';
import { formatReport } from '../report/text.ts';
import { newAgent } from '../telemetry/test-support.ts';
import { bench, steps, trip, watchDiag } from '../test-support.ts';
import { hear } from './test-support.ts';

afterEach(() => diag.disable());

/** Every kind of value that a caller without types may send. */
const NONSENSE = [null, undefined, 7, Number.NaN, '', 'nonsense', true, {}, [], () => 1, Symbol('s'), 7n] as never[];
const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
/** What can't be an object of settings, left out or not. */
const NO_SETTINGS = NONSENSE.filter((one) => one !== undefined && !isObject(one));

const thrownBy = (call: () => unknown): unknown => {
  try {
    call();
  } catch (error) {
    return error;
  }
  return undefined;
};

/** It is refused, with its code, and a message that says where and what to write instead. */
const refusesConfig = (call: () => unknown, ...says: string[]) => {
  const error = thrownBy(call);
  expect(error).toBeInstanceOf(BreakerboxConfigError);
  const { code, message, issues } = error as BreakerboxConfigError;
  expect(code).toBe('BREAKERBOX_CONFIG');
  expect(issues.length).toBeGreaterThan(0);
  for (const issue of issues) expect(issue.message).toMatch(/\. (Set|Give|Known here|Restore)/);
  for (const one of says) expect(message).toContain(one);
};

const refusesUsage = (call: () => unknown, ...says: string[]) => {
  const error = thrownBy(call);
  expect(error).toBeInstanceOf(BreakerboxUsageError);
  const { code, message } = error as BreakerboxUsageError;
  expect(code).toBe('BREAKERBOX_USAGE');
  for (const one of says) expect(message).toContain(one);
};

describe('E6: nonsense is refused', () => {
  test('E6: createBreakerbox', () => {
    for (const one of NONSENSE) refusesConfig(() => createBreakerbox(one), 'agent');
    for (const key of [
      'tools',
      'groups',
      'defaults',
      'budget',
      'clock',
      'allowedTools',
      'scope',
      'loopGuard',
      'systemic',
      'maxTools',
    ]) {
      refusesConfig(() => createBreakerbox({ agent: newAgent(), [key]: null }), key);
    }
    refusesConfig(() => createBreakerbox({ agent: newAgent(), tools: { a: null } } as never), 'tools.a');
  });

  test('E6: box.declare and session.declare', () => {
    const { box, session } = bench();
    for (const one of NONSENSE.filter((name) => name !== 'nonsense')) {
      refusesConfig(() => box.declare(one));
      refusesConfig(() => session.declare(one));
    }
    for (const one of NO_SETTINGS) refusesConfig(() => box.declare('later', one), 'tools.later');
    expect(box.tools).toEqual(['a', 'b', 'c', 'd']);
  });

  test('E6: box.session', () => {
    const { box } = bench();
    for (const one of NO_SETTINGS) refusesConfig(() => box.session(one), 'session');
    for (const one of [
      { id: '' },
      { id: 7 },
      { budget: null },
      { budget: { tokens: 0 } },
      { nope: 1 },
      { allowedTools: 'a' },
    ]) {
      refusesConfig(() => box.session(one as never), 'session.');
    }
  });

  test('C11, E6: box.restore', () => {
    const { box, session } = bench();
    for (const one of NONSENSE) refusesConfig(() => box.restore(one), 'snapshot');
    for (const one of [null, 7, 'a', { allowedTools: 'a' }, { nope: 1 }]) {
      refusesConfig(() => box.restore(session.snapshot(), one as never), 'restore');
    }
    const broken = { ...session.snapshot(), circuits: [{ tool: 'a' }] };
    refusesConfig(() => box.restore(broken), 'snapshot.circuits[0].state');
    refusesConfig(() => createBreakerbox({ agent: newAgent() }).restore(session.snapshot()), 'snapshot.agent');
  });

  test('W1: session.planScope', () => {
    const { session, box } = bench();
    const reduced = hear(box, 'scope.reduced');
    for (const one of NONSENSE.filter((list) => !Array.isArray(list))) {
      refusesUsage(
        () => session.planScope(one),
        'session.planScope(tasks)',
        "Give a list such as [{ name: 'summary', ",
      );
    }
    for (const one of [
      null,
      7,
      'a',
      {},
      { name: 'x' },
      { name: '', tools: [] },
      { name: 'x', tools: [7] },
      { tools: ['a'] },
    ]) {
      refusesUsage(() => session.planScope([one] as never), 'tasks[0]');
    }
    refusesUsage(() => session.planScope(new Array(1)), 'tasks[0]');
    const twice = [
      { name: 'x', tools: [] },
      { name: 'x', tools: [] },
    ];
    refusesUsage(() => session.planScope(twice), 'tasks[1].name', 'Rename one of them.');
    expect(session.planScope([])).toEqual({ decision: 'proceed', achievable: [], deferred: [] });
    expect(reduced).toEqual([]);
    expect(session.report().scope).toMatchObject({ deferred: [] });
  });

  test('Q1: session.report', () => {
    const { session } = bench();
    for (const done of [null, 7, 'prices', {}, [7], [null], [''], new Array(1)]) {
      refusesUsage(() => session.report({ done } as never), 'session.report({ done })');
    }
    expect(session.report({}).done).toEqual([]);
  });

  test('C1: session.control', () => {
    const { session, box } = bench();
    for (const mode of NONSENSE) refusesUsage(() => session.control('a', mode), 'Give one of automatic, forced_open');
    for (const tool of ['made_up', '', 'constructor', '__proto__']) {
      refusesUsage(() => session.control(tool, 'disabled'), 'no tool of that name is declared', 'box.declare(');
    }
    expect(box.session().peek('made_up')).toBeUndefined();
  });
});

describe('E3: what is harmless', () => {
  test('E3: acquire takes whatever it is given, and never throws', () => {
    const { session } = bench({ budget: { failures: 50 } });
    for (const tool of NONSENSE) {
      expect(session.acquire(tool).decision).toBe('call');
      expect(session.acquire('a', tool).decision).toBe('call');
      expect(session.acquire('a', { input: tool, callId: tool }).decision).toBe('call');
    }
  });

  test('E3, Q1, C11: a tool name that is no string harms neither report nor snapshot', () => {
    const { session, box } = bench({ budget: { failures: 3 } });
    for (const tool of NONSENSE) session.acquire(tool).settle({ outcome: 'failure', category: 'network' });
    expect(formatReport(session.report())).toContain('PAUSED');
    expect(session.note()).toContain('Tool calls are paused');
    const restored = box.restore(JSON.parse(JSON.stringify(session.snapshot())));
    expect(restored.view().state).toBe('paused_budget');
  });

  test('E3, E5: a settlement that throws when it is read settles all the same', () => {
    const error = watchDiag();
    const { session } = bench({ tools: { a: { labelFreshness: true, serveStaleMs: 1_000 } } });
    const thrower = (key: string) =>
      Object.defineProperty({ outcome: 'success' }, key, {
        enumerable: true,
        get: () => {
          throw new Error('unreadable');
        },
      }) as never;
    for (const key of ['freshness', 'result', 'tokens', 'outcome']) {
      session.acquire('a', { input: 1 }).settle(thrower(key));
    }
    expect(error).toHaveBeenCalledTimes(4);
    expect(session.report().tools[0]?.calls).toMatchObject({ made: 4, failed: 0 });
  });

  test('E3, E5: settle takes whatever it is given, and never throws; the circuit hears of failures alone', () => {
    const error = watchDiag();
    const { session, box } = bench();
    const outcomes = hear(box, 'outcome');
    for (const one of NONSENSE) session.acquire('a').settle(one);
    expect(error).toHaveBeenCalled();
    expect(outcomes).toHaveLength(NONSENSE.length);
    expect(outcomes.every(({ outcome, category }) => outcome !== 'failure' && category !== 'network')).toBe(true);
    expect(session.peek('a')).toMatchObject({ state: 'closed', failures: 0 });
    session
      .acquire('a')
      .settle({ outcome: 'failure', category: 'nonsense', tokens: 'many', retryAfterMs: -5 } as never);
    expect(outcomes.at(-1)).toMatchObject({ outcome: 'failure', category: 'unknown', tokens: undefined });
    expect(session.view().budget.remaining).toBe(4);
  });

  test('E3: a permit settles once; skips and pauses have nothing to settle', () => {
    const { session, box } = bench();
    const outcomes = hear(box, 'outcome');
    const permit = session.acquire('a');
    permit.settle({ outcome: 'success' });
    permit.settle({ outcome: 'failure' });
    trip(session, 'b');
    session.acquire('b').settle({ outcome: 'success' });
    trip(session, 'c');
    session.acquire('a').settle({ outcome: 'success' });
    expect(session.view().state).toBe('paused_systemic');
    expect(outcomes).toHaveLength(7);
    expect(session.peek('b')?.state).toBe('open');
  });

  test('E3, E7: after the end nothing throws, and everything works as before', () => {
    const { session, box } = bench();
    const permit = session.acquire('a');
    trip(session, 'b');
    session.end();
    session.end();
    permit.settle({ outcome: 'failure', category: 'network' });
    expect(session.peek('a')).toMatchObject({ state: 'closed', failures: 1 });
    expect(session.acquire('b')).toMatchObject({ decision: 'skip', reason: 'open' });
    expect(session.planScope([{ name: 'x', tools: ['b'] }]).decision).toBe('pause');
    expect(session.unavailable()).toEqual(['b']);
    session.resume();
    session.confirmRecovered();
    session.beginTask();
    session.declare('late');
    session.control('a', 'forced_open');
    expect(session.report().scope).toMatchObject({ decision: 'pause' });
    expect(box.restore(JSON.parse(JSON.stringify(session.snapshot()))).acquire('a').reason).toBe('forced_open');
    steps(session, 3);
    expect(session.acquire('b').decision).toBe('probe');
    session.end();
  });
});
