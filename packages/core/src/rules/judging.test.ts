import { diag } from '@opentelemetry/api';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { ToolConfig } from '../config/config.ts';
import type { Settlement } from '../outcome.ts';
import { bench, watchDiag, watchWarnings } from '../test-support.ts';
import { hear } from './test-support.rules.ts';

afterEach(() => diag.disable());

const refusedConnection = Object.assign(new Error('x'), { code: 'ECONNREFUSED' });

/** What one call of tool `a` comes to. */
const judgedAs = (config: ToolConfig, settlement: Settlement): string => {
  const { session, box } = bench({ tools: { a: config } });
  const heard = hear(box, 'outcome');
  session.acquire('a').settle(settlement);
  return heard.map(({ outcome, category }) => (category === undefined ? outcome : `${outcome} ${category}`)).join();
};

const says = (answer: unknown): ToolConfig => ({ isFailure: () => answer as never });

describe('O7: a tool defines which of its results are failures', () => {
  test.each<[unknown, string]>([
    [true, 'failure server'],
    ['resource', 'failure resource'],
    ['tool_error', 'failure tool_error'],
    [false, 'success'],
    [undefined, 'success'],
  ])('O7: %j for a plain result', (answer, outcome) => {
    expect(judgedAs(says(answer), { result: 'all is down' })).toBe(outcome);
  });

  test('O7: false for an error result is a success, undefined leaves it to the classifier', () => {
    const result = { isError: true, code: 'ECONNREFUSED' };
    expect(judgedAs({}, { result })).toBe('failure network');
    expect(judgedAs(says(false), { result })).toBe('success');
    expect(judgedAs(says(undefined), { result })).toBe('failure network');
  });

  test('O7: isFailure gets every result, and no errors', () => {
    const isFailure = vi.fn(() => undefined);
    for (const settlement of [
      { error: refusedConnection },
      { outcome: 'success' },
      { outcome: 'success', result: 'kept for F2' },
      { outcome: 'failure' },
    ] as const) {
      judgedAs({ isFailure, serveStaleMs: 1 }, settlement);
    }
    expect(isFailure).not.toHaveBeenCalled();
    judgedAs({ isFailure }, { result: undefined });
    judgedAs({ isFailure }, { result: 7, verdict: null });
    expect(isFailure.mock.calls).toEqual([[undefined], [7]]);
  });

  test('O1, O7: the answer is a failure or a success, whatever the outcomes say; defaults apply to all tools', () => {
    const outcomes = { server: 'ignored', network: 'ignored' } as const;
    expect(judgedAs({ ...says(true), outcomes }, { result: 1 })).toBe('failure server');
    expect(judgedAs({ ...says('network'), outcomes }, { result: 1 })).toBe('failure network');
    const verdict = { category: 'network' } as const;
    expect(judgedAs({ ...says(undefined), outcomes }, { result: 1, verdict })).toBe('ignored network');
    expect(judgedAs({ classify: () => 'network', outcomes }, { result: 1 })).toBe('ignored network');
    const { session } = bench({ tools: { a: {}, b: says(false) }, defaults: { ...says(true), failureThreshold: 1 } });
    for (const tool of ['a', 'b']) session.acquire(tool).settle({ result: 1 });
    expect([session.peek('a')?.state, session.peek('b')?.state]).toEqual(['open', 'closed']);
  });

  test('E5, O7: an answer that throws, is late or is invalid is reported, and does not count', async () => {
    const error = watchDiag();
    const bad: ToolConfig['isFailure'][] = [
      () => {
        throw new Error('broken');
      },
      (async () => true) as never,
    ];
    for (const isFailure of bad) expect(judgedAs({ ...(isFailure && { isFailure }) }, { result: 1 })).toBe('success');
    expect(error).toHaveBeenCalledTimes(2);
    const warned = watchWarnings();
    for (const nonsense of ['down', 7, null, {}]) expect(judgedAs(says(nonsense), { result: 1 })).toBe('success');
    expect(warned()).toHaveLength(1);
    expect(warned()[0]).toContain(
      "isFailure of tool 'a' returned a value that is not a category, so it is ignored. Return one of network,",
    );
  });
});

describe('O2: order of the judges', () => {
  const verdict = { category: 'timeout', retryAfterMs: 70_000 } as const;

  test('O2: for results isFailure is first, then classify, the verdict of the executor, and codes', () => {
    const result = { isError: true, code: 'ECONNREFUSED' };
    const classify = () => 'permission' as const;
    expect(judgedAs({ ...says(true), classify }, { result, verdict })).toBe('failure server');
    expect(judgedAs({ ...says(undefined), classify }, { result, verdict })).toBe('failure permission');
    expect(judgedAs({ classify: () => undefined }, { result, verdict })).toBe('failure timeout');
    expect(judgedAs({}, { result, verdict: undefined })).toBe('failure network');
    expect(judgedAs({}, { result, verdict: null })).toBe('success');
    expect(judgedAs({}, { result: 'plain', verdict })).toBe('failure timeout');
    expect(judgedAs({ classify }, { result: 'plain', verdict: null })).toBe('failure permission');
  });

  test('O2: for errors classify is first, then the verdict, and codes', () => {
    const error = refusedConnection;
    expect(judgedAs({ ...says(false), classify: () => 'permission' }, { error, verdict })).toBe('failure permission');
    expect(judgedAs({}, { error, verdict })).toBe('failure timeout');
    expect(judgedAs({}, { error })).toBe('failure network');
  });

  test('O2: classify gets whether the value was thrown or returned', () => {
    const classify = vi.fn(() => undefined);
    judgedAs({ classify }, { error: refusedConnection });
    judgedAs({ classify }, { result: 'fine' });
    expect(classify.mock.calls).toEqual([
      [refusedConnection, { returned: false }],
      ['fine', { returned: true }],
    ]);
  });

  test('O3: the wait in a verdict applies', () => {
    const { session } = bench({ tools: { a: { failureThreshold: 1 } } });
    session.acquire('a').settle({ error: refusedConnection, verdict });
    expect(session.peek('a')?.nextProbe?.notBeforeMs).toBe(70_000);
  });

  test('E5: an invalid verdict is reported, and core reads codes', () => {
    const warned = watchWarnings();
    for (const nonsense of ['down', {}, 7]) {
      expect(judgedAs({}, { error: refusedConnection, verdict: nonsense as never })).toBe('failure network');
      expect(judgedAs({}, { result: 'fine', verdict: nonsense as never })).toBe('success');
    }
    expect(warned()).toHaveLength(1);
    expect(warned()[0]).toContain("the verdict on tool 'a' returned a value that is not a category");
  });

  test('C14: a classification may blame the key: then the outcome is ignored', () => {
    const blamed = { category: 'network', blames: 'key' } as const;
    expect(judgedAs({}, { error: refusedConnection, verdict: blamed })).toBe('ignored network');
    expect(judgedAs({ classify: () => blamed }, { result: 'page not found' })).toBe('ignored network');
    expect(judgedAs({}, { error: refusedConnection, blames: 'key' })).toBe('ignored network');
    expect(judgedAs({}, { result: 'fine', blames: 'key' })).toBe('success');
    expect(judgedAs({}, { error: refusedConnection, verdict: { category: 'network', blames: 'tool' } })).toBe(
      'failure network',
    );
    expect(judgedAs({}, { error: refusedConnection, verdict: { category: 'network', blames: 'x' as never } })).toBe(
      'failure network',
    );
  });

  test('C13, C14: the end of a transport blames the group, whatever its text names', () => {
    const { session } = bench({ tools: { a: { group: 'g' }, b: { group: 'g' } } });
    const verdict = { category: 'network', blames: 'key' } as const;
    session.acquire('a', { key: 'x.example' }).settle({ error: refusedConnection, verdict, blames: 'group' });
    expect(session.peek('group:g')?.trip).toBe('transport');
    expect(session.peek('a', { url: 'https://x.example' })?.key).toBeUndefined();
  });
});
