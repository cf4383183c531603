import { describe, expect, test } from 'vitest';
import { createBudget, nextCycle, remaining } from './budget.ts';
import { createLedger, matureCharges, noticeExhaustion, recordClosing, resolveEvent } from './ledger.ts';
import { at, failed, opened, policy, start, stateOf, tripped } from './test-support.ledger.ts';

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

  test('S3: what a tool failed with whose circuit did not open is part of it, if the category is the same', () => {
    const before = failed(failed(start, 'c', 'network', at(0)), 'd', 'server', at(0));
    const event = tripped(tripped(before, 'a', 'network', at(0)), 'b', 'network', at(1));
    expect(event.budget.charges.map(({ tool }) => tool)).toEqual(['d', 'a']);
    expect([remaining(event.budget), event.budget.provisional.length]).toEqual([3, 0]);
  });

  test('S3: what was suspended waits as long as the circuit is open that it was suspended for', () => {
    const ledger = opened(failed(start, 'b', 'network', at(0), 2), 'a', 'network', at(1));
    expect(remaining(ledger.budget)).toBe(5);
    expect(matureCharges(ledger, at(2), policy)).toBe(ledger);
    expect(remaining(matureCharges(recordClosing(ledger, 'a'), at(2), policy).budget)).toBe(3);
  });

  test('S3: no more failures wait than open a circuit, and no more than the budget has', () => {
    const first = opened(start, 'a', 'network', at(0));
    const three = failed(first, 'b', 'network', at(1), 5); // Its circuit opens after 3.
    expect([remaining(three.budget), three.budget.provisional.length]).toEqual([3, 3]);
    const small = failed(opened(createLedger(createBudget(2)), 'a', 'network', at(0)), 'b', 'network', at(1), 3);
    expect([remaining(small.budget), small.budget.provisional.length]).toEqual([1, 2]);
  });

  test('S3: no more than 200 failures wait at a time, of all tools together', () => {
    let ledger = opened(createLedger(createBudget(1_000)), 'a', 'network', at(0));
    for (let tool = 0; tool < 100; tool += 1) ledger = failed(ledger, `tool ${tool}`, 'network', at(1), 3);
    expect([ledger.budget.provisional.length, remaining(ledger.budget)]).toEqual([200, 900]);
  });

  test('S3: a circuit that closed and opened again is no longer the one that was waited for', () => {
    const ledger = failed(opened(start, 'a', 'network', at(0)), 'b', 'network', at(1));
    const again = opened(recordClosing(ledger, 'a'), 'a', 'network', at(2));
    expect(remaining(matureCharges(again, at(3), policy).budget)).toBe(4);
    const moment = at(0); // Two circuits that open at the same moment, and the one that was waited for closes.
    const two = opened(opened(start, 'a', 'network', moment), 'x', 'server', moment);
    const closed = recordClosing(failed(two, 'b', 'network', at(1)), 'a');
    expect(remaining(matureCharges(closed, at(2), policy).budget)).toBe(4);
  });

  test('S3: while an event lasts, what is no part of it waits on', () => {
    const alone = failed(opened(start, 'x', 'server', at(0)), 'c', 'server', at(1));
    const event = tripped(tripped(alone, 'a', 'network', at(2)), 'b', 'network', at(3));
    expect(matureCharges(event, at(900_000), policy)).toBe(event);
    expect(remaining(matureCharges(resolveEvent(event), at(4), policy).budget)).toBe(3);
  });

  test('S3: a session that has run out is given nothing back by a circuit that opens alone', () => {
    const out = noticeExhaustion(failed(failed(start, 'b', 'network', at(0), 2), 'a', 'network', at(0), 3));
    const ledger = opened(out, 'a', 'network', at(1));
    expect([remaining(ledger.budget), ledger.budget.provisional, ledger.exhausted]).toEqual([0, [], true]);
  });

  test('S3: an event that gives back too little leaves it so', () => {
    const one = noticeExhaustion(failed(createLedger(createBudget(1)), 'a', 'network', at(0)));
    const event = opened(opened(one, 'a', 'network', at(1)), 'b', 'network', at(2));
    expect([event.event !== undefined, event.exhausted, remaining(event.budget)]).toEqual([true, true, 0]);
    expect(stateOf(resolveEvent(event))).toBe('paused_budget');
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
