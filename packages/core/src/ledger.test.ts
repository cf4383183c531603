import { describe, expect, test } from 'vitest';
import { createBudget, nextCycle, remaining, tokensRemaining } from './budget.ts';
import {
  chargeFailure,
  createLedger,
  joinEvent,
  type Ledger,
  matureCharges,
  noticeExhaustion,
  recordClosing,
  recordOpening,
  renewBudget,
  resolveEvent,
  sessionState,
} from './ledger.ts';
import { systemicEvent } from './systemic.ts';
import { at, failed, opened, policy, start, stateOf, tripped } from './test-support.ledger.ts';

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

  test('S1: the closing of one is not that of another', () => {
    const two = opened(opened(start, 'a', 'network', at(0)), 'x', 'server', at(0));
    expect(opened(recordClosing(two, 'x'), 'b', 'network', at(1)).event).toBeDefined();
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

  test('S3: what a circuit that joins it had failed with before costs nothing either', () => {
    const before = failed(tripped(start, 'a', 'network', at(0)), 'c', 'timeout', at(1), 1);
    const event = tripped(before, 'b', 'network', at(2));
    expect([event.event !== undefined, remaining(event.budget)]).toEqual([true, 3]);
    const joined = opened(event, 'c', 'timeout', at(3));
    expect(joined.budget.charges.map(({ tool, event }) => [tool, event])).toEqual([['a', true]]);
    expect([remaining(joined.budget), joined.budget.granted - joined.budget.consumed]).toEqual([4, 4]);
  });

  test('S3: so it is with failures of it that were provisional beside a circuit that is no part of the event', () => {
    const alone = failed(opened(start, 'x', 'server', at(0)), 'c', 'server', at(1), 2);
    const event = tripped(tripped(alone, 'a', 'network', at(2)), 'b', 'network', at(3));
    expect([event.event?.openings.length, event.budget.provisional.length]).toEqual([2, 2]);
    const joined = opened(event, 'c', 'server', at(4));
    expect([joined.budget.provisional.length, remaining(joined.budget)]).toEqual([0, 4]);
  });

  test('S5: a ledger without an event is not touched by the end of one', () => {
    const ledger = tripped(start, 'a', 'network', at(0));
    expect(resolveEvent(ledger)).toBe(ledger);
  });
});

describe('S5: the end of an event', () => {
  test('S5: once it is over, the session goes on and the old openings make no new event', () => {
    const over = resolveEvent(tripped(tripped(start, 'a', 'network', at(0)), 'b', 'network', at(1)));
    expect(stateOf(over)).toBe('active');
    expect(over.openings).toEqual([]);
    expect(opened(over, 'c', 'network', at(2)).event).toBeUndefined();
  });

  test('S5: failed probes of two tools after it was said to be over are an event again', () => {
    const over = resolveEvent(tripped(tripped(start, 'a', 'network', at(0)), 'b', 'network', at(1)));
    expect(opened(opened(over, 'a', 'network', at(5)), 'b', 'network', at(6)).event).toBeDefined();
  });
});

describe('S1: where nothing is taken as systemic', () => {
  const alone = (ledger: Ledger, tool: string) =>
    recordOpening(ledger, { tool, category: 'network', at: at(1), unixMs: 0 }, undefined);

  test('S1, B1: circuits open, failures count, and nothing waits', () => {
    const ledger = alone(alone(failed(start, 'b', 'network', at(0)), 'a'), 'b');
    expect([ledger.openings.length, ledger.event, remaining(ledger.budget)]).toEqual([2, undefined, 4]);
    const failure = { tool: 'c', category: 'network', at: at(1), tokens: 0, mayWait: 3 } as const;
    expect(remaining(chargeFailure(ledger, failure, undefined).budget)).toBe(3);
    const waiting = failed(opened(start, 'a', 'network', at(0)), 'b', 'network', at(1));
    expect(matureCharges(waiting, at(900_000), undefined)).toBe(waiting);
  });

  test('S4, C11: an event that was restored goes on, and costs no more', () => {
    const event = tripped(tripped(failed(start, 'c', 'server', at(0)), 'a', 'network', at(0)), 'b', 'network', at(1));
    const joined = alone(event, 'c');
    expect(joined.event?.openings.map(({ tool }) => tool)).toEqual(['a', 'b', 'c']);
    expect(joined.budget).toBe(event.budget);
  });
});

describe('B4: token budget', () => {
  const withTokens = createLedger(createBudget(5, 1000));
  const wasted = (ledger: Ledger, tool: string, tokens: number, ms = 0) =>
    chargeFailure(ledger, { tool, category: 'network', at: at(ms), tokens, mayWait: 3 }, policy);

  test('B4: it pauses as the failure budget does, and resume starts both anew', () => {
    const one = wasted(withTokens, 'a', 600);
    expect([stateOf(one), tokensRemaining(one.budget)]).toEqual(['active', 400]);
    const two = noticeExhaustion(wasted(one, 'b', 500));
    expect([sessionState(two), tokensRemaining(two.budget), remaining(two.budget)]).toEqual(['paused_budget', 0, 3]);
    const anew = renewBudget(two);
    expect([stateOf(anew), tokensRemaining(anew.budget), remaining(anew.budget)]).toEqual(['active', 1000, 5]);
  });

  test.each([Number.NaN, -5, Number.POSITIVE_INFINITY])('B4: a cost of %s is none', (tokens) => {
    const { budget } = wasted(withTokens, 'a', tokens);
    expect([tokensRemaining(budget), remaining(budget), budget.charges[0]?.tokens]).toEqual([1000, 4, 0]);
  });

  test('S3, B4: the one charge of an event keeps the tokens of the first; the rest is given back, the session too', () => {
    let ledger = wasted(wasted(withTokens, 'a', 300), 'b', 800);
    ledger = noticeExhaustion(ledger);
    expect(sessionState(ledger)).toBe('paused_budget');
    ledger = opened(opened(ledger, 'a', 'network', at(1)), 'b', 'network', at(2));
    expect([ledger.exhausted, tokensRemaining(ledger.budget), remaining(ledger.budget)]).toEqual([false, 700, 4]);
    expect(stateOf(resolveEvent(ledger))).toBe('active');
  });

  test('S3, B4: what is provisional costs no tokens until it counts', () => {
    const ledger = wasted(opened(withTokens, 'a', 'network', at(0)), 'b', 1000);
    expect([tokensRemaining(ledger.budget), stateOf(ledger)]).toEqual([1000, 'active']);
    expect(stateOf(matureCharges(ledger, at(120_001), policy))).toBe('paused_budget');
  });
});

describe('C12: circuits that other sessions share', () => {
  test('C12: an opening that another session caused is an anchor for this one, on its own steps', () => {
    const told = opened(start, 'a', 'network', at(0, 40)); // This session is at step 40, wherever the other one is.
    const ledger = failed(told, 'b', 'network', at(5, 50), 2);
    expect([remaining(ledger.budget), ledger.budget.provisional.length]).toEqual([5, 2]);
    expect(matureCharges(ledger, at(6, 50), policy)).toBe(ledger);
    expect(remaining(matureCharges(ledger, at(6, 51), policy).budget)).toBe(3);
    expect(remaining(matureCharges(recordClosing(ledger, 'a'), at(6, 50), policy).budget)).toBe(3);
  });

  test('C12, S1: openings of others alone are an event here too, and cost this session nothing', () => {
    const ledger = opened(opened(start, 'a', 'network', at(0)), 'b', 'network', at(1));
    expect([stateOf(ledger), remaining(ledger.budget)]).toEqual(['paused_systemic', 5]);
  });

  test('C12, S3: own failures of a circuit that opened by those of others too are one in the event', () => {
    const own = failed(failed(start, 'a', 'network', at(0)), 'c', 'network', at(0), 2);
    const ledger = opened(opened(own, 'a', 'network', at(1)), 'b', 'network', at(2));
    expect(remaining(ledger.budget)).toBe(4);
    const first = opened(opened(failed(start, 'c', 'timeout', at(0), 2), 'a', 'network', at(1)), 'b', 'network', at(2));
    expect([remaining(first.budget), remaining(opened(first, 'c', 'timeout', at(3)).budget)]).toEqual([3, 4]);
  });
  test('C12, S3: an event that begins with openings of others pays for itself, also after another one', () => {
    const first = resolveEvent(tripped(tripped(start, 'a', 'network', at(0)), 'b', 'network', at(1)));
    const told = failed(opened(first, 'x', 'server', at(2)), 'y', 'server', at(3));
    const second = opened(told, 'y', 'server', at(3));
    expect([second.budget.charges.length, remaining(second.budget)]).toEqual([2, 3]);
  });
});

describe('C12: an event that another session has found out', () => {
  const opening = (tool: string, ms: number, step: number) =>
    ({ tool, category: 'network', at: at(ms, step), unixMs: 0 }) as const;
  const event = systemicEvent([opening('a', 0, 0), opening('b', 100_000, 8), opening('c', 200_000, 16)]);

  test('C12, S2: pauses this session too, and costs it nothing where it had no part in it', () => {
    const joined = joinEvent(start, event, policy);
    expect([joined.event, stateOf(joined), remaining(joined.budget)]).toEqual([event, 'paused_systemic', 5]);
  });

  test('C12, S3: what failed here alike, in the window of its latest opening, is one with it', () => {
    const joined = joinEvent(failed(start, 'x', 'network', at(150_000, 12), 3), event, policy);
    expect([remaining(joined.budget), joined.paid]).toEqual([4, true]);
    const longAgo = joinEvent(failed(start, 'x', 'network', at(50_000, 4), 3), event, policy);
    expect([remaining(longAgo.budget), longAgo.paid]).toEqual([2, false]);
  });

  test('C12: a session that has an event already stays with its own', () => {
    const own = tripped(tripped(start, 'x', 'server', at(0)), 'y', 'server', at(1));
    expect(joinEvent(own, event, policy)).toBe(own);
  });

  test('C12: an event of no circuits is none', () => {
    expect(joinEvent(start, { ...event, openings: [] }, policy)).toBe(start);
  });
});
