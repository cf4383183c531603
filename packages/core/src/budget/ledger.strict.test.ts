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
  startOf,
  strict,
  strictOf,
  tripped,
  within,
} from '../test-support.ledger.ts';
import { recordFailure } from './ledger.ts';
import { nextCycle, strictRemaining } from './strict.ts';

const left = (kept: Kept) => strictRemaining(strictOf(kept));
const waiting = (kept: Kept) => strictOf(kept).provisional.length;
const isPaused = (kept: Kept) => settled(kept).ledger.exhausted;

describe('B6: every failure costs one', () => {
  test('B6: at 0 left the session is paused', () => {
    const four = failed(strict, 'a', 'server', at(0), 4);
    expect([left(four), isPaused(four)]).toEqual([1, false]);
    const five = failed(four, 'b', 'network', at(1));
    expect([left(five), isPaused(five)]).toEqual([0, true]);
  });

  test('B6: a new cycle has its full budget, even if calls under way overdrew the old one', () => {
    const overdrawn = strictOf(failed(strict, 'a', 'server', at(0), 8));
    expect(overdrawn).toMatchObject({ granted: 5, consumed: 8 });
    const next = nextCycle(overdrawn);
    expect([strictRemaining(next), next.granted, next.consumed, next.cycle]).toEqual([5, 13, 8, 2]);
  });

  test('B6: an opening, a closing and time alone return nothing', () => {
    const three = closed(tripped(strict, 'a', 'server', at(0)), 'a');
    expect(left(passed(three, at(9e9, 900)))).toBe(2);
  });
});

describe('B6, S3: one event costs one', () => {
  test('S3: a budget of 5 survives the three failures of the second circuit, and pays one for both', () => {
    const between = failed(tripped(strict, 'a', 'network', at(0)), 'b', 'network', at(1), 2);
    expect([left(between), waiting(between)]).toEqual([2, 2]);
    const event = opened(failed(between, 'b', 'network', at(1)), 'b', 'network', at(1));
    expect([left(event), waiting(event), strictOf(event).granted - strictOf(event).consumed]).toEqual([4, 0, 4]);
  });

  test('S3: if tools fail in turns, failures of the second tool before the first opening are part of the event too', () => {
    let kept = strict;
    for (const tool of ['a', 'b', 'a', 'b', 'a']) kept = failed(kept, tool, 'network', at(0));
    expect(left(kept)).toBe(0);
    kept = opened(kept, 'a', 'network', at(0));
    expect(left(kept)).toBe(2);
    kept = opened(failed(kept, 'b', 'network', at(1)), 'b', 'network', at(1));
    expect([left(kept), isPaused(kept)]).toEqual([4, false]);
  });

  test('S3: failures of a tool whose circuit did not open are part of the event if the category is the same', () => {
    const before = failed(failed(strict, 'c', 'network', at(0)), 'd', 'server', at(0));
    const event = tripped(tripped(before, 'a', 'network', at(0)), 'b', 'network', at(1));
    expect(strictOf(event).charges.map(({ tool }) => tool)).toEqual(['d', 'a']);
    expect([left(event), waiting(event)]).toEqual([3, 0]);
  });

  test('S3: failures long before the window are not part of the event', () => {
    const before = failed(strict, 'c', 'network', at(0));
    const event = tripped(tripped(before, 'a', 'network', at(500_000)), 'b', 'network', at(500_001));
    expect([event.correlation.event?.openings.length, left(event)]).toEqual([2, 3]);
  });

  test('S3: earlier failures of a circuit that joins the event cost nothing either', () => {
    const before = failed(tripped(strict, 'a', 'network', at(0)), 'c', 'timeout', at(1));
    const event = tripped(before, 'b', 'network', at(2));
    expect([event.correlation.event !== undefined, left(event)]).toEqual([true, 3]);
    const joined = opened(event, 'c', 'timeout', at(3));
    expect(strictOf(joined).charges.map(({ tool, event }) => [tool, event])).toEqual([['a', true]]);
    expect(left(joined)).toBe(4);
  });

  test('S3: its failures that were provisional beside a circuit outside the event cost nothing either', () => {
    const alone = failed(opened(strict, 'x', 'server', at(0)), 'c', 'server', at(1), 2);
    const event = tripped(tripped(alone, 'a', 'network', at(2)), 'b', 'network', at(3));
    expect([event.correlation.event?.openings.length, waiting(event)]).toEqual([2, 2]);
    const joined = opened(event, 'c', 'server', at(4));
    expect([waiting(joined), left(joined)]).toEqual([0, 4]);
  });

  test('S3: failures during the event cost nothing', () => {
    const event = tripped(tripped(strict, 'a', 'network', at(0)), 'b', 'network', at(1));
    expect(failed(event, 'c', 'network', at(2), 4).ledger).toBe(event.ledger);
  });

  test('S3: the next event does not return the charge of the previous one', () => {
    const first = resolved(tripped(tripped(strict, 'a', 'network', at(0)), 'b', 'network', at(1)));
    const second = tripped(tripped(first, 'a', 'network', at(2)), 'b', 'network', at(3));
    expect([second.correlation.event !== undefined, left(second)]).toEqual([true, 3]);
  });
});

describe('B6, S3: failures that wait beside an opening', () => {
  test('S3: they count if the window passes without a second opening', () => {
    const kept = failed(tripped(strict, 'a', 'network', at(0)), 'b', 'network', at(1), 2);
    expect(passed(kept, at(120_000)).ledger).toBe(kept.ledger);
    const over = passed(kept, at(120_001));
    expect([left(over), waiting(over), isPaused(over)]).toEqual([0, 0, true]);
  });

  test('S3: they count if the first circuit closes', () => {
    const kept = closed(failed(tripped(strict, 'a', 'network', at(0)), 'b', 'network', at(1)), 'a');
    expect(left(passed(kept, at(2)))).toBe(1);
  });

  test('S3: a circuit that closed and opened again is no longer the one they waited for', () => {
    const kept = failed(opened(strict, 'a', 'network', at(0)), 'b', 'network', at(1));
    expect(left(passed(opened(closed(kept, 'a'), 'a', 'network', at(2)), at(3)))).toBe(4);
    const moment = at(0); // Two circuits that open at the same moment, and the one that was waited for closes.
    const two = opened(opened(strict, 'a', 'network', moment), 'x', 'server', moment);
    expect(left(passed(closed(failed(two, 'b', 'network', at(1)), 'a'), at(2)))).toBe(4);
  });

  test('S3: another category, and the open tool itself, are charged at once', () => {
    const first = tripped(strict, 'a', 'network', at(0));
    expect(left(failed(first, 'b', 'server', at(1)))).toBe(1);
    expect(left(failed(first, 'a', 'network', at(1)))).toBe(1);
  });

  test('S3: failures of another tool just before an opening wait while that circuit is open', () => {
    const kept = opened(failed(strict, 'b', 'network', at(0), 2), 'a', 'network', at(1));
    expect(left(kept)).toBe(5);
    expect(passed(kept, at(2)).ledger).toBe(kept.ledger);
    expect(left(passed(closed(kept, 'a'), at(2)))).toBe(3);
  });

  test('S3: failures of another tool long before an opening stay charged', () => {
    const kept = opened(failed(strict, 'b', 'network', at(0)), 'a', 'network', at(500_000));
    expect([left(kept), waiting(kept)]).toEqual([4, 0]);
  });

  test('B6, C15: members of a group do not wait beside its opening, other tools do', () => {
    const kept = opened(strict, 'group:g', 'network', at(0));
    expect(waiting(failed(failed(kept, 'member', 'network', at(1)), 'b', 'network', at(1)))).toBe(1);
  });

  test('S3: at most as many failures wait as open a circuit, and at most as many as the budget has', () => {
    const three = failed(opened(strict, 'a', 'network', at(0)), 'b', 'network', at(1), 5); // Its circuit opens after 3.
    expect([left(three), waiting(three)]).toEqual([3, 3]);
    const two = startOf({ rule: 'strict', failures: 2 });
    const small = failed(opened(two, 'a', 'network', at(0)), 'b', 'network', at(1), 3);
    expect([left(small), waiting(small)]).toEqual([1, 2]);
  });

  test('S3: at most 200 failures of all tools together wait at a time', () => {
    const { ledger, correlation } = opened(startOf({ rule: 'strict', failures: 1_000 }), 'a', 'network', at(0));
    const failure = {
      category: 'network',
      at: at(1),
      tokens: 0,
      hasCircuit: true,
      mayWait: 3,
      group: undefined,
    } as const;
    let next = ledger;
    for (let one = 0; one < 300; one += 1) {
      const tool = `tool ${one % 100}`;
      next = recordFailure(next, { ...failure, tool, isProbe: false, isPartOfEvent: false }, { correlation, within });
    }
    const many = { ledger: next, correlation };
    expect([waiting(many), left(many)]).toEqual([200, 900]);
  });

  test('S3: during an event, failures outside the event continue to wait', () => {
    const alone = failed(opened(strict, 'x', 'server', at(0)), 'c', 'server', at(1));
    const event = tripped(tripped(alone, 'a', 'network', at(2)), 'b', 'network', at(3));
    expect(passed(event, at(900_000)).ledger).toBe(event.ledger);
    expect(left(passed(resolved(event), at(4)))).toBe(3);
  });

  test('B6, S3: charges that are provisional when a new cycle begins count in the old one', () => {
    const next = nextCycle(strictOf(failed(tripped(strict, 'a', 'network', at(0)), 'b', 'network', at(1))));
    expect([next.consumed, next.provisional.length, strictRemaining(next)]).toEqual([4, 0, 5]);
  });
});

describe('B6: a session whose budget is spent', () => {
  test('S3: a circuit that opens alone returns nothing to it', () => {
    const out = settled(failed(failed(strict, 'b', 'network', at(0), 2), 'a', 'network', at(0), 3));
    const kept = opened(out, 'a', 'network', at(1));
    expect([left(kept), waiting(kept), kept.ledger.exhausted]).toEqual([0, 0, true]);
  });

  test('S3: it stays paused if an event returns too little', () => {
    const one = settled(failed(startOf({ rule: 'strict', failures: 1 }), 'a', 'network', at(0)));
    const event = opened(opened(one, 'a', 'network', at(1)), 'b', 'network', at(2));
    expect([event.correlation.event !== undefined, event.ledger.exhausted, left(event)]).toEqual([true, true, 0]);
  });
});
