import { describe, expect, test } from 'vitest';
import { createBudget, nextCycle, remaining } from './budget.ts';
import type { Moment } from './clock.ts';
import {
  chargeFailure,
  createLedger,
  type Ledger,
  matureCharges,
  noticeExhaustion,
  recordClosing,
  recordOpening,
  resolveEvent,
  sessionState,
} from './ledger.ts';
import type { ErrorCategory } from './outcome/taxonomy.ts';
import { DEFAULT_SYSTEMIC as policy } from './systemic.ts';

const at = (ms: number, step = 0): Moment => ({ ms, step, stepMs: 0 });
const start = createLedger(createBudget(5));

/** Once all consequences are known. */
const stateOf = (ledger: Ledger) => sessionState(noticeExhaustion(ledger));

const failed = (ledger: Ledger, tool: string, category: ErrorCategory, when: Moment, times = 1): Ledger =>
  times === 0
    ? ledger
    : failed(chargeFailure(ledger, { tool, category, at: when, mayWait: 3 }, policy), tool, category, when, times - 1);

const opened = (ledger: Ledger, tool: string, category: ErrorCategory, when: Moment): Ledger =>
  recordOpening(ledger, { tool, category, at: when, unixMs: 0 }, policy);

/** Three failures, then the opening that they bring. */
const tripped = (ledger: Ledger, tool: string, category: ErrorCategory, when: Moment): Ledger =>
  opened(failed(ledger, tool, category, when, 3), tool, category, when);

describe('B: failure budget', () => {
  test('B1: each failure costs one, and at 0 left the session is paused', () => {
    const four = failed(start, 'a', 'server', at(0), 4);
    expect([remaining(four.budget), stateOf(four)]).toEqual([1, 'active']);
    const five = failed(four, 'b', 'network', at(1));
    expect([remaining(five.budget), stateOf(five)]).toEqual([0, 'paused_budget']);
  });

  test('B1: a new cycle has its full budget, also after calls under way have overdrawn the old one', () => {
    const overdrawn = failed(start, 'a', 'server', at(0), 8);
    expect(overdrawn.budget).toMatchObject({ granted: 5, consumed: 8 });
    const next = nextCycle(overdrawn.budget);
    expect([remaining(next), next.granted, next.consumed, next.cycle]).toEqual([5, 13, 8, 2]);
  });
});

describe('S1: what is systemic', () => {
  test('S1: a second circuit with the category of one already open', () => {
    const ledger = tripped(tripped(start, 'a', 'network', at(0)), 'b', 'network', at(10));
    expect(ledger.event).toMatchObject({ category: 'network', layer: 'network' });
    expect(ledger.event?.openings.map(({ tool }) => tool)).toEqual(['a', 'b']);
    expect(stateOf(ledger)).toBe('paused_systemic');
  });

  test('S1: two circuits with different categories are independent, a third is systemic whatever its category', () => {
    const two = opened(opened(start, 'a', 'network', at(0)), 'b', 'server', at(1));
    expect(two.event).toBeUndefined();
    const three = opened(two, 'c', 'filesystem', at(2));
    expect(three.event).toMatchObject({ category: undefined, layer: 'unknown' });
    expect(three.event?.openings).toHaveLength(3);
  });

  test.each([
    ['10 steps apart', at(0, 0), at(5, 10), true],
    ['11 steps apart', at(0, 0), at(5, 11), false],
    ['120 s apart in one step', at(0), at(120_000), true],
    ['more than 120 s apart in one step', at(0), at(120_001), false],
    ['10 minutes apart, but only 2 steps', at(0, 0), at(600_000, 2), true],
  ])('S1: the window: %s', (_, first, second, systemic) => {
    const ledger = opened(opened(start, 'a', 'network', first), 'b', 'network', second);
    expect(ledger.event !== undefined).toBe(systemic);
  });

  test('S1: a circuit that has closed again is no part of it', () => {
    const ledger = opened(recordClosing(opened(start, 'a', 'network', at(0)), 'a'), 'b', 'network', at(1));
    expect(ledger.event).toBeUndefined();
  });

  test('S1: a failed probe of one open circuit is not a second one', () => {
    const ledger = opened(opened(start, 'a', 'network', at(0)), 'a', 'network', at(1));
    expect(ledger.event).toBeUndefined();
    expect(ledger.openings).toHaveLength(1);
  });

  test('S4: circuits that open while the event lasts join it', () => {
    const event = tripped(tripped(start, 'a', 'network', at(0)), 'b', 'network', at(1));
    expect(opened(event, 'c', 'network', at(2)).event?.openings.map(({ tool }) => tool)).toEqual(['a', 'b', 'c']);
  });
});

describe('S4: an event that lasts', () => {
  test('S4: a tool that closes and opens again while it lasts is still one tool', () => {
    const event = tripped(tripped(start, 'a', 'network', at(0)), 'b', 'network', at(1));
    const again = opened(recordClosing(event, 'a'), 'a', 'timeout', at(2));
    expect(again.event?.openings.map(({ tool, category }) => `${tool} ${category}`)).toEqual([
      'b network',
      'a timeout',
    ]);
  });

  test('S5: a ledger without an event is not touched by the end of one', () => {
    const ledger = tripped(start, 'a', 'network', at(0));
    expect(resolveEvent(ledger)).toBe(ledger);
  });
});

describe('S3: one event costs one', () => {
  test('S3: a budget of 5 outlives the three failures of the second circuit, and pays one for both', () => {
    const first = tripped(start, 'a', 'network', at(0));
    const between = failed(first, 'b', 'network', at(1), 2);
    expect([remaining(between.budget), between.budget.provisional.length]).toEqual([2, 2]);
    const event = opened(failed(between, 'b', 'network', at(1)), 'b', 'network', at(1));
    expect([remaining(event.budget), event.budget.provisional.length]).toEqual([4, 0]);
    expect(event.budget.granted - event.budget.consumed).toBe(4);
  });

  test('S3: tools that fail in turns: what the second failed with before the first opened is part of it too', () => {
    let ledger = start;
    for (const tool of ['a', 'b', 'a', 'b', 'a']) ledger = failed(ledger, tool, 'network', at(0));
    expect(remaining(ledger.budget)).toBe(0);
    ledger = opened(ledger, 'a', 'network', at(0));
    expect(remaining(ledger.budget)).toBe(2);
    ledger = opened(failed(ledger, 'b', 'network', at(1)), 'b', 'network', at(1));
    expect([remaining(ledger.budget), stateOf(ledger)]).toEqual([4, 'paused_systemic']);
  });

  test('S3: if the window passes without a second opening, provisional failures count', () => {
    const ledger = failed(tripped(start, 'a', 'network', at(0)), 'b', 'network', at(1), 2);
    expect(matureCharges(ledger, at(120_000), policy)).toBe(ledger);
    const over = matureCharges(ledger, at(120_001), policy);
    expect([remaining(over.budget), over.budget.provisional.length]).toEqual([0, 0]);
    expect(stateOf(over)).toBe('paused_budget');
  });

  test('S3: if the first circuit closes, provisional failures count', () => {
    const ledger = recordClosing(failed(tripped(start, 'a', 'network', at(0)), 'b', 'network', at(1)), 'a');
    expect(remaining(matureCharges(ledger, at(2), policy).budget)).toBe(1);
  });

  test('S3: another category, and the open tool itself, are charged at once', () => {
    const first = tripped(start, 'a', 'network', at(0));
    expect(remaining(failed(first, 'b', 'server', at(1)).budget)).toBe(1);
    expect(remaining(failed(first, 'a', 'network', at(1)).budget)).toBe(1);
  });

  test('S3: what failed long before the window is no part of the event', () => {
    let ledger = failed(start, 'c', 'network', at(0));
    ledger = tripped(tripped(ledger, 'a', 'network', at(500_000)), 'b', 'network', at(500_001));
    expect([ledger.event?.openings.length, remaining(ledger.budget)]).toEqual([2, 3]);
  });

  test('S3: what another tool failed with long before an opening stays charged', () => {
    const ledger = opened(failed(start, 'b', 'network', at(0)), 'a', 'network', at(500_000));
    expect([remaining(ledger.budget), ledger.budget.provisional.length]).toEqual([4, 0]);
  });

  test('B1, S3: what is provisional when a new cycle begins counts in the old one', () => {
    const ledger = failed(tripped(start, 'a', 'network', at(0)), 'b', 'network', at(1));
    const next = nextCycle(ledger.budget);
    expect([next.consumed, next.provisional.length, remaining(next)]).toEqual([4, 0, 5]);
  });

  test('S3: failures while the event lasts cost nothing', () => {
    const event = tripped(tripped(start, 'a', 'network', at(0)), 'b', 'network', at(1));
    expect(failed(event, 'c', 'network', at(2), 4)).toBe(event);
  });

  test('S3: the charge of one event is not given back by the next', () => {
    const first = resolveEvent(tripped(tripped(start, 'a', 'network', at(0)), 'b', 'network', at(1)));
    const second = tripped(tripped(first, 'a', 'network', at(2)), 'b', 'network', at(3));
    expect(second.event).toBeDefined();
    expect(remaining(second.budget)).toBe(3);
  });
});

describe('S5: the end of an event', () => {
  test('S5: once it is over, the session goes on and the old openings make no new event', () => {
    const over = resolveEvent(tripped(tripped(start, 'a', 'network', at(0)), 'b', 'network', at(1)));
    expect(stateOf(over)).toBe('active');
    expect(opened(over, 'c', 'network', at(2)).event).toBeUndefined();
  });

  test('S5: failed probes of two tools after it was said to be over are an event again', () => {
    const over = resolveEvent(tripped(tripped(start, 'a', 'network', at(0)), 'b', 'network', at(1)));
    expect(opened(opened(over, 'a', 'network', at(5)), 'b', 'network', at(6)).event).toBeDefined();
  });
});
