import { describe, expect, test } from 'vitest';
import {
  at,
  closed,
  failed,
  type Kept,
  opened,
  passed,
  resolved,
  settled,
  sliding,
  startOf,
  strict,
  strictOf,
  tripped,
  windowOf,
  within,
} from '../test-support.ledger.ts';
import { type BudgetOptions, remaining, tokensRemaining } from './budget.ts';
import {
  endPauseByTime,
  followEvent,
  type Ledger,
  pauseEndMs,
  recordClosing,
  recordExhaustion,
  recordFailure,
  recordOpening,
  recordSuccess,
  recordTime,
  renewBudget,
} from './ledger.ts';
import { suspendAlike } from './strict.ts';
import { systemicEvent } from './systemic.ts';

const left = ({ ledger }: { readonly ledger: Ledger }) => remaining(ledger.budget);
/** Charges in short: tool, `?` while provisional, `!` for that of an event. */
const list = (kept: Kept) =>
  windowOf(kept)
    .charges.map(({ tool, provisional, event }) => `${tool}${provisional ? '?' : ''}${event ? '!' : ''}`)
    .join(' ');
const rules: readonly BudgetOptions[] = [{ rule: 'window' }, { rule: 'strict' }];

describe('B3: charges of the ledger', () => {
  const failure = {
    tool: 'a',
    category: 'network',
    at: at(0),
    tokens: 30,
    hasCircuit: true,
    mayWait: 3,
    group: undefined,
  } as const;
  const charged = (
    { ledger, correlation }: Kept,
    more: { isProbe?: boolean; isPartOfEvent?: boolean },
    apart = false,
  ) => {
    const around = { correlation, within: apart ? undefined : within };
    return recordFailure(ledger, { ...failure, isProbe: false, isPartOfEvent: false, ...more }, around);
  };

  test.each([
    ['window', 5],
    ['strict', 4],
  ] as const)('B3, B6: a failed probe, by the rule %s', (rule, expected) => {
    const { budget } = charged(startOf({ rule, tokens: 100 }), { isProbe: true });
    expect([remaining(budget), tokensRemaining(budget)]).toEqual([expected, 70]);
  });

  test.each([
    ['window', 70],
    ['strict', 100],
  ] as const)('S3, B4: a failure that joins a current event is free, by the rule %s', (rule, tokens) => {
    const { budget } = charged(startOf({ rule, tokens: 100 }), { isPartOfEvent: true });
    expect([remaining(budget), tokensRemaining(budget)]).toEqual([5, tokens]);
  });

  test('S3: a charge is provisional only if failures of several tools may be one event', () => {
    const ofOne = (apart: boolean) => list({ ...sliding, ledger: charged(sliding, {}, apart) });
    expect([ofOne(false), ofOne(true)]).toEqual(['a?', 'a']);
  });

  test.each(rules)('B4: a cost that is not a number counts as 0: $rule', (options) => {
    for (const tokens of [Number.NaN, -5, Number.POSITIVE_INFINITY]) {
      const { ledger } = failed(startOf({ ...options, tokens: 1_000 }), 'a', 'network', at(0), 1, tokens);
      expect([tokensRemaining(ledger.budget), remaining(ledger.budget)]).toEqual([1_000, 4]);
    }
  });

  test('C15: when a group opens, its members have one charge by the rule window, and keep theirs by the rule strict', () => {
    const opening = { tool: 'group:g', category: 'network', at: at(2), unixMs: 0 } as const;
    const both = [sliding, strict].map((start) => {
      const { ledger, correlation } = failed(failed(start, 'a', 'network', at(0)), 'b', 'network', at(1), 2);
      return remaining(recordOpening(ledger, opening, { correlation, within }, (tool) => tool < 'c').budget);
    });
    expect(both).toEqual([4, 2]);
    const { ledger, correlation } = failed(strict, 'a', 'network', at(0), 2);
    const next = recordOpening(ledger, opening, { correlation, within }, (tool) => tool === 'a');
    expect(next.budget).toEqual(
      suspendAlike(strictOf({ ledger, correlation }), opening, within, (tool) => tool === 'a'),
    );
  });

  test('B3, B6: a closing separates charges from the next opening, by the rule window only', () => {
    const apart = opened(closed(failed(sliding, 'a', 'network', at(0)), 'a'), 'a', 'network', at(1));
    expect(windowOf(apart).charges.map(({ since }) => since)).toEqual(['closing']);
    const { ledger } = failed(strict, 'a', 'network', at(0));
    expect([recordClosing(ledger, 'a'), recordSuccess(ledger, 'a', undefined)]).toEqual([ledger, ledger]);
  });

  test('S3: if failures of several tools are never one event, nothing is returned, and nothing waits', () => {
    const alone = (kept: Kept) => ({ correlation: kept.correlation, within: undefined });
    const charged = failed(strict, 'a', 'network', at(0));
    const opening = { tool: 'b', category: 'network', at: at(0), unixMs: 0 } as const;
    expect(recordOpening(charged.ledger, opening, alone(charged))).toBe(charged.ledger);
    const waiting = failed(opened(strict, 'x', 'network', at(0)), 'a', 'network', at(0));
    expect(recordTime(waiting.ledger, at(9e9), alone(waiting))).toBe(waiting.ledger);
    // Such as one that was restored where it may no longer wait.
    const provisional = failed(sliding, 'a', 'network', at(0));
    expect(list({ ...provisional, ledger: recordTime(provisional.ledger, at(0), alone(provisional)) })).toBe('a');
  });

  test('S3, B6: a success makes provisional charges final, by the rule window only', () => {
    const window = failed(sliding, 'a', 'network', at(0));
    expect(list({ ...window, ledger: recordSuccess(window.ledger, 'a', undefined) })).toBe('a');
    const { ledger } = failed(opened(strict, 'x', 'network', at(0)), 'a', 'network', at(0));
    expect(recordSuccess(ledger, 'a', undefined)).toBe(ledger);
  });
});

describe('S3: one charge for an event', () => {
  test('S3: it covers charges of its tools in the window of their openings, and charges of its category', () => {
    const before = failed(failed(failed(sliding, 'x', 'network', at(0)), 'y', 'server', at(1)), 'a', 'server', at(2));
    const event = opened(opened(before, 'a', 'network', at(3)), 'b', 'network', at(4));
    expect(list(event)).toBe('y? x!');
    expect(event.ledger).toMatchObject({ event: event.correlation.event, paid: true });
  });

  test('S3: failures before the window are not part of it', () => {
    const long = at(500_000);
    const event = opened(opened(failed(sliding, 'a', 'network', at(0)), 'a', 'network', at(1)), 'b', 'network', long);
    expect(event.correlation.event).toBeUndefined();
    const late = tripped(opened(failed(sliding, 'x', 'network', at(0)), 'a', 'network', long), 'b', 'network', long);
    expect(list(late)).toBe('x? b!');
  });

  test('S3: after its charge, the charges of a circuit that joins are removed', () => {
    const event = tripped(
      tripped(failed(sliding, 'c', 'timeout', at(0)), 'a', 'network', at(1)),
      'b',
      'network',
      at(2),
    );
    expect(list(event)).toBe('c? a!');
    expect(list(opened(event, 'c', 'timeout', at(3)))).toBe('a!');
  });

  test('S3, C12: an event without failures of this session costs nothing until a circuit joins that failed in this session', () => {
    const own = failed(sliding, 'c', 'timeout', at(0));
    const event = opened(opened(own, 'a', 'network', at(1)), 'b', 'network', at(2));
    expect([list(event), event.ledger.paid]).toEqual(['c?', false]);
    const joined = opened(event, 'c', 'timeout', at(3));
    expect([list(joined), joined.ledger.paid]).toEqual(['c!', true]);
  });

  test('S3, S5: the next event pays for itself', () => {
    const over = resolved(tripped(tripped(sliding, 'a', 'network', at(0)), 'b', 'network', at(1)));
    expect(over.ledger).toMatchObject({ event: undefined, paid: false });
    expect(list(tripped(tripped(over, 'a', 'network', at(2)), 'b', 'network', at(3)))).toBe('a! a!');
  });

  test('S3, C12: a session that missed the end of the first of two events pays for both', () => {
    const first = tripped(tripped(sliding, 'a', 'network', at(0)), 'b', 'network', at(1));
    const second = systemicEvent(['c', 'd'].map((tool) => ({ tool, category: 'server', at: at(9), unixMs: 0 })));
    const { budget } = failed({ ...sliding, ledger: first.ledger }, 'c', 'server', at(8)).ledger;
    const ledger = followEvent({ ...first.ledger, budget }, second, within);
    expect([list({ ...first, ledger }), ledger.paid]).toEqual(['a! c!', true]);
    const grown = { ...second, began: first.correlation.event?.began };
    expect(list({ ...first, ledger: followEvent({ ...first.ledger, budget }, grown, within) })).toBe('a!');
  });

  test('S3: failures of the same category in the window of its latest opening belong to it, wherever that opening is listed', () => {
    const before = failed(sliding, 'x', 'network', at(450_000));
    const opening = (tool: string, ms: number) => ({ tool, category: 'network', at: at(ms), unixMs: 0 }) as const;
    const [early, late] = [opening('a', 500_000), opening('b', 600_000)];
    for (const openings of [
      [early, late],
      [late, early],
    ]) {
      expect(list({ ...before, ledger: followEvent(before.ledger, systemicEvent(openings), within) })).toBe('x?');
    }
  });

  test('S3: an opening without new charges does not change the ledger', () => {
    expect(opened(sliding, 'a', 'network', at(0)).ledger).toBe(sliding.ledger);
  });

  test('S3: the same event is followed once; without an event the ledger does not change', () => {
    const { ledger, correlation } = tripped(tripped(sliding, 'a', 'network', at(0)), 'b', 'network', at(1));
    expect(followEvent(ledger, correlation.event, within)).toBe(ledger);
    expect(followEvent(sliding.ledger, undefined, within)).toBe(sliding.ledger);
    expect(sliding.ledger).toMatchObject({ event: undefined, paid: false });
  });
});

describe('B1: exhausted budgets', () => {
  const spent = failed(failed(sliding, 'a', 'network', at(0), 4), 'b', 'server', at(1), 2);

  test('B1, S3: provisional failures alone may use up the budget, but they do not pause the session', () => {
    const five = failed(failed(sliding, 'a', 'network', at(0), 4), 'b', 'server', at(1));
    expect([left(five), settled(five).ledger.exhausted]).toEqual([0, false]);
    expect(settled(five).ledger).toBe(five.ledger);
    expect(settled(spent).ledger.exhausted).toBe(true); // The sixth is final.
  });

  test('B1: while the session is paused, no charge leaves the window', () => {
    const out = settled(spent);
    expect(passed(out, at(9e9, 900)).ledger).toBe(out.ledger);
    expect(left(passed(spent, at(9e9, 900)))).toBe(5);
  });

  test('B1: an opening that merges enough ends the pause, an opening that merges less does not', () => {
    const out = settled(spent);
    expect(
      [opened(out, 'a', 'network', at(2)), opened(out, 'x', 'network', at(2))].map((one) => one.ledger.exhausted),
    ).toEqual([false, true]);
    expect(recordExhaustion(out.ledger)).toBe(out.ledger);
  });

  test('B1: a closing does not end the pause', () => {
    expect(closed(settled(spent), 'a').ledger.exhausted).toBe(true);
  });

  test.each(rules)('B1, B4: a new cycle ends the pause, with a full budget: $rule', (options) => {
    const out = settled(failed(startOf({ ...options, tokens: 100 }), 'a', 'network', at(0), 1, 100));
    expect(out.ledger.exhausted).toBe(true);
    const { budget, exhausted } = renewBudget(out.ledger);
    expect([exhausted, remaining(budget), tokensRemaining(budget), budget.cycle]).toEqual([false, 5, 100, 2]);
  });
});

describe('S3: time', () => {
  test('S3: charges that can no longer be part of an event become final', () => {
    const one = failed(sliding, 'a', 'network', at(0));
    expect([list(passed(one, at(120_000))), list(passed(one, at(120_001)))]).toEqual(['a?', 'a']);
  });
});

test('M5: a pause by time ends when the oldest cost leaves the window; later charges stay as they are', () => {
  const start = startOf({ failures: 5, tokens: 10 });
  const { ledger } = settled(failed(failed(start, 'a', 'network', at(10), 1, 6), 'b', 'network', at(50), 1, 6));
  expect([ledger.exhausted, pauseEndMs(ledger), pauseEndMs(start.ledger)]).toEqual([true, 600_011, undefined]);
  expect(endPauseByTime(ledger, at(600_010))).toBe(ledger);
  expect(endPauseByTime(start.ledger, at(9e9))).toBe(start.ledger);
  const ended = { ...start, ledger: endPauseByTime(ledger, at(600_011)) };
  expect([ended.ledger.exhausted, ended.ledger.budget.cycle, list(ended)]).toEqual([false, 2, 'b?']);
});
