import { DiagLogLevel, diag } from '@opentelemetry/api';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createBreakerbox } from './breakerbox.ts';
import { type Clock, isFailing, safeClock, systemClock } from './clock.ts';
import { report } from './report/report.ts';
import { restore } from './snapshot/restore.ts';
import { snapshot } from './snapshot/snapshot.ts';

const logged: string[] = [];
beforeEach(() => {
  logged.length = 0;
  const log = (message: string, error?: unknown): void => void logged.push(`${message} ${String(error ?? '')}`.trim());
  diag.setLogger(
    { error: log, warn: log, info: log, debug: log, verbose: log },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
});
afterEach(() => {
  diag.disable();
  vi.restoreAllMocks();
});

const fail = (): never => {
  throw new Error('no time today');
};

/** A clock whose methods give these readings one after the other; a function is called for its reading. */
const clockOf = (...readings: readonly unknown[]): Clock => {
  const given = () => {
    const left = [...readings];
    return () => {
      const reading = left.shift();
      return (typeof reading === 'function' ? reading() : reading) as number;
    };
  };
  return { now: given(), unixNow: given() };
};

const readings = (read: () => number, count: number): readonly number[] => Array.from({ length: count }, () => read());

/** What is no time; a function is called for its reading. */
const NO_TIMES: readonly (readonly [name: string, reading: unknown])[] = [
  ['an error that is thrown', fail],
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
  ['a negative number', -1],
  ['undefined', undefined],
  ['null', null],
  ['a string', '5'],
  ['a BigInt', 5n],
  ['a symbol', Symbol('five')],
  ['an object', {}],
  ['a promise', () => Promise.resolve(5)],
  ['a promise that rejects', () => Promise.reject(new Error('no time today'))],
];

describe('C10: a safe clock', () => {
  test('C10: good readings are passed on', () => {
    const clock = safeClock(clockOf(0, 0.5, 0.5, 7, 1e15));
    expect(readings(clock.now, 5)).toEqual([0, 0.5, 0.5, 7, 1e15]);
    expect(readings(clock.unixNow, 5)).toEqual([0, 0.5, 0.5, 7, 1e15]);
    expect(logged).toEqual([]);
  });

  test('C10: time never goes back, and continues once the clock has caught up; Unix time may go back', () => {
    const clock = safeClock(clockOf(5, 9, 3, 8, 9, 10));
    expect(readings(clock.now, 6)).toEqual([5, 9, 9, 9, 9, 10]);
    expect(readings(clock.unixNow, 6)).toEqual([5, 9, 3, 8, 9, 10]);
    expect(logged).toEqual([]);
  });

  test.each(NO_TIMES)('E5, C10: instead of %s the clock returns the last good reading', (_, reading) => {
    const clock = safeClock(clockOf(4, reading, 6, reading));
    expect(readings(clock.now, 4)).toEqual([4, 4, 6, 6]);
    expect(readings(clock.unixNow, 4)).toEqual([4, 4, 6, 6]);
  });

  test.each(NO_TIMES)('E5, C10: before any good reading, %s gives 0 and the system time', (_, reading) => {
    vi.spyOn(Date, 'now').mockReturnValue(1_700_000_000_000);
    const clock = safeClock(clockOf(reading, 2));
    expect(readings(clock.now, 2)).toEqual([0, 2]);
    expect(readings(clock.unixNow, 2)).toEqual([1_700_000_000_000, 2]);
  });

  test('E5: the first bad reading of each method is reported, and no other', () => {
    const clock = safeClock(clockOf(fail, Number.NaN, 1, fail, 'soon'));
    readings(clock.now, 5);
    expect(logged).toEqual([
      'Breakerbox: clock.now() failed. Breakerbox ignores this error, and the program continues. Error: no time today',
    ]);
    const silent = safeClock(clockOf('soon', fail));
    readings(silent.unixNow, 2);
    expect(logged[1]).toContain("clock.unixNow() returned 'soon'. Return a number of milliseconds");
    expect(logged).toHaveLength(2);
  });

  test('C10: whatever a clock gives, time is finite and never goes back', () => {
    const reading = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(...NO_TIMES.map(([, reading]) => reading)));
    fc.assert(
      fc.property(fc.array(reading, { maxLength: 20 }), (given) => {
        const clock = safeClock(clockOf(...given));
        const times = readings(clock.now, given.length + 1);
        expect(times.every((ms) => Number.isFinite(ms) && ms >= 0)).toBe(true);
        expect(times).toEqual(times.toSorted((a, b) => a - b));
        expect(readings(clock.unixNow, given.length + 1).every((ms) => Number.isFinite(ms) && ms >= 0)).toBe(true);
      }),
    );
  });

  test('E5: a clock that fails is reported as failing for as long as it fails', () => {
    const clock = safeClock(clockOf(1, fail, Number.NaN, 2, 1));
    const seen = Array.from({ length: 5 }, () => {
      clock.now();
      return isFailing(clock);
    });
    expect(seen).toEqual([false, true, true, false, false]);
    expect([isFailing(systemClock), isFailing(clockOf(fail))]).toEqual([false, false]);
  });

  test('C10: a clock keeps its own `this`', () => {
    class Own implements Clock {
      #ms = 40;
      now(): number {
        this.#ms += 1;
        return this.#ms;
      }
      unixNow(): number {
        return this.#ms * 1_000;
      }
    }
    const { now, unixNow } = safeClock(new Own());
    expect([now(), now(), unixNow()]).toEqual([41, 42, 42_000]);
  });

  test('C10: the system clock is already safe', () => {
    expect(safeClock(systemClock)).toBe(systemClock);
  });
});

describe('E5: a box whose clock throws', () => {
  test('E5, C10: the session decides, protects, reports and ends as if time did not pass', async () => {
    const clock = { now: fail, unixNow: fail };
    const box = createBreakerbox({
      agent: 'tester',
      clock,
      tools: { a: { serveStaleMs: 1_000, labelFreshness: true, precheck: () => 'available' } },
    });
    await box.precheck();
    const session = box.session();
    for (let call = 0; call < 3; call += 1) session.acquire('a').settle({ outcome: 'failure', category: 'network' });
    expect(session.acquire('a')).toMatchObject({ decision: 'skip', reason: 'open' });
    for (let turn = 0; turn < 3; turn += 1) session.step();
    const probe = session.acquire('a');
    expect(probe.decision).toBe('probe');
    probe.settle({ outcome: 'success', result: 1 });
    expect(session.peek('a')?.state).toBe('closed');
    session.acquire('a').settle({ error: new Error('fetch failed') });
    session.beginTask();
    expect(report(session).unixMs).toBeGreaterThan(0);
    const again = restore(box, snapshot(session));
    expect(again.acquire('a').decision).toBe('call');
    session.end();
    expect(logged.filter((line) => line.includes('clock'))).toHaveLength(2);
  });

  test('E5, C10: a clock that starts to throw during a run changes no decision', () => {
    let broken = false;
    let ms = 1_000;
    const read = () => (broken ? fail() : ms);
    const box = createBreakerbox({ agent: 'tester', clock: { now: read, unixNow: read }, tools: { a: {} } });
    const session = box.session();
    for (let call = 0; call < 3; call += 1) session.acquire('a').settle({ outcome: 'failure', category: 'network' });
    broken = true;
    expect(session.acquire('a').decision).toBe('skip');
    broken = false;
    ms += 60_000;
    expect(session.acquire('a').decision).toBe('probe');
  });
});
