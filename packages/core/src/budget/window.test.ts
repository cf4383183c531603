import { describe, expect, test } from 'vitest';
import type { Moment } from '../clock.ts';
import {
  awaitsSuccessOf,
  chargeFailure,
  createWindowBudget,
  isWindowCautious,
  isWindowSpent,
  markClosed,
  markSucceeded,
  mergeEvent,
  mergeGroup,
  mergeOpening,
  passTime,
  renewWindow,
  type WindowBudget,
  type WindowCharge,
  type WindowFailure,
  windowProvisional,
  windowSteady,
  windowTokensRemaining,
  withCharges,
} from './window.ts';

const at = (ms: number, step = 0): Moment => ({ ms, step, stepMs: 0 });
const failure = (tool: string, more: Partial<WindowFailure> = {}): WindowFailure => ({
  tool,
  category: 'network',
  at: at(0),
  tokens: 0,
  hasCircuit: true,
  free: false,
  mayBeShared: true,
  ...more,
});
const FINAL = { mayBeShared: false };
const FREE = { free: true };

/** The budget after one failure of each tool named, a millisecond apart. */
const failed = (budget: WindowBudget, tools: string, more: Partial<WindowFailure> = {}): WindowBudget =>
  [...tools].reduce((before, tool, ms) => chargeFailure(before, failure(tool, { at: at(ms), ...more })), budget);
const opening = (tool: string, ms = 100) => ({ tool, category: 'timeout' as const, at: at(ms) });
const start = createWindowBudget({ limit: 5 });
const always = () => true;
const never = () => false;
/** Charges in short: tool, `?` while provisional. */
const list = ({ charges }: WindowBudget) =>
  charges.map(({ tool, provisional }) => (provisional ? `${tool}?` : tool)).join(' ');

describe('B1: a sliding window', () => {
  test.each([
    ['by time, at its end', at(600_000), 1],
    ['by time, after its end', at(600_001), 2],
    ['by steps, at its end, whatever the time', at(9e9, 20), 1],
    ['by steps, after its end, whatever the time', at(1, 21), 2],
  ])('B1: a charge leaves the window %s', (_, now, remaining) => {
    const budget = createWindowBudget({ limit: 2, tokenLimit: 100 });
    const next = passTime(failed(budget, 'a', { tokens: 60 }), now, always);
    expect(next.remaining).toBe(remaining);
    expect(windowTokensRemaining(next)).toBe(remaining === 2 ? 100 : 40);
  });

  test('B1: the window is configurable, and a charge dated after now stays in it', () => {
    const budget = createWindowBudget({ limit: 5, windowSteps: 1, windowMs: 10 });
    expect(list(passTime(failed(budget, 'a', { at: at(0, 1) }), at(0, 3), always))).toBe('');
    expect(list(passTime(failed(budget, 'a', { at: at(0, 9) }), at(0, 3), always))).toBe('a?');
    expect(list(passTime(failed(budget, 'ab', { at: at(20) }), at(0), always))).toBe('a? b?');
  });

  test.each([
    ['while it may still be shared is never consumed', always, 0],
    ['later is consumed, also if nothing asked in between', never, 1],
  ])('B1, S3: a provisional charge that leaves the window %s', (_, mayStillBeShared, consumed) => {
    const next = passTime(failed(start, 'a'), at(600_001), mayStillBeShared);
    expect(next).toMatchObject({ consumed, charges: [], remaining: 5 });
  });

  test('B1: one tool counts at most the limit minus one, and its latest charges are kept', () => {
    const alone = failed(start, 'aaaaaa', FINAL);
    expect([alone.remaining, isWindowSpent(alone), alone.consumed]).toEqual([1, false, 6]);
    expect(alone.charges.map((one) => one.at.ms)).toEqual([2, 3, 4, 5]);
    expect(isWindowSpent(failed(alone, 'b', FINAL))).toBe(true);
    expect(isWindowSpent(failed(createWindowBudget({ limit: 1 }), 'a', FINAL))).toBe(true);
  });

  test('B1, C11: this bound also applies to restored charges, which may exceed it', () => {
    const { charges } = failed(createWindowBudget({ limit: 9 }), 'aaaaaaab', FINAL);
    expect(withCharges({ ...start, charges: charges.slice(0, 7) }).remaining).toBe(1);
    expect(isWindowSpent(withCharges({ ...start, charges }))).toBe(true);
  });

  test('B1, B5: a tool without a circuit may exhaust the budget alone, and is never provisional', () => {
    const budget = failed(start, 'aaaaa', { hasCircuit: false });
    expect([isWindowSpent(budget), windowProvisional(budget), budget.consumed]).toEqual([true, 0, 5]);
  });

  test('B1: a new cycle has no charges, provisional ones included, and no tokens', () => {
    const next = renewWindow(failed(createWindowBudget({ limit: 5, tokenLimit: 9 }), 'ab', { tokens: 4 }));
    expect(next).toMatchObject({ cycle: 2, remaining: 5, charges: [], spent: [], consumed: 0 });
  });
});

describe('B2: caution', () => {
  test('B2: decisions carry caution with one failure or none left, provisional charges included', () => {
    expect(['abc', 'abcd', 'abcde'].map((tools) => isWindowCautious(failed(start, tools)))).toEqual([
      false,
      true,
      true,
    ]);
  });

  test.each([
    ['nothing was spent', [], false],
    ['more is left than an entry costs', [300], false],
    ['as much is left as an entry costs', [500], true],
    ['calls without a cost are no part of the mean', [400, 0, Number.NaN, -5, Number.POSITIVE_INFINITY, 300], true],
    ['a cost is lowered by others', [600, 10, 10], false],
  ])('B2, B4: of 1,000 tokens, when %s', (_, costs, cautious) => {
    const budget = createWindowBudget({ limit: 100, tokenLimit: 1_000 });
    expect(isWindowCautious(costs.reduce((before, tokens) => failed(before, 'a', { tokens }), budget))).toBe(cautious);
  });
});

describe('B3, C15: an opening merges', () => {
  test('B3: the charges of a tool become one charge, dated at the opening', () => {
    const next = mergeOpening(failed(start, 'abaa', FINAL), opening('a'));
    expect(next.charges.at(-1)).toEqual({ tool: 'a', category: 'timeout', at: at(100), provisional: false });
    expect([list(next), next.remaining, next.consumed]).toEqual(['b a', 3, 4]);
  });

  test('B3: the merged charge is provisional if all its parts were, and is consumed once', () => {
    const all = mergeOpening(failed(start, 'aa'), opening('a'));
    const some = mergeOpening(failed(failed(start, 'aa'), 'a', FINAL), opening('a'));
    expect([all, some].map((one) => [list(one), one.consumed])).toEqual([
      ['a?', 0],
      ['a', 1],
    ]);
    expect(passTime(all, at(200), never).consumed).toBe(1);
  });

  test.each([
    ['of another category', failed(start, 'a', { at: at(100) })],
    ['of another moment', failed(start, 'a', { category: 'timeout' })],
    ['of a tool that had no circuit yet', failed(start, 'a', { ...opening('a'), hasCircuit: false })],
    ['before a success', markSucceeded(failed(start, 'a', opening('a')), 'a', undefined)],
  ])('B3: a single charge %s becomes the charge of the opening', (_, budget) => {
    const provisional = windowProvisional(budget) === 1;
    expect(mergeOpening(budget, opening('a')).charges).toEqual([{ ...opening('a'), provisional }]);
  });

  test('B3: charges before the last closing, and charges of an event, stay separate', () => {
    const closed = markClosed(mergeOpening(failed(start, 'aa', FINAL), opening('a')), 'a');
    expect(list(mergeOpening(failed(closed, 'aa', FINAL), opening('a')))).toBe('a a');
    const event = mergeEvent(failed(start, 'aa'), always, false);
    expect(list(mergeOpening(failed(event, 'aa', FINAL), opening('a')))).toBe('a a');
  });

  test('C15: charges of members since their last success become one charge of the group', () => {
    const before = markSucceeded(failed(start, 'ab', FINAL), 'a', 'group:g');
    const next = mergeGroup(failed(before, 'ac', FINAL), opening('group:g'), (tool) => tool !== 'c');
    expect(list(next)).toBe('a c group:g');
    // What a tool failed with before its success is still part of its own opening.
    expect(list(mergeOpening(next, opening('a', 200)))).toBe('c group:g a');
  });

  test('C15: a group counts at most the limit minus one', () => {
    let budget = start;
    for (let ms = 1; ms <= 6; ms += 1) {
      const open = mergeGroup(failed(budget, 'ab', FINAL), opening('group:g', ms), (tool) => tool < 'c');
      budget = markClosed(open, 'group:g');
    }
    expect([new Set(list(budget).split(' ')), budget.remaining]).toEqual([new Set(['group:g']), 1]);
  });

  test('B3: merging may end the pause of the session', () => {
    const budget = failed(start, 'aaabc', FINAL);
    expect([isWindowSpent(budget), isWindowSpent(mergeOpening(budget, opening('a')))]).toEqual([true, false]);
  });
});

describe('B4: tokens', () => {
  test('B4: tokens of free failures count too, and no merge returns them', () => {
    const budget = failed(createWindowBudget({ limit: 5, tokenLimit: 100 }), 'aa', { tokens: 30 });
    const probed = failed(budget, 'a', { ...FREE, tokens: 30 });
    const merged = mergeEvent(mergeOpening(probed, opening('a')), always, true);
    expect([probed.charges, windowTokensRemaining(merged), isWindowSpent(merged)]).toEqual([budget.charges, 10, false]);
    const gone = failed(merged, 'a', { ...FREE, tokens: 30 });
    expect([windowTokensRemaining(gone), isWindowSpent(gone), gone.remaining]).toEqual([0, true, 5]);
    expect(windowTokensRemaining(failed(start, 'a', { tokens: 1e9 }))).toBeUndefined();
  });

  test.each([0, -5, Number.NaN, Number.POSITIVE_INFINITY])('B4: a cost of %d makes no entry', (tokens) => {
    expect(failed(start, 'a', { ...FREE, tokens })).toBe(start);
  });

  test('B4: a sum is an integer that JSON can hold', () => {
    const budget = failed(createWindowBudget({ limit: 5 }), 'ab', { tokens: 1e300 });
    expect(budget.spent.map(({ tokens }) => tokens)).toEqual([Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]);
    const many = failed(budget, 'a'.repeat(250), { tokens: 1 });
    expect([many.spent.length, many.spent[0]?.tokens]).toEqual([200, Number.MAX_SAFE_INTEGER]);
  });
});

describe('S3: provisional charges and events', () => {
  test('S3: at most five charges are provisional, and charges before a final one count with it', () => {
    const five = failed(start, 'abcde');
    expect([list(five), five.remaining, five.consumed, isWindowSpent(five)]).toEqual(['a? b? c? d? e?', 0, 0, false]);
    const six = failed(five, 'f');
    expect([list(six), six.consumed, isWindowSpent(six)]).toEqual(['a? b? c? d? e? f', 1, true]);
    // The four before the final one are not five.
    expect(isWindowSpent(failed(failed(failed(start, 'abc'), 'd', FINAL), 'e'))).toBe(false);
  });

  test.each([
    ['of its tool', 'a', undefined, true],
    ['of a member of its group', 'c', 'group:g', true],
    ['of a tool that is no suspect', 'c', 'group:h', false],
  ])('S3: a success %s', (_, tool, group, areFinal) => {
    const open = mergeGroup(failed(start, 'cd'), opening('group:g'), always);
    const next = markSucceeded(failed(open, 'ab'), tool, group);
    expect([windowProvisional(next), next.consumed]).toEqual(areFinal ? [0, 3] : [3, 0]);
  });

  test('S3: charges that can no longer be part of an event become final with time', () => {
    const next = passTime(failed(start, 'ab'), at(1), ({ tool }) => tool === 'b');
    expect([list(next), next.consumed, next.remaining]).toEqual(['a b?', 1, 3]);
  });

  test('S3: an event has one final charge, with the first tool and the last time', () => {
    const next = mergeEvent(failed(start, 'abc'), ({ tool }) => tool !== 'c', false);
    const event = { tool: 'a', category: 'network', at: at(1), provisional: false, event: true };
    expect([next.charges[1], list(next), next.consumed]).toEqual([event, 'c? a', 1]);
    expect(mergeEvent(failed(start, 'aa', FINAL), always, false).consumed).toBe(2);
  });

  test('S3: an event that has its charge returns the others, and its charge joins no other event', () => {
    const event = mergeEvent(failed(start, 'ab'), always, false);
    const grown = mergeEvent(failed(event, 'cd', FINAL), always, true);
    expect([list(grown), grown.remaining, grown.consumed]).toEqual(['a', 4, 3]);
    expect(list(mergeEvent(failed(grown, 'e'), always, false))).toBe('a e');
  });

  test('S3: an event of one tool has no cap', () => {
    const tools = 'aaaaa';
    expect(isWindowSpent([...tools].reduce((one, tool) => mergeEvent(failed(one, tool), always, false), start))).toBe(
      true,
    );
  });
});

describe('bounds of the window', () => {
  test('B1: of more than 200 entries the oldest become one, which still counts, becomes final, and merges with nothing', () => {
    const large = createWindowBudget({ limit: 1_000 });
    const budget = failed(failed(large, 'a'), 'b'.repeat(209), FINAL);
    expect([budget.charges.length, budget.remaining, budget.consumed]).toEqual([200, 790, 210]);
    expect(budget.charges[0]).toEqual({
      tool: 'b',
      category: 'network',
      at: at(9),
      provisional: false,
      uncapped: true,
      count: 11,
    });
    const merged = mergeEvent(mergeOpening(budget, opening('b')), always, true);
    expect([merged.charges.length, merged.remaining]).toEqual([1, 989]);
  });
});

describe('the entries of the window', () => {
  const start = createWindowBudget({ limit: 5, tokenLimit: 100 });
  const one = failed(start, 'a');
  const ofA = { tool: 'a', category: 'network', at: at(0) } as const;
  const moments = ({ charges }: WindowBudget) => charges.map((charge) => charge.at.ms);

  test('B1: entries outside the window are dropped, charges and tokens each by their own time', () => {
    const probed = failed(start, 'a', { free: true, tokens: 30 });
    const both = failed(failed(probed, 'b', { at: at(5), tokens: 20 }), 'c', { at: at(9) });
    expect([moments(both), windowTokensRemaining(both)]).toEqual([[5, 9], 50]);
    const later = passTime(both, at(600_001), always); // The probe's tokens alone leave.
    expect([moments(later), windowTokensRemaining(later), later.charges]).toEqual([[5, 9], 80, both.charges]);
    const last = passTime(both, at(600_006), always);
    expect([moments(last), windowTokensRemaining(last)]).toEqual([[9], 100]);
  });

  test('B1: if time changes nothing, the object stays the same', () => {
    expect(passTime(one, at(0), always)).toBe(one);
    const final = failed(start, 'a', FINAL);
    expect(passTime(final, at(0), never)).toBe(final);
  });

  test('B1, B3: the latest entries of a tool are kept, separate from those before its last closing', () => {
    const small = createWindowBudget({ limit: 3 });
    const fail = (budget: WindowBudget, ...when: readonly number[]) =>
      when.reduce((before, ms) => failed(before, 'a', { ...FINAL, at: at(ms) }), budget);
    const reopened = fail(markClosed(fail(small, 1, 2, 3), 'a'), 4, 5, 6);
    expect(moments(reopened)).toEqual([2, 3, 5, 6]);
    expect(moments(mergeOpening(reopened, { ...ofA, at: at(6) }))).toEqual([2, 3, 6]);
  });

  test('B1: 200 entries stay as they are; of more, the oldest become one with the tool name of its latest entry', () => {
    const charge = (tool: string, ms: number, step = 0): WindowCharge => {
      return { tool, category: 'network', at: at(ms, step), provisional: false, event: true };
    };
    const others = Array.from({ length: 198 }, () => charge('z', 99));
    const fold = (first: WindowCharge, second: WindowCharge) => {
      const full = withCharges({ ...createWindowBudget({ limit: 1_000 }), charges: [first, second, ...others] });
      return failed(full, 'a', FINAL).charges[0];
    };
    expect(fold(charge('x', 9), charge('y', 2))).toMatchObject({ tool: 'x', at: at(9), count: 2 });
    expect(fold(charge('x', 2, 1), charge('y', 2, 2))).toMatchObject({ tool: 'y', at: at(2, 2), count: 2 });
    const filled = withCharges({ ...createWindowBudget({ limit: 1_000 }), charges: others.slice(1) });
    const full = failed(filled, 'abc', FINAL);
    expect([full.charges.length, full.charges[0]]).toEqual([200, others[0]]);
  });

  test('B5: a charge of a tool without a circuit is marked as such', () => {
    expect(failed(start, 'a', { hasCircuit: false }).charges).toEqual([{ ...ofA, provisional: false, uncapped: true }]);
  });

  test('B3, C15: an opening without new charges changes nothing', () => {
    expect(mergeOpening(one, ofA)).toBe(one);
    expect(mergeOpening(one, { ...ofA, at: at(0, 1) }).charges).toEqual([{ ...ofA, at: at(0, 1), provisional: true }]);
    expect(mergeGroup(one, { ...ofA, tool: 'group:g' }, always).charges).toEqual([
      { ...ofA, tool: 'group:g', provisional: true },
    ]);
  });

  test('B3: the charge of an opening is the last entry, even if it was a single charge before', () => {
    expect(mergeOpening(failed(one, 'b'), ofA).charges.map(({ tool }) => tool)).toEqual(['b', 'a']);
  });

  test('S3: the charge of an event has the date of its last part, whatever the number of parts', () => {
    const three = failed(start, 'abc');
    expect(moments(mergeEvent(three, always, false))).toEqual([2]);
  });

  test('S3: an event with a part that was final is not consumed again', () => {
    const mixed = failed(failed(start, 'a'), 'b', FINAL);
    expect([mixed.consumed, mergeEvent(mixed, always, false).consumed]).toEqual([1, 1]);
  });

  test('B3, C15: a closing replaces the mark of a success; entries already marked stay the same object', () => {
    const succeeded = markSucceeded(failed(start, 'a', FINAL), 'a', undefined);
    const closed = markClosed(succeeded, 'a');
    expect([succeeded, closed].map(({ charges }) => charges[0]?.since)).toEqual(['success', 'closing']);
    expect(markSucceeded(succeeded, 'a', undefined)).toBe(succeeded);
    expect(markSucceeded(closed, 'a', undefined)).toBe(closed);
    expect(markClosed(closed, 'a')).toBe(closed);
    expect(markClosed(one, 'b')).toBe(one);
    const event = mergeEvent(one, always, false);
    expect(markClosed(event, 'a')).toBe(event);
  });
});

describe('B1, S3: what a session without steps may skip', () => {
  const tokens = createWindowBudget({ limit: 5, tokenLimit: 100 });
  const one = chargeFailure(tokens, failure('a', { ...FINAL, tokens: 9, at: { ...at(5), calls: 3 } }));

  test('B1: a budget stays as it is until its oldest charge leaves, by time or by calls; with steps, by those alone', () => {
    const two = chargeFailure(one, failure('b', { ...FINAL, tokens: 9, at: { ...at(50), calls: 4 } }));
    for (const budget of [one, two, { ...two, charges: [] }, { ...two, spent: [] }])
      expect(windowSteady(budget, at(60))).toEqual({ ms: 600_005, calls: 23 });
    expect(windowSteady(two, at(60, 1))).toEqual({ ms: Number.POSITIVE_INFINITY, calls: Number.POSITIVE_INFINITY });
    expect([passTime(two, at(600_005), always), passTime(two, at(600_006), always).charges.length]).toEqual([two, 1]);
  });

  test('S3: a provisional charge may become final earlier', () => {
    const budget = chargeFailure(start, failure('a', { at: at(5) }));
    expect(windowSteady(budget, at(9), 120_000)).toEqual({ ms: 120_005, calls: 20 });
    expect(windowSteady(one, at(9), 120_000).ms).toBe(600_005);
  });

  test.each([
    [true, 'its own charge', one, 'a', undefined],
    [false, 'its own charge, if it has succeeded since', markSucceeded(one, 'a', undefined), 'a', undefined],
    [false, 'the charge of another tool', one, 'b', undefined],
    [true, 'its own provisional charge', failed(start, 'a'), 'a', undefined],
    [true, 'a provisional charge of its group', failed(start, 'g'), 'a', 'g'],
    [false, 'a final charge of its group', failed(start, 'g', FINAL), 'a', 'g'],
    [false, 'a provisional charge of another tool', failed(start, 'b'), 'a', 'g'],
  ])('S3: %s: a success changes %s', (changes, _, budget, tool, group) => {
    expect(markSucceeded(budget, tool, group) !== budget).toBe(changes);
    expect(awaitsSuccessOf(budget, tool, group)).toBe(changes);
  });
});
