import { diag } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createPrecheckCache, type Precheck } from './precheck.ts';
import { cache, fails, listenToDiag, microtasks, slowCheck } from './test-support.prechecks.ts';

let reports: () => readonly string[];

beforeEach(() => {
  reports = listenToDiag();
});

afterEach(() => {
  diag.disable();
});

describe('K1: a check scores a tool', () => {
  test.each(['available', 'degraded', 'unavailable'] as const)('K1: %s, answered at once, counts at once', (score) => {
    const { availability, scores } = cache();
    const check = vi.fn<Precheck>(() => score);
    expect(availability('search', check, 5)).toBe(score);
    expect(check.mock.calls).toEqual([['search']]);
    expect(scores).toEqual([`search: ${score}`]);
  });

  test('K1: each tool has a score of its own', () => {
    const { availability, peek } = cache();
    availability('a', () => 'unavailable', 0);
    expect(availability('b', () => 'available', 0)).toBe('available');
    expect(peek('a', 0)).toBe('unavailable');
  });
});

describe('K2: a check that fails means available', () => {
  test.each<[string, () => unknown, string]>([
    ['throws', () => fails('broken'), 'broken'],
    ['rejects', async () => fails('broken'), 'broken'],
    ['throws nothing in particular', () => Promise.reject(undefined), ''],
    ['gives no score', () => 'healthy', 'Return one of available, degraded, unavailable'],
    ['gives nothing', () => undefined, 'Return one of'],
    ['promises no score', async () => true, 'Return one of'],
    ['gives a promise that throws', () => Object.defineProperty({}, 'then', { get: () => fails('trap') }), 'trap'],
  ])('K2: a check that %s', async (_, check, message) => {
    const { availability, peek, scores } = cache();
    expect(availability('search', check as Precheck, 0)).toBe('available');
    await microtasks();
    expect(peek('search', 0)).toBe('available');
    expect(scores).toEqual(['search: available']);
    expect(reports()).toEqual([expect.stringContaining("the pre-call check of 'search'")]);
    expect(reports()[0]).toContain(message);
  });

  test('K2: a check that failed replaces a bad score', async () => {
    const { availability } = cache();
    availability('search', () => 'unavailable', 0);
    expect(availability('search', () => fails('broken'), 101)).toBe('available');
  });

  test('K2: a check that hangs is measured by the time of the caller', async () => {
    const { availability, peek, scores } = cache();
    const { check, answer } = slowCheck();
    availability('search', () => 'unavailable', 0);
    expect(availability('search', check, 101)).toBe('unavailable');
    expect(availability('search', check, 140)).toBe('unavailable');
    expect([peek('search', 140), peek('search', 141)]).toEqual(['unavailable', 'available']);
    expect(scores).toEqual(['search: unavailable']); // No decision has used it yet.
    expect(availability('search', check, 141)).toBe('available');
    expect(scores).toEqual(['search: unavailable', 'search: available']);
    expect(reports()).toEqual([expect.stringContaining('the check did not answer within 40 ms')]);

    await answer(0, 'unavailable');
    expect(availability('search', check, 142)).toBe('available');
    expect(scores).toHaveLength(2);
  });

  test('K2: a check that hung is tried again only once its score is too old', () => {
    const { availability } = cache();
    const { check } = slowCheck();
    availability('search', check, 0);
    for (const ms of [40, 100, 140]) availability('search', check, ms);
    expect(check).toHaveBeenCalledTimes(1);
    availability('search', check, 141);
    expect(check).toHaveBeenCalledTimes(2);
  });

  test('K2: the time limit of a check is never longer than the age limit of its score', () => {
    const { availability, peek } = cache({ maxAgeMs: 10, timeoutMs: 1_000 });
    availability('search', slowCheck().check, 0);
    availability('search', () => 'unavailable', 10);
    expect(reports()).toEqual([expect.stringContaining('the check did not answer within 10 ms')]);
    expect(peek('search', 10)).toBe('available');
  });

  test('K2: the time limit is 5,000 ms by default', () => {
    const { availability } = createPrecheckCache({ maxAgeMs: 30_000, onScore: () => {} });
    const { check } = slowCheck();
    for (const ms of [0, 4_999, 5_000]) availability('search', check, ms);
    expect(reports()).toEqual([expect.stringContaining('the check did not answer within 5000 ms')]);
  });

  test('E5: an observer that throws changes no score', () => {
    const { availability } = createPrecheckCache({ maxAgeMs: 100, onScore: () => fails('observer is broken') });
    expect(availability('search', () => 'degraded', 0)).toBe('degraded');
    expect(reports()).toEqual([expect.stringMatching(/the observer of pre-call checks.*observer is broken/)]);
  });
});

describe('K3: scores are cached, and a decision never waits', () => {
  test('K3: a tool without an answer is available; the answer counts once it arrives', async () => {
    const { availability } = cache();
    const { check, answer } = slowCheck();
    expect(availability('search', check, 0)).toBe('available');
    await answer(0, 'unavailable');
    expect(availability('search', check, 39)).toBe('unavailable');
    expect(check).toHaveBeenCalledTimes(1);
  });

  test('K3: a check is asked again when its score is older than the limit', () => {
    const { availability } = cache();
    const check = vi.fn<Precheck>(() => 'available');
    for (const ms of [7, 8, 107]) availability('search', check, ms);
    expect(check).toHaveBeenCalledTimes(1);
    availability('search', check, 108);
    expect(check).toHaveBeenCalledTimes(2);
  });

  test('K3: the old score is used until the new one arrives, and one check runs at a time', async () => {
    const { availability, scores } = cache();
    const { check, answer } = slowCheck();
    availability('search', () => 'degraded', 0);
    expect([101, 110, 120].map((ms) => availability('search', check, ms))).toEqual(Array(3).fill('degraded'));
    expect(check).toHaveBeenCalledTimes(1);
    await answer(0, 'unavailable');
    expect(availability('search', check, 121)).toBe('unavailable');
    expect(scores).toEqual(['search: degraded', 'search: unavailable']);
  });

  test('K3: an answer is as old as its request', async () => {
    const { availability } = cache();
    const { check, answer } = slowCheck();
    availability('search', check, 0);
    await answer(0, 'unavailable');
    availability('search', check, 100);
    expect(check).toHaveBeenCalledTimes(1);
    availability('search', check, 101);
    expect(check).toHaveBeenCalledTimes(2);
  });

  test('K3: a score of twice the age limit no longer counts', () => {
    const { availability, peek } = cache();
    availability('search', () => 'unavailable', 0);
    expect([peek('search', 199), peek('search', 200)]).toEqual(['unavailable', 'available']);
    const { check } = slowCheck();
    expect(availability('search', check, 500)).toBe('available');
    expect(check).toHaveBeenCalledTimes(1);
  });

  test('K3: the answer of an abandoned check does not overwrite the newer one', async () => {
    const { availability, peek } = cache();
    const { check, answer, refuse } = slowCheck();
    availability('search', check, 0);
    availability('search', check, 40);
    availability('search', check, 150);
    await answer(0, 'unavailable');
    expect(peek('search', 151)).toBe('available');
    await answer(1, 'degraded');
    await refuse(0, new Error('too late to matter'));
    expect(peek('search', 152)).toBe('degraded');
  });

  test('K3: a check that asks for its own tool does not start itself again', () => {
    const { availability } = cache();
    const check = vi.fn<Precheck>((tool) => {
      expect(availability(tool, check, 0)).toBe('available');
      return 'unavailable';
    });
    expect(availability('search', check, 0)).toBe('unavailable');
    expect(check).toHaveBeenCalledTimes(1);
  });

  test('C11: a reader starts no check and changes nothing', () => {
    const { availability, peek, scores } = cache();
    expect(peek('search', 0)).toBe('available');
    const check = vi.fn<Precheck>(() => 'unavailable');
    availability('search', check, 0);
    expect([peek('search', 150), peek('search', 900), peek('search', 150)]).toEqual([
      'unavailable',
      'available',
      'unavailable',
    ]);
    expect(check).toHaveBeenCalledTimes(1);
    expect(scores).toHaveLength(1);
  });
});
