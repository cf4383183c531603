import { inspect } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { createBreakerbox } from './breakerbox.ts';
import type { ToolConfig } from './config/config.ts';
import type { FreshnessHint } from './outcome.ts';
import type { Permit } from './permit.ts';
import type { Session } from './session-api.ts';

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

describe('F1: results older than the task, while the system clock is adjusted', () => {
  test.each([-HOUR, 0, HOUR])('a result of this call is fresh after a clock adjustment of %i ms', (by) => {
    const { pass, step, labelOf } = set();
    pass(60_000);
    step(by);
    expect(labelOf()).toBeUndefined();
  });

  test.each([-HOUR, 0, HOUR])('a given time is compared with the task by the current clock, after %i ms', (by) => {
    const { pass, step, labelOf, unixNow } = set();
    pass(60_000);
    step(by);
    expect(labelOf({ retrievedUnixMs: unixNow() - 59_999 })).toBeUndefined();
    expect(labelOf({ retrievedUnixMs: unixNow() - 60_001 })).toBe('stale');
  });

  test('a task begins again', () => {
    const { session, pass, labelOf, unixNow } = set();
    pass(60_000);
    const before = unixNow();
    pass(1);
    session.beginTask();
    expect(labelOf({ retrievedUnixMs: before })).toBe('stale');
    expect(labelOf({ retrievedUnixMs: unixNow() })).toBeUndefined();
  });

  test('mixing whole milliseconds and fractions makes no result stale', () => {
    const { session, pass, labelOf, unixNow } = set();
    pass(0.9);
    session.beginTask();
    pass(0.05);
    const retrievedUnixMs = unixNow();
    pass(9.3);
    expect(labelOf({ retrievedUnixMs })).toBeUndefined();
  });
});

const KILOBYTE = 'x'.repeat(1_000);
const MEGABYTE = 'x'.repeat(1_000_000);
const REFUSED = { outcome: 'ignored', category: 'invalid_input' } as const;

const sessionOf = (tool: ToolConfig = {}): Session =>
  createBreakerbox({ agent: 'large', tools: { a: tool } }).session();

/** Calls the tool with arguments that it changes as it likes, and gives the reason of the decision. */
const call = <Input>(session: Session, input: Input, change: (input: Input) => void = () => {}): string => {
  const permit = session.acquire('a', { input });
  if (permit.decision === 'call') change(input);
  permit.settle(REFUSED);
  return permit.reason;
};

describe('O5: large arguments', () => {
  /** The least microseconds that a successful call takes in ten rounds: what disturbs the machine only adds to it. */
  const least = (session: Session, input: unknown): number => {
    const rounds = Array.from({ length: 10 }, () => {
      const start = performance.now();
      for (let calls = 0; calls < 50; calls += 1) session.acquire('a', { input }).settle({ outcome: 'success' });
      return performance.now() - start;
    });
    return Math.min(...rounds);
  };

  test.each<readonly [string, unknown]>([
    ['one text', { page: MEGABYTE }],
    ['many texts', Array.from({ length: 1_000 }, (_, index) => `${index}${KILOBYTE}`)],
    ['rows', Array.from({ length: 10_000 }, (_, id) => ({ id, name: KILOBYTE.slice(100) }))],
    ['bytes', new Uint8Array(1_000_000)],
  ])('O5: for a healthy tool, a call with a megabyte costs the same as one with a kilobyte: %s', (_, large) => {
    const session = sessionOf();
    least(session, { page: KILOBYTE }); // Compiled by now.
    // A few times as much at the most; hashing a megabyte would cost a thousand times as much.
    expect(least(session, large) / least(session, { page: KILOBYTE })).toBeLessThan(10);
  });

  test('O5: repeated large arguments are detected like others', () => {
    const session = sessionOf();
    const input = () => ({ page: MEGABYTE });
    expect([1, 2, 3, 4].map(() => call(session, input()))).toEqual(['closed', 'closed', 'closed', 'repeat']);
    expect(call(session, { page: `${MEGABYTE}y` })).toBe('closed');
    expect(call(session, input())).toBe('closed');
  });

  test.each([
    ['small ones are hashed before the call', 'x', 3],
    ['of large ones the first call may be counted as another', MEGABYTE, 4],
  ])('O5: a tool that changes its arguments is still detected: %s', (_, page, calls) => {
    const session = sessionOf();
    const change = (input: { seen: number }): void => {
      input.seen += 1;
    };
    const reasons = Array.from({ length: 5 }, () => call(session, { page, seen: 0 }, change));
    expect(reasons.indexOf('repeat')).toBe(calls);
  });

  test('F2: a result is never kept under arguments that the tool has changed', () => {
    const session = sessionOf({ serveStaleMs: 60_000 });
    const pages = [MEGABYTE];
    const permit = session.acquire('a', { input: pages });
    pages.pop();
    permit.settle({ outcome: 'success', result: 'the page' });
    session.control('a', 'forced_open');
    expect(session.acquire('a', { input: [] }).route?.kind).toBe('defer');
    expect(session.acquire('a', { input: [MEGABYTE] }).route).toMatchObject({ kind: 'stale', result: 'the page' });
  });

  test('Q2: a permit shows neither its arguments nor their digest', () => {
    const secret = `secret ${MEGABYTE}`;
    for (const input of [secret, { secret }, 'secret']) {
      const permit = sessionOf().acquire('a', { input });
      expect(JSON.stringify(permit) + inspect(permit, { showHidden: true, depth: 9 })).not.toContain('secret');
      expect(inspect({ ...permit }, { showHidden: true, depth: 9 })).not.toContain('secret');
    }
  });

  test('Q2: a stored permit keeps no arguments', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const session = sessionOf();
    const made: WeakRef<object>[] = [];
    const kept: Permit[] = [];
    const use = (tool: string, settle: (permit: Permit) => void): void => {
      for (let calls = 0; calls < 20; calls += 1) {
        const input = { page: MEGABYTE, calls };
        made.push(new WeakRef(input));
        const permit = session.acquire(tool, { input });
        settle(permit);
        kept.push(permit);
      }
    };
    use('a', (permit) => permit.settle({ outcome: 'success' }));
    use('a', (permit) => permit.settle({ outcome: 'ignored' }));
    session.control('a', 'forced_open');
    use('a', () => {});
    await new Promise((resolve) => setImmediate(resolve)); // What a WeakRef was made of is kept until the task ends.
    collect();
    expect(kept).toHaveLength(60);
    // The last one may still be in a register or on the stack.
    expect(made.filter((one) => one.deref() !== undefined).length).toBeLessThan(3);
  });
});
