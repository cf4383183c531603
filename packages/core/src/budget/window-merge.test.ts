import { expect, test } from 'vitest';
import type { Moment } from '../clock.ts';
import {
  chargeFailure,
  createWindowBudget,
  markClosed,
  markSucceeded,
  mergeEvent,
  mergeGroup,
  mergeOpening,
  passTime,
  type WindowBudget,
  type WindowCharge,
  type WindowFailure,
  windowTokensRemaining,
  withCharges,
} from './window.ts';

const at = (ms: number, step = 0): Moment => ({ ms, step, stepMs: 0 });
const failed = (budget: WindowBudget, tool: string, more: Partial<WindowFailure> = {}): WindowBudget =>
  chargeFailure(budget, {
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
const start = createWindowBudget({ limit: 5, tokenLimit: 100 });
const one = failed(start, 'a');
const always = () => true;
const never = () => false;
const opening = { tool: 'a', category: 'network', at: at(0) } as const;
const moments = ({ charges }: WindowBudget) => charges.map((charge) => charge.at.ms);

test('B1: what has left the window goes, what has not stays, charges and tokens each by their own moment', () => {
  const probed = failed(start, 'a', { free: true, tokens: 30 });
  const both = failed(failed(probed, 'b', { at: at(5), tokens: 20 }), 'c', { at: at(9) });
  expect([moments(both), windowTokensRemaining(both)]).toEqual([[5, 9], 50]);
  const later = passTime(both, at(600_001), always); // The probe's tokens alone leave.
  expect([moments(later), windowTokensRemaining(later), later.charges]).toEqual([[5, 9], 80, both.charges]);
  const last = passTime(both, at(600_006), always);
  expect([moments(last), windowTokensRemaining(last)]).toEqual([[9], 100]);
});

test('B1: what time does not change is the same object', () => {
  expect(passTime(one, at(0), always)).toBe(one);
  const final = failed(start, 'a', FINAL);
  expect(passTime(final, at(0), never)).toBe(final);
});

test('B1, B3: of one tool the latest are kept, apart from those of before its last closing', () => {
  const small = createWindowBudget({ limit: 3 });
  const fail = (budget: WindowBudget, ...when: readonly number[]) =>
    when.reduce((before, ms) => failed(before, 'a', { ...FINAL, at: at(ms) }), budget);
  const reopened = fail(markClosed(fail(small, 1, 2, 3), 'a'), 4, 5, 6);
  expect(moments(reopened)).toEqual([2, 3, 5, 6]);
  expect(moments(mergeOpening(reopened, { ...opening, at: at(6) }))).toEqual([2, 3, 6]);
});

test('B1: 200 entries stay as they are; of more, the oldest become one with the name of the latest of them', () => {
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
  const full = ['a', 'b', 'c'].reduce((budget, tool) => failed(budget, tool, FINAL), filled);
  expect([full.charges.length, full.charges[0]]).toEqual([200, others[0]]);
});

test('B5: a charge of a tool without a circuit says so', () => {
  expect(failed(start, 'a', { hasCircuit: false }).charges).toEqual([
    { ...opening, provisional: false, uncapped: true },
  ]);
});

test('B3, C15: an opening that brings nothing new changes nothing', () => {
  expect(mergeOpening(one, opening)).toBe(one);
  expect(mergeOpening(one, { ...opening, at: at(0, 1) }).charges).toEqual([
    { ...opening, at: at(0, 1), provisional: true },
  ]);
  expect(mergeGroup(one, { ...opening, tool: 'group:g' }, always).charges).toEqual([
    { ...opening, tool: 'group:g', provisional: true },
  ]);
});

test('B3: the charge of an opening is the last, even where it was alone before', () => {
  expect(mergeOpening(failed(one, 'b'), opening).charges.map(({ tool }) => tool)).toEqual(['b', 'a']);
});

test('S3: the charge of an event is dated at the last of its parts, however many they are', () => {
  const three = ['a', 'b', 'c'].reduce((budget, tool, ms) => failed(budget, tool, { at: at(ms) }), start);
  expect(moments(mergeEvent(three, always, false))).toEqual([2]);
});

test('S3: an event of which a part was final is not consumed again', () => {
  const mixed = failed(failed(start, 'a'), 'b', FINAL);
  expect([mixed.consumed, mergeEvent(mixed, always, false).consumed]).toEqual([1, 1]);
});

test('B3, C15: a closing says more than a success; what is marked already is the same object', () => {
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
