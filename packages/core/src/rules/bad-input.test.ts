import { diag } from '@opentelemetry/api';
import { afterEach, describe, expect, test } from 'vitest';
import { createBreakerbox } from '../breakerbox.ts';
import { BreakerboxConfigError, BreakerboxUsageError } from '../checks/checks.ts';
import { describeFreshness, labelled } from '../freshness/freshness.ts';
import {
  formatPauseReport,
  formatPlanReport,
  formatReport,
  formatStateTable,
  formatSystemicReport,
} from '../report/format.ts';
import { report } from '../report/report.ts';
import { planScope } from '../scope/scope.ts';
import { restore } from '../snapshot/restore.ts';
import { snapshot } from '../snapshot/snapshot.ts';
import { newAgent } from '../telemetry/test-support.telemetry.ts';
import { bench, steps, trip, watchDiag } from '../test-support.ts';
import { hear, inAnotherProcess } from './test-support.rules.ts';

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

/** It is rejected, with its code, and a message that says where and what to write instead. */
const rejectsConfig = (call: () => unknown, ...says: string[]) => {
  const error = thrownBy(call);
  expect(error).toBeInstanceOf(BreakerboxConfigError);
  const { code, message, issues } = error as BreakerboxConfigError;
  expect(code).toBe('BREAKERBOX_CONFIG');
  expect(issues.length).toBeGreaterThan(0);
  for (const issue of issues) expect(issue.message).toMatch(/\. (Set|Give|Allowed here|Restore)/);
  for (const one of says) expect(message).toContain(one);
};

const rejectsUsage = (call: () => unknown, ...says: string[]) => {
  const error = thrownBy(call);
  expect(error).toBeInstanceOf(BreakerboxUsageError);
  const { code, message } = error as BreakerboxUsageError;
  expect(code).toBe('BREAKERBOX_USAGE');
  for (const one of says) expect(message).toContain(one);
};

describe('E6: invalid input is rejected', () => {
  test('E6: createBreakerbox', () => {
    for (const one of NONSENSE) rejectsConfig(() => createBreakerbox(one), 'agent');
    rejectsConfig(() => createBreakerbox(null as never), "config: is null. Give an object such as { agent: 'research-");
    const keys = ['tools', 'groups', 'defaults', 'budget', 'clock', 'allowedTools', 'scope', 'loopGuard', 'systemic'];
    for (const key of [...keys, 'maxTools']) {
      rejectsConfig(() => createBreakerbox({ agent: newAgent(), [key]: null }), key);
    }
  });

  test('E6: box.declare and session.declare', () => {
    const { box, session } = bench();
    for (const one of NONSENSE.filter((name) => name !== 'nonsense')) {
      rejectsConfig(() => box.declare(one));
      // A server may list a tool without a name: the other tools go on (C2).
      if (typeof one === 'string') session.declare(one);
      else rejectsConfig(() => session.declare(one));
    }
    for (const one of NO_SETTINGS) rejectsConfig(() => box.declare('later', one), 'tools.later');
    expect(box.tools).toEqual(['a', 'b', 'c', 'd']);
  });

  test('E6: box.session', () => {
    const { box } = bench();
    for (const one of NO_SETTINGS) rejectsConfig(() => box.session(one), 'session');
    for (const one of [
      { id: '' },
      { id: 7 },
      { budget: null },
      { budget: { tokens: 0 } },
      { allowedTools: 'a' },
      { x: 1 },
    ]) {
      rejectsConfig(() => box.session(one as never), 'session.');
    }
  });

  test('C11, E6: restore', () => {
    const { box, session } = bench();
    const kept = snapshot(session);
    for (const one of NONSENSE) {
      rejectsConfig(() => restore(box, one), 'snapshot');
      rejectsUsage(() => restore(one, kept), 'is not a box');
    }
    for (const one of [null, 7, 'a', ['a'], { allowedTools: 'a' }, { nope: 1 }]) {
      rejectsConfig(() => restore(box, kept, one as never), 'restore');
    }
    rejectsConfig(() => restore(box, { ...kept, circuits: [{ tool: 'a' }] }), 'snapshot.circuits[0].state');
    rejectsConfig(() => restore(box, { ...kept, id: 'x'.repeat(257) }), 'snapshot.id: is a string of 257 characters');
    rejectsConfig(() => restore(createBreakerbox({ agent: newAgent() }), kept), 'snapshot.agent');
  });

  test('E6: snapshot, report and planScope reject a value that is not a session', () => {
    for (const one of NONSENSE) {
      for (const call of [snapshot, report]) rejectsUsage(() => call(one), 'Give what box.session() returns.');
      rejectsUsage(() => planScope(one, []), 'Give what box.session() returns.');
    }
  });

  test('W1: planScope', () => {
    const { session, box } = bench();
    const reduced = hear(box, 'scope.reduced');
    for (const one of NONSENSE.filter((list) => !Array.isArray(list))) {
      rejectsUsage(
        () => planScope(session, one),
        'planScope(session, tasks)',
        "Give a list such as [{ name: 'summary', ",
      );
    }
    const task = { name: 'x', tools: [] };
    for (const one of [
      null,
      7,
      'a',
      {},
      { name: 'x' },
      { ...task, name: '' },
      { ...task, tools: [7] },
      { tools: ['a'] },
    ]) {
      rejectsUsage(() => planScope(session, [one] as never), 'tasks[0]');
    }
    rejectsUsage(() => planScope(session, new Array(1)), 'tasks[0]');
    rejectsUsage(() => planScope(session, [task, task]), 'tasks[1].name', 'rename one of them.');
    expect(planScope(session, [])).toEqual({ decision: 'proceed', achievable: [], deferred: [] });
    expect(reduced).toEqual([]);
    expect(report(session).plan).toMatchObject({ deferred: [] });
  });

  test('Q1: report and the format functions reject a value that is not a report or a label', () => {
    const { session } = bench();
    for (const done of [null, 7, 'prices', {}, [7], [null], [''], new Array(1)]) {
      rejectsUsage(() => report(session, { done } as never), 'report(session, { done })');
    }
    for (const one of NO_SETTINGS) rejectsUsage(() => report(session, one));
    rejectsUsage(() => report(session, { don: [] } as never), 'options.don is not a setting');
    const formats = [formatReport, formatStateTable, formatPlanReport, formatPauseReport, formatSystemicReport];
    for (const one of NONSENSE) {
      for (const format of formats) rejectsUsage(() => format(one), 'Give what report(session) returns');
      for (const say of [describeFreshness, (label: never) => labelled('12', label)]) rejectsUsage(() => say(one));
    }
  });

  test('C1, B5: session.control', () => {
    const { session, box } = bench();
    for (const one of NONSENSE) {
      rejectsUsage(() => session.control('a', one), 'Give one of automatic, forced_open');
      rejectsUsage(() => session.control(one, 'disabled'));
    }
    for (const tool of ['made_up', '', 'constructor', '__proto__']) {
      rejectsUsage(() => session.control(tool, 'disabled'), 'no tool of that name is declared', 'box.declare(');
    }
    expect(box.session().peek('made_up')).toBeUndefined();
    const stateless = bench({ scope: 'none' }).session;
    rejectsUsage(() => stateless.control('a', 'forced_open'), "keeps no circuits (scope 'none')");
  });

  test('E6: box.on', () => {
    const { box } = bench();
    for (const one of NONSENSE) rejectsUsage(() => box.on(one, () => {}), 'there is no such event');
    for (const one of NONSENSE.filter((listener) => typeof listener !== 'function')) {
      rejectsUsage(() => box.on('decision', one), 'Give a function');
    }
  });
});

describe('E3: harmless input', () => {
  test('E3: acquire takes any value, also one that throws when it is read, and never throws', () => {
    const { session } = bench({ budget: { failures: 50 } });
    const hostile = {
      get input(): never {
        throw new Error('do not look at me');
      },
    };
    const child = session.child(); // D1
    for (const one of [session, child]) expect(one.acquire('a', hostile).decision).toBe('call');
    for (const tool of NONSENSE) {
      expect(session.acquire(tool).decision).toBe('call');
      expect(session.acquire('a', tool).decision).toBe('call');
      expect(session.acquire('a', { input: tool, callId: tool }).decision).toBe('call');
      expect(child.acquire('a', tool).decision).toBe('call');
    }
  });

  test('E3, Q1, C11: a tool name that is not a string harms neither report nor snapshot', () => {
    const { session, box } = bench({ budget: { failures: 3 } });
    for (const tool of NONSENSE) session.acquire(tool).settle({ outcome: 'failure', category: 'network' });
    expect(formatReport(report(session))).toContain('PAUSED');
    expect(session.note()).toContain('Tool calls are paused');
    expect(inAnotherProcess(session, box).view().state).toBe('paused_budget');
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
    expect(report(session).tools[0]?.calls).toMatchObject({ made: 4, failed: 0 });
  });

  test('E3, E5: settle takes any value and never throws; only failures reach the circuit', () => {
    const error = watchDiag();
    const { session, box } = bench();
    const outcomes = hear(box, 'outcome');
    for (const one of NONSENSE) session.acquire('a').settle(one);
    expect(error).toHaveBeenCalled();
    expect(outcomes).toHaveLength(NONSENSE.length);
    expect(outcomes.every(({ outcome, category }) => outcome !== 'failure' && category !== 'network')).toBe(true);
    expect(session.peek('a')).toMatchObject({ state: 'closed', failures: 0 });
    const odd = { outcome: 'failure', category: 'nonsense', tokens: 'many', retryAfterMs: -5 };
    session.acquire('a').settle(odd as never);
    expect(outcomes.at(-1)).toMatchObject({ outcome: 'failure', category: 'unknown', tokens: undefined });
    expect(session.view().budget.remaining).toBe(4);
  });

  test('E3: a permit settles once; skips and pauses need no settlement', () => {
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

  test('E3, E7: after the end no method throws, and every method works as before', () => {
    const { session, box } = bench();
    const permit = session.acquire('a');
    trip(session, 'b');
    session.end();
    session.end();
    permit.settle({ outcome: 'failure', category: 'network' });
    expect(session.peek('a')).toMatchObject({ state: 'closed', failures: 1 });
    expect(session.acquire('b')).toMatchObject({ decision: 'skip', reason: 'open' });
    expect(planScope(session, [{ name: 'x', tools: ['b'] }]).decision).toBe('pause');
    expect(session.unavailable()).toEqual(['b']);
    session.resume();
    session.confirmRecovered();
    session.beginTask();
    session.declare('late');
    session.control('a', 'forced_open');
    expect(report(session).plan).toMatchObject({ decision: 'pause' });
    expect(inAnotherProcess(session, box).acquire('a').reason).toBe('forced_open');
    steps(session, 3);
    expect(session.acquire('b').decision).toBe('probe');
    session.end();
  });

  test('O4, C11: the most expensive calls keep sums finite, and snapshots can be restored', () => {
    const wastedTokens = { tokens: 1e12 };
    const tools = { a: { wastedTokens }, b: { wastedTokens, mode: 'observe_only' } } as const;
    const { session, box } = bench({ tools, budget: { failures: 50 } });
    for (const tool of ['a', 'b', 'b', 'b']) session.acquire(tool).settle({ outcome: 'failure', tokens: 1e308 });
    expect(Number.isFinite(report(session).tools[0]?.tokensWasted)).toBe(true);
    expect(inAnotherProcess(session, box).peek('a')).toMatchObject({ state: 'open', trip: 'wasted_tokens' });
  });
});
