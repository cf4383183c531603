import { diag } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Precheck } from './precheck.ts';
import { cache, fails, listenToDiag, microtasks, slowCheck } from './test-support.prechecks.ts';

let reports: () => readonly string[];

beforeEach(() => {
  reports = listenToDiag();
});

afterEach(() => {
  diag.disable();
  vi.restoreAllMocks();
});

describe('K3: refresh before the first call', () => {
  const now = () => 10;

  test('K3: refresh waits for every answer', async () => {
    const { refresh, peek, scores } = cache({ timeoutMs: 60_000, maxAgeMs: 60_000 });
    const slow: Precheck = async () => {
      await microtasks();
      return 'degraded' as const;
    };
    const checks = { a: () => 'unavailable', b: slow, c: async () => fails('broken') } satisfies Record<
      string,
      Precheck
    >;
    await refresh(Object.entries<Precheck>(checks), now);
    expect(['a', 'b', 'c'].map((tool) => peek(tool, 10))).toEqual(['unavailable', 'degraded', 'available']);
    expect(scores.toSorted()).toEqual(['a: unavailable', 'b: degraded', 'c: available']);
  });

  test('K3: refresh has nothing to wait for', async () => {
    const set = vi.spyOn(globalThis, 'setTimeout');
    const { refresh, scores } = cache();
    await refresh([], now);
    await refresh([['a', () => 'available']], now);
    expect(set).not.toHaveBeenCalled();
    expect(scores).toEqual(['a: available']);
  });

  test('K3: refresh asks again whatever the age, and joins a check that is under way', async () => {
    const { availability, refresh, peek } = cache({ timeoutMs: 60_000, maxAgeMs: 60_000 });
    const { check, answer } = slowCheck();
    availability('fresh', () => 'degraded', 9);
    availability('slow', check, 9);
    const checked = refresh(
      [
        ['fresh', () => 'unavailable'],
        ['slow', check],
      ],
      now,
    );
    expect(peek('fresh', 10)).toBe('unavailable');
    await answer(0, 'unavailable');
    await checked;
    expect(peek('slow', 10)).toBe('unavailable');
    expect(check).toHaveBeenCalledTimes(1);
  });

  test('K2: refresh abandons a check that hangs, even if the clock does not move', async () => {
    const { refresh, peek, scores } = cache({ timeoutMs: 5 });
    const { check, answer } = slowCheck();
    const works: Precheck = async () => 'degraded' as const;
    await refresh(Object.entries({ hangs: check, works }), now);
    await answer(0, 'unavailable');
    expect([peek('hangs', 10), peek('works', 10)]).toEqual(['available', 'degraded']);
    expect(scores).toEqual(['works: degraded', 'hangs: available']);
    expect(reports()).toEqual([expect.stringContaining('the check did not answer within 5 ms')]);
  });

  test('K2: refresh does not join a check that has exceeded its time, but asks again', async () => {
    const { availability, refresh, peek } = cache();
    availability('search', slowCheck().check, 0);
    await refresh([['search', () => 'unavailable']], () => 40);
    expect(peek('search', 40)).toBe('unavailable');
  });

  test('K3: refresh works where timers are numbers, as they are outside Node', async () => {
    vi.spyOn(globalThis, 'setTimeout').mockReturnValue(7 as never);
    const { refresh, peek } = cache();
    await refresh([['search', async () => 'unavailable' as const]], now);
    expect(peek('search', 10)).toBe('unavailable');
  });

  test('C10: the time limit of refresh is cleared, and keeps no process alive', async () => {
    const set = vi.spyOn(globalThis, 'setTimeout');
    const clear = vi.spyOn(globalThis, 'clearTimeout');
    const { refresh, forget } = cache({ timeoutMs: 60_000, maxAgeMs: 60_000 });
    const checked = refresh([['hangs', slowCheck().check]], now);
    const timer = set.mock.results[0]?.value as NodeJS.Timeout;
    expect(timer.hasRef()).toBe(false);
    forget();
    await checked;
    expect(clear).toHaveBeenCalledWith(timer);
  });
});

describe('S5: scores are forgotten after an event', () => {
  test('S5: the checks are asked again', () => {
    const { availability, peek, forget } = cache();
    availability('search', () => 'unavailable', 0);
    forget();
    expect(peek('search', 1)).toBe('available');
    expect(availability('search', () => 'degraded', 1)).toBe('degraded');
  });

  test('S5: answers that were under way do not count', async () => {
    const { availability, peek, forget, scores } = cache();
    const before = slowCheck();
    const after = slowCheck();
    availability('search', before.check, 0);
    forget();
    availability('search', after.check, 1);
    await before.answer(0, 'unavailable');
    expect(peek('search', 2)).toBe('available');
    expect(scores).toEqual([]);
    await after.answer(0, 'degraded');
    expect(peek('search', 2)).toBe('degraded');
  });

  test('S5: a refresh that waits for them ends', async () => {
    const { refresh, forget, scores } = cache({ timeoutMs: 60_000, maxAgeMs: 60_000 });
    const checked = refresh([['search', slowCheck().check]], () => 0);
    forget();
    await checked;
    expect(scores).toEqual([]);
  });
});
