import { describe, expect, test } from 'vitest';
import { createBreakerbox } from './breakerbox.ts';
import type { FreshnessHint } from './settlement.ts';

/** A session whose system clock is set while it runs. */
const set = () => {
  let ms = 1_000;
  let unixMs = 1_700_000_000_000;
  const clock = { now: () => ms, unixNow: () => Math.floor(unixMs) };
  const session = createBreakerbox({ agent: 'set', tools: { a: { labelFreshness: true } }, clock }).session();
  return {
    session,
    pass: (by: number) => {
      ms += by;
      unixMs += by;
    },
    step: (by: number) => {
      unixMs += by;
    },
    unixNow: clock.unixNow,
    labelOf: (freshness: FreshnessHint = {}) => {
      const permit = session.acquire('a');
      permit.settle({ outcome: 'success', freshness });
      return permit.freshness?.kind;
    },
  };
};

const HOUR = 3_600_000;

describe('F1: what is older than the task, by a system clock that is set meanwhile', () => {
  test.each([-HOUR, 0, HOUR])('a result of this call is fresh, after a step of %i ms', (by) => {
    const { pass, step, labelOf } = set();
    pass(60_000);
    step(by);
    expect(labelOf()).toBeUndefined();
  });

  test.each([-HOUR, 0, HOUR])(
    'a time that is given is compared with the task by the clock of now, after %i ms',
    (by) => {
      const { pass, step, labelOf, unixNow } = set();
      pass(60_000);
      step(by);
      expect(labelOf({ retrievedUnixMs: unixNow() - 59_999 })).toBeUndefined();
      expect(labelOf({ retrievedUnixMs: unixNow() - 60_001 })).toBe('stale');
    },
  );

  test('a task begins anew', () => {
    const { session, pass, labelOf, unixNow } = set();
    pass(60_000);
    const before = unixNow();
    pass(1);
    session.beginTask();
    expect(labelOf({ retrievedUnixMs: before })).toBe('stale');
    expect(labelOf({ retrievedUnixMs: unixNow() })).toBeUndefined();
  });

  test('whole milliseconds of the one and parts of the other make nothing stale', () => {
    const { session, pass, labelOf, unixNow } = set();
    pass(0.9);
    session.beginTask();
    pass(0.05);
    const retrievedUnixMs = unixNow();
    pass(9.3);
    expect(labelOf({ retrievedUnixMs })).toBeUndefined();
  });
});
