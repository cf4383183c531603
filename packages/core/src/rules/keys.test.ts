import { diag } from '@opentelemetry/api';
import { afterEach, describe, expect, test } from 'vitest';
import { byHost } from '../circuit/key-circuits.ts';
import { ERROR_CATEGORIES } from '../classify/taxonomy.ts';
import { bench, journal, watchDiag } from '../test-support.ts';
import { at, DEAD, DOWN, grouped, hear, keyed, notClosed, openKey, visit } from './test-support.rules.ts';

afterEach(() => diag.disable());

const remaining = (session: ReturnType<typeof keyed>['session']) => session.view().budget.remaining;

describe('C14: a failure that blames its key', () => {
  test('C14: three in a row skip that key alone; the tool, its budget and its events do not count them', () => {
    const { session, box } = keyed();
    const told = journal(box);
    const outcomes = hear(box, 'outcome');
    openKey(session, 'dead.example');
    expect(visit(session, 'a', 'dead.example')).toBe('key_open');
    expect(visit(session, 'a', 'DEAD.example')).toBe('key_open');
    expect(visit(session, 'a', 'other.example')).toBe('closed');
    expect(visit(session, 'b', 'dead.example')).toBe('closed');
    expect(session.acquire('a').reason).toBe('closed');
    expect(session.peek('a')).toMatchObject({ state: 'closed', failures: 0, generation: 0, openKeys: 1 });
    expect([remaining(session), told, notClosed(session)]).toEqual([5, [], []]);
    expect(outcomes.slice(0, 3).map(({ outcome, category }) => `${outcome} ${category}`)).toEqual(
      Array(3).fill('ignored network'),
    );
  });

  test('C14: any category counts, including unknown and categories ignored elsewhere, unless the call was ended from outside', () => {
    for (const category of ERROR_CATEGORIES.filter((one) => one !== 'cancelled' && one !== 'denied')) {
      const { session } = keyed();
      for (let i = 0; i < 3; i += 1) {
        expect(session.peek('a')?.openKeys ?? 0).toBe(0);
        visit(session, 'a', 'x.example', { outcome: 'failure', category, blames: 'key' });
      }
      expect(session.peek('a', at('x.example'))).toMatchObject({ state: 'closed', openKeys: 1, key: { category } });
    }
  });

  test('C14: a failure without a key is ignored', () => {
    const { session } = keyed();
    for (let i = 0; i < 5; i += 1) {
      session.acquire('a').settle(DEAD);
      session.acquire('c', { input: at('x.example') }).settle(DEAD);
      session.acquire('made_up', { key: 'x.example' }).settle(DEAD);
    }
    expect(notClosed(session)).toEqual([]);
    expect([remaining(session), session.peek('a')?.openKeys, session.peek('c')?.openKeys]).toEqual([5, 0, 0]);
  });

  test("C14: the key opens at the tool's threshold, or at that of its profile if the setting is false", () => {
    const failureRate = { rate: 1, windowCalls: 5 };
    const key = byHost();
    const { session } = bench({
      loopGuard: false,
      tools: {
        one: { key, failureThreshold: 1 },
        five: { key, profile: 'provider' },
        two: { key, profile: 'slow', failureThreshold: false, failureRate },
      },
    });
    for (const [tool, count] of [
      ['one', 1],
      ['five', 5],
      ['two', 2],
    ] as const) {
      for (let i = 0; i < count; i += 1) {
        expect([tool, i, visit(session, tool, 'x.example', DEAD)]).toEqual([tool, i, 'closed']);
      }
      expect([tool, visit(session, tool, 'x.example')]).toEqual([tool, 'key_open']);
    }
  });

  test('C14: a success of the key resets its count, a success of another key does not', () => {
    const { session } = keyed();
    for (const host of ['x.example', 'x.example']) visit(session, 'a', host, DEAD);
    visit(session, 'a', 'x.example');
    for (const host of ['x.example', 'x.example']) visit(session, 'a', host, DEAD);
    visit(session, 'a', 'y.example');
    expect(session.peek('a', at('x.example'))?.key).toMatchObject({ state: 'closed', failures: 2 });
    visit(session, 'a', 'x.example', DEAD);
    expect(visit(session, 'a', 'x.example')).toBe('key_open');
  });

  test('C14: rates, slow calls and tokens of a tool open no circuit of a key', () => {
    const { session } = keyed({
      tools: {
        a: {
          key: byHost(),
          failureThreshold: 50,
          wastedTokens: { tokens: 1 },
          failureRate: { rate: 0.1, minimumCalls: 1 },
        },
      },
    });
    for (let i = 0; i < 9; i += 1) visit(session, 'a', 'x.example', { ...DEAD, tokens: 99 });
    expect(session.peek('a', at('x.example'))).toMatchObject({ state: 'closed', openKeys: 0, key: { failures: 9 } });
  });

  test('C14, K1: a degraded tool needs one failure fewer', async () => {
    const { session, box } = keyed({ tools: { a: { key: byHost(), precheck: () => 'degraded' } } });
    await box.precheck();
    visit(session, 'a', 'x.example', DEAD);
    expect(visit(session, 'a', 'x.example', DEAD)).toBe('closed');
    expect(visit(session, 'a', 'x.example')).toBe('key_open');
  });

  test('C14, E3: one error that passes through nested guarded calls counts once', () => {
    const { session } = keyed({
      tools: { a: { key: byHost(), failureThreshold: 2 }, b: { key: byHost(), failureThreshold: 1 } },
    });
    const error = new Error('no such host');
    const verdict = { category: 'network', blames: 'key' } as const;
    const outer = session.acquire('b', { input: at('x.example') });
    session.acquire('a', { input: at('x.example') }).settle({ error, verdict });
    outer.settle({ error, verdict });
    expect(session.peek('a', at('x.example'))?.key?.failures).toBe(1);
    expect(session.peek('b', at('x.example'))?.key).toBeUndefined();
    const unkeyed = session.acquire('b', { input: at('x.example') });
    const other = new Error('no such host');
    session.acquire('a').settle({ error: other, verdict });
    unkeyed.settle({ error: other, verdict });
    expect(session.peek('b')?.openKeys).toBe(1);
  });
});

describe('C14: source of the key', () => {
  test("C14: the tool's own setting comes first, then the adapter's; false means no key", () => {
    const { session } = bench({
      loopGuard: false,
      tools: { own: { key: byHost('link') }, adapter: {}, none: { key: false } },
    });
    const input = { link: 'https://x.example' };
    for (const tool of ['own', 'adapter', 'none']) {
      for (let i = 0; i < 3; i += 1) session.acquire(tool, { input, key: 'k' }).settle(DEAD);
    }
    const reasonOf = (tool: string, options: object) => session.acquire(tool, options).reason;
    expect(reasonOf('own', { input })).toBe('key_open');
    expect(reasonOf('own', { input: {}, key: 'k' })).toBe('closed');
    expect(reasonOf('adapter', { input })).toBe('closed');
    expect(reasonOf('adapter', { key: 'k' })).toBe('key_open');
    expect(reasonOf('none', { input, key: 'k' })).toBe('open'); // One circuit for all calls.
  });

  test('C14, E5: a key function that throws, returns a promise or returns no string gives no key, and is reported', () => {
    const error = watchDiag();
    const bad: (() => unknown)[] = [
      () => {
        throw new Error('bad key');
      },
      async () => 'late',
      () => 7,
    ];
    for (const key of bad) {
      const { session } = bench({ loopGuard: false, tools: { a: { key: key as never } } });
      error.mockClear();
      for (let i = 0; i < 3; i += 1) session.acquire('a', { input: 1, key: 'k' }).settle(DEAD);
      expect(session.acquire('a', { input: 1 }).reason).toBe('closed');
      expect(error).toHaveBeenCalledTimes(4);
    }
    error.mockClear();
    for (const key of ['', undefined, null]) {
      const { session } = bench({ loopGuard: false, tools: { a: { key: () => key as never } } });
      for (let i = 0; i < 3; i += 1) session.acquire('a', { input: 1 }).settle(DEAD);
      expect(session.acquire('a', { input: 1 }).reason).toBe('closed');
    }
    for (const key of [7, '', {}]) {
      const { session } = bench();
      for (let i = 0; i < 3; i += 1) session.acquire('a', { key: key as never }).settle(DEAD);
      expect(session.acquire('a', { key: key as never }).reason).toBe('closed');
    }
    expect(error).not.toHaveBeenCalled();
  });

  test('C14: without arguments the key function is not called', () => {
    const asked: unknown[] = [];
    const { session } = bench({ tools: { a: { key: (input) => String(asked.push(input)) } } });
    session.acquire('a');
    session.acquire('a', { callId: 'x' });
    session.acquire('a', { input: { q: 1 } });
    expect(asked).toEqual([{ q: 1 }]);
  });

  test('C14: a group has no keys, nor has a tool with the name of a group', () => {
    const { session } = grouped();
    for (let i = 0; i < 3; i += 1) session.acquire('group:g', { key: 'k' }).settle(DEAD);
    expect(session.acquire('group:g', { key: 'k' }).reason).toBe('undeclared');
  });
});

describe('C14: a failure that blames the tool', () => {
  test('C14: it counts for the tool as without keys, and does not count for the key', () => {
    const { session } = keyed();
    for (let i = 0; i < 3; i += 1) visit(session, 'a', 'x.example', DOWN);
    expect(session.peek('a', at('x.example'))).toMatchObject({ state: 'open', trip: 'consecutive', openKeys: 0 });
    expect(session.peek('a', at('x.example'))?.key).toBeUndefined();
    expect(remaining(session)).toBe(4);
  });

  test('C14: failures on three keys without a success between them open the tool, whatever its threshold', () => {
    for (const threshold of [
      { failureThreshold: 50 },
      { failureThreshold: false, failureRate: { rate: 1 } },
    ] as const) {
      const { session } = keyed({ tools: { a: { key: byHost(), ...threshold } } });
      visit(session, 'a', 'x.example', { outcome: 'failure', category: 'timeout' });
      visit(session, 'a', 'x.example', DOWN);
      visit(session, 'a', 'y.example', { outcome: 'failure', category: 'server' });
      visit(session, 'a', 'y.example', { outcome: 'failure', category: 'rate_limit' });
      expect(session.peek('a')).toMatchObject({ state: 'closed', failures: 4 });
      visit(session, 'a', 'z.example', DOWN);
      expect(session.peek('a')).toMatchObject({ state: 'open', trip: 'keys', category: 'network' });
    }
  });

  test('C14: failures do not add up across a success, other categories, calls without a key and blamed keys', () => {
    const { session } = keyed({ tools: { a: { key: byHost(), failureThreshold: 50 } }, budget: { failures: 50 } });
    for (const host of ['x.example', 'y.example']) visit(session, 'a', host, DOWN);
    visit(session, 'a', 'x.example');
    visit(session, 'a', 'z.example', DOWN);
    visit(session, 'a', 'y.example', DOWN);
    for (const category of ['rate_limit', 'permission', 'resource', 'filesystem', 'unknown'] as const) {
      visit(session, 'a', `${category}.example`, { outcome: 'failure', category });
    }
    for (const host of ['1.example', '2.example', '3.example']) visit(session, 'a', host, DEAD);
    session.acquire('a').settle(DOWN);
    expect(session.peek('a')).toMatchObject({ state: 'closed', failures: 8 });
    visit(session, 'a', 'x.example', DOWN);
    expect(session.peek('a')?.trip).toBe('keys');
  });
});
